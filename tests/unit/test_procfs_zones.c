/* SPDX-License-Identifier: MIT */
#include "test_procfs.h"

static const char buddy_text[] = "Node 0, zone      DMA      0      0      0      0      0      0  "
				 "    0      0      1      1      3 \n"
				 "Node 0, zone    DMA32      1      1      4      2      5      4  "
				 "    3      3      4      2    752 \n"
				 "Node 1, zone   Normal    571    304    299    304    516    343  "
				 "  205    137    103     62    275 \n";

static void buddyinfo_reads_every_column(void **state)
{
	struct buddyinfo b;

	(void)state;
	assert_int_equal(buddyinfo_parse(buddy_text, strlen(buddy_text), &b, NULL), 0);
	assert_int_equal(b.count, 3);
	assert_int_equal(b.skipped, 0);
	assert_int_equal(b.zone[2].node, 1);
	assert_string_equal(b.zone[2].zone, "Normal");
	assert_int_equal(b.zone[2].orders, 11);
	assert_int_equal(b.zone[2].free[0], 571);
	assert_int_equal(b.zone[2].free[10], 275);
	assert_int_equal(b.zone[2].line, 3);
	assert_int_equal(buddy_zone_pages(&b.zone[0], 0), 256 + 512 + 3 * 1024);
	assert_int_equal(buddy_zone_pages(&b.zone[0], 9), 512 + 3 * 1024);
	assert_int_equal(buddy_zone_pages(&b.zone[0], 11), 0);
	buddyinfo_free(&b);
}

static void buddyinfo_takes_seventeen_columns_and_no_more(void **state)
{
	static const char text[] =
		"Node 8, zone DMA 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n"
		"Node 8, zone Normal 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n";
	struct buddyinfo b;

	(void)state;
	assert_int_equal(buddyinfo_parse(text, strlen(text), &b, NULL), 0);
	assert_int_equal(b.count, 1);
	assert_int_equal(b.skipped, 1);
	assert_int_equal(b.zone[0].orders, 17);
	assert_int_equal(b.zone[0].free[16], 17);
	buddyinfo_free(&b);
}

static void buddyinfo_leaves_out_damaged_rows(void **state)
{
	static const char text[] = "Node 0, zone Normal 1 2 x3\n"
				   "Node -1, zone Normal 1 2 3\n"
				   "Node 0, zone\n"
				   "Node 0, zone AZoneNameLongerThanAny 1 2\n"
				   "Node 0, zone Normal 1 2 99999999999999999999999\n"
				   "Node 0, zone Movable 0 0 7\n";
	struct buddyinfo b;

	(void)state;
	assert_int_equal(buddyinfo_parse(text, strlen(text), &b, NULL), 0);
	assert_int_equal(b.count, 1);
	assert_int_equal(b.skipped, 5);
	assert_string_equal(b.zone[0].zone, "Movable");
	buddyinfo_free(&b);
	assert_int_equal(buddyinfo_parse("Node 0\n", 7, &b, NULL), -EINVAL);
}

static void buddyinfo_survives_a_cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t n = 1; n <= strlen(buddy_text); n++) {
		struct buddyinfo b;

		parse_copy(buddyinfo_parse, buddy_text, n, &b);
		assert_true(b.count <= 3);
		buddyinfo_free(&b);
	}
}

static const char zone_text[] = "Node 0, zone      DMA\n"
				"  per-node stats\n"
				"      nr_inactive_anon 1983\n"
				"      nr_foll_pin_acquired 12\n"
				"  pages free     3840\n"
				"        boost    7\n"
				"        min      52\n"
				"        low      65\n"
				"        high     78\n"
				"        promo    91\n"
				"        spanned  4095\n"
				"        present  3998\n"
				"        managed  3840\n"
				"        cma      16\n"
				"        protection: (0, 3019, 4811, 4811, 4811)\n"
				"      nr_free_pages 3840\n"
				"      nr_free_cma  5\n"
				"      numa_hit     9\n"
				"  pagesets\n"
				"    cpu: 0\n"
				"              count:    3\n"
				"              high:     0\n"
				"              batch:    1\n"
				"              high_min: 32\n"
				"              high_max: 240\n"
				"  vm stats threshold: 4\n"
				"    cpu: 1\n"
				"              count:    8\n"
				"              high:     6\n"
				"              batch:    1\n"
				"  vm stats threshold: 4\n"
				"  node_unreclaimable:  1\n"
				"  start_pfn:           1\n"
				"  reserved_highatomic: 512\n"
				"  free_highatomic:     32\n"
				"Node 0, zone  Movable\n"
				"  pages free     0\n"
				"        min      32\n"
				"        protection: (0, 0, 0, 0)\n";

static void zoneinfo_reads_marks_counters_and_pagesets(void **state)
{
	const struct zone_info *z;
	struct zoneinfo info;

	(void)state;
	assert_int_equal(zoneinfo_parse(zone_text, strlen(zone_text), &info, NULL), 0);
	assert_int_equal(info.count, 2);
	assert_int_equal(info.skipped, 0);
	z = zoneinfo_find(&info, 0, "DMA");
	assert_non_null(z);
	assert_int_equal(z->free, 3840);
	assert_int_equal(z->boost, 7);
	assert_int_equal(z->min, 52);
	assert_int_equal(z->low, 65);
	assert_int_equal(z->high, 78);
	assert_int_equal(z->promo, 91);
	assert_int_equal(z->spanned, 4095);
	assert_int_equal(z->present, 3998);
	assert_int_equal(z->managed, 3840);
	assert_int_equal(z->cma, 16);
	assert_int_equal(z->protections, 5);
	assert_int_equal(z->protection[1], 3019);
	assert_int_equal(z->start_pfn, 1);
	assert_int_equal(z->reserved_highatomic, 512);
	assert_int_equal(z->free_highatomic, 32);
	assert_true(z->node_unreclaimable);
	assert_int_equal(counters_value(&z->stats, "nr_free_cma"), 5);
	assert_int_equal(counters_value(&z->stats, "nr_inactive_anon"), 0);
	assert_int_equal(z->pagesets, 2);
	assert_int_equal(z->pageset[0].count, 3);
	assert_int_equal(z->pageset[0].high_max, 240);
	assert_int_equal(z->pageset[1].cpu, 1);
	assert_int_equal(z->pageset[1].count, 8);
	assert_int_equal(counters_value(zoneinfo_node(&info, 0), "nr_foll_pin_acquired"), 12);
	assert_null(zoneinfo_node(&info, 1));
	assert_null(zoneinfo_find(&info, 1, "DMA"));
	z = zoneinfo_find(&info, 0, "Movable");
	assert_non_null(z);
	assert_false(z->has_boost);
	assert_false(z->has_managed);
	zoneinfo_free(&info);
}

/* 3.10: no node block, "scanned" among the marks, protection after the counters. */
static void zoneinfo_of_an_old_kernel_is_read_too(void **state)
{
	static const char text[] = "Node 1, zone   Normal\n"
				   "  pages free     15217\n"
				   "        min      11345\n"
				   "        low      14181\n"
				   "        high     17017\n"
				   "        scanned  0\n"
				   "        spanned  2097152\n"
				   "        present  2097152\n"
				   "        managed  2064208\n"
				   "    nr_free_pages 15217\n"
				   "    nr_dirty     44\n"
				   "        protection: (0, 0, 0, 0)\n"
				   "  pagesets\n"
				   "    cpu: 0\n"
				   "              count: 162\n"
				   "              high:  186\n"
				   "              batch: 31\n"
				   "  vm stats threshold: 64\n"
				   "  all_unreclaimable: 0\n"
				   "  start_pfn:         2097152\n"
				   "  inactive_ratio:    11\n";
	const struct zone_info *z;
	struct zoneinfo info;

	(void)state;
	assert_int_equal(zoneinfo_parse(text, strlen(text), &info, NULL), 0);
	assert_int_equal(info.skipped, 0);
	z = zoneinfo_find(&info, 1, "Normal");
	assert_non_null(z);
	assert_int_equal(z->managed, 2064208);
	assert_int_equal(z->start_pfn, 2097152);
	assert_int_equal(z->protections, 4);
	assert_int_equal(counters_value(&z->stats, "nr_dirty"), 44);
	assert_int_equal(z->pageset[0].count, 162);
	assert_false(z->node_unreclaimable);
	zoneinfo_free(&info);
}

static void zoneinfo_skips_and_counts_damage(void **state)
{
	static const char text[] = "      nr_free_pages 12\n" /* before any zone */
				   "Node 0, zone DMA32\n"
				   "  pages free\n"
				   "        min 9999999999999999999999\n"
				   "        low 12 34\n"
				   "        protection: (0, 1,\n"
				   "        protection: (0, 1, 2, 3, 4, 5, 6, 7, 8)\n"
				   "  pagesets\n"
				   "              count: 5\n"
				   "    cpu: x\n"
				   "        high     17\n";
	const struct zone_info *z;
	struct zoneinfo info;

	(void)state;
	assert_int_equal(zoneinfo_parse(text, strlen(text), &info, NULL), 0);
	z = zoneinfo_find(&info, 0, "DMA32");
	assert_non_null(z);
	assert_int_equal(info.skipped, 9);
	assert_int_equal(z->protections, 0);
	assert_int_equal(z->pagesets, 0);
	assert_int_equal(z->low, 0);
	zoneinfo_free(&info);
	assert_int_equal(zoneinfo_parse("x\n", 2, &info, NULL), -EINVAL);
}

static void zoneinfo_survives_a_cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t n = 1; n <= strlen(zone_text); n++) {
		struct zoneinfo info;

		parse_copy(zoneinfo_parse, zone_text, n, &info);
		assert_true(info.count <= 2);
		zoneinfo_free(&info);
	}
}

static void pagemap_entries_decode(void **state)
{
	struct pagemap_entry e = pagemap_decode(1ULL << 63 | 1ULL << 56 | 0x12345);

	(void)state;
	assert_true(e.present && e.pfn_known && e.exclusive);
	assert_false(e.swapped || e.soft_dirty || e.file_or_shared);
	assert_int_equal(e.pfn, 0x12345);

	e = pagemap_decode(1ULL << 63 | 1ULL << 61); /* no permission: the number is hidden */
	assert_true(e.present && e.file_or_shared);
	assert_false(e.pfn_known);

	e = pagemap_decode(1ULL << 62 | 1ULL << 55 | 7 << 5 | 3);
	assert_true(e.swapped && e.soft_dirty);
	assert_int_equal(e.swap_type, 3);
	assert_int_equal(e.swap_offset, 7);
	assert_int_equal(e.pfn, 0);

	assert_true(kpageflag_is(1ULL << 22, KPAGEFLAG_THP));
	assert_false(kpageflag_is(1ULL << 22, KPAGEFLAG_HUGE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buddyinfo_reads_every_column),
		cmocka_unit_test(buddyinfo_takes_seventeen_columns_and_no_more),
		cmocka_unit_test(buddyinfo_leaves_out_damaged_rows),
		cmocka_unit_test(buddyinfo_survives_a_cut_at_every_byte),
		cmocka_unit_test(zoneinfo_reads_marks_counters_and_pagesets),
		cmocka_unit_test(zoneinfo_of_an_old_kernel_is_read_too),
		cmocka_unit_test(zoneinfo_skips_and_counts_damage),
		cmocka_unit_test(zoneinfo_survives_a_cut_at_every_byte),
		cmocka_unit_test(pagemap_entries_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
