#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries export what the version script names, versioned, and nothing else.
# exports.sh LIBRARY PRELOAD MAP
set -eu
fail() { echo "$*" >&2; exit 1; }

wanted=$(sed -n 's/^\t\(cl_[a-z_]*\);/\1/p' "$3" | sort)
got=$(nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sort)
for name in $wanted; do
	echo "$got" | grep -qx "$name@@COMPACTLAB_POPULATE_0" || fail "$name is not exported with its version"
done
[ "$(echo "$wanted" | wc -l)" = "$(echo "$got" | wc -l)" ] || fail "more is exported than named: $got"

got=$(nm -D --defined-only "$2" | awk '$2 == "T" { print $3 }')
[ "$got" = madvise ] || fail "the preload library exports: $got"

# libc and nothing more is needed.
needed=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
	grep -v -e '^libc\.' -e '^libpthread\.' -e '^ld-linux' -e '^libasan' -e '^libubsan' -e '^libtsan' || true)
[ -z "$needed" ] || fail "the library needs $needed"
