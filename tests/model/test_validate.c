/* SPDX-License-Identifier: MIT */
/*
 * The validator's second half: pages against owners, gauges, pins, lists and the clock. Each kind
 * of damage is done on purpose, must be reported, and is mended again. (Free and per-CPU lists:
 * test_buddy.c.)
 */
#include "harness.h"

#include <string.h>

#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pcp.h"
#include "model/pin.h"

#define PAGES (64u * PAGEBLOCK_PAGES)

/* A machine with one of everything: memory of a task, huge and small, pinned, locked and partly
 * unmapped, files, shared memory, slabs, pages on per-CPU lists. */
static struct model *full_machine(void)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);
	struct model *m;
	region_id anon, file, shmem, locked;
	task_id task;
	struct op op;

	c.pcp = c.daemons = c.page_tables = c.lru_batches = true;
	c.thp.enabled = THP_ENABLED_ALWAYS;
	c.swap_mib = 4;
	m = machine_make(&c);
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 1600 * 4096, ADVISE_NONE, &anon), 0);
	assert_int_equal(model_mmap(m, task, 100 * 4096, ADVISE_NOHUGEPAGE, &locked), 0);
	assert_int_equal(model_file(m, 600 * 4096, 4, &file), 0);
	assert_int_equal(model_shmem(m, task, 1024 * 4096, true, &shmem), 0);
	op = (struct op){.kind = OP_TOUCH, .region = anon, .count = 1600, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_PIN, .region = anon, .index = 1540, .count = 20, .times = 2};
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_MLOCK, .region = locked, .count = 100};
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_WRITE, .region = file, .count = 600};
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_TOUCH, .region = shmem, .count = 600, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_SLAB, .count = 500, .cache = 0};
	assert_int_equal(model_do(m, task, &op), 0);
	return m;
}

static void assert_sound(struct model *m)
{
	char why[256] = "";

	if (!validate(m, why, sizeof(why)))
		fail_msg("%s", why);
}

/* What the validator says of the damage begins with, or holds, these words. */
static void assert_reported(struct model *m, const char *words)
{
	char why[256] = "";

	assert_false(validate(m, why, sizeof(why)));
	if (!strstr(why, words))
		fail_msg("reported as \"%s\", not as \"%s\"", why, words);
}

static void test_every_gauge_is_compared_with_the_pages(void **state)
{
	static const enum vmstat_item gauges[] = {
		VM_NR_INACTIVE_ANON,
		VM_NR_ACTIVE_ANON,
		VM_NR_INACTIVE_FILE,
		VM_NR_ACTIVE_FILE,
		VM_NR_UNEVICTABLE,
		VM_NR_SLAB_RECLAIMABLE,
		VM_NR_SLAB_UNRECLAIMABLE,
		VM_NR_ISOLATED_ANON,
		VM_NR_ISOLATED_FILE,
		VM_NR_ANON_PAGES,
		VM_NR_MAPPED,
		VM_NR_FILE_PAGES,
		VM_NR_DIRTY,
		VM_NR_WRITEBACK,
		VM_NR_SHMEM,
		VM_NR_SHMEM_HUGEPAGES,
		VM_NR_SHMEM_PMDMAPPED,
		VM_NR_FILE_HUGEPAGES,
		VM_NR_ANON_TRANSPARENT_HUGEPAGES,
		VM_NR_PAGE_TABLE_PAGES,
		VM_NR_HUGETLB,
	};
	static const enum vmstat_item zone_gauges[] = {
		VM_NR_FREE_PAGES,       VM_NR_FREE_PAGES_BLOCKS,  VM_NR_ZONE_INACTIVE_ANON,
		VM_NR_ZONE_ACTIVE_ANON, VM_NR_ZONE_INACTIVE_FILE, VM_NR_ZONE_ACTIVE_FILE,
		VM_NR_ZONE_UNEVICTABLE, VM_NR_ZONE_WRITE_PENDING, VM_NR_MLOCK,
		VM_NR_FREE_CMA,
	};
	struct model *m = full_machine();
	char why[256];

	(void)state;
	assert_sound(m);
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
		stat_node(&m->node[0], gauges[i], 1);
		if (validate(m, why, sizeof(why)))
			fail_msg("nobody missed a page in %s", vmstat_rows[gauges[i]].name);
		stat_node(&m->node[0], gauges[i], -1);
	}
	for (size_t i = 0; i < sizeof(zone_gauges) / sizeof(zone_gauges[0]); i++) {
		stat_zone(&m->zone[0], zone_gauges[i], 1);
		if (validate(m, why, sizeof(why)))
			fail_msg("nobody missed a page in %s", vmstat_rows[zone_gauges[i]].name);
		stat_zone(&m->zone[0], zone_gauges[i], -1);
	}
	machine_end(m);
}

/* The first page of a kind and at least an order. */
static pfn_t find(struct model *m, enum page_kind kind, unsigned order)
{
	for (pfn_t pfn = m->zone[0].start_pfn; pfn < m->zone[0].end_pfn; pfn++) {
		uint8_t s = memmap_state(m, pfn);

		if (PG_KIND(s) == kind && PG_ORDER(s) >= order)
			return pfn;
	}
	fail_msg("there is no page of kind %d", (int)kind);
	return PFN_NONE;
}

static void test_pages_owners_and_slots_must_agree(void **state)
{
	struct model *m = full_machine();
	pfn_t huge = find(m, PG_ANON, PMD_ORDER), file = find(m, PG_FILE, 0);
	slot_t slot = owner_slot(m, huge);
	struct region *r = owner_region(m, owner_region_of_slot(m, slot));

	(void)state;
	assert_sound(m);
	m->map.state[huge + 100] = PG_STATE(PG_TAIL_LRU, 3);
	assert_reported(m, "");
	m->map.state[huge + 100] = PG_STATE(PG_TAIL_LRU, PMD_ORDER);
	/* Nobody, or somebody else, points to the page. */
	m->own.pfn[slot.v] = 0;
	assert_reported(m, "its owner does not know it");
	m->own.pfn[slot.v] = SLOT_HUGE | huge;
	m->own.pfn[slot.v + 1] = file;
	assert_reported(m, "slots and pages disagree");
	m->own.pfn[slot.v + 1] = 0;
	r->nr_pages++;
	assert_reported(m, "slots and pages disagree");
	r->nr_pages--;
	r->nr_huge++;
	assert_reported(m, "slots and pages disagree");
	r->nr_huge--;
	m->map.flag[find(m, PG_PGTABLE, 0)] = PGF_DIRTY;
	assert_reported(m, "of a page that has none");
	m->map.flag[find(m, PG_PGTABLE, 0)] = 0;
	machine_end(m);
}

static void test_lists_pins_and_counts_must_agree(void **state)
{
	struct model *m = full_machine();
	struct zone *z = &m->zone[0];
	pfn_t file = find(m, PG_FILE, 0), pinned = find(m, PG_ANON, 0);
	struct block *b = &m->map.block[block_of(file).v];
	uint32_t i = 0;

	(void)state;
	while (!(m->map.flag[pinned] & PGF_PINNED))
		pinned++;
	assert_sound(m);
	/* A folio says that it is on the other list. */
	memmap_flag_set(m, file, PGF_ACTIVE);
	assert_reported(m, "");
	memmap_flag_clear(m, file, PGF_ACTIVE);
	b->nr_lru++;
	assert_reported(m, "differ from its pages");
	b->nr_lru--;
	b->nr_compound++;
	assert_reported(m, "differ from its pages");
	b->nr_compound--;
	z->pcp[0].count++;
	assert_reported(m, "per-CPU lists");
	z->pcp[0].count--;
	/* Two references that the table forgets, and a pin without a set. */
	while (m->pins.extra[i].head == 0)
		i++;
	m->pins.extra_used--;
	assert_reported(m, "pins");
	m->pins.extra_used++;
	m->pins.extra[i].refs -= 1;
	assert_reported(m, "pins");
	m->pins.extra[i].refs += 1;
	m->pins.set[1].times = 0;
	assert_reported(m, "pinned by nobody");
	m->pins.set[1].times = 2;
	z->nr_reserved_highatomic += PAGEBLOCK_PAGES;
	assert_reported(m, "reserved in 0 blocks");
	z->nr_reserved_highatomic -= PAGEBLOCK_PAGES;
	z->nr_free_highatomic++;
	assert_reported(m, "free lists");
	z->nr_free_highatomic--;
	m->nr_deferred_splits++;
	assert_reported(m, "wait to be split");
	m->nr_deferred_splits--;
	m->swap_used++;
	assert_reported(m, "swap");
	m->swap_used--;
	m->clock.nr_busy++;
	assert_reported(m, "clock");
	m->clock.nr_busy--;
	m->clock.heap_nr++;
	assert_reported(m, "clock");
	m->clock.heap_nr--;
	m->ctx.memstall++;
	assert_reported(m, "nobody runs");
	m->ctx.memstall--;
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_gauge_is_compared_with_the_pages),
		cmocka_unit_test(test_pages_owners_and_slots_must_agree),
		cmocka_unit_test(test_lists_pins_and_counts_must_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
