/* SPDX-License-Identifier: MIT */
/* Snapshot files: the way there and back, damage, and a machine of the model made from one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <compactlab/snapshot.h>
#include "backend/backend.h"
#include "model/buddy.h"
#include "model/owner.h"
#include "model/pcp.h"
#include "model/validate.h"
#include "os/snapshot_take.h"
#include "procfs/procfs.h"
#include "result/record.h"
#include "snapshot/snapshot_model.h"
#include "util/util.h"

#define REAL   SNAPSHOT_DIR "/pinned-node.snapshot.gz"

#define F(bit) (1ull << KPAGEFLAG_##bit)

static struct snapshot *real(void)
{
	struct cl_error err = {0};
	struct snapshot *s;

	if (snapshot_load(REAL, &s, &err))
		fail_msg("%s", err.what);
	return s;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void test_what_is_written_reads_back_the_same(void **state)
{
	struct cl_error err = {0};
	struct snapshot *s = real(), *again;
	void *data[2];
	size_t size[2];

	(void)state;
	assert_int_equal(snapshot_pack(s, &data[0], &size[0], &err), 0);
	assert_int_equal(snapshot_unpack(data[0], size[0], "memory", &again, &err), 0);
	assert_int_equal(again->pages, s->pages);
	assert_int_equal(again->runs, s->runs);
	assert_memory_equal(again->run, s->run, s->runs * sizeof(*s->run));
	assert_int_equal(again->states, s->states);
	for (unsigned i = 0; i < s->states; i++)
		assert_memory_equal(&again->state[i], &s->state[i], sizeof(*s->state));
	assert_int_equal(again->stretches, s->stretches);
	assert_memory_equal(again->stretch, s->stretch, s->stretches * sizeof(*s->stretch));
	for (unsigned i = 0; i < SNAPSHOT_TEXTS; i++)
		assert_string_equal(again->text[i], s->text[i]);
	assert_string_equal(again->step, "populate");
	assert_string_equal(snapshot_setting_get(again, "thp.defrag"), "madvise");
	assert_int_equal(snapshot_pack(again, &data[1], &size[1], &err), 0);
	assert_int_equal(size[0], size[1]);
	assert_memory_equal(data[0], data[1], size[0]);
	free(data[0]);
	free(data[1]);
	snapshot_free(s);
	snapshot_free(again);
}

/* Folios of every order, more states than letters, neighbours that are alike. */
static void test_kswapd_and_a_due_flush_read_back(void **state)
{
	struct cl_error err = {0};
	struct snapshot *s = real(), *again;
	void *data;
	size_t size;

	(void)state;
	assert_true(s->scans > 1 && s->node[0].there);
	s->node[0].kswapd_failures = 9;
	s->scan[0].flush = true;
	s->scan[1].flush = false;
	assert_int_equal(snapshot_pack(s, &data, &size, &err), 0);
	assert_int_equal(snapshot_unpack(data, size, "memory", &again, &err), 0);
	assert_int_equal(again->node[0].kswapd_failures, 9);
	assert_true(again->scan[0].flush);
	assert_false(again->scan[1].flush);
	snapshot_free(again);
	snapshot_free(s);
	free(data);
}

static void test_any_pages_read_back_the_same(void **state)
{
	struct cl_error err = {0};
	struct snapshot *s = real(), *made = snapshot_new(0), *again;
	uint64_t random = 7;
	void *data;
	size_t size;

	(void)state;
	for (unsigned i = 0; i < SNAPSHOT_TEXTS; i++)
		made->text[i] = strdup(s->text[i]);
	made->release = strdup("7.3.4");
	made->version = strdup("#1");
	made->machine = strdup("x86_64");
	made->taken = strdup("2026-11-30T13:00:00Z");
	made->cpus = 4;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(snapshot_add(made, (struct snapshot_state){SNAPSHOT_FREE, 0, 0},
					      512),
				 0);
	while (made->pages < 1u << 18) {
		struct snapshot_state t = {(uint8_t)(SNAPSHOT_ANON + random_below(&random, 3)),
					   (uint8_t)random_below(&random, 11),
					   (uint16_t)random_below(&random, 512)};

		if (made->pages % (1u << t.order) == 0)
			assert_int_equal(snapshot_add(made, t, 1), 0);
	}
	while (made->pages % 512)
		assert_int_equal(snapshot_add(made, (struct snapshot_state){SNAPSHOT_HOLE, 0, 0},
					      1),
				 0);
	assert_true(made->states > 26 * 27);
	assert_int_equal(snapshot_pack(made, &data, &size, &err), 0);
	assert_int_equal(snapshot_unpack(data, size, "memory", &again, &err), 0);
	assert_int_equal(again->pages, made->pages);
	assert_int_equal(again->runs, made->runs);
	assert_memory_equal(again->run, made->run, made->runs * sizeof(*made->run));
	free(data);
	snapshot_free(s);
	snapshot_free(made);
	snapshot_free(again);
}

static void test_a_file_that_is_cut_or_changed_is_refused(void **state)
{
	struct cl_error err;
	struct snapshot *s;
	char *data;
	size_t size;

	(void)state;
	assert_int_equal(file_read(REAL, &data, &size), 0);
	for (size_t cut = 0; cut < size; cut += 1 + size / 97) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(snapshot_unpack(data, cut, "cut", &s, &err), -EINVAL);
		assert_null(s);
		assert_string_equal(err.file, "cut");
		assert_true(err.what[0]);
	}
	for (size_t at = 10; at < size; at += 1 + size / 97) {
		memset(&err, 0, sizeof(err));
		data[at] ^= 0x10;
		assert_int_equal(snapshot_unpack(data, size, "changed", &s, &err), -EINVAL);
		assert_null(s);
		assert_true(err.what[0]);
		data[at] ^= 0x10;
	}
	free(data);
}

static void test_damage_inside_names_its_line(void **state)
{
	static const struct {
		const char *text, *what;
		int line;
	} cases[] = {
		{"", "this is no snapshot", 0},
		{"compactlab-snapshot 2\n", "version 2 of the format", 0},
		{"compactlab-snapshot 1\nkernel 7.3\n", "the end is missing", 3},
		{"compactlab-snapshot 1\nkernel 7.3\nkernel 7.3\nend\n", "given twice", 3},
		{"compactlab-snapshot 1\nkernel 7.3\nend\n", "of which machine it is", 3},
		{"compactlab-snapshot 1\nwhatever 1\nend\n", "no line starts with 'whatever'", 2},
		{"compactlab-snapshot 1\ncpus 0\nend\n", "no number of CPUs", 2},
		{"compactlab-snapshot 1\ntext zoneinfo 99\nNode\nend\n", "length of the text", 2},
		{"compactlab-snapshot 1\nstate b free 0\nend\n", "that is no state", 2},
		{"compactlab-snapshot 1\nstate a free 3\nend\n", "no page is of that kind", 2},
		{"compactlab-snapshot 1\nstate a anon 0 new\nend\n", "no page has such a flag", 2},
		{"compactlab-snapshot 1\nstate a free 0\npages 0 1 511a\nend\n", "fewer pages", 3},
		{"compactlab-snapshot 1\nstate a free 0\npages 0 1 512b\nend\n", "no run of", 3},
		{"compactlab-snapshot 1\nstate a free 0\npages 0 1 0a\nend\n", "no run of", 3},
		{"compactlab-snapshot 1\nstate a free 0\npages 512 1 512a\nend\n", "out of", 3},
		{"compactlab-snapshot 1\nstate a anon 3\npages 0 1 64a8a\nend\n", "fewer pages", 3},
		{"compactlab-snapshot 1\nat 0 0 1\nend\n", "no stretch of memory", 2},
		{"compactlab-snapshot 1\nblocks 3M\nend\n", "no type of blocks", 2},
		{"compactlab-snapshot 1\nlist 0 High 0 M\nend\n", "no free list", 2},
		{"compactlab-snapshot 1\nlist 0 DMA 0 X\nend\n", "no free list", 2},
		{"compactlab-snapshot 1\nin 0 1\nend\n", "no part of a free list", 2},
		{"compactlab-snapshot 1\ntuning 0 DMA 0 1 1 256\nend\n", "no tuning", 2},
		{"compactlab-snapshot 1\nscanners 0 DMA 1 1 1 1 1 0 0 0\nend\n", "no positions", 2},
		{"compactlab-snapshot 1\nkswapd 0 failed 1\nend\n", "no kswapd", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cl_error err = {0};
		struct snapshot *s;

		assert_int_equal(snapshot_parse(cases[i].text, strlen(cases[i].text), "x", &s,
						&err),
				 -EINVAL);
		assert_null(s);
		if (!strstr(err.what, cases[i].what) || err.line != cases[i].line)
			fail_msg("'%s' gave line %d: %s", cases[i].text, err.line, err.what);
	}
}

static void test_an_unpacked_file_is_as_good(void **state)
{
	struct cl_error err = {0};
	struct snapshot *s;
	char *text;
	static const char *const argv[] = {"gzip", "-dc", REAL, NULL};

	(void)state;
	assert_int_equal(child_run(argv, &text, NULL), 0);
	assert_int_equal(snapshot_unpack(text, strlen(text), "text", &s, &err), 0);
	snapshot_free(s);
	free(text);
}

/* ---- the pages of a machine ------------------------------------------------------------------ */

static void test_page_flags_of_the_kernel_are_understood(void **state)
{
	static const struct {
		uint64_t flags, mapped;
		enum snapshot_kind kind;
		unsigned ours;
	} cases[] = {
		{F(NOPAGE), 0, SNAPSHOT_HOLE, 0},
		{F(RESERVED), 0, SNAPSHOT_RESERVED, 0},
		{F(HWPOISON) | F(ANON), 1, SNAPSHOT_RESERVED, 0},
		{F(BUDDY), 0, SNAPSHOT_FREE, 0},
		{F(ANON) | F(LRU) | F(MMAP) | F(SWAPBACKED), 1, SNAPSHOT_ANON,
		 SNAPSHOT_LRU | SNAPSHOT_MAPPED},
		{F(ANON) | F(LRU) | F(DIRTY), 0, SNAPSHOT_ANON, SNAPSHOT_LRU},
		{F(LRU) | F(DIRTY) | F(ACTIVE), 3, SNAPSHOT_FILE,
		 SNAPSHOT_LRU | SNAPSHOT_DIRTY | SNAPSHOT_ACTIVE | SNAPSHOT_MAPPED |
			 SNAPSHOT_SHARED},
		{F(UPTODATE), 1, SNAPSHOT_FILE, SNAPSHOT_MAPPED},
		{F(UPTODATE), 0, SNAPSHOT_KERNEL, 0},
		{F(LRU) | F(SWAPBACKED) | F(UNEVICTABLE), 0, SNAPSHOT_SHMEM,
		 SNAPSHOT_LRU | SNAPSHOT_UNEVICTABLE},
		{F(SLAB), 0, SNAPSHOT_SLAB, 0},
		{F(PGTABLE) | F(MMAP), 0, SNAPSHOT_PGTABLE, 0},
		{F(HUGE) | F(COMPOUND_HEAD), 1, SNAPSHOT_HUGETLB, 0},
		{F(OFFLINE), 0, SNAPSHOT_BALLOON, 0},
		{0, 0, SNAPSHOT_KERNEL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot_state s = snapshot_classify(cases[i].flags, cases[i].mapped);

		assert_int_equal(s.kind, cases[i].kind);
		assert_int_equal(s.flags, cases[i].ours);
		assert_int_equal(s.order, 0);
	}
}

static void test_memory_of_steps_is_kept_as_stretches(void **state)
{
	struct snapshot *s = snapshot_new(0);

	(void)state;
	assert_int_equal(snapshot_memory_add(s, "hog", 1000), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(snapshot_memory_page(s, 2 * i, 5000 - 3 * i), 0);
	assert_int_equal(snapshot_memory_page(s, 500, 7), 0);
	assert_int_equal(s->stretches, 2);
	assert_int_equal(s->stretch[0].count, 100);
	assert_int_equal(s->stretch[0].by, 2);
	assert_int_equal(s->stretch[0].pfn_by, -3);
	assert_int_equal(s->memory[0].count, 2);
	snapshot_free(s);
}

/* ---- a machine from it ----------------------------------------------------------------------- */

static struct snapshot_machine machine_of(const struct snapshot *s)
{
	struct cl_error err = {0};
	struct snapshot_machine machine;
	struct model_config config;

	model_config_defaults(&config);
	config.max_multi_pins = 1u << 20;
	assert_int_equal(snapshot_profile(s, &config.profile, &err), 0);
	assert_int_equal(config.profile, PROFILE_C);
	if (snapshot_machine_new(s, &config, &machine, &err))
		fail_msg("%s", err.what);
	return machine;
}

/* To write a setting calls kcompactd; the snapshot's have been written long ago. */
static void test_settings_of_a_snapshot_wake_nobody(void **state)
{
	struct snapshot *s = real();
	struct snapshot_machine machine;

	(void)state;
	assert_int_equal(snapshot_setting_add(s, "vm.compaction_proactiveness", "20"), 0);
	machine = machine_of(s);
	assert_int_equal(machine.m->sysctl.compaction_proactiveness, 20);
	for (unsigned i = 0; i < machine.m->nr_nodes; i++) {
		const struct kcompactd *k = &machine.m->node[i].kcompactd;

		if (!machine.m->node[i].present)
			continue;
		assert_false(k->proactive_trigger);
		assert_int_equal(k->state, DAEMON_SLEEPING);
		assert_true(k->timeout_at >= 500000000);
	}
	snapshot_machine_free(&machine);
	snapshot_free(s);
}

/* The guest's own text, but for what a merge of two lists changes. */
static void test_the_machine_has_the_guests_free_lists(void **state)
{
	struct snapshot *s = real();
	struct snapshot_machine machine = machine_of(s);
	struct buddyinfo want;
	const char *text = s->text[SNAPSHOT_BUDDYINFO];
	char why[256];

	(void)state;
	if (!validate(machine.m, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(buddyinfo_parse(text, strlen(text), &want, NULL), 0);
	assert_int_equal(want.count, machine.m->nr_zones);
	for (unsigned z = 0; z < want.count; z++) {
		int64_t free_pages = 0;

		for (unsigned order = 0; order < want.zone[z].orders; order++) {
			int64_t have = (int64_t)machine.m->zone[z].nr_chunks[order];
			int64_t differ = have - (int64_t)want.zone[z].free[order];

			/* A page or two come and go between the pages and the texts. */
			assert_in_range(differ + 8, 0, 16);
			free_pages += differ << order;
		}
		assert_in_range(free_pages + 128, 0, 256);
	}
	buddyinfo_free(&want);
	snapshot_machine_free(&machine);
	snapshot_free(s);
}

static void test_the_scenarios_pages_are_pinned_and_its_own(void **state)
{
	struct snapshot *s = real();
	struct snapshot_machine machine = machine_of(s);
	uint64_t pinned = 0;

	(void)state;
	assert_int_equal(machine.helds, 1);
	assert_string_equal(machine.held[0].step, "hog");
	assert_true(machine.held[0].pinned);
	for (uint32_t b = 0; b < machine.m->map.nr_blocks; b++)
		pinned += machine.m->map.block[b].nr_pinned;
	assert_int_equal(pinned, machine.held[0].present);
	assert_int_equal(machine.guess.pins, 0);
	snapshot_machine_free(&machine);
	snapshot_free(s);
}

/* A fill of huge pages need not end with one: the last one's end belongs to no position. */
static void test_a_huge_page_may_reach_beyond_its_memory(void **state)
{
	struct snapshot *s = real();
	struct snapshot_machine machine;
	uint64_t pfn = 0, r = 0;

	(void)state;
	snapshot_inside_drop(s); /* its free lists have the page that is made a huge one */
	s->state = realloc(s->state, (s->states + 1) * sizeof(*s->state));
	assert_non_null(s->state);
	s->state[s->states] =
		(struct snapshot_state){SNAPSHOT_ANON, 9, SNAPSHOT_LRU | SNAPSHOT_MAPPED};
	while (s->run[r].count != 512 || s->state[s->run[r].state].kind != SNAPSHOT_FREE) {
		pfn += (uint64_t)s->run[r].count << s->state[s->run[r].state].order;
		assert_true(++r < s->runs);
	}
	s->run[r] = (struct snapshot_run){1, (uint16_t)s->states++};
	assert_int_equal(snapshot_memory_add(s, "huge", 300), 0);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(snapshot_memory_page(s, i, pfn + i), 0);
	machine = machine_of(s);
	assert_int_equal(machine.helds, 2);
	assert_int_equal(machine.held[1].pages, 300);
	assert_int_equal(machine.held[1].present, 300);
	assert_int_equal(owner_region(machine.m, machine.held[1].region)->nr_huge, 1);
	snapshot_machine_free(&machine);
	snapshot_free(s);
}

static json_t *run_scenario(const char *name, const char *text)
{
	struct cl_error err = {0};
	struct backend_run run = {0};
	struct cl_scenario *scenario;
	struct plan *plan;
	json_t *record = NULL;

	assert_int_equal(cl_scenario_parse(text, strlen(text), name, &scenario, &err), 0);
	assert_int_equal(plan_resolve(scenario, "model", "mainline", 0, 1, &plan, &err), 0);
	run.plan = plan;
	run.scenario = scenario;
	if (backend_model.run(&run, &record, &err))
		fail_msg("%s", err.what);
	plan_free(plan);
	cl_scenario_free(scenario);
	return record;
}

/*
 * Nothing is left to chance where every compaction succeeds: the model scans, isolates and moves
 * the very pages that the guest did, to the last of seven millions.
 */
static void test_the_model_scans_page_for_page_what_the_guest_did(void **state)
{
	static const struct {
		const char *measure;
		double guest;
	} measures[] = {
		{"populate.huge_node0", 256},
		{"populate.compact_stall", 203},
		{"populate.compact_success", 203},
		{"populate.compact_migrate_scanned", 128016},
		{"populate.compact_free_scanned", 7033428},
		{"populate.compact_isolated", 117984},
		{"populate.pgmigrate_success", 58944},
		{"populate.pgfree", 59040},
	};
	json_t *record = run_scenario(
		"pinned-node-movable.ini",
		"[experiment]\ntitle = movable\n[machine]\n"
		"snapshot = " SNAPSHOT_DIR "/pinned-node-movable.snapshot.gz\n"
		"[step hog]\nkind = fill\nnode = 0\nleave = 110M\n"
		"[step populate]\nkind = fault\nsize = 512M\nadvice = hugepage\ncpu_node = 0\n");
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		assert_int_equal(record_measure(record, measures[i].measure, &value), 0);
		if (value != measures[i].guest)
			fail_msg("%s is %g, and was %g", measures[i].measure, value,
				 measures[i].guest);
	}
	json_decref(record);
}

/*
 * The step that the guest did next, on the model from the guest's layout. What the guest counted:
 * 53 huge pages on node 0 and 203 on node 1, one failed compaction for each of those, 205 in all.
 */
static void check_next_step(const char *file)
{
	static const struct {
		const char *measure;
		double guest;
	} measures[] = {
		{"populate.huge_node0", 53},     {"populate.huge_remote", 203},
		{"populate.compact_stall", 205}, {"populate.compact_fail", 203},
		{"populate.numa_miss", 203},     {"populate.thp_fault_alloc", 256},
	};
	char text[1024];
	json_t *record;
	double fails, remote, value;

	snprintf(text, sizeof(text),
		 "[experiment]\ntitle = pinned\n[machine]\nsnapshot = %s\n"
		 "[step hog]\nkind = fill\nnode = 0\nleave = 110M\n"
		 "[step pins]\nkind = pin\nof = hog\n"
		 "[step populate]\nkind = fault\nsize = 512M\nadvice = hugepage\ncpu_node = 0\n"
		 "[step unpin]\nkind = unpin\nof = pins\n"
		 "[step release]\nkind = release\nof = hog\n",
		 file);
	record = run_scenario("pinned-node.ini", text);
	/* What was before is left out; what the steps before hold can be unpinned and released. */
	assert_int_equal(json_array_size(json_object_get(record, "steps")), 3);
	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		assert_int_equal(record_measure(record, measures[i].measure, &value), 0);
		if (value < measures[i].guest * 0.9 || value > measures[i].guest * 1.1)
			fail_msg("%s is %g, and was %g", measures[i].measure, value,
				 measures[i].guest);
	}
	assert_int_equal(record_measure(record, "populate.compact_fail", &fails), 0);
	assert_int_equal(record_measure(record, "populate.huge_remote", &remote), 0);
	assert_true(fails == remote);
	assert_int_equal(record_measure(record, "unpin.pinned_pages", &value), 0);
	assert_true(value == 221535);
	json_decref(record);
}

static void test_the_model_does_the_next_step_as_the_guest_did(void **state)
{
	(void)state;
	check_next_step(REAL);
}

static void test_so_it_does_from_what_proc_shows(void **state)
{
	static const char path[] = "outside.snapshot.gz";
	struct cl_error err = {0};
	struct snapshot *s = real();
	void *data;
	size_t size;

	(void)state;
	snapshot_inside_drop(s);
	assert_int_equal(snapshot_pack(s, &data, &size, &err), 0);
	assert_int_equal(file_replace(path, data, size), 0);
	check_next_step(path);
	remove(path);
	free(data);
	snapshot_free(s);
}

/* Free lists and per-CPU lists in the guest's order, and its block types. */
static void test_the_kernels_own_state_is_taken_over(void **state)
{
	struct snapshot *s = real();
	struct snapshot_machine machine = machine_of(s);
	struct model *m = machine.m;

	(void)state;
	assert_true(machine.inside);
	assert_int_equal(machine.guess.block_types, 0);
	assert_int_equal(machine.guess.percpu, 0);
	assert_int_equal(machine.guess.changed, 0);
	for (uint32_t b = 1; b < s->blocks; b++) {
		unsigned type = s->block[b] & 7;

		if (type != SNAPSHOT_TYPE_NONE && zone_of(m, block_start((block_t){b})))
			assert_int_equal(block_type(m, block_start((block_t){b})), type);
	}
	for (unsigned i = 0; i < s->lists; i++) {
		const struct snapshot_list *l = &s->list[i];
		struct zone *z = &m->zone[m->node[l->node].zone[l->zone].v];
		uint64_t chunks = 0;

		for (uint32_t k = l->first; k < l->first + l->count; k++)
			chunks += s->stretch[k].count;
		if (l->cpu == SNAPSHOT_NO_CPU)
			assert_int_equal(buddy_list_chunks(z, l->order, (enum migratetype)l->type),
					 chunks);
	}
	assert_true(pcp_zone_pages(m, &m->zone[1]) > 1000);
	snapshot_machine_free(&machine);
	snapshot_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_reads_back_the_same),
		cmocka_unit_test(test_any_pages_read_back_the_same),
		cmocka_unit_test(test_a_file_that_is_cut_or_changed_is_refused),
		cmocka_unit_test(test_damage_inside_names_its_line),
		cmocka_unit_test(test_kswapd_and_a_due_flush_read_back),
		cmocka_unit_test(test_an_unpacked_file_is_as_good),
		cmocka_unit_test(test_page_flags_of_the_kernel_are_understood),
		cmocka_unit_test(test_memory_of_steps_is_kept_as_stretches),
		cmocka_unit_test(test_settings_of_a_snapshot_wake_nobody),
		cmocka_unit_test(test_the_machine_has_the_guests_free_lists),
		cmocka_unit_test(test_the_scenarios_pages_are_pinned_and_its_own),
		cmocka_unit_test(test_a_huge_page_may_reach_beyond_its_memory),
		cmocka_unit_test(test_the_kernels_own_state_is_taken_over),
		cmocka_unit_test(test_the_model_does_the_next_step_as_the_guest_did),
		cmocka_unit_test(test_so_it_does_from_what_proc_shows),
		cmocka_unit_test(test_the_model_scans_page_for_page_what_the_guest_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
