/* SPDX-License-Identifier: MIT */
/*
 * Compare ways to fill a huge-page buffer, on the machine as it is or with a node
 * fragmented by pinned pages. All methods run in one process, in turn, after a
 * warm-up round that is not counted; medians are compared.
 *
 *   bench-populate [--size 1G] [--repeat 5] [--node N] [--methods LIST] [--json] [--verbose]
 *   bench-populate --methods qemu,qemu-preloaded --preload LIBRARY   QEMU's own code
 *   bench-populate --pinned --yes [--leave 6G]   fills the node's memory, needs root
 *   bench-populate --movable --yes [--leave 6G]  the same without the pins, anew for
 *                                                each run
 *   bench-populate --pinned --yes --unpin-at 30 --methods compactlab   pins go away when
 *                                                so many percent are filled; status 1 when
 *                                                it takes too long to have huge pages again
 */
#include <compactlab/populate.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "populate/pop_probe.h"
#include "populate/pop_job.h"
#include "populate/pop_room.h"
#include "populate_fragment.h"
#include "populate_qemu.h"

#define MAX_REPEAT 101
#define MAX_BLOCKS 64 /* that may come between unpinning and the first huge page */

enum method {
	TOUCH,
	POPULATE,
	MAP,
	BASE,
	COLLAPSE,
	HUGETLB,
	OURS,
	THREADS,
	QEMU,
	QEMU_OURS,
	METHODS
};
static const char *const names[METHODS] = {"touch",      "populate-write",     "map-populate",
					   "base",       "base-then-collapse", "hugetlb",
					   "compactlab", "compactlab-threads", /* one on each CPU */
					   "qemu",       "qemu-preloaded"};

struct sample {
	uint64_t ns, cpu_ns, huge;
	int64_t stall, fail;
};

struct bench {
	uint64_t size, leave;
	unsigned repeat;
	int node;
	unsigned unpin_at; /* percent, 0: never */
	const char *preload;
	struct fragment hog;
	char *buffer; /* of the run under way */
	uint64_t unpinned_at, blocks_until_huge, huge_after;
	unsigned unpinned;    /* runs in which the pins went away */
	uint64_t most_blocks; /* the largest blocks_until_huge of these */
	bool pinned, movable, yes, json, verbose, wanted[METHODS];
	struct pop_probe probe;
	struct sample sample[METHODS][MAX_REPEAT];
	struct cl_populate_receipt receipt; /* of the last run of ours */
};

static void die(const char *what, int error)
{
	fprintf(stderr, "bench-populate: %s: %s\n", what, strerror(error));
	exit(3);
}

static uint64_t parse_size(const char *text)
{
	static const char units[] = "KMGT";
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;

	if (end == text || (*end && !unit)) {
		fprintf(stderr, "bench-populate: '%s' is not a size such as 512M or 4G\n", text);
		exit(2);
	}
	return unit ? n << (10 * (unit - units + 1)) : n;
}

static int64_t vmstat(const char *name)
{
	char *text = pop_sys_read_all("/proc/vmstat");
	int64_t value = text ? (int64_t)pop_room_field(text, name, 0) : -1;

	free(text);
	return value;
}

/* ---- one run -------------------------------------------------------------------- */

/* Bytes of the buffer that are there; one worker fills it from its beginning. */
static uint64_t filled(const struct bench *b, char *at)
{
	uint64_t page = b->probe.page_bytes, low = 0, high = b->size / page;
	unsigned char there;

	while (low < high) {
		uint64_t mid = (low + high) / 2;

		if (!mincore(at + mid * page, page, &there) && (there & 1))
			low = mid + 1;
		else
			high = mid;
	}
	return low * page;
}

/* Ten times a second at most; the workers go on meanwhile. */
static int unpin_when_due(void *arg, const struct cl_populate_progress *p)
{
	struct bench *b = arg;

	if (!b->unpinned_at && p->done_bytes * 100 >= p->bytes * b->unpin_at &&
	    p->done_bytes < p->bytes) {
		fragment_unpin(&b->hog);
		b->unpinned_at = filled(b, b->buffer);
	}
	return 0;
}

/* Of the last run: what came after the pins had gone. */
static void print_last_recovery(const struct bench *b)
{
	if (b->unpinned_at)
		fprintf(stderr,
			"when the pins had gone %" PRIu64 " MiB were there; %" PRIu64
			" blocks of 2 MiB until the first huge page; of the rest %" PRIu64
			" MiB became huge, %" PRIu64 " did not\n",
			b->unpinned_at >> 20, b->blocks_until_huge, b->huge_after >> 20,
			(b->size - b->unpinned_at - b->huge_after) >> 20);
	else if (b->unpin_at)
		fprintf(stderr, "over before the pins could go; raise --size\n");
}

static bool recovers(const struct bench *b)
{
	return !b->unpin_at || (b->unpinned && b->most_blocks <= MAX_BLOCKS);
}

static void print_recovery(const struct bench *b)
{
	if (b->unpin_at)
		printf("%s: the pins went in %u runs, at most %" PRIu64
		       " blocks of 2 MiB came before the first huge page after that (%d allowed)\n",
		       recovers(b) ? "HOLDS" : "FAILS", b->unpinned, b->most_blocks, MAX_BLOCKS);
}

static void look_at_recovery(struct bench *b)
{
	uint64_t block = b->probe.block_bytes, from = (b->unpinned_at + block - 1) / block * block;
	uint64_t at = (uintptr_t)b->buffer, first = from;

	b->huge_after = b->blocks_until_huge = 0;
	if (!b->unpinned_at || b->probe.pagemap < 0)
		return;
	while (first < b->size && pop_survey_huge(&b->probe, at + first, at + first + block) <= 0)
		first += block;
	b->blocks_until_huge = (first - from) / block;
	b->huge_after = (uint64_t)pop_survey_huge(&b->probe, at + from, at + b->size);
	b->unpinned++;
	if (b->blocks_until_huge > b->most_blocks)
		b->most_blocks = b->blocks_until_huge;
}

static int ours(struct bench *b, char *at, unsigned threads)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;

	o.threads = threads;
	if (b->node >= 0) {
		o.policy = CL_POPULATE_PREFER;
		o.node = b->node;
	}
	if (b->unpin_at) {
		b->buffer = at;
		b->unpinned_at = 0;
		o.progress = unpin_when_due;
		o.arg = b;
	}
	b->receipt.size = sizeof(b->receipt);
	return cl_populate(at, b->size, &o, &b->receipt);
}

static int base_then_collapse(struct bench *b, char *at)
{
	int r = pop_sys_huge(at, b->size, false);

	if (!r)
		r = pop_sys_populate_write(at, b->size);
	if (!r)
		r = pop_sys_huge(at, b->size, true);
	/* One call a block: a failing block must not end it. */
	for (uint64_t off = 0; !r && off < b->size; off += b->probe.block_bytes)
		pop_sys_collapse(at + off, b->probe.block_bytes);
	return r;
}

static int map_filled(char *at, uint64_t size, int flags)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE | flags, -1, 0);

	return p == at ? 0 : -errno;
}

static int fill(struct bench *b, enum method m, char *at)
{
	int r = 0;

	switch (m) {
	case TOUCH:
		r = pop_sys_huge(at, b->size, true);
		for (uint64_t off = 0; !r && off < b->size; off += b->probe.page_bytes)
			((volatile char *)at)[off] = 1;
		return r;
	case POPULATE:
		r = pop_sys_huge(at, b->size, true);
		return r ? r : pop_sys_populate_write(at, b->size);
	case MAP: /* no advice can be given before it is filled */
		return map_filled(at, b->size, 0);
	case HUGETLB:
		return map_filled(at, b->size, MAP_HUGETLB);
	case BASE:
		r = pop_sys_huge(at, b->size, false);
		return r ? r : pop_sys_populate_write(at, b->size);
	case COLLAPSE:
		return base_then_collapse(b, at);
	case OURS:
		return ours(b, at, 1);
	case THREADS:
		return ours(b, at, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
	case QEMU:
	case QEMU_OURS:
	case METHODS:
		break;
	}
	return -EINVAL;
}

/* Of all threads, so that a busy machine can be told from a slow method. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * A virtual machine gives memory that is free back to its host after a second or two,
 * and then the first touch costs many times the page fault. So touch as much as will be
 * needed, give it back, and be quick: the newest free blocks are handed out first.
 */
static void warm(struct bench *b)
{
	uint64_t size = b->size + b->size / 16;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	pop_sys_huge(at, size, true);
	pop_sys_populate_write(at, size);
	munmap(at, size);
}

static void run_here(struct bench *b, enum method m, struct sample *s)
{
	uint64_t block = b->probe.block_bytes, t, cpu;
	char *map = mmap(NULL, b->size + block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0),
	     *at;
	int64_t huge;
	int r;

	if (map == MAP_FAILED)
		die("mmap", errno);
	at = (char *)(((uintptr_t)map + block - 1) & ~(block - 1));
	t = pop_sys_now_ns();
	cpu = cpu_ns();
	r = fill(b, m, at);
	s->cpu_ns = cpu_ns() - cpu;
	s->ns = pop_sys_now_ns() - t;
	if ((m == OURS || m == THREADS) && (r || b->verbose))
		fprintf(stderr, "bench-populate: %s\n", b->receipt.text);
	if (r)
		die(names[m], -r);
	huge = b->probe.pagemap >= 0
		       ? pop_survey_huge(&b->probe, (uintptr_t)at, (uintptr_t)at + b->size)
		       : -1;
	s->huge = huge < 0 ? 0 : (uint64_t)huge;
	if (b->unpin_at && m == OURS)
		look_at_recovery(b);
	munmap(map, b->size + block);
}

static void run_qemu(struct bench *b, const char *preload, struct sample *s)
{
	struct qemu_result q = {0};
	int r = qemu_prealloc(b->size, preload, &q);

	if (r)
		die("QEMU with prealloc=on", -r);
	s->ns = q.ns;
	s->cpu_ns = q.cpu_ns;
	s->huge = q.huge;
}

static void run(struct bench *b, enum method m, struct sample *s)
{
	int64_t stall, fail;

	if (!b->pinned && !b->movable)
		warm(b);
	stall = vmstat("compact_stall");
	fail = vmstat("compact_fail");
	if (m == QEMU || m == QEMU_OURS)
		run_qemu(b, m == QEMU ? NULL : b->preload, s);
	else
		run_here(b, m, s);
	s->stall = vmstat("compact_stall") - stall;
	s->fail = vmstat("compact_fail") - fail;
	if (b->verbose)
		fprintf(stderr, "%-18s %8.4f s %8" PRIu64 " MiB huge %6" PRId64 " stalls\n",
			names[m], (double)s->ns / 1e9, s->huge >> 20, s->stall);
	if (b->verbose && m == OURS)
		print_last_recovery(b);
}

/* ---- the table ------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int by_cpu(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->cpu_ns < y->cpu_ns ? -1 : x->cpu_ns > y->cpu_ns;
}

static int by_huge(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->huge < y->huge ? -1 : x->huge > y->huge;
}

static int by_fail(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->fail < y->fail ? -1 : x->fail > y->fail;
}

/* Medians, each by itself; leaves the samples sorted by time. */
static struct sample median(const struct bench *b, struct sample *s)
{
	struct sample m;
	unsigned mid = b->repeat / 2;

	qsort(s, b->repeat, sizeof(*s), by_cpu);
	m.cpu_ns = s[mid].cpu_ns;
	qsort(s, b->repeat, sizeof(*s), by_huge);
	m.huge = s[mid].huge;
	qsort(s, b->repeat, sizeof(*s), by_fail);
	m.fail = s[mid].fail;
	m.stall = s[mid].stall;
	qsort(s, b->repeat, sizeof(*s), by_time);
	m.ns = s[mid].ns;
	return m;
}

static void print_line(struct bench *b, enum method m)
{
	struct sample *s = b->sample[m], mid = median(b, s);
	struct sample plain = median(b, b->sample[POPULATE]), base = median(b, b->sample[BASE]);

	/* Ratios to something that was not run are 0. */
#define RATIO(to, field) ((to).field ? (double)mid.field / (double)(to).field : 0.0)
	printf(b->json ? "{\"method\":\"%s\",\"median_s\":%.4f,\"min_s\":%.4f,\"max_s\":%.4f,"
			 "\"of_populate_write\":%.3f,\"of_base\":%.3f,\"cpu_s\":%.4f,"
			 "\"cpu_of_populate_write\":%.3f,\"huge_mib\":%" PRIu64
			 ",\"compact_stall\":%" PRId64 ",\"compact_fail\":%" PRId64 "}\n"
		       : "%-18s %8.4f [%.4f..%.4f] %9.3f %7.3f %8.4f %9.3f %8" PRIu64 " %6" PRId64
			 " %6" PRId64 "\n",
	       names[m], (double)mid.ns / 1e9, (double)s[0].ns / 1e9,
	       (double)s[b->repeat - 1].ns / 1e9, RATIO(plain, ns), RATIO(base, ns),
	       (double)mid.cpu_ns / 1e9, RATIO(plain, cpu_ns), mid.huge >> 20, mid.stall, mid.fail);
#undef RATIO
}

static void print_table(struct bench *b)
{
	time_t now = time(NULL);
	struct utsname u;
	char date[16];

	uname(&u);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	if (!b->json) {
		printf("%s %s %s, %s, %" PRIu64 " MiB, %u runs each, %s memory\n", u.sysname,
		       u.release, u.machine, date, b->size >> 20, b->repeat,
		       b->pinned    ? "pinned"
		       : b->movable ? "movable-fragmented"
				    : "unprepared");
		printf("%-18s %8s %-16s %9s %7s %8s %9s %8s %6s %6s\n", "method", "median s",
		       "[range]", "/populate", "/base", "cpu s", "/populate", "huge MiB", "stalls",
		       "failed");
	}
	for (int m = 0; m < METHODS; m++)
		if (b->wanted[m])
			print_line(b, (enum method)m);
	if (b->wanted[OURS]) {
		char json[16384];

		cl_populate_receipt_json(&b->receipt, json, sizeof(json));
		print_recovery(b);
		printf("%s\n", json);
	}
	if (b->wanted[QEMU] && b->wanted[QEMU_OURS])
		printf("QEMU took %.2f times as long to fill its guest's memory as with the "
		       "library "
		       "preloaded\n",
		       (double)median(b, b->sample[QEMU]).ns /
			       (double)median(b, b->sample[QEMU_OURS]).ns);
}

/*
 * With --node everything runs as a program started there would: on its CPUs, its memory
 * preferred.
 */
static void settle(struct bench *b)
{
	struct pop_policy p = {.mode = POP_MPOL_PREFERRED};
	uint64_t cpus[POP_CPUS / 64];
	int r;

	if (b->node < 0)
		return;
	pop_mask_set(&p.nodes, (unsigned)b->node);
	if (!pop_mask_has(&b->probe.memory, (unsigned)b->node))
		die("--node", EINVAL);
	if (pop_probe_cpus(b->node, cpus))
		sched_setaffinity(0, sizeof(cpus), (cpu_set_t *)cpus);
	r = pop_sys_set_policy(&p);
	if (r && b->node)
		die("set_mempolicy", -r);
}

/*
 * What the warm-up frees is on the lists of the CPU that freed it, which may hold gigabytes
 * (Linux 6.7). A worker on another CPU would get other memory, cold to the machine's host,
 * and the figure would be that of the memory. So all run on one CPU, unless several were asked
 * for.
 */
static void stay_on_this_cpu(const struct bench *b)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	if (b->pinned || b->movable || b->wanted[THREADS] || b->wanted[QEMU] ||
	    b->wanted[QEMU_OURS] || cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Only where somebody has configured a pool that is large enough. */
static bool has_pool(const struct bench *b)
{
	char text[8192];

	return pop_sys_read("/proc/meminfo", text, sizeof(text)) > 0 &&
	       pop_room_field(text, "Hugepagesize:", 0) * 1024 == b->probe.block_bytes &&
	       pop_room_field(text, "HugePages_Free:", 0) * b->probe.block_bytes >= b->size;
}

/* ---- command line --------------------------------------------------------------- */

static void choose(struct bench *b, char *list)
{
	memset(b->wanted, 0, sizeof(b->wanted));
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		int m = 0;

		while (m < METHODS && strcmp(word, names[m]) != 0)
			m++;
		if (m == METHODS) {
			fprintf(stderr, "bench-populate: no method '%s'\n", word);
			exit(2);
		}
		b->wanted[m] = true;
	}
}

static void parse(struct bench *b, int argc, char **argv)
{
	static const struct option longs[] = {
		{"size", 1, 0, 's'},
		{"repeat", 1, 0, 'r'},
		{"node", 1, 0, 'n'},
		{"leave", 1, 0, 'l'},
		{"methods", 1, 0, 'm'},
		{"pinned", 0, 0, 'p'},
		{"movable", 0, 0, 'v'},
		{"yes", 0, 0, 'y'},
		{"json", 0, 0, 'j'},
		{"unpin-at", 1, 0, 'u'},
		{"preload", 1, 0, 'P'},
		{"verbose", 0, 0, 'V'},
		{0},
	};

	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		switch (c) {
		case 's':
			b->size = parse_size(optarg);
			break;
		case 'r':
			b->repeat = (unsigned)atoi(optarg);
			break;
		case 'n':
			b->node = atoi(optarg);
			break;
		case 'l':
			b->leave = parse_size(optarg);
			break;
		case 'm':
			choose(b, optarg);
			break;
		case 'p':
			b->pinned = true;
			break;
		case 'v':
			b->movable = true;
			break;
		case 'u':
			b->unpin_at = (unsigned)atoi(optarg);
			break;
		case 'P':
			b->preload = optarg;
			break;
		case 'V':
			b->verbose = true;
			break;
		case 'y':
			b->yes = true;
			break;
		case 'j':
			b->json = true;
			break;
		default:
			exit(2);
		}
	}
	if (b->repeat < 1 || b->repeat > MAX_REPEAT || b->size < (2u << 20)) {
		fprintf(stderr, "bench-populate: --repeat 1..%d, --size 2M or more\n", MAX_REPEAT);
		exit(2);
	}
	if (b->wanted[QEMU_OURS] && !b->preload) {
		fprintf(stderr, "bench-populate: qemu-preloaded needs --preload LIBRARY\n");
		exit(2);
	}
	if ((b->pinned || b->movable) && !b->yes) {
		fprintf(stderr,
			"bench-populate: this fills the memory of a node except --leave (%" PRIu64
			" MiB) and disturbs everything that runs here; say --yes if that is "
			"meant\n",
			b->leave >> 20);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct bench *b = calloc(1, sizeof(*b));
	bool ok;

	if (!b)
		die("calloc", ENOMEM);
	b->size = 1u << 30;
	b->repeat = 5;
	b->node = -1;
	for (int m = 0; m < METHODS; m++)
		b->wanted[m] = m == TOUCH || m == POPULATE || m == BASE || m == OURS;
	b->leave = 6ull << 30;
	parse(b, argc, argv);
	b->size &= ~((2ull << 20) - 1);
	pop_probe_open(&b->probe);
	if (b->wanted[HUGETLB] && !has_pool(b)) {
		fprintf(stderr, "bench-populate: no hugetlb: vm.nr_hugepages is not configured\n");
		b->wanted[HUGETLB] = false;
	}
	settle(b);
	stay_on_this_cpu(b);
	if (b->pinned || b->movable)
		b->hog = fragment_start(b->leave, b->node, b->pinned);
	/*
	 * The order rotates, and every other round is reversed: what a method leaves on the
	 * free lists and of the kernel's deferral is what the next one gets, and memory a
	 * virtual machine has not touched yet is slower than any method.
	 */
	for (unsigned i = 0; i <= b->repeat; i++)
		for (unsigned turn = 0; turn < METHODS; turn++) {
			unsigned m = (i % 2 ? METHODS - 1 - turn : turn) + i / 2;
			struct sample s;

			m %= METHODS;
			if (!b->wanted[m])
				continue;
			run(b, (enum method)m, &s);
			/* What compaction makes stays made: movable memory is prepared anew. */
			if (b->movable || b->unpin_at)
				fragment_again(&b->hog);
			if (i) /* the first round warms up */
				b->sample[m][i - 1] = s;
		}
	fragment_stop(&b->hog);
	print_table(b);
	ok = recovers(b);
	pop_probe_close(&b->probe);
	free(b);
	return ok ? 0 : 1;
}
