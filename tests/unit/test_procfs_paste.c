/* SPDX-License-Identifier: MIT */
#include "test_procfs.h"
#include "procfs/paste.h"

static const char types_text[] =
	"Page block order: 9\n"
	"Pages per block:  512\n"
	"\n"
	"Free pages count per migrate type at order       0      1      2\n"
	"Node    0, zone   Normal, type    Unmovable     62    106    153 \n"
	"Node    0, zone   Normal, type      Movable >100000     97     98 \n"
	"Node    0, zone   Normal, type   HighAtomic      0      4      0 \n"
	"\n"
	"Number of blocks type    Unmovable      Movable  Reclaimable   HighAtomic          CMA    "
	"  Isolate \n"
	"Node 0, zone   Normal           25         1466           37            1            2    "
	"        3 \n";

static void pagetypeinfo_reads_lists_and_blocks_by_their_headings(void **state)
{
	const struct page_type_zone *z;
	struct pagetypeinfo p;

	(void)state;
	assert_int_equal(pagetypeinfo_parse(types_text, strlen(types_text), &p, NULL), 0);
	assert_int_equal(p.block_order, 9);
	assert_int_equal(p.count, 1);
	assert_int_equal(p.skipped, 0);
	z = &p.zone[0];
	assert_int_equal(z->orders, 3);
	assert_int_equal(z->free[PAGE_TYPE_UNMOVABLE][2], 153);
	assert_int_equal(z->free[PAGE_TYPE_MOVABLE][0], 100000);
	assert_true(z->capped);
	assert_true(z->has_blocks);
	assert_int_equal(z->blocks[PAGE_TYPE_RECLAIMABLE], 37);
	assert_int_equal(z->blocks[PAGE_TYPE_CMA], 2);
	assert_int_equal(z->blocks[PAGE_TYPE_ISOLATE], 3);
	assert_int_equal(z->blocks_line, 10);
	pagetypeinfo_free(&p);
}

/* The order of the columns changed in 4.x, and Reserve went away. */
static void pagetypeinfo_of_3_10_has_its_columns_in_another_order(void **state)
{
	static const char text[] = "Number of blocks type     Unmovable  Reclaimable      Movable  "
				   "    Reserve      Isolate \n"
				   "Node 1, zone   Normal          868          433        31465   "
				   "         2            0 \n";
	struct pagetypeinfo p;

	(void)state;
	assert_int_equal(pagetypeinfo_parse(text, strlen(text), &p, NULL), 0);
	assert_int_equal(p.zone[0].blocks[PAGE_TYPE_MOVABLE], 31465);
	assert_int_equal(p.zone[0].blocks[PAGE_TYPE_RECLAIMABLE], 433);
	assert_int_equal(p.zone[0].blocks[PAGE_TYPE_RESERVE], 2);
	pagetypeinfo_free(&p);
}

static void pagetypeinfo_skips_rows_that_do_not_fit_the_heading(void **state)
{
	static const char text[] = "Number of blocks type     Unmovable  Movable\n"
				   "Node 1, zone   Normal          868          433        31465\n"
				   "Node 1, zone   Normal, type Strange 1 2 3\n"
				   "Node 1, zone   Normal, type Movable 1 x 3\n"
				   "Node 1, zone   Movable          8          4\n";
	struct pagetypeinfo p;

	(void)state;
	assert_int_equal(pagetypeinfo_parse(text, strlen(text), &p, NULL), 0);
	assert_int_equal(p.count, 1);
	assert_int_equal(p.skipped, 3);
	pagetypeinfo_free(&p);
	assert_int_equal(pagetypeinfo_parse("nothing\n", 8, &p, NULL), -EINVAL);
}

static void parsers_survive_a_cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t n = 1; n <= strlen(types_text); n++) {
		struct pagetypeinfo p;

		parse_copy(pagetypeinfo_parse, types_text, n, &p);
		pagetypeinfo_free(&p);
	}
}

static void the_fragmentation_index_is_the_kernel_s(void **state)
{
	/* DMA32 and Normal of a report, order 2: 5809*4kB 3*8kB and 1515*4kB. */
	static const uint64_t dma32[11] = {5809, 3}, normal[11] = {1515}, whole[11] = {0, 0, 1},
			      none[11] = {0};

	(void)state;
	assert_int_equal(fragmentation_index(dma32, 11, 2), 750);
	assert_int_equal(fragmentation_index(normal, 11, 2), 750);
	assert_int_equal(fragmentation_index(whole, 11, 2), -1000);
	assert_int_equal(fragmentation_index(none, 11, 2), 0);
}

static void extfrag_rows_are_told_from_buddyinfo(void **state)
{
	static const char text[] = "Node 0, zone    DMA32 -1.000 -1.000 0.868 0.934 \n"
				   "Node 0, zone    DMA32 1 2 3 4 \n"
				   "Node 0, zone    DMA32 0.5 7.000 \n";
	struct extfrag e;

	(void)state;
	assert_int_equal(extfrag_parse(text, strlen(text), &e, NULL), 0);
	assert_int_equal(e.count, 1);
	assert_int_equal(e.skipped, 2);
	assert_int_equal(e.zone[0].index[0], -1000);
	assert_int_equal(e.zone[0].index[2], 868);
	extfrag_free(&e);
}

static void slab_tables_of_both_kinds_are_sorted_by_size(void **state)
{
	static const char text[] =
		"slabinfo - version: 2.1\n"
		"# name            <active_objs> <num_objs> <objsize>\n"
		"dentry             1000   2000    192   21    1 : tunables    0    0    0 : "
		"slabdata\n"
		"ext4_inode_cache    100    200   1072   15    4 : tunables    0    0    0 : "
		"slabdata\n"
		"  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME\n"
		"7000   6000  85%    1.00K    437       16      7008K btree_node\n";
	struct slabinfo s;

	(void)state;
	assert_int_equal(slabinfo_parse(text, strlen(text), &s, NULL), 0);
	assert_int_equal(s.count, 3);
	assert_string_equal(s.cache[0].name, "btree_node");
	assert_int_equal(s.cache[0].bytes, 7008 * 1024);
	assert_string_equal(s.cache[1].name, "dentry");
	assert_int_equal(s.cache[1].bytes, 2000 * 192);
	assert_int_equal(s.cache[1].line, 3);
	slabinfo_free(&s);
}

static void settings_are_read_from_any_listing(void **state)
{
	static const struct {
		const char *line, *name, *value;
	} cases[] = {
		{"vm.min_free_kbytes = 67584", "vm.min_free_kbytes", "67584"},
		{"vm.min_free_kbytes=67584", "vm.min_free_kbytes", "67584"},
		{"/proc/sys/vm/compaction_proactiveness:20", "vm.compaction_proactiveness", "20"},
		{"/sys/kernel/mm/transparent_hugepage/defrag:always defer [madvise] never",
		 "thp.defrag", "madvise"},
		{"/sys/kernel/mm/transparent_hugepage/khugepaged/defrag:1", "thp.khugepaged/defrag",
		 "1"},
		{"always [madvise] never", "thp.enabled", "madvise"},
		{"[always] defer defer+madvise madvise never", "thp.defrag", "always"},
		{"sysctl -w vm.nr_hugepages=512", "vm.nr_hugepages", "512"},
	};
	struct setting_line s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(setting_parse(span_text(cases[i].line), &s));
		assert_string_equal(s.name, cases[i].name);
		assert_string_equal(s.value, cases[i].value);
	}
	assert_false(setting_parse(span_text("always be careful [here]"), &s));
	assert_false(setting_parse(span_text("vm.min_free_kbytes"), &s));
}

static void perf_rows_with_and_without_a_comm_are_read(void **state)
{
	static const struct {
		const char *line, *comm, *symbol;
		unsigned percent;
	} cases[] = {
		{"    45.12%  kcompactd0  [kernel.kallsyms]  [k] isolate_migratepages_block",
		 "kcompactd0", "isolate_migratepages_block", 4512},
		{"  12.30%  [kernel]  [k] clear_page_erms", "", "clear_page_erms", 1230},
		{"  60.00%  12.00%  java  [kernel]  [k] compact_zone.isra.3", "java",
		 "compact_zone", 6000},
		{"     |--22.5%--compaction_alloc", "", "compaction_alloc", 2250},
	};
	struct perf_row r;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(perf_row_parse(span_text(cases[i].line), &r));
		assert_int_equal(r.centipercent, cases[i].percent);
		assert_string_equal(r.symbol, cases[i].symbol);
		if (cases[i].comm[0])
			assert_string_equal(r.comm, cases[i].comm);
	}
	assert_false(perf_row_parse(span_text("100% of users"), &r) && r.kernel);
	assert_false(perf_row_parse(span_text("no numbers here"), &r));
}

static void rows_of_top_and_ps_give_the_daemon_s_share(void **state)
{
	struct daemon_row d;

	(void)state;
	assert_true(daemon_row_parse(span_text("   42 root      20   0       0      0      0 R  "
					       "99.7   0.0   0:42.17 kcompactd0"),
				     &d));
	assert_string_equal(d.name, "kcompactd0");
	assert_int_equal(d.centipercent, 9970);
	assert_true(daemon_row_parse(
		span_text("root  77 35,2  0,0  0  0 ?  R  Oct10 221:11 [khugepaged]"), &d));
	assert_string_equal(d.name, "khugepaged");
	assert_int_equal(d.centipercent, 3520);
	assert_false(daemon_row_parse(span_text("the busy one is kcompactd0"), &d));
}

static void durations_of_function_graph_are_read(void **state)
{
	struct graph_row g;

	(void)state;
	assert_true(
		graph_row_parse(span_text("  24) @ 184008.2 us |      compact_zone_order();"), &g));
	assert_true(g.ns == 184008200);
	assert_string_equal(g.function, "compact_zone_order");
	assert_false(graph_row_parse(span_text("  24)               |    try_to_compact_pages() {"),
				     &g));
}

static void traced_allocations_are_read_one_by_one_and_counted(void **state)
{
	struct page_alloc_row a;

	(void)state;
	assert_true(
		page_alloc_parse(span_text("  67621 order=9 GFP_TRANSHUGE|__GFP_THISNODE"), &a));
	assert_int_equal(a.count, 67621);
	assert_int_equal(a.order, 9);
	assert_true(a.gfp & GFP_F_DIRECT_RECLAIM);
	assert_true(page_alloc_parse(
		span_text(
			"pg-12 [000] ... 1.5: mm_page_alloc: page=0000000000000000 pfn=0x0 order=4 "
			"migratetype=0 gfp_flags=GFP_KERNEL|__GFP_NORETRY"),
		&a));
	assert_int_equal(a.count, 1);
	assert_true(a.failed);
	assert_true(a.gfp & GFP_F_NORETRY);
	assert_string_equal(a.comm, "pg");
	assert_false(page_alloc_parse(span_text("12 order=9 pizza"), &a));
}

static void sar_columns_are_found_by_their_headings(void **state)
{
	static const char text[] = "12:00:01 AM  pgpgin/s pgpgout/s fault/s majflt/s pgfree/s "
				   "pgscank/s pgscand/s pgsteal/s %vmeff\n"
				   "12:10:01 AM  1.0 2.0 3.0 4.0 5.0 7.50 8821.22 9.0 98.7\n"
				   "12:20:01 AM  1.0 2.0\n";
	struct sar_paging s;

	(void)state;
	assert_int_equal(sar_parse(text, strlen(text), &s, NULL), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.skipped, 1);
	assert_true(s.row[0].scan_kswapd == 7.5);
	assert_true(s.row[0].scan_direct == 8821.22);
	sar_free(&s);
	assert_int_equal(sar_parse("1 2 3\n", 6, &s, NULL), -EINVAL);
}

static void a_word_is_found_anywhere_in_a_line_and_never_behind_its_end(void **state)
{
	struct span line = span_of("aaab of the line|behind", 16), rest;

	(void)state;
	assert_ptr_equal(span_find(line, "aab"), line.at + 1);
	assert_ptr_equal(span_find(line, "aaab"), line.at);
	assert_ptr_equal(span_find(line, "e"), line.at + 10);
	assert_ptr_equal(span_find(line, "line"), line.at + 12);
	assert_null(span_find(line, "line|"));
	assert_null(span_find(line, "behind"));
	assert_null(span_find(line, "aaaab"));
	assert_null(span_find(span_of("aa", 2), "aaa"));
	assert_null(span_find(span_of(NULL, 0), "a"));
	assert_true(span_after(line, "of ", &rest) && span_is(rest, "the line"));
	assert_true(span_after(line, "line", &rest) && !rest.length);
	assert_false(span_after(line, "|", &rest));
}

static void the_third_column_is_a_change_or_a_later_value(void **state)
{
	static const char later[] = "compact_stall 100 160\ncompact_fail 90 140\npgfree 5 5\n";
	static const char change[] =
		"# counter value delta_over_30s\ncompact_stall 100 60\npgfree 5 0\n";
	static const char signs[] = "-compact_stall 100\n+compact_stall 160\n compact_fail 3\n";
	struct vmstat_table t;

	(void)state;
	assert_int_equal(vmstat_table_parse(later, strlen(later), false, &t, NULL), 0);
	assert_true(t.before_after);
	assert_true(vmstat_delta_of(&t.delta, "compact_stall") == 60);
	vmstat_table_free(&t);
	assert_int_equal(vmstat_table_parse(change, strlen(change), false, &t, NULL), 0);
	assert_false(t.before_after);
	assert_true(vmstat_delta_of(&t.delta, "compact_stall") == 60);
	assert_int_equal(t.seconds, 30);
	vmstat_table_free(&t);
	assert_int_equal(vmstat_table_parse(signs, strlen(signs), false, &t, NULL), 0);
	assert_true(vmstat_delta_of(&t.delta, "compact_stall") == 60);
	vmstat_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pagetypeinfo_reads_lists_and_blocks_by_their_headings),
		cmocka_unit_test(pagetypeinfo_of_3_10_has_its_columns_in_another_order),
		cmocka_unit_test(pagetypeinfo_skips_rows_that_do_not_fit_the_heading),
		cmocka_unit_test(parsers_survive_a_cut_at_every_byte),
		cmocka_unit_test(the_fragmentation_index_is_the_kernel_s),
		cmocka_unit_test(extfrag_rows_are_told_from_buddyinfo),
		cmocka_unit_test(slab_tables_of_both_kinds_are_sorted_by_size),
		cmocka_unit_test(settings_are_read_from_any_listing),
		cmocka_unit_test(perf_rows_with_and_without_a_comm_are_read),
		cmocka_unit_test(rows_of_top_and_ps_give_the_daemon_s_share),
		cmocka_unit_test(durations_of_function_graph_are_read),
		cmocka_unit_test(traced_allocations_are_read_one_by_one_and_counted),
		cmocka_unit_test(sar_columns_are_found_by_their_headings),
		cmocka_unit_test(the_third_column_is_a_change_or_a_later_value),
		cmocka_unit_test(a_word_is_found_anywhere_in_a_line_and_never_behind_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
