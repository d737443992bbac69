/* SPDX-License-Identifier: MIT */
/*
 * What users of the model wait for: making a machine, faulting its memory in page by page, punching
 * every second page out, giving all of it back, hashing the state; and what a page costs in host
 * memory.
 *
 *     bench-model-fault [GIBIBYTES]     default 8
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/arena.h"
#include "model/model.h"
#include "model/types.h"

static double seconds(void)
{
	struct timespec t;

	/* The time of this process: other work on the machine is not the model's. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void line(const char *what, double start, uint64_t n, const char *unit)
{
	double took = seconds() - start;

	printf("%-34s %8.3f s %9.1f ns a %s\n", what, took, took / (double)n * 1e9, unit);
}

static void run(struct model *m, task_id task, struct op op, const char *what)
{
	double start = seconds();

	if (model_do(m, task, &op) || op.error) {
		fprintf(stderr, "%s failed\n", what);
		exit(1);
	}
	line(what, start, op.done ? op.done : 1, "page");
}

static struct model *make(uint64_t gib)
{
	struct model_config c;
	struct model *m;
	const char *why;
	double start = seconds();

	model_config_defaults(&c);
	c.node[0].mib = gib << 10;
	c.sysctl.compaction_proactiveness = 0;
	if (model_create(&c, &m, &why)) {
		fprintf(stderr, "no machine: %s\n", why);
		exit(1);
	}
	printf("a machine of %llu GiB: %.1f ms, %.1f MiB resident\n", (unsigned long long)gib,
	       (seconds() - start) * 1e3, (double)model_bytes_resident(m) / (1 << 20));
	return m;
}

/* Host memory by what it describes. */
struct resident {
	uint64_t pages;  /* state[], flag[], word[] and owners.pfn[]: for each page */
	uint64_t blocks; /* records of pageblocks and of slot groups */
	uint64_t all;
	int64_t free; /* simulated pages on the free lists: nothing is kept of the inside of a chunk
		       */
};

static struct resident resident(struct model *m)
{
	const struct memmap *map = &m->map;
	const struct owners *own = &m->own;
	int64_t counters[NR_VMSTAT];

	model_counters(m, counters);
	return (struct resident){
		.pages = arena_resident_in(map->state, map->end_pfn) +
			 arena_resident_in(map->flag, map->end_pfn) +
			 arena_resident_in(map->word, map->end_pfn * sizeof(*map->word)) +
			 arena_resident_in(own->pfn, own->nr_slots * sizeof(*own->pfn)),
		.blocks = arena_resident_in(map->block, map->nr_blocks * sizeof(*map->block)) +
			  arena_resident_in(map->zone_of_block, map->nr_blocks) +
			  arena_resident_in(map->skip, map->nr_blocks / 8) +
			  arena_resident_in(map->whole, map->nr_blocks / 8) +
			  arena_resident_in(map->not_movable, map->nr_blocks / 8) +
			  arena_resident_in(own->region_of_group,
					    own->nr_slots / SLOT_GROUP *
						    sizeof(*own->region_of_group)),
		.all = model_bytes_resident(m),
		.free = counters[VM_NR_FREE_PAGES],
	};
}

static void print_resident(struct model *m, const struct resident *empty)
{
	struct resident now = resident(m);

	printf("%-34s %8.2f bytes\n", "arrays, for each page in use",
	       (double)(now.pages - empty->pages) / (double)(empty->free - now.free));
	printf("%-34s %8.2f bytes\n", "records, for each pageblock",
	       (double)now.blocks / m->map.nr_blocks);
	printf("%-34s %8.1f KiB\n", "lists, zones, tasks: the rest",
	       (double)(now.all - now.pages - now.blocks) / 1024);
	printf("%-34s %8.2f bytes\n", "all of it, for each page in use",
	       (double)now.all / (double)(empty->free - now.free));
}

int main(int argc, char **argv)
{
	uint64_t gib = argc > 1 ? strtoull(argv[1], NULL, 10) : 8;
	struct model *m = make(1024);
	region_id region;
	task_id task;
	struct resident empty;
	uint64_t pages;
	double start;

	model_destroy(m);
	m = make(gib);
	empty = resident(m);
	pages = (gib << 18) - (gib << 18) / 16;
	if (model_task(m, 0, &task) || model_mmap(m, task, pages << 12, ADVISE_NOHUGEPAGE, &region))
		return 1;
	run(m, task, (struct op){.kind = OP_TOUCH, .region = region, .count = pages, .write = true},
	    "fault base pages in");
	print_resident(m, &empty);
	run(m, task, (struct op){.kind = OP_PIN, .region = region, .count = pages, .step = 2},
	    "pin every second page");
	run(m, task,
	    (struct op){.kind = OP_RELEASE,
			.region = region,
			.count = pages,
			.pick = PICK_POSITION,
			.modulo = 2,
			.residue = 1},
	    "punch the others out");
	start = seconds();
	printf("state hash %016llx\n", (unsigned long long)model_state_hash(m));
	line("hash the state", start, pages, "page");
	start = seconds();
	model_munmap(m, region);
	line("unmap", start, pages / 2, "page");
	if (model_mmap(m, task, pages << 12, ADVISE_HUGEPAGE, &region))
		return 1;
	if (model_set(m, "transparent_hugepage/enabled", "always"))
		return 1;
	run(m, task, (struct op){.kind = OP_TOUCH, .region = region, .count = pages, .write = true},
	    "fault huge pages in");
	model_destroy(m);
	return 0;
}
