/* SPDX-License-Identifier: MIT */
/* Background compaction: requests, rounds, timers, the proactive kind. */
#include "harness.h"

#include "model/compact.h"
#include "model/defer.h"
#include "model/kcompactd.h"
#include "model/memmap.h"
#include "model/stats.h"

#define MS 1000000ull

static struct model *m;
static struct zone *z;
static struct node *n;

static void make(uint32_t proactiveness, const char *pattern)
{
	struct model_config c = quiet_config(PROFILE_C, 32 * PAGEBLOCK_PAGES);

	c.daemons = true;
	c.sysctl.compaction_proactiveness = proactiveness;
	m = machine_make(&c);
	z = &m->zone[0];
	n = &m->node[0];
	lay_begin(m);
	for (uint32_t b = 1; b <= 32; b++)
		lay(m, b * PAGEBLOCK_PAGES, pattern);
	lay_end(m);
}

static void test_a_request_makes_a_chunk_and_is_forgotten(void **state)
{
	struct recorded wake;

	(void)state;
	make(0, "256(fA)");
	record(m, &wake, TRACE_KCOMPACTD_WAKE);
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	assert_int_equal(n->kcompactd.state, DAEMON_RUNNING);
	model_sleep(m, 100 * MS);
	record_stop(m);
	assert_int_equal(wake.nr, 1);
	assert_int_equal(wake.ev[0].order, 9);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 1);
	assert_true(z->nr_chunks[9] + z->nr_chunks[10] > 0);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED),
			 counter(m, VM_COMPACT_MIGRATE_SCANNED));
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_FREE_SCANNED),
			 counter(m, VM_COMPACT_FREE_SCANNED));
	assert_int_equal(n->kcompactd.max_order, 0);
	assert_int_equal(n->kcompactd.state, DAEMON_SLEEPING);
	assert_int_equal(z->defer[DEFER_SHARED].order_failed, 10);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 0);
	machine_end(m);
}

static void test_order_zero_is_no_request(void **state)
{
	(void)state;
	make(0, "256(fA)");
	kcompactd_wake(m, n, 0, ZONE_NORMAL);
	assert_int_equal(n->kcompactd.state, DAEMON_SLEEPING);
	assert_int_equal(n->kcompactd.max_order, 0);
	machine_end(m);
}

static void test_a_refused_request_stays_and_the_timer_looks_at_it(void **state)
{
	(void)state;
	/* Whole free blocks: nothing to do now. */
	make(20, "512f");
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	assert_int_equal(n->kcompactd.state, DAEMON_SLEEPING);
	assert_int_equal(n->kcompactd.max_order, 9);
	model_sleep(m, 499 * MS);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 0);
	model_sleep(m, 2 * MS);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 1);
	assert_int_equal(n->kcompactd.max_order, 0);
	machine_end(m);
	/* Without proactiveness there is no timer. */
	make(0, "512f");
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	model_sleep(m, 5000 * MS);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 0);
	assert_int_equal(n->kcompactd.max_order, 9);
	machine_end(m);
}

static void test_failures_defer_as_sync_failures_do(void **state)
{
	(void)state;
	make(0, "256(fP)");
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	model_sleep(m, 100 * MS);
	assert_int_equal(z->defer[DEFER_SHARED].shift, 1);
	assert_int_equal(z->defer[DEFER_SHARED].considered, 0);
	/* The end was reached, but no direct run asks for the marks to be cleared. */
	assert_false(z->blockskip_flush);
	assert_true(memmap_skip(m, 2 * PAGEBLOCK_PAGES));
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	model_sleep(m, 100 * MS);
	/* A round, in which the zone was deferred. */
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 2);
	assert_int_equal(z->defer[DEFER_SHARED].considered, 1);
	assert_int_equal(z->defer[DEFER_SHARED].shift, 1);
	machine_end(m);
}

static void test_any_type_of_chunk_satisfies_the_daemon(void **state)
{
	struct recorded finished;

	(void)state;
	make(0, "256(fA)");
	record(m, &finished, TRACE_COMPACT_FINISHED);
	kcompactd_wake(m, n, 3, ZONE_NORMAL);
	model_sleep(m, 100 * MS);
	record_stop(m);
	assert_true(finished.nr >= 2);
	assert_int_equal(finished.ev[finished.nr - 1].ret, COMPACT_SUCCESS);
	machine_end(m);
}

static void
test_proactive_compaction_starts_above_the_high_mark_and_stops_at_the_low_one(void **state)
{
	(void)state;
	make(20, "256(fA)");
	assert_int_equal(compact_score_zone(m, z), 100);
	assert_true(compact_score_node(m, n) > 90);
	model_sleep(m, 499 * MS);
	assert_int_equal(counter(m, VM_COMPACT_MIGRATE_SCANNED), 0);
	model_sleep(m, 300 * MS);
	assert_true(compact_score_zone(m, z) <= 80);
	assert_true(compact_score_zone(m, z) > 60);
	assert_true(counter(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED) > 0);
	/* No work was requested, so no wake is counted. */
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 0);
	machine_end(m);
}

static void test_a_proactive_run_in_vain_waits_32_seconds(void **state)
{
	int64_t once;

	(void)state;
	make(20, "256(fP)");
	model_sleep(m, 600 * MS);
	once = counter(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED);
	assert_true(once > 0);
	model_sleep(m, 31800 * MS);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED), once);
	model_sleep(m, 400 * MS);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED), 2 * once);
	machine_end(m);
}

static void test_writing_proactiveness_checks_at_once(void **state)
{
	(void)state;
	make(0, "256(fA)");
	model_sleep(m, 2000 * MS);
	assert_int_equal(counter(m, VM_COMPACT_MIGRATE_SCANNED), 0);
	assert_int_equal(model_set(m, "vm.compaction_proactiveness", "20"), 0);
	model_sleep(m, 100 * MS);
	assert_true(counter(m, VM_COMPACT_MIGRATE_SCANNED) > 0);
	assert_false(n->kcompactd.proactive_trigger);
	machine_end(m);
}

static void test_the_daemon_asks_for_whole_blocks_under_defrag_mode(void **state)
{
	(void)state;
	make(0, "256(fA)");
	m->sysctl.defrag_mode = true;
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	model_sleep(m, 500 * MS);
	/* One chunk was enough before; now it goes on until whole blocks reach the high mark. */
	assert_true(z->stat[VM_NR_FREE_PAGES_BLOCKS] > (int64_t)zone_wmark(z, WMARK_HIGH));
	machine_end(m);
}

static void test_a_whole_first_zone_makes_the_later_zones_whole(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	struct recorded begin;

	(void)state;
	c.daemons = true;
	c.nr_zones = 2;
	c.zone[0].class = ZONE_DMA32;
	c.zone[1] = c.zone[0];
	c.zone[1].class = ZONE_NORMAL;
	c.zone[1].start_pfn = c.zone[0].start_pfn + c.zone[0].spanned;
	m = machine_make(&c);
	n = &m->node[0];
	lay_begin(m);
	for (uint32_t b = 1; b <= 64; b++)
		lay(m, b * PAGEBLOCK_PAGES, "256(fP)");
	lay_end(m);
	z = &m->zone[1];
	m->zone[0].init_migrate = m->zone[0].start_pfn;
	z->cached_migrate[1] = z->start_pfn + 4 * PAGEBLOCK_PAGES;
	z->cached_free = z->end_pfn - 4 * PAGEBLOCK_PAGES;
	record(m, &begin, TRACE_COMPACT_BEGIN);
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	model_sleep(m, 200 * MS);
	record_stop(m);
	assert_int_equal(begin.nr, 2);
	/* One control structure serves the round: this zone starts at its ends, not where it left
	 * off. */
	assert_int_equal(begin.ev[1].migrate_pfn, z->start_pfn);
	assert_int_equal(begin.ev[1].free_pfn, z->end_pfn - PAGEBLOCK_PAGES);
	machine_end(m);
}

/* How many pages a task has got while a batch of folios was moved. */
struct meanwhile {
	const struct op *op;
	uint64_t at_isolation, most;
};

static void watch(void *ctx, const struct trace_event *ev)
{
	struct meanwhile *w = ctx;

	if (ev->id == TRACE_ISOLATE_MIGRATEPAGES)
		w->at_isolation = w->op->done;
	else if (ev->id == TRACE_COMPACT_MIGRATEPAGES && w->op->done - w->at_isolation > w->most)
		w->most = w->op->done - w->at_isolation;
}

/* A task starts on the first of so many CPUs to touch `count` base pages, and kcompactd is woken to
 * empty blocks beside it. */
static task_id touch_beside_kcompactd(uint16_t cpus, uint64_t count)
{
	struct model_config c = quiet_config(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	struct op op = {.kind = OP_TOUCH, .count = count, .write = true};
	task_id task;

	c.daemons = true;
	c.node[0].cpus = cpus;
	/* A block takes some 25 ms, a slice at most 5. */
	assert_int_equal(cost_set(&c.cost, "migrate_folio", 100000), 0);
	assert_int_equal(cost_set(&c.cost, "fault", 20000), 0);
	m = machine_make(&c);
	lay_begin(m);
	for (uint32_t b = 1; b <= 32; b++)
		lay(m, b * PAGEBLOCK_PAGES, "256(fA)");
	lay_end(m);
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, count * 4096, ADVISE_NOHUGEPAGE, &op.region), 0);
	assert_int_equal(model_start(m, task, &op), 0);
	kcompactd_wake(m, &m->node[0], 9, ZONE_NORMAL);
	return task;
}

/* The most pages that such a task got while one block was emptied. */
static uint64_t got_meanwhile(uint16_t cpus)
{
	task_id task = touch_beside_kcompactd(cpus, 4000);
	struct meanwhile w = {.op = m->task[task.v].op};

	model_trace(m, watch, &w);
	model_run(m);
	model_trace(m, NULL, NULL);
	assert_int_equal(model_result(m, task)->done, 4000);
	machine_end(m);
	return w.most;
}

static void test_on_a_shared_cpu_it_is_preempted_in_the_middle_of_a_block(void **state)
{
	(void)state;
	/* A slice of the task's, as long as the daemon's before: 4 ms at 20 us a fault. */
	assert_true(got_meanwhile(1) >= 180);
	assert_int_equal(got_meanwhile(2), 0);
}

struct early {
	uint64_t seen; /* how often, and what had been counted then */
	int64_t success, scanned;
};

static void look(void *ctx)
{
	struct early *e = ctx;

	e->seen++;
	e->success = stats_get(m, VM_PGMIGRATE_SUCCESS);
	e->scanned = stats_get(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED);
}

/* Of a run that goes on when the last operation ends, a reader sees the pages that were moved by
 * then, and not the scanned ones, which are counted when it ends. */
static void test_what_a_run_does_after_the_last_operation_can_be_told_apart(void **state)
{
	struct early e = {0};

	(void)state;
	(void)touch_beside_kcompactd(1, 500);
	model_on_cut_short(m, look, &e);
	model_run(m);
	assert_true(model_was_cut_short(m));
	assert_int_equal(e.seen, 1);
	assert_true(e.success > 0 && e.success < stats_get(m, VM_PGMIGRATE_SUCCESS));
	assert_int_equal(e.scanned, 0);
	assert_true(stats_get(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED) > 0);
	model_sleep(m, 1);
	assert_false(model_was_cut_short(m));
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_a_shared_cpu_it_is_preempted_in_the_middle_of_a_block),
		cmocka_unit_test(test_what_a_run_does_after_the_last_operation_can_be_told_apart),
		cmocka_unit_test(test_a_request_makes_a_chunk_and_is_forgotten),
		cmocka_unit_test(test_order_zero_is_no_request),
		cmocka_unit_test(test_a_refused_request_stays_and_the_timer_looks_at_it),
		cmocka_unit_test(test_failures_defer_as_sync_failures_do),
		cmocka_unit_test(test_any_type_of_chunk_satisfies_the_daemon),
		cmocka_unit_test(
			test_proactive_compaction_starts_above_the_high_mark_and_stops_at_the_low_one),
		cmocka_unit_test(test_a_proactive_run_in_vain_waits_32_seconds),
		cmocka_unit_test(test_writing_proactiveness_checks_at_once),
		cmocka_unit_test(test_the_daemon_asks_for_whole_blocks_under_defrag_mode),
		cmocka_unit_test(test_a_whole_first_zone_makes_the_later_zones_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
