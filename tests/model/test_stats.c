/* SPDX-License-Identifier: MIT */
/* The machine as the kernel's text files show it. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/memmap.h"
#include "model/stats.h"

static char text[1 << 17];

static const char *text_of(struct model *m, enum model_text what)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	model_text(m, what, f);
	fclose(f);
	return text;
}

static void assert_contains(const char *haystack, const char *needle)
{
	if (!strstr(haystack, needle))
		fail_msg("missing:\n%s\nin:\n%.2000s", needle, haystack);
}

/* Two nodes of a small machine; node 0 with three zones. */
static struct model *machine(enum profile_id profile)
{
	struct model_config c = quiet_config(profile, 512);

	c.nr_nodes = 2;
	c.node[0].cpus = 2;
	c.node[1].cpus = 0;
	c.nr_zones = 3;
	c.zone[0] = (struct zone_config){.class = ZONE_DMA,
					 .start_pfn = 1,
					 .spanned = 4095,
					 .managed = 3840};
	c.zone[1] = (struct zone_config){.class = ZONE_DMA32, .start_pfn = 4096, .spanned = 32768};
	c.zone[2] = (struct zone_config){.node = 1,
					 .class = ZONE_NORMAL,
					 .start_pfn = 65536,
					 .spanned = 16384};
	c.pcp = true;
	c.sysctl.min_free_kbytes = 1024;
	return machine_make(&c);
}

static void test_buddyinfo_has_the_kernels_columns_and_no_per_cpu_pages(void **state)
{
	struct model *m = machine(PROFILE_C);

	(void)state;
	assert_string_equal(text_of(m, TEXT_BUDDYINFO),
			    /* pfns 1 to 3840: both ends are odd pieces. */
			    "Node 0, zone      DMA      2      1      1      1      1      1      "
			    "1      1      2      2      2 \n"
			    "Node 0, zone    DMA32      0      0      0      0      0      0      "
			    "0      0      0      0     32 \n"
			    "Node 1, zone   Normal      0      0      0      0      0      0      "
			    "0      0      0      0     16 \n");
	assert_int_not_equal(alloc_pages(m, GFP_TRANSHUGE_LIGHT, 9, (node_id){1}, NODEMASK_NONE),
			     PFN_NONE);
	/* A refill takes two. */
	assert_contains(text_of(m, TEXT_BUDDYINFO),
			"Node 1, zone   Normal      0      0      0      0      "
			"0      0      0      0      0      0     15 \n");
	model_destroy(m);
}

static void test_pagetypeinfo_lists_types_and_blocks(void **state)
{
	struct model *m = machine(PROFILE_B);
	const char *t;

	(void)state;
	(void)buddy_retype_block(m, &m->zone[1], block_of(8192), MIGRATE_RECLAIMABLE);
	t = text_of(m, TEXT_PAGETYPEINFO);
	assert_memory_equal(
		t,
		"Page block order: 9\nPages per block:  512\n\n"
		"Free pages count per migrate type at order       0      1      2      3      4  "
		"    5      6      7      8      9     10 \n"
		"Node    0, zone      DMA, type    Unmovable      0 ",
		170);
	/* The first block of ZONE_DMA, pfns 1 to 511, is unmovable from the start. */
	assert_contains(t, "Node    0, zone      DMA, type    Unmovable      1      1      1      "
			   "1      1      "
			   "1      1      1      1      0      0 \n");
	assert_contains(t, "Node    0, zone    DMA32, type      Movable      0      0      0      "
			   "0      0      "
			   "0      0      0      0      1     31 \n"
			   "Node    0, zone    DMA32, type  Reclaimable      0      0      0      "
			   "0      0      "
			   "0      0      0      0      1      0 \n"
			   "Node    0, zone    DMA32, type   HighAtomic ");
	assert_contains(
		t,
		"\nNumber of blocks type     Unmovable      Movable  Reclaimable   HighAtomic      "
		"Isolate \n"
		"Node 0, zone      DMA            1            7            0            0         "
		"   0 \n"
		"Node 0, zone    DMA32            0           63            1            0         "
		"   0 \n");
	assert_null(strstr(t, "CMA"));
	machine_end(m);
	m = machine(PROFILE_C); /* built with CMA */
	t = text_of(m, TEXT_PAGETYPEINFO);
	assert_contains(t, "Node    0, zone      DMA, type          CMA      0 ");
	assert_contains(t, "Reclaimable   HighAtomic          CMA      Isolate \n");
	machine_end(m);
}

static void test_pagetypeinfo_stops_counting_at_100000(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 262144);
	struct zone *z = &m->zone[0];

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		pfn_t pfn = buddy_take(m, z, 1, MIGRATE_MOVABLE);

		memmap_set_held(m, pfn + 1, 0);
		memmap_set_held(m, pfn, 0);
		buddy_free(m, z, pfn, 0, false);
		if (i == 99998)
			assert_contains(text_of(m, TEXT_PAGETYPEINFO), "type      Movable  99999 ");
	}
	assert_contains(text_of(m, TEXT_PAGETYPEINFO), "type      Movable >100000 ");
	model_destroy(m);
}

static void test_zoneinfo_of_a_populated_and_of_an_empty_zone(void **state)
{
	struct model *m = machine(PROFILE_C);
	const char *t;

	(void)state;
	m->zone[1].boost = 100;
	assert_int_not_equal(alloc_pages(m, __GFP_DMA32, 0, (node_id){0}, NODEMASK_NONE), PFN_NONE);
	t = text_of(m, TEXT_ZONEINFO);
	assert_memory_equal(t,
			    "Node 0, zone      DMA\n  per-node stats\n      nr_inactive_anon 0\n",
			    64);
	/* min 256 * 32768 / 52992 = 158, gap 39; the boost is in all four. */
	assert_contains(
		t,
		"Node 0, zone    DMA32\n  pages free     32761\n        boost    100\n"
		"        min      258\n        low      297\n        high     336\n"
		"        promo    375\n        spanned  32768\n        present  32768\n"
		"        managed  32768\n        cma      0\n        protection: (0, 0, 0, 0, 0)\n"
		"      nr_free_pages 32761\n");
	assert_contains(t, "      numa_hit     1\n");
	assert_contains(
		t, "      numa_other   0\n  pagesets\n    cpu: 0\n              count:    6\n");
	assert_contains(
		t,
		"  vm stats threshold: 8\n  node_unreclaimable:  0\n  start_pfn:           4096\n"
		"  reserved_highatomic: 0\n  free_highatomic:     0\n"
		"Node 0, zone   Normal\n  pages free     0\n        boost    0\n");
	assert_contains(t, "        protection: (0, 0, 0, 0, 0)\nNode 0, zone  Movable\n");
	assert_contains(
		t, "zone  Movable\n  pages free     0\n        boost    0\n        min      32\n"
		   "        low      32\n        high     32\n        promo    32\n");
	/* The node's statistics stand in its first populated zone. */
	assert_contains(t, "Node 1, zone   Normal\n  per-node stats\n");
	model_destroy(m);
	m = machine(PROFILE_A);
	t = text_of(m, TEXT_ZONEINFO);
	assert_null(strstr(t, "free_highatomic"));
	assert_null(strstr(t, "high_min"));
	assert_null(strstr(t, "pgscan_kswapd"));
	/* Without the limits the column is narrower. */
	assert_contains(t,
			"  pagesets\n    cpu: 0\n              count: 0\n"
			"              high:  0\n              batch: 1\n  vm stats threshold: ");
	machine_end(m);
	m = machine(PROFILE_B);
	t = text_of(m, TEXT_ZONEINFO);
	assert_contains(t, "    cpu: 0\n              count:    0\n              high:     0\n"
			   "              batch:    1\n              high_min: ");
	machine_end(m);
}

static int line_of(const char *t, const char *name)
{
	char key[64];
	const char *at;
	int line = 0;

	(void)snprintf(key, sizeof(key), "\n%s ", name);
	at = strstr(t, key);
	if (!at)
		return -1;
	for (const char *p = t; p < at; p++)
		line += *p == '\n';
	return line;
}

static void test_vmstat_rows_and_their_order_by_kernel(void **state)
{
	struct model *m = machine(PROFILE_A);
	const char *t = text_of(m, TEXT_VMSTAT);

	(void)state;
	assert_memory_equal(t, "nr_free_pages ", 14);
	assert_int_equal(line_of(t, "nr_free_pages_blocks"), -1);
	assert_true(line_of(t, "nr_bounce") > 0);
	assert_int_equal(line_of(t, "pgscan_proactive"), -1);
	assert_int_equal(line_of(t, "zswpin"), -1);
	assert_true(line_of(t, "pgsteal_kswapd") > line_of(t, "pgreuse"));
	assert_true(line_of(t, "pgscan_anon") > line_of(t, "pgscan_direct_throttle"));
	assert_string_equal(t + strlen(t) - 14, "nr_unstable 0\n");
	machine_end(m);

	m = machine(PROFILE_C);
	t = text_of(m, TEXT_VMSTAT);
	assert_int_equal(line_of(t, "nr_free_pages_blocks"), 0);
	assert_int_equal(line_of(t, "nr_bounce"), -1);
	assert_true(line_of(t, "pgsteal_kswapd") < line_of(t, "nr_dirty_threshold"));
	assert_true(line_of(t, "cma_alloc_success") > 0);
	assert_int_equal(line_of(t, "nr_vmalloc"), line_of(t, "nr_foll_pin_released") + 1);
	assert_int_equal(line_of(t, "pgsteal_kswapd"), line_of(t, "pgdemote_proactive") + 1);
	assert_int_equal(line_of(t, "nrswpout"), line_of(t, "nr_unstable") - 1);
	assert_int_equal(line_of(t, "nr_unaccepted"), line_of(t, "numa_hit") - 1);
	machine_end(m);
}

static void test_counters_by_name_and_number_agree(void **state)
{
	struct model *m = machine(PROFILE_C);
	int64_t values[NR_VMSTAT];

	(void)state;
	assert_int_not_equal(alloc_pages(m, GFP_KERNEL, 2, (node_id){1}, NODEMASK_NONE), PFN_NONE);
	stats_snapshot(m, values);
	assert_int_equal(values[VM_PGALLOC_NORMAL], 4);
	assert_int_equal(values[VM_NUMA_HIT], 1);
	assert_int_equal(values[VM_NR_FREE_PAGES], stats_get(m, VM_NR_FREE_PAGES));
	assert_string_equal(model_counter_name(VM_PGALLOC_NORMAL), "pgalloc_normal");
	model_destroy(m);
}

static void test_extfrag_index_is_printed_in_thousandths(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 8192);

	(void)state;
	lay_begin(m);
	for (pfn_t b = 512; b < 512 + 8192; b += 512)
		lay(m, b, "256(fK)");
	lay_end(m);
	/* Order 0 exists; of the others 4096 single pages make (1000 - (1000 + F * 1000 / 2^o) /
	 * 4096). */
	assert_string_equal(
		text_of(m, TEXT_EXTFRAG_INDEX),
		"Node 0, zone   Normal -1.000  0.500  0.750  0.875  0.938  0.969  0.985  0.992  "
		"0.996  0.998  0.999 \n");
	machine_end(m);
}

static void test_kpageflags_of_each_kind_of_page(void **state)
{
	static const struct {
		pfn_t at;
		uint64_t flags;
	} rows[] = {
		{0, 1ull << 3 | 1ull << 5 | 1ull << 11 | 1ull << 12 | 1ull << 14}, /* anon */
		{1, 1ull << 3 | 1ull << 5 | 1ull << 11 | 1ull << 12 |
			    1ull << 14},                /* pinned: the same */
		{2, 1ull << 3 | 1ull << 4 | 1ull << 5}, /* dirty file page, not mapped */
		{3, 0},                                 /* kernel */
		{4, 1ull << 7},
		{5, 1ull << 26},
		{6, 0},          /* on a per-CPU list */
		{7, 1ull << 10}, /* free, order 0 */
		{8, 1ull << 15},
		{11, 1ull << 16},
		{64, 1ull << 10},
		{100, 1ull << 10}, /* inside a free chunk */
		{511, 1ull << 10},
		{512, 1ull << 3 | 1ull << 5 | 1ull << 11 | 1ull << 12 | 1ull << 14 | 1ull << 15 |
			      1ull << 22},
		{1000, 1ull << 3 | 1ull << 5 | 1ull << 11 | 1ull << 12 | 1ull << 14 | 1ull << 16 |
			       1ull << 22},
		{4096, 1ull << 10}, /* never touched */
		{5000, 1ull << 10},
	};
	struct model *m = machine_quiet(PROFILE_C, 16384);
	pfn_t base = 2048;

	(void)state;
	lay_begin(m);
	lay(m, base, "APDKBGpfk");
	lay(m, base + 512, "T");
	lay_end(m);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (stats_kpageflags(m, base + rows[i].at) != rows[i].flags)
			fail_msg("pfn base + %u: %#llx, not %#llx", rows[i].at,
				 (unsigned long long)stats_kpageflags(m, base + rows[i].at),
				 (unsigned long long)rows[i].flags);
	}
	assert_int_equal(stats_kpageflags(m, 5), 1ull << 20);
	model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buddyinfo_has_the_kernels_columns_and_no_per_cpu_pages),
		cmocka_unit_test(test_pagetypeinfo_lists_types_and_blocks),
		cmocka_unit_test(test_pagetypeinfo_stops_counting_at_100000),
		cmocka_unit_test(test_zoneinfo_of_a_populated_and_of_an_empty_zone),
		cmocka_unit_test(test_vmstat_rows_and_their_order_by_kernel),
		cmocka_unit_test(test_counters_by_name_and_number_agree),
		cmocka_unit_test(test_extfrag_index_is_printed_in_thousandths),
		cmocka_unit_test(test_kpageflags_of_each_kind_of_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
