/* SPDX-License-Identifier: MIT */
#include "test_procfs.h"
#include "procfs/klog.h"

/* ---- prefixes ----------------------------------------------------------------------- */

static void every_logger_s_prefix_is_taken_off(void **state)
{
	static const char *const prefixes[] = {
		"",
		"[   11.616321] ",
		"[11.616321] ",
		"<4>[   11.616321] ",
		"[   11.616321][ T1234] ",
		"[   11.616321] [    C3] ",
		"[   11.616321]  [2:   Binder:711_1:  740] ",
		"[   11.616321] (0)[740:Binder]",
		"[   11.616321] c0    740 ",
		"[Fri Feb 12 10:20:30 2021] ",
		"2021-02-20T10:10:10,123456+01:00 ",
		"Oct 19 13:44:52 node kernel: ",
		"Oct  9 13:44:52 node kernel: [   11.616321] ",
		"2021-02-20T10:10:10.123456+01:00 node kernel: [   11.616321] ",
		"2021-02-20 10:10:10 node kernel: ",
		"Thu Jan  1 00:00:10 2015 kern.warn kernel: [   11.616321] ",
		"Jan  1 00:00:10 node kern.warn kernel: [   11.616321] ",
		"[   11.616321] node kernel: ",
		"4,1234,11616321,-;",
		"> [   11.616321] ",
		"> > Oct 19 13:44:52 node kernel: ",
		"Oct 19 13:44:52 node [   11.616321] ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		char line[256], left[128];
		struct klog_prefix p;

		snprintf(line, sizeof(line), "%scat: page allocation failure: order:4",
			 prefixes[i]);
		span_put(klog_strip(span_text(line), &p), left, sizeof(left));
		assert_string_equal(left, "cat: page allocation failure: order:4");
		if (strstr(prefixes[i], "node"))
			assert_true(span_is(p.host, "node"));
		if (strstr(prefixes[i], "11.616321") || strstr(prefixes[i], "11616321"))
			assert_true(p.has_time && p.time_us == 11616321);
	}
}

static void a_message_that_looks_like_a_prefix_is_left_whole(void **state)
{
	static const char *const lines[] = {
		"runc:[1:CHILD]: page allocation failure: order:6",
		"(udev-worker): page allocation failure: order:2",
		"[<ffffffff81237bac>] dump_stack+0x67/0x90",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct klog_prefix p;

		assert_true(span_is(klog_strip(span_text(lines[i]), &p), lines[i]));
	}
}

/* ---- pieces ------------------------------------------------------------------------- */

static void free_lists_of_all_forms_are_read(void **state)
{
	struct klog_zone z = {0};

	(void)state;
	assert_true(
		klog_free_list(span_text("Node 1 DMA32: 5*4kB (UME) 2*8kB (H) 0*16kB = 36kB"), &z));
	assert_int_equal(z.node, 1);
	assert_string_equal(z.name, "DMA32");
	assert_int_equal(z.orders, 3);
	assert_int_equal(z.types[0], KLOG_TYPE_U | KLOG_TYPE_M | KLOG_TYPE_E);
	assert_int_equal(z.types[1], KLOG_TYPE_H);
	assert_int_equal(klog_zone_sum_kb(&z), 36);
	assert_int_equal(z.total_kb, 36);

	/* no node, asterisks eaten by markdown, 64K pages */
	assert_true(klog_free_list(span_text("Normal: 486_4kB 46_8kB = 2312kB"), &z));
	assert_int_equal(z.blocks[0], 486);
	assert_int_equal(klog_zone_sum_kb(&z), 2312);
	assert_true(klog_free_list(span_text("Node 0 DMA: 3*64kB (U) 1*128kB (M) = 320kB"), &z));
	assert_int_equal(z.page_kb, 64);

	assert_false(klog_free_list(span_text("Node 0 DMA: 3*4kB 1*16kB = 28kB"), &z));
	assert_false(klog_free_list(span_text("Node 0 Elsewhere: 3*4kB 1*8kB = 20kB"), &z));
	assert_false(klog_free_list(span_text("Node 0 DMA: no blocks"), &z));
}

static void a_wrapped_free_list_is_joined(void **state)
{
	struct klog_zone z = {0};

	(void)state;
	assert_true(klog_free_list(span_text("DMA: 1*4kB (U) 2*8kB"), &z));
	assert_false(z.has_total);
	assert_false(klog_free_list_more(span_text("DMA32: 1*4kB"), &z));
	assert_true(klog_free_list_more(span_text("(M) 3*16kB (U) 0*32kB = 68kB"), &z));
	assert_int_equal(z.orders, 4);
	assert_int_equal(z.types[1], KLOG_TYPE_M);
	assert_true(z.has_total);
	assert_int_equal(klog_zone_sum_kb(&z), 68);
}

static void zone_states_give_the_marks(void **state)
{
	struct klog_zone z = {0};

	(void)state;
	assert_true(klog_zone_state(
		span_text(
			"Node 0 Normal free:2264kB boost:12kB min:13224kB low:16528kB high:19836kB "
			"reserved_highatomic:2048KB free_highatomic:4KB active_file:1kB "
			"inactive_file:2kB present:13445120kB managed:13000000kB free_cma:8kB "
			"pages_scanned:142 all_unreclaimable? yes"),
		&z));
	assert_int_equal(z.free_kb, 2264);
	assert_int_equal(z.boost_kb, 12);
	assert_int_equal(z.min_kb, 13224);
	assert_int_equal(z.high_kb, 19836);
	assert_int_equal(z.reserved_highatomic_kb, 2048);
	assert_int_equal(z.managed_kb, 13000000);
	assert_int_equal(z.free_cma_kb, 8);
	assert_int_equal(z.pages_scanned, 142);
	assert_true(z.all_unreclaimable);
	assert_false(klog_zone_state(span_text("Node 0 active_anon:12kB free:1kB min:1kB"), &z));
}

static void frames_of_all_architectures_are_read(void **state)
{
	static const struct {
		const char *line, *function, *module;
	} cases[] = {
		{" kmalloc_order+0x38/0xb0", "kmalloc_order", ""},
		{"[<ffffffff8001f2b8>] wifi_probe+0x20e/0xc90 [wifi_pci]", "wifi_probe",
		 "wifi_pci"},
		{"[<800c7a38>] (__alloc_pages_nodemask) from [<800dcb58>] "
		 "(kmalloc_order+0x18/0x2c)",
		 "kmalloc_order", ""},
		{"[c0000001fb0] [c00000000b] .warn_alloc_failed+0x11c/0x170", "warn_alloc_failed",
		 ""},
		{" copy_process.part.9+0xfe/0x183f", "copy_process", ""},
		{"RIP: 0010:isolate_freepages_block+0x12/0x340", "isolate_freepages_block", ""},
		{"[<0>] compact_zone+0x6a1/0xd90", "compact_zone", ""},
		{" nv_open+0x1/0x2 [nvidia 0123abc]", "nv_open", "nvidia"},
	};
	struct klog_frame f;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(klog_frame(span_text(cases[i].line), &f));
		assert_string_equal(f.function, cases[i].function);
		assert_string_equal(f.module, cases[i].module);
	}
	assert_false(klog_frame(span_text("+0x12/0x34"), &f));
	assert_false(klog_frame(span_text("nothing here"), &f));
}

/* ---- flags -------------------------------------------------------------------------- */

static void masks_are_decoded_by_the_kernel_s_version(void **state)
{
	static const struct {
		uint64_t mask;
		uint32_t version;
		const char *text;
	} cases[] = {
		{0xd0, 0, "GFP_KERNEL"},
		{0x20, 0, "GFP_ATOMIC"},
		{0x4020, KERNEL_VERSION_CODE(2, 6, 38), "GFP_ATOMIC|__GFP_COMP"},
		{0x2000d1, 0, "GFP_KERNEL|GFP_DMA|__GFP_NOTRACK"},
		{0x10c0d0, KERNEL_VERSION_CODE(3, 10, 0),
		 "GFP_KERNEL_ACCOUNT|__GFP_ZERO|__GFP_COMP"},
		{0x200da, 0, "GFP_HIGHUSER_MOVABLE"},
		{0x24000c0, 0, "GFP_KERNEL"},
		{0x2080020, 0, "GFP_ATOMIC"},
		{0x14000c0, 0, "GFP_KERNEL"},
		{0x1080020, 0, "GFP_ATOMIC"},
		{0x6000c0, 0, "GFP_KERNEL"},
		{0x484020, 0, "GFP_ATOMIC|__GFP_COMP"},
		{0xcc0, 0, "GFP_KERNEL"},
		{0xa20, 0, "GFP_ATOMIC"},
		{0x820, KERNEL_VERSION_CODE(6, 5, 0), "GFP_ATOMIC"},
		{0x40a20, 0, "GFP_ATOMIC|__GFP_COMP"},
		{0x40dc0, 0, "GFP_KERNEL|__GFP_ZERO|__GFP_COMP"},
		{0xcc4, 0, "GFP_KERNEL|GFP_DMA32"},
		{0xcc1, 0, "GFP_KERNEL|GFP_DMA"},
		{0x342cca, 0, "GFP_HIGHUSER_MOVABLE|__GFP_NOWARN|__GFP_COMP|__GFP_THISNODE"},
		{0x800, 0, "GFP_NOWAIT"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(gfp_print(gfp_from_mask(cases[i].mask, cases[i].version), text,
					      sizeof(text)),
				    cases[i].text);
}

static void names_that_are_printed_are_what_counts(void **state)
{
	unsigned unknown;
	uint32_t f =
		gfp_from_names(span_text("GFP_TRANSHUGE_LIGHT|__GFP_THISNODE|__GFP_SOMETHING_NEW"),
			       &unknown);

	(void)state;
	assert_int_equal(unknown, 1);
	assert_true(gfp_is_atomic(f));
	assert_true(f & GFP_F_MOVABLE);
	assert_true(f & GFP_F_THISNODE);
	assert_false(gfp_is_atomic(gfp_from_names(span_text("GFP_NOIO"), &unknown)));
}

/* ---- reports ------------------------------------------------------------------------ */

struct found {
	unsigned count;
	struct klog_event *event[16];
};

static void keep(void *arg, struct klog_event *e)
{
	struct found *f = arg;

	assert_true(f->count < 16);
	f->event[f->count++] = e;
}

static void read_log(const char *text, struct found *f)
{
	struct klog_reader *r = klog_reader_new(keep, f);
	struct span rest = span_text(text), line;
	int n = 0;

	assert_non_null(r);
	f->count = 0;
	while (span_line(&rest, &line))
		klog_reader_line(r, line, ++n, true);
	klog_reader_end(r);
	klog_reader_free(r);
}

static void drop(struct found *f)
{
	for (unsigned i = 0; i < f->count; i++)
		klog_event_free(f->event[i]);
}

static void a_report_is_put_together(void **state)
{
	static const char text[] =
		"[1.5] cat: page allocation failure: order:5, mode:0x40dc0(GFP_KERNEL|__GFP_ZERO)\n"
		"[1.5] CPU: 0 PID: 42 Comm: cat Tainted: G         C        5.10.2 #80\n"
		"[1.5] Call trace:\n"
		"[1.5]  warn_alloc+0x100/0x170\n"
		"[1.5]  proc_sys_call_handler+0xc4/0x250\n"
		"[1.5] Mem-Info:\n"
		"[1.5] active_anon:262759 inactive_anon:143768 isolated_anon:0\n"
		"             active_file:156164 inactive_file:137753 isolated_file:0\n"
		"             free:34573 free_pcp:0 free_cma:194\n"
		"[1.5] Node 0 DMA free:78096kB min:16520kB low:20648kB high:24776kB\n"
		"[1.5] lowmem_reserve[]: 0 2807 2807\n"
		"[1.5] something else\n"
		"[1.5] Node 0 DMA: 1*4kB (U) 2*8kB (M) = 20kB\n"
		"[1.5] Free swap  = 1700864kB\n"
		"[1.5] 1015296 pages RAM\n";
	struct found f;
	const struct klog_event *e;

	(void)state;
	read_log(text, &f);
	assert_int_equal(f.count, 1);
	e = f.event[0];
	assert_int_equal(e->kind, KLOG_FAILURE);
	assert_string_equal(e->comm, "cat");
	assert_int_equal(e->pid, 42);
	assert_string_equal(e->kernel, "5.10.2");
	assert_int_equal(e->version, KERNEL_VERSION_CODE(5, 10, 2));
	assert_int_equal(e->order, 5);
	assert_true(e->gfp_named && (e->gfp & GFP_F_ZERO));
	assert_int_equal(e->frames, 2);
	assert_int_equal(e->count[KLOG_FREE], 34573);
	assert_int_equal(e->count[KLOG_INACTIVE_FILE], 137753);
	assert_int_equal(e->count[KLOG_SWAP_FREE_KB], 1700864);
	assert_int_equal(e->count[KLOG_RAM], 1015296);
	assert_true(e->count[KLOG_SHMEM] == UINT64_MAX);
	assert_int_equal(e->zones, 1);
	assert_int_equal(e->zone[0].state_line, 10);
	assert_int_equal(e->zone[0].list_line, 13);
	assert_int_equal(e->zone[0].reserves, 3);
	assert_int_equal(e->zone[0].reserve_pages[1], 2807);
	assert_int_equal(e->line, 1);
	drop(&f);
}

static void reports_of_two_threads_are_told_apart(void **state)
{
	static const char text[] =
		"[1.5][ T7] aa: page allocation failure: order:4, mode:0xcc0(GFP_KERNEL)\n"
		"[1.5][ T9] bb: page allocation failure: order:0, mode:0xa20(GFP_ATOMIC)\n"
		"[1.5][ T7]  first_asker+0x1/0x2\n"
		"[1.5][ T9]  second_asker+0x1/0x2\n"
		"[1.5][ T9] Node 0 DMA: 9*4kB 0*8kB = 36kB\n"
		"[1.5][ T7] Node 0 DMA: 1*4kB 0*8kB = 4kB\n";
	struct found f;

	(void)state;
	read_log(text, &f);
	assert_int_equal(f.count, 2);
	assert_string_equal(f.event[0]->comm, "aa");
	assert_string_equal(f.event[0]->frame[0].function, "first_asker");
	assert_int_equal(f.event[0]->zone[0].blocks[0], 1);
	assert_string_equal(f.event[1]->frame[0].function, "second_asker");
	assert_int_equal(f.event[1]->zone[0].blocks[0], 9);
	drop(&f);
}

static void escaped_newlines_are_lines(void **state)
{
	static const char *const texts[] = {
		"x: page allocation failure: order:1, mode:0x20#012DMA: 7*4kB 0*8kB = 28kB",
		"x: page allocation failure: order:1, mode:0x20\\x0aDMA: 7*4kB 0*8kB = 28kB",
		"x: page allocation failure: order:1, mode:0x20\\nDMA: 7*4kB 0*8kB = 28kB",
	};
	struct found f;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		read_log(texts[i], &f);
		assert_int_equal(f.count, 1);
		assert_int_equal(f.event[0]->zones, 1);
		assert_int_equal(f.event[0]->zone[0].blocks[0], 7);
		drop(&f);
	}
}

static void the_interrupt_s_part_of_a_stack_is_the_requester_s(void **state)
{
	static const char text[] = "kswapd0: page allocation failure. order:0, mode:0x20\n"
				   "Pid: 3, comm: kswapd0 Not tainted 2.6.38 #1\n"
				   " <IRQ>  [<c01>] rx_refill+0x1/0x2 [nic]\n"
				   " <EOI>  [<c02>] shrink_zone+0x1/0x2\n"
				   " [<c03>] kswapd+0x1/0x2\n";
	struct found f;

	(void)state;
	read_log(text, &f);
	assert_int_equal(f.count, 1);
	assert_true(f.event[0]->interrupt);
	assert_int_equal(f.event[0]->frames, 1);
	assert_string_equal(f.event[0]->frame[0].module, "nic");
	drop(&f);
}

static void other_messages_about_memory_are_read(void **state)
{
	static const char text[] =
		"HugeTLB: allocating 1024 of page size 2.00 MiB failed.  Only allocated 185 "
		"hugepages.\n"
		"cma: cma_alloc: reserved: alloc failed, req-size: 20 pages, ret: -16\n"
		"cma: number of available pages: 6@8314+30@9=> 36 free of 64 total pages\n"
		"a: page allocation stalls for 10008ms, order:1, mode:0x14000c0(GFP_KERNEL)\n"
		"b invoked oom-killer: order=2, oom_score_adj=0, gfp_mask=0xd0\n"
		"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null)\n"
		"watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [khugepaged:77]\n"
		"RIP: 0010:compact_zone+0x12/0x340\n"
		"watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [other:78]\n"
		"RIP: 0010:do_something+0x12/0x340\n";
	struct found f;
	unsigned kinds = 0;

	(void)state;
	read_log(text, &f);
	assert_int_equal(f.count, 5);
	for (unsigned i = 0; i < f.count; i++) {
		const struct klog_event *e = f.event[i];

		kinds |= 1u << e->kind;
		if (e->kind == KLOG_HUGETLB) {
			assert_int_equal(e->wanted, 1024);
			assert_int_equal(e->got, 185);
			assert_int_equal(e->page_kb, 2048);
		} else if (e->kind == KLOG_CMA) {
			assert_int_equal(e->wanted, 20);
			assert_int_equal(e->ret, -16);
			assert_int_equal(e->run_pages, 30);
			assert_int_equal(e->area_free_pages, 36);
			assert_int_equal(e->area_pages, 64);
		} else if (e->kind == KLOG_STALL) {
			assert_int_equal(e->stall_ms, 10008);
			assert_int_equal(e->order, 1);
		} else if (e->kind == KLOG_OOM) {
			assert_int_equal(e->order, 2);
			assert_int_equal(e->gfp_mask, 0xd0);
			assert_true(e->memcg);
		} else {
			assert_string_equal(e->comm, "khugepaged");
			assert_int_equal(e->stuck_s, 23);
		}
	}
	assert_int_equal(kinds, 1u << KLOG_HUGETLB | 1u << KLOG_CMA | 1u << KLOG_STALL |
					1u << KLOG_OOM | 1u << KLOG_LOCKUP);
	drop(&f);
}

static void prose_about_such_messages_is_no_report(void **state)
{
	static const char text[] = "A wrong answer would be that 'PFNs busy' is an error.\n"
				   "We saw SLUB: Unable to allocate memory on node, often.\n"
				   "cma: Reserved 64 MiB at 0x1000\n";
	struct found f;

	(void)state;
	read_log(text, &f);
	assert_int_equal(f.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_logger_s_prefix_is_taken_off),
		cmocka_unit_test(a_message_that_looks_like_a_prefix_is_left_whole),
		cmocka_unit_test(free_lists_of_all_forms_are_read),
		cmocka_unit_test(a_wrapped_free_list_is_joined),
		cmocka_unit_test(zone_states_give_the_marks),
		cmocka_unit_test(frames_of_all_architectures_are_read),
		cmocka_unit_test(masks_are_decoded_by_the_kernel_s_version),
		cmocka_unit_test(names_that_are_printed_are_what_counts),
		cmocka_unit_test(a_report_is_put_together),
		cmocka_unit_test(reports_of_two_threads_are_told_apart),
		cmocka_unit_test(escaped_newlines_are_lines),
		cmocka_unit_test(the_interrupt_s_part_of_a_stack_is_the_requester_s),
		cmocka_unit_test(other_messages_about_memory_are_read),
		cmocka_unit_test(prose_about_such_messages_is_no_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
