#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fill a buffer with huge pages from Python, through ctypes.

    python3 populate.py [MiB] [path of libcompactlab-populate.so.0]
"""
import ctypes
import json
import mmap
import os
import sys


class Options(ctypes.Structure):
    """struct cl_populate_options"""
    _fields_ = [
        ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
        ("policy", ctypes.c_uint32), ("fallback", ctypes.c_uint32),
        ("node", ctypes.c_int32), ("threads", ctypes.c_uint32),
        ("nodes", ctypes.c_uint64 * 4), ("timeout_ns", ctypes.c_uint64),
        ("min_huge_permille", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
        ("progress", ctypes.c_void_p), ("arg", ctypes.c_void_p),
        ("cancel", ctypes.POINTER(ctypes.c_int)),
    ]


# struct cl_populate_receipt is only passed through: the library writes it as JSON.
RECEIPT_BYTES = 8192


class Populate:
    def __init__(self, path="libcompactlab-populate.so.0"):
        self.lib = ctypes.CDLL(path)
        self.lib.cl_populate.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Options), ctypes.c_void_p]

    def fill(self, address, length, **options):
        """Fill the range; returns the receipt. OSError carries it as `receipt`."""
        o = Options(size=ctypes.sizeof(Options), node=-1, **options)
        receipt = (ctypes.c_uint32 * (RECEIPT_BYTES // 4))()
        receipt[0] = RECEIPT_BYTES
        result = self.lib.cl_populate(address, length, ctypes.byref(o), receipt)
        text = ctypes.create_string_buffer(16384)
        self.lib.cl_populate_receipt_json(receipt, text, len(text))
        said = json.loads(text.value)
        if result < 0:
            error = OSError(-result, os.strerror(-result), said["text"])
            error.receipt = said
            raise error
        return said


def main():
    size = (int(sys.argv[1]) if len(sys.argv) > 1 else 256) << 20
    populate = Populate(*sys.argv[2:3])
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    receipt = populate.fill(address, size, threads=2)
    print(receipt["text"])
    print("by node:", receipt["pages"])


if __name__ == "__main__":
    main()
