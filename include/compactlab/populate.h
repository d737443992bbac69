/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_POPULATE_H
#define COMPACTLAB_POPULATE_H
/*
 * Fill a large buffer with huge pages, without the stall.
 *
 * On a node whose memory is fragmented by pages that cannot move, every 2 MiB of a
 * MADV_HUGEPAGE buffer runs a direct compaction that fails: minutes instead of
 * seconds. Without MADV_HUGEPAGE the buffer misses the huge pages that were free for
 * the taking. cl_populate() faults the buffer in chunks, looks at what each chunk
 * got and how long it took, and decides about the next:
 *
 *   - free huge blocks (/proc/buddyinfo, less what the watermarks and the lowmem
 *     reserves of /proc/zoneinfo keep) are always taken, in chunks that double from
 *     one block up while they yield;
 *   - where none is free, one block is tried, and with it the kernel's compaction.
 *     Success: the next try is larger. Failure: tries are deferred as the kernel
 *     defers compaction (mm/compaction.c, compaction_deferred() and
 *     defer_compaction()): after the n-th failure in a row 2^min(n,6) - 1 blocks are
 *     filled another way before the next try, and more where a failure takes long:
 *     tries may cost a twelfth of the time in between, after a thirty-second of the
 *     whole for the first ones. Success ends the deferral, and so do free blocks that
 *     appear, and long-term pins that go away (/proc/vmstat);
 *   - deferred blocks become what `fallback` says.
 *
 * "Block" is the size of a PMD-mapped huge page: 2 MiB on x86-64.
 *
 * Needs libc and threads, no privilege. Sets no signal handler, keeps no state
 * between calls. All functions are thread-safe; calls on disjoint ranges may run at
 * the same time. A process that calls fork() during a call: the child gets the range
 * as far as it was filled, and none of the workers.
 *
 * Every function returns 0 or a negative errno. Sizes are in bytes, times in
 * nanoseconds of CLOCK_MONOTONIC. Structures carry their own size, so that programs
 * built with an older or newer header keep working: an option field this library
 * does not know must be zero (-E2BIG), and a receipt is filled as far as the caller
 * has room.
 */
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Where the memory should come from. */
enum cl_populate_policy {
	/* The memory policy of the range, else of the calling thread; `node` is not used. */
	CL_POPULATE_INHERIT = 0,
	/* From `node` first, others when it has no page of the kind wanted. */
	CL_POPULATE_PREFER = 1,
	/* From `node` only. Too little memory there is the OOM killer's business; see errors. */
	CL_POPULATE_BIND = 2,
	/* Block by block from the nodes in `nodes`. */
	CL_POPULATE_INTERLEAVE = 3,
};

/* What a block becomes while huge pages of the wanted node are deferred. */
enum cl_populate_fallback {
	/* A free huge page of another node, as the kernel does it; base pages when none is left. */
	CL_POPULATE_REMOTE = 0,
	/* Base pages, of the wanted node. */
	CL_POPULATE_BASE = 1,
	/*
	 * Folios smaller than a huge page but larger than a base page, of the wanted node,
	 * where the kernel has them (6.8) and /sys/kernel/mm/transparent_hugepage/
	 * hugepages-<size>kB/enabled allows them; base pages elsewhere.
	 */
	CL_POPULATE_SMALLER = 2,
};

/* Bits of cl_populate_options.flags. */
/* Afterwards try to turn base pages into huge pages (MADV_COLLAPSE, Linux 6.1). */
#define CL_POPULATE_COLLAPSE 1u
/* Start although the memory cgroup or the machine seems to have too little memory. */
#define CL_POPULATE_NO_ROOM_CHECK 2u
/* Do not look at the result page by page: the receipt then has counts, but no nodes. */
#define CL_POPULATE_NO_SURVEY 4u

struct cl_populate_progress {
	uint64_t bytes;      /* of the call */
	uint64_t done_bytes; /* filled so far */
	uint64_t huge_bytes; /* of these, in huge pages */
	uint64_t elapsed_ns;
	uint64_t tries, failed_tries;
};

struct cl_populate_options {
	uint32_t size;     /* sizeof(struct cl_populate_options) */
	uint32_t flags;    /* CL_POPULATE_* bits */
	uint32_t policy;   /* enum cl_populate_policy */
	uint32_t fallback; /* enum cl_populate_fallback */
	int32_t node;      /* PREFER, BIND: node, or -1 for the node of the calling CPU */
	/*
	 * Worker threads, at most 1024; 0 means 1. They are created before the work
	 * starts, run on the CPUs of the wanted node and block all signals.
	 */
	uint32_t threads;
	uint64_t nodes[4]; /* INTERLEAVE: bit n of word n / 64 is node n */
	/*
	 * Return within this time, 0 for no limit. Near the deadline no compaction is
	 * risked any more. What was filled stays filled (-ETIMEDOUT).
	 */
	uint64_t timeout_ns;
	/*
	 * Contract: at least so many thousandths of the whole blocks of the range in
	 * huge pages, 0..1000. As soon as it cannot be kept: -ENOMEM. With a timeout or
	 * CL_POPULATE_COLLAPSE base pages may be more at first, and are then turned into
	 * huge pages (see cl_populate_collapse()) until the contract is kept, the time is
	 * up or, without a timeout, nothing moves any more.
	 */
	uint32_t min_huge_permille;
	uint32_t reserved; /* 0 */
	/*
	 * Called on the calling thread about every 100 ms and at the end. A return value
	 * other than 0 cancels. May be NULL.
	 */
	int (*progress)(void *arg, const struct cl_populate_progress *p);
	void *arg;
	/*
	 * When not NULL and another thread (or a signal handler) makes it non-zero, the
	 * call returns -ECANCELED after the chunks that are being filled (50 ms each, but
	 * a single failing compaction may take longer).
	 */
	const int *cancel;
};

/* Static initialiser: inherit the policy, take remote huge pages, one thread, no limit. */
#define CL_POPULATE_OPTIONS_INIT                                                                   \
	{                                                                                          \
		.size = sizeof(struct cl_populate_options), .node = -1                             \
	}

/* Why the range is not all huge pages (receipt.limit): the first that applies. */
enum cl_populate_limit {
	CL_POPULATE_LIMIT_NONE = 0,       /* nothing: every whole block is huge */
	CL_POPULATE_LIMIT_FRAGMENTED = 1, /* no free huge block, and compaction gave none */
	CL_POPULATE_LIMIT_THP_OFF = 2,    /* switched off: sysfs, prctl(), kernel config */
	CL_POPULATE_LIMIT_DEADLINE = 3,   /* base pages, or nothing, for lack of time */
	CL_POPULATE_LIMIT_CANCELLED = 4,
	CL_POPULATE_LIMIT_ROOM = 5,     /* memory cgroup limit, or too little memory */
	CL_POPULATE_LIMIT_PRESENT = 6,  /* pages were there before the call */
	CL_POPULATE_LIMIT_SMALL = 7,    /* the range holds no whole block */
	CL_POPULATE_LIMIT_CONTRACT = 8, /* min_huge_permille was out of reach */
	CL_POPULATE_LIMIT_ERROR = 9,    /* the kernel refused: receipt.result */
	CL_POPULATE_LIMIT_POOL = 10,    /* hugetlb: the pool is too small */
};

/* What this kernel or container does not offer (receipt.missing), and what follows. */
#define CL_POPULATE_NO_POPULATE_WRITE 0x1u    /* before 5.14 or filtered: pages are touched */
#define CL_POPULATE_NO_BUDDYINFO      0x2u    /* free blocks unknown: found by trying */
#define CL_POPULATE_NO_ZONEINFO       0x4u    /* reserves unknown: learnt by failing */
#define CL_POPULATE_NO_MEMPOLICY      0x8u    /* filtered: policy, remote pages as they come */
#define CL_POPULATE_NO_AFFINITY       0x10u   /* workers could not be put on the node's CPUs */
#define CL_POPULATE_NO_THREADS        0x20u   /* fewer workers than asked for, or none */
#define CL_POPULATE_NO_SCAN           0x40u   /* before 6.7 or no /proc: result from fault counts */
#define CL_POPULATE_NO_NODES          0x80u   /* move_pages() filtered: nodes unknown */
#define CL_POPULATE_NO_VMSTAT         0x100u  /* machine-wide compaction counters unknown */
#define CL_POPULATE_NO_COLLAPSE       0x200u  /* before 6.1 */
#define CL_POPULATE_NO_SMALLER        0x400u  /* no smaller folio size is enabled */
#define CL_POPULATE_NO_MAPS           0x800u  /* kind of memory unknown: taken as anonymous */
#define CL_POPULATE_NO_SYSFS          0x1000u /* THP settings unknown: found by trying */
#define CL_POPULATE_OWN_POLICY        0x2000u /* the range has a policy of its own, which rules */
#define CL_POPULATE_NO_SPLIT          0x4000u /* vm.max_map_count: blocks could not be deferred */

struct cl_populate_node {
	int32_t node;
	/*
	 * One base page in 16 was asked for its node and the counts scaled, because the
	 * question costs as much as a tenth of the fault. Huge pages are always exact.
	 */
	uint32_t base_sampled;
	uint64_t huge_bytes, base_bytes;
};

#define CL_POPULATE_MAX_NODES 64

struct cl_populate_receipt {
	uint32_t size;        /* in: sizeof(struct cl_populate_receipt); out: bytes filled in */
	int32_t result;       /* as returned */
	uint32_t limit;       /* enum cl_populate_limit */
	uint32_t missing;     /* CL_POPULATE_NO_* bits */
	uint64_t block_bytes; /* size of a huge page here */
	/* The range. huge + base = done, as seen at the end; `already` was there before. */
	uint64_t bytes, done_bytes, already_bytes, huge_bytes, base_bytes;
	uint64_t chunks; /* decisions carried out */
	/*
	 * Tries: chunks that asked for huge pages where none was known to be free, so
	 * that the kernel compacts. A try fails when it brings less than half of its
	 * blocks. `failed_blocks`: blocks of all chunks that asked for a huge page of the
	 * wanted node and did not get it, each at the cost of up to three compactions.
	 */
	uint64_t tries, failed_tries, failed_blocks;
	uint64_t deferred_blocks; /* filled another way because tries were deferred */
	uint64_t recoveries;      /* deferrals ended by success or by free blocks */
	uint32_t max_shift;       /* deepest deferral: 2^max_shift - 1 blocks were skipped */
	uint32_t threads;         /* workers that ran, 0: the caller itself */
	uint64_t collapse_tries, collapsed_blocks;
	/*
	 * compact_stall and compact_fail of /proc/vmstat, difference over the call. They
	 * count the whole machine. -1: not known.
	 */
	int64_t compact_stall, compact_fail;
	/* Time. The parts add up over all threads; total is wall clock. */
	uint64_t total_ns, setup_ns;
	uint64_t huge_ns;   /* chunks that got all their huge pages of the wanted node */
	uint64_t remote_ns; /* chunks for other nodes' huge pages */
	uint64_t failed_ns; /* chunks that asked for huge pages and did not get all */
	uint64_t base_ns, wait_ns, collapse_ns, survey_ns;
	uint32_t node_count; /* entries of `nodes`; 0: not known */
	uint32_t faults;     /* page faults taken, at most 2^32 - 1 */
	struct cl_populate_node nodes[CL_POPULATE_MAX_NODES];
	char text[256]; /* one English sentence: what was got, what limited it */
};

/*
 * Fill [addr, addr + length) so that every page is present and writable, as
 * MADV_POPULATE_WRITE does; what the pages hold is not changed. `addr` must be a
 * multiple of the page size, `length` is rounded up to one. Head and tail outside of
 * whole blocks become base pages. The range is left with MADV_HUGEPAGE, so that
 * khugepaged may serve it later, unless THP is off.
 *
 * Anonymous private memory is what this is for. Shared memory (memfd, tmpfs, SysV,
 * shared anonymous) is filled by the same rules where its huge pages are enabled.
 * hugetlb memory is filled from its pool, in chunks, without advice. Other files:
 * -EOPNOTSUPP.
 *
 * `options` NULL: CL_POPULATE_OPTIONS_INIT. `receipt` may be NULL; otherwise its
 * `size` must be set, and it is filled whatever the result.
 *
 *   0           all of the range is filled, and the contract kept
 *   -EINVAL     misaligned address, unknown flag or value, node out of range
 *   -E2BIG      an option this version does not know is not zero
 *   -ENOMEM     the contract cannot be kept; or the range has holes; or the memory
 *               cgroup or the machine has too little room (nothing is filled then, so
 *               that nobody meets the OOM killer); or the kernel said so
 *   -ETIMEDOUT  the deadline passed first
 *   -ECANCELED  `cancel` or `progress` said so
 *   -EFAULT     the range is not writable, or touching it would raise SIGBUS (a file
 *               shorter than its mapping, a full tmpfs)
 *   -ENOSPC     the hugetlb pool is too small
 *   -EHWPOISON  a page of the range is poisoned
 *   -EOPNOTSUPP memory of another kind
 *
 * After an error the part that was filled stays so and is described in the receipt.
 */
int cl_populate(void *addr, size_t length, const struct cl_populate_options *options,
		struct cl_populate_receipt *receipt);

/*
 * Turn base pages of the range into huge pages (MADV_COLLAPSE, Linux 6.1), block by
 * block, under the same deferral: after failures 2^shift - 1 blocks are passed over,
 * unless free blocks appear. Until the contract is kept (min_huge_permille, 0: every
 * block), the deadline, or a pass over the range that changed nothing. Pinned and
 * absent pages stay as they are. Uses flags, timeout_ns, min_huge_permille, progress,
 * arg and cancel of the options. Returns as cl_populate() does; -EOPNOTSUPP before 6.1.
 */
int cl_populate_collapse(void *addr, size_t length, const struct cl_populate_options *options,
			 struct cl_populate_receipt *receipt);

/*
 * The receipt as one JSON object on one line, without newline. Numbers that are not
 * known are null. Writes at most `size` bytes including the null and returns the
 * length the whole text has, as snprintf() does, or -EINVAL. 16 KiB are always enough.
 */
int cl_populate_receipt_json(const struct cl_populate_receipt *receipt, char *buf, size_t size);

/* Short names for programs ("fragmented") and the names of single `missing` bits; never NULL. */
const char *cl_populate_limit_name(uint32_t limit);
const char *cl_populate_missing_name(uint32_t bit);

/* Version of the library that runs: major * 10000 + minor * 100 + patch. */
unsigned cl_populate_version(void);

#ifdef __cplusplus
}
#endif
#endif
