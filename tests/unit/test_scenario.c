/* SPDX-License-Identifier: MIT */
/* Good scenarios become exactly the plan they describe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <compactlab/scenario.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/plan.h"
#include "util/util.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static struct cl_scenario *parse(const char *text)
{
	struct cl_scenario *s = NULL;
	struct cl_error err = {0};
	char buf[2048];

	if (cl_scenario_parse(text, strlen(text), "dir/test.ini", &s, &err))
		fail_msg("%s", cl_error_text(&err, buf, sizeof(buf)));
	return s;
}

static struct plan *resolve(const struct cl_scenario *s, const char *backend, const char *variant)
{
	struct cl_error err = {0};
	struct plan *p = NULL;
	char buf[2048];

	if (plan_resolve(s, backend, variant, 0, 1, &p, &err))
		fail_msg("%s", cl_error_text(&err, buf, sizeof(buf)));
	return p;
}

static void set(struct cl_scenario *s, const char *assignment)
{
	struct cl_error err = {0};
	char buf[2048];

	if (cl_scenario_set(s, assignment, &err))
		fail_msg("%s", cl_error_text(&err, buf, sizeof(buf)));
}

static void assert_resolve_fails(const struct cl_scenario *s, const char *backend,
				 const char *variant, const char *message)
{
	struct cl_error err = {0};
	struct plan *p = (struct plan *)1;
	char buf[2048];

	assert_int_equal(plan_resolve(s, backend, variant, 0, 1, &p, &err), -EINVAL);
	assert_null(p);
	assert_string_equal(cl_error_text(&err, buf, sizeof(buf)), message);
}

static const char every_key[] = "[experiment]\n"
				"title = Every key\n"
				"about = One paragraph\n"
				"\tin two lines, or three:\n"
				"\n"
				"\tthe blank one does not count.\n"
				"cite = \"a thread\", 2026\n"
				"seed = 40\n"
				"repeat = 3\n"
				"show = populate.compact_stall, populate.huge_node0\n"
				"\tlog.time_ns\n"
				"[machine]\n"
				"nodes = 24G, 8G 1.5G ; three\n"
				"cpus = 32\n"
				"kernel = 7.3\n"
				"boot = quiet mitigations=off\n"
				"disk = 2G\n"
				"timeout = 90s\n"
				"vm.compaction_proactiveness = 0\n"
				"thp.hugepages-64kB/enabled = inherit\n"
				"[step hog]\n"
				"kind = fill\n"
				"memory = shmem\n"
				"pages = huge\n"
				"node = 1\n"
				"size = 25.5%\n"
				"[step holes]\n"
				"kind = punch\n"
				"of = hog\n"
				"action = keep\n"
				"select = pfn\n"
				"order = shuffled\n"
				"modulo = 8\n"
				"residue = 4\n"
				"[step blocks]\n"
				"kind = punch\n"
				"of = hog\n"
				"select = pageblock\n"
				"residue = 511\n"
				"order = descending\n"
				"[step luck]\n"
				"kind = punch\n"
				"of = hog\n"
				"select = random\n"
				"share = 12.5%\n"
				"[step pins]\n"
				"kind = pin\n"
				"of = hog\n"
				"[step loose]\n"
				"kind = unpin\n"
				"of = pins\n"
				"[step populate]\n"
				"kind = fault\n"
				"size = 4097M\n"
				"advice = nohugepage\n"
				"policy = weighted\n"
				"nodes = 2, 0\n"
				"weights = 3, 1\n"
				"method = populate-write\n"
				"cpu_node = 1\n"
				"threads = 4\n"
				"repeat = 40\n"
				"until_defer_shift = 6\n"
				"[step end]\n"
				"kind = release\n"
				"of = populate\n"
				"[step files]\n"
				"kind = files\n"
				"count = 1000000\n"
				"size = 12K\n"
				"threads = 2\n"
				"[step log]\n"
				"kind = write\n"
				"size = 1G\n"
				"chunk = 64K\n"
				"threads = 3\n"
				"[step chunks]\n"
				"kind = request\n"
				"order = 4\n"
				"count = 300\n"
				"cpu_node = 1\n"
				"[step mode]\n"
				"kind = set\n"
				"thp.defrag = defer+madvise\n"
				"vm.page-cluster = 3\n"
				"[step tidy]\n"
				"kind = compact\n"
				"node = 2\n"
				"[step drop]\n"
				"kind = drop\n"
				"what = slab\n"
				"[step nap]\n"
				"kind = sleep\n"
				"time = 250ms\n"
				"[step look]\n"
				"kind = read\n"
				"file = /proc/pagetypeinfo\n";

static void every_key_arrives_in_the_plan(void **state)
{
	struct cl_scenario *s = parse(every_key);
	struct plan *p = resolve(s, "guest", "mainline");
	const struct step *t = p->step;

	(void)state;
	assert_string_equal(p->scenario, "test");
	assert_string_equal(p->file, "dir/test.ini");
	assert_string_equal(p->backend, "guest");
	assert_string_equal(p->variant, "mainline");
	assert_string_equal(p->policy, "mainline");
	assert_int_equal(p->machine.nodes, 3);
	assert_int_equal(p->machine.node_bytes[0], 24 * GIB);
	assert_int_equal(p->machine.node_bytes[1], 8 * GIB);
	assert_int_equal(p->machine.node_bytes[2], 1536 * MIB);
	assert_int_equal(p->machine.cpus, 32);
	assert_string_equal(p->machine.kernel, "7.3");
	assert_string_equal(p->machine.boot, "quiet mitigations=off");
	assert_int_equal(p->machine.disk_bytes, 2 * GIB);
	assert_int_equal(p->machine.timeout_ns, 90000000000);
	assert_int_equal(p->machine.settings.count, 2);
	assert_string_equal(p->machine.settings.item[0].name, "vm.compaction_proactiveness");
	assert_string_equal(p->machine.settings.item[0].value, "0");
	assert_int_equal(p->machine.settings.item[0].line, 19);
	assert_string_equal(p->machine.settings.item[1].name, "thp.hugepages-64kB/enabled");
	assert_string_equal(p->machine.settings.item[1].value, "inherit");

	assert_int_equal(p->steps, 16);
	assert_string_equal(t->name, "hog");
	assert_int_equal(t->kind, STEP_FILL);
	assert_int_equal(t->line, 21);
	assert_int_equal(t->fill.memory, FILL_SHMEM);
	assert_int_equal(t->fill.pages, FILL_PAGE_HUGE);
	assert_int_equal(t->fill.node, 1);
	assert_true(t->fill.size.set);
	assert_int_equal(t->fill.size.ppm_of_free, 255000);
	assert_int_equal(t->fill.size.bytes, 0);
	assert_false(t->fill.leave.set);
	t++;
	assert_int_equal(t->kind, STEP_PUNCH);
	assert_int_equal(t->punch.of, 0);
	assert_int_equal(t->punch.action, PUNCH_KEEP);
	assert_int_equal(t->punch.select, PUNCH_PFN);
	assert_int_equal(t->punch.order, PUNCH_SHUFFLED);
	assert_int_equal(t->punch.modulo, 8);
	assert_int_equal(t->punch.residue, 4);
	t++;
	assert_int_equal(t->punch.action, PUNCH_FREE);
	assert_int_equal(t->punch.select, PUNCH_PAGEBLOCK);
	assert_int_equal(t->punch.order, PUNCH_DESCENDING);
	assert_int_equal(t->punch.residue, 511);
	t++;
	assert_int_equal(t->punch.select, PUNCH_RANDOM);
	assert_int_equal(t->punch.order, PUNCH_ASCENDING);
	assert_int_equal(t->punch.share_ppm, 125000);
	t++;
	assert_int_equal(t->kind, STEP_PIN);
	assert_int_equal(t->pin.of, 0);
	t++;
	assert_int_equal(t->kind, STEP_UNPIN);
	assert_int_equal(t->unpin.of, 4);
	t++;
	assert_int_equal(t->kind, STEP_FAULT);
	assert_int_equal(t->fault.size.bytes, 4098 * MIB); /* up to whole huge pages */
	assert_int_equal(t->fault.advice, ADVICE_NOHUGEPAGE);
	assert_int_equal(t->fault.policy, POLICY_WEIGHTED);
	assert_int_equal(t->fault.nodes.count, 2);
	assert_int_equal(t->fault.nodes.node[0], 2);
	assert_int_equal(t->fault.nodes.node[1], 0);
	assert_int_equal(t->fault.weights[0], 3);
	assert_int_equal(t->fault.weights[1], 1);
	assert_int_equal(t->fault.weights[2], 0);
	assert_int_equal(t->fault.method, METHOD_POPULATE_WRITE);
	assert_int_equal(t->fault.cpu_node, 1);
	assert_int_equal(t->fault.threads, 4);
	assert_int_equal(t->fault.repeat, 40);
	assert_int_equal(t->fault.until_defer_shift, 6);
	t++;
	assert_int_equal(t->kind, STEP_RELEASE);
	assert_int_equal(t->release.of, 6);
	t++;
	assert_int_equal(t->kind, STEP_FILES);
	assert_int_equal(t->files.count, 1000000);
	assert_int_equal(t->files.size_bytes, 12288);
	assert_int_equal(t->files.threads, 2);
	t++;
	assert_int_equal(t->kind, STEP_WRITE);
	assert_int_equal(t->write.size.bytes, GIB);
	assert_int_equal(t->write.chunk_bytes, 65536);
	assert_int_equal(t->write.threads, 3);
	t++;
	assert_int_equal(t->kind, STEP_REQUEST);
	assert_int_equal(t->request.order, 4);
	assert_int_equal(t->request.count, 300);
	assert_int_equal(t->request.cpu_node, 1);
	t++;
	assert_int_equal(t->kind, STEP_SET);
	assert_int_equal(t->set.settings.count, 2);
	assert_string_equal(t->set.settings.item[0].name, "thp.defrag");
	assert_string_equal(t->set.settings.item[0].value, "defer+madvise");
	assert_string_equal(t->set.settings.item[1].name, "vm.page-cluster");
	assert_string_equal(t->set.settings.item[1].value, "3");
	t++;
	assert_int_equal(t->kind, STEP_COMPACT);
	assert_int_equal(t->compact.node, 2);
	t++;
	assert_int_equal(t->kind, STEP_DROP);
	assert_int_equal(t->drop.what, DROP_SLAB);
	t++;
	assert_int_equal(t->kind, STEP_SLEEP);
	assert_int_equal(t->sleep.time_ns, 250000000);
	t++;
	assert_int_equal(t->kind, STEP_READ);
	assert_string_equal(t->read.file, "/proc/pagetypeinfo");
	plan_free(p);
	cl_scenario_free(s);
}

static void the_experiment_arrives(void **state)
{
	struct cl_scenario *s = parse(every_key);
	struct experiment e;

	(void)state;
	assert_int_equal(experiment_resolve(s, "model", &e, NULL), 0);
	assert_string_equal(e.title, "Every key");
	assert_string_equal(e.about, "One paragraph in two lines, or three: the blank one does "
				     "not count.");
	assert_string_equal(e.cite, "\"a thread\", 2026");
	assert_int_equal(e.seed, 40);
	assert_int_equal(e.repeat, 3);
	assert_int_equal(e.shows, 3);
	assert_string_equal(e.show[0], "populate.compact_stall");
	assert_string_equal(e.show[2], "log.time_ns");
	experiment_free(&e);
	assert_string_equal(cl_scenario_title(s), "Every key");
	assert_string_equal(cl_scenario_name(s), "test");
	cl_scenario_free(s);
}

static void what_is_left_out_has_its_default(void **state)
{
	struct cl_scenario *s = parse("[step hog]\nkind = fill\nleave = 64M\n"
				      "[step a]\nkind = fault\nsize = 1M\n"
				      "[step b]\nkind = compact\n[step c]\nkind = drop\n"
				      "[step d]\nkind = files\ncount = 1\n"
				      "[step e]\nkind = write\nsize = 4K\n");
	struct plan *p = resolve(s, "model", "mainline");
	struct experiment e;

	(void)state;
	assert_int_equal(p->machine.nodes, 1);
	assert_int_equal(p->machine.node_bytes[0], GIB);
	assert_int_equal(p->machine.cpus, 2);
	assert_null(p->machine.kernel);
	assert_null(p->machine.boot);
	assert_int_equal(p->machine.disk_bytes, 0);
	assert_int_equal(p->machine.timeout_ns, 600000000000);
	assert_int_equal(p->step[0].fill.memory, FILL_ANON);
	assert_int_equal(p->step[0].fill.pages, FILL_PAGE_BASE);
	assert_int_equal(p->step[0].fill.node, PLAN_NODE_ANY);
	assert_false(p->step[0].fill.size.set);
	assert_int_equal(p->step[0].fill.leave.bytes, 64 * MIB);
	assert_int_equal(p->step[1].fault.size.bytes, 2 * MIB);
	assert_int_equal(p->step[1].fault.advice, ADVICE_NONE);
	assert_int_equal(p->step[1].fault.policy, POLICY_LOCAL);
	assert_int_equal(p->step[1].fault.method, METHOD_TOUCH);
	assert_int_equal(p->step[1].fault.nodes.count, 0);
	assert_int_equal(p->step[1].fault.cpu_node, PLAN_NODE_ANY);
	assert_int_equal(p->step[1].fault.threads, 1);
	assert_int_equal(p->step[1].fault.repeat, 1);
	assert_int_equal(p->step[1].fault.until_defer_shift, 0);
	assert_int_equal(p->step[2].compact.node, PLAN_NODE_ANY);
	assert_int_equal(p->step[3].drop.what, DROP_ALL);
	assert_int_equal(p->step[4].files.size_bytes, 0);
	assert_int_equal(p->step[4].files.threads, 1);
	assert_int_equal(p->step[5].write.chunk_bytes, MIB);
	assert_int_equal(p->step[5].write.threads, 1);
	plan_free(p);
	assert_int_equal(experiment_resolve(s, "model", &e, NULL), 0);
	assert_string_equal(e.title, "test"); /* the file's name */
	assert_null(e.about);
	assert_null(e.cite);
	assert_int_equal(e.seed, 1);
	assert_int_equal(e.repeat, 1);
	assert_int_equal(e.shows, 0);
	experiment_free(&e);
	cl_scenario_free(s);
}

static const char ranked[] = "[machine]\nnodes = 4G\nthp.defrag = madvise\n"
			     "[variant plain]\n"
			     "[variant other]\npolicy = sample-random\nkernel = 6.12\n"
			     "thp.defrag = never\npopulate.size = 256M\n"
			     "[step hog]\nkind = fill\nleave = 64M\n"
			     "[step populate]\nkind = fault\nsize = 1G\n"
			     "[on guest]\nthp.defrag = defer\nvm.swappiness = 0\n"
			     "populate.size = 512M\nmachine.nodes = 2G\nhog.size = 10%\n"
			     "experiment.repeat = 5\nmachine.kernel = 7.3\n";

static void later_ranks_win(void **state)
{
	struct cl_scenario *s = parse(ranked);
	struct plan *p = resolve(s, "model", "plain");

	(void)state;
	/* the file alone */
	assert_int_equal(p->machine.node_bytes[0], 4 * GIB);
	assert_int_equal(p->step[1].fault.size.bytes, GIB);
	assert_int_equal(p->machine.settings.count, 1);
	assert_string_equal(p->machine.settings.item[0].value, "madvise");
	assert_null(p->machine.kernel);
	plan_free(p);
	/* [on] over the file */
	p = resolve(s, "guest", "plain");
	assert_int_equal(p->machine.node_bytes[0], 2 * GIB);
	assert_int_equal(p->step[1].fault.size.bytes, 512 * MIB);
	assert_int_equal(p->machine.settings.count, 2);
	assert_string_equal(p->machine.settings.item[0].value, "defer");
	assert_string_equal(p->machine.settings.item[1].name, "vm.swappiness");
	assert_string_equal(p->machine.kernel, "7.3");
	plan_free(p);
	/* [variant] over [on] */
	p = resolve(s, "guest", "other");
	assert_string_equal(p->policy, "sample-random");
	assert_int_equal(p->step[1].fault.size.bytes, 256 * MIB);
	assert_string_equal(p->machine.settings.item[0].value, "never");
	assert_string_equal(p->machine.kernel, "6.12");
	plan_free(p);
	/* --set over all, and the last of two */
	set(s, "populate.size=128M");
	set(s, " populate.size = 64M ");
	set(s, "thp.defrag=always");
	p = resolve(s, "guest", "other");
	assert_int_equal(p->step[1].fault.size.bytes, 64 * MIB);
	assert_string_equal(p->machine.settings.item[0].value, "always");
	plan_free(p);
	cl_scenario_free(s);
}

static void overriding_by_size_replaces_leave(void **state)
{
	struct cl_scenario *s = parse(ranked);
	struct plan *p = resolve(s, "guest", "plain");

	(void)state;
	assert_true(p->step[0].fill.size.set);
	assert_int_equal(p->step[0].fill.size.ppm_of_free, 100000);
	assert_false(p->step[0].fill.leave.set);
	plan_free(p);
	set(s, "hog.leave=32M");
	p = resolve(s, "guest", "plain");
	assert_false(p->step[0].fill.size.set);
	assert_int_equal(p->step[0].fill.size.ppm_of_free, 0);
	assert_int_equal(p->step[0].fill.leave.bytes, 32 * MIB);
	plan_free(p);
	cl_scenario_free(s);
}

static void overriding_the_selection_drops_the_keys_of_the_old_one(void **state)
{
	struct cl_scenario *s = parse("[variant a]\nholes.select = random\nholes.share = 50%\n"
				      "[step hog]\nkind = fill\nsize = 64M\n"
				      "[step holes]\nkind = punch\nof = hog\nselect = pfn\n"
				      "modulo = 8\nresidue = 4\n");
	struct plan *p = resolve(s, "model", "a");

	(void)state;
	assert_int_equal(p->step[1].punch.select, PUNCH_RANDOM);
	assert_int_equal(p->step[1].punch.share_ppm, 500000);
	assert_int_equal(p->step[1].punch.modulo, 0);
	assert_int_equal(p->step[1].punch.residue, 0);
	plan_free(p);
	cl_scenario_free(s);
}

static void repeats_are_overridden_for_a_backend(void **state)
{
	struct cl_scenario *s = parse(ranked);
	struct experiment e;

	(void)state;
	assert_int_equal(experiment_resolve(s, "model", &e, NULL), 0);
	assert_int_equal(e.repeat, 1);
	experiment_free(&e);
	assert_int_equal(experiment_resolve(s, "guest", &e, NULL), 0);
	assert_int_equal(e.repeat, 5);
	experiment_free(&e);
	cl_scenario_free(s);
}

static void each_repeat_has_its_own_seed(void **state)
{
	struct cl_scenario *s = parse(ranked);
	struct plan *p = NULL;

	(void)state;
	assert_int_equal(plan_resolve(s, "model", "plain", 7, 100, &p, NULL), 0);
	assert_int_equal(p->repeat, 7);
	assert_int_equal(p->seed, 107);
	plan_free(p);
	cl_scenario_free(s);
}

static void min_free_kbytes_is_written_behind_the_other_settings(void **state)
{
	struct cl_scenario *s = parse("[step a]\nkind = set\nvm.min_free_kbytes = 5000\n"
				      "vm.swappiness = 1\nthp.enabled = always\n");
	struct plan *p = resolve(s, "model", "mainline");
	const struct settings *set = &p->step[0].set.settings;

	(void)state;
	assert_int_equal(set->count, 3);
	assert_string_equal(set->item[0].name, "vm.swappiness");
	assert_string_equal(set->item[1].name, "thp.enabled");
	assert_string_equal(set->item[2].name, "vm.min_free_kbytes");
	assert_string_equal(set->item[2].value, "5000");
	plan_free(p);
	cl_scenario_free(s);
}

static void skipped_steps_are_not_in_the_plan(void **state)
{
	struct cl_scenario *s = parse("[variant a]\n[variant b]\nfirst.skip = yes\n"
				      "[step first]\nkind = fill\nsize = 64M\n"
				      "[step hog]\nkind = fill\nsize = 64M\n"
				      "[step pins]\nkind = pin\nof = hog\n");
	struct plan *p = resolve(s, "model", "a");

	(void)state;
	assert_int_equal(p->steps, 3);
	assert_int_equal(p->step[2].pin.of, 1);
	plan_free(p);
	p = resolve(s, "model", "b");
	assert_int_equal(p->steps, 2);
	assert_string_equal(p->step[0].name, "hog");
	assert_int_equal(p->step[1].pin.of, 0); /* counted in the plan */
	plan_free(p);
	cl_scenario_free(s);
}

static void the_host_may_have_any_nodes(void **state)
{
	struct cl_scenario *s = parse("[step hog]\nkind = fill\nsize = 64M\n"
				      "[on host]\nhog.node = 7\nhog.size = 100G\n");
	struct plan *p = resolve(s, "host", "mainline");

	(void)state;
	assert_int_equal(p->step[0].fill.node, 7);
	plan_free(p);
	cl_scenario_free(s);
}

static void scaling_divides_sizes_and_counts_but_no_shares(void **state)
{
	struct cl_scenario *s = parse("[machine]\nnodes = 24G, 8G\ndisk = 32G\n"
				      "[variant v]\nsecond.size = 2G\n"
				      "[step first]\nkind = fill\nleave = 320M\n"
				      "[step second]\nkind = fault\nsize = 4G\n"
				      "[step third]\nkind = fault\nsize = 10%\n"
				      "[step fourth]\nkind = files\ncount = 1000\nsize = 64K\n"
				      "[step fifth]\nkind = write\nsize = 1G\nchunk = 1M\n"
				      "[step sixth]\nkind = fill\nsize = 100K\n");
	struct plan *p;

	(void)state;
	assert_int_equal(cl_scenario_scale(s, 32, NULL), 0);
	set(s, "sixth.size=100K"); /* taken as it stands */
	p = resolve(s, "model", "v");
	assert_int_equal(p->machine.node_bytes[0], 768 * MIB);
	assert_int_equal(p->machine.node_bytes[1], 256 * MIB);
	assert_int_equal(p->machine.disk_bytes, 32 * GIB);
	assert_int_equal(p->step[0].fill.leave.bytes, 10 * MIB);
	assert_int_equal(p->step[1].fault.size.bytes, 64 * MIB);
	assert_int_equal(p->step[2].fault.size.ppm_of_free, 100000);
	assert_int_equal(p->step[3].files.count, 31);
	assert_int_equal(p->step[3].files.size_bytes, 65536);
	assert_int_equal(p->step[4].write.size.bytes, 32 * MIB);
	assert_int_equal(p->step[4].write.chunk_bytes, MIB);
	assert_int_equal(p->step[5].fill.size.bytes, 102400);
	plan_free(p);
	cl_scenario_free(s);
}

static void scaling_rounds_down_to_what_the_key_can_hold(void **state)
{
	struct cl_scenario *s = parse("[machine]\nnodes = 100M\n"
				      "[step hog]\nkind = fill\nsize = 1M\n");
	struct plan *p;

	(void)state;
	assert_int_equal(cl_scenario_scale(s, 3, NULL), 0);
	p = resolve(s, "model", "mainline");
	assert_int_equal(p->machine.node_bytes[0], 33 * MIB);
	assert_int_equal(p->step[0].fill.size.bytes, 348160); /* 85 pages of 85.3 */
	plan_free(p);
	cl_scenario_free(s);
}

static void scaling_below_the_smallest_is_an_error(void **state)
{
	struct cl_scenario *s = parse("[machine]\nnodes = 1G\n"
				      "[step hog]\nkind = fill\nsize = 1M\n");
	struct cl_error err;

	(void)state;
	assert_int_equal(cl_scenario_scale(s, 128, NULL), 0);
	assert_resolve_fails(s, "model", "mainline",
			     "dir/test.ini:2: machine.nodes: '1G' scaled by 1/128 is 8M, below "
			     "16M");
	assert_int_equal(cl_scenario_scale(s, 0, &err), -EINVAL);
	assert_string_equal(err.what, "1/0 is outside 1/1 to 1/65536");
	cl_scenario_free(s);
}

static void variants_are_listed_in_file_order(void **state)
{
	struct cl_scenario *s = parse(ranked);

	(void)state;
	assert_int_equal(scenario_variants(s), 2);
	assert_string_equal(scenario_variant(s, 0), "plain");
	assert_string_equal(scenario_variant(s, 1), "other");
	assert_null(scenario_variant(s, 2));
	cl_scenario_free(s);
	s = parse(every_key);
	assert_int_equal(scenario_variants(s), 1);
	assert_string_equal(scenario_variant(s, 0), "mainline");
	cl_scenario_free(s);
}

static void an_unknown_variant_or_backend_is_refused(void **state)
{
	struct cl_scenario *s = parse(ranked);

	(void)state;
	assert_resolve_fails(s, "model", "plainn",
			     "dir/test.ini: there is no variant 'plainn' (did you mean 'plain'?)");
	assert_resolve_fails(s, "moon", "plain", "dir/test.ini: there is no backend 'moon'");
	cl_scenario_free(s);
}

static void published_figures_keep_their_order_and_times_become_ns(void **state)
{
	struct cl_scenario *s = parse("[step hog]\nkind = fill\nsize = 64M\n"
				      "[published defer-async-v2]\n"
				      "hog.compact_stall = 9, 41\n"
				      "hog.compaction_ns = 2.6ms 5.1ms\n"
				      "hog.share = -0.25\n");
	const struct published *f = scenario_published_get(s, 0);

	(void)state;
	assert_int_equal(scenario_published(s), 3);
	assert_string_equal(f->variant, "defer-async-v2");
	assert_string_equal(f->measure, "hog.compact_stall");
	assert_int_equal(f->count, 2);
	assert_true(f->value[0] == 9 && f->value[1] == 41);
	f = scenario_published_get(s, 1);
	assert_true(f->value[0] == 2600000 && f->value[1] == 5100000);
	f = scenario_published_get(s, 2);
	assert_true(f->value[0] == -0.25);
	assert_null(scenario_published_get(s, 3));
	cl_scenario_free(s);
}

static void checks_can_be_replaced_and_switched_off(void **state)
{
	struct cl_scenario *s = parse("[on host]\ncheck.first = off\ncheck.second = 2 > 1\n"
				      "check.third = 3 > 1\n"
				      "[step hog]\nkind = fill\nsize = 64M\n"
				      "[check]\nfirst = mainline.hog.huge\n\t> 1\n"
				      "second = 1 > 0\nthird = off\n");
	struct check_line *c;
	unsigned n;

	(void)state;
	assert_int_equal(scenario_checks(s, "model", &c, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(c[0].name, "first");
	assert_string_equal(c[0].relation, "mainline.hog.huge > 1");
	assert_string_equal(c[0].file, "dir/test.ini");
	assert_int_equal(c[0].line, 9);
	assert_string_equal(c[1].name, "second");
	assert_string_equal(c[1].relation, "1 > 0");
	free(c);
	assert_int_equal(scenario_checks(s, "host", &c, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(c[0].name, "second");
	assert_string_equal(c[0].relation, "2 > 1");
	assert_int_equal(c[0].line, 3);
	assert_string_equal(c[1].name, "third");
	free(c);
	set(s, "check.second=off");
	assert_int_equal(scenario_checks(s, "host", &c, &n, NULL), 0);
	assert_int_equal(n, 1);
	free(c);
	cl_scenario_free(s);
}

static void line_ends_byte_order_mark_and_comments_do_not_matter(void **state)
{
	struct cl_scenario *s = parse("\xef\xbb\xbf[machine]\r\nnodes = 2G ; two\r\n"
				      "; one\r\n# other\r\n\r\n"
				      "[step hog] ; behind\r\n  kind = fill\r\nsize: 64M");
	struct plan *p = resolve(s, "model", "mainline");

	(void)state;
	assert_int_equal(p->machine.node_bytes[0], 2 * GIB);
	assert_int_equal(p->step[0].fill.size.bytes, 64 * MIB);
	assert_int_equal(p->step[0].line, 6);
	plan_free(p);
	cl_scenario_free(s);
}

static void the_digest_is_of_the_bytes(void **state)
{
	struct cl_scenario *s = parse("[step hog]\nkind = fill\nsize = 64M\n");

	(void)state;
	/* printf '[step hog]\nkind = fill\nsize = 64M\n' | sha256sum */
	assert_string_equal(cl_scenario_sha256(s),
			    "d373ce3dac13e858d3ea1fa4d002fb8ca333bd6c141c65ecf3dc4a1af8bd9249");
	cl_scenario_free(s);
}

static void assert_settings_equal(const struct settings *a, const struct settings *b)
{
	assert_int_equal(a->count, b->count);
	for (unsigned i = 0; i < a->count; i++) {
		assert_string_equal(a->item[i].name, b->item[i].name);
		assert_string_equal(a->item[i].value, b->item[i].value);
		assert_int_equal(a->item[i].line, b->item[i].line);
	}
}

static void assert_strings_equal(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static void assert_plans_equal(const struct plan *a, const struct plan *b)
{
	assert_string_equal(a->scenario, b->scenario);
	assert_string_equal(a->file, b->file);
	assert_string_equal(a->sha256, b->sha256);
	assert_string_equal(a->backend, b->backend);
	assert_string_equal(a->variant, b->variant);
	assert_string_equal(a->policy, b->policy);
	assert_int_equal(a->seed, b->seed);
	assert_int_equal(a->machine.nodes, b->machine.nodes);
	assert_memory_equal(a->machine.node_bytes, b->machine.node_bytes,
			    sizeof(a->machine.node_bytes));
	assert_int_equal(a->machine.cpus, b->machine.cpus);
	assert_strings_equal(a->machine.kernel, b->machine.kernel);
	assert_strings_equal(a->machine.boot, b->machine.boot);
	assert_int_equal(a->machine.disk_bytes, b->machine.disk_bytes);
	assert_int_equal(a->machine.timeout_ns, b->machine.timeout_ns);
	assert_settings_equal(&a->machine.settings, &b->machine.settings);
	assert_int_equal(a->steps, b->steps);
	for (unsigned i = 0; i < a->steps; i++) {
		const struct step *x = &a->step[i], *y = &b->step[i];
		size_t from = offsetof(struct step, fill);

		assert_string_equal(x->name, y->name);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->line, y->line);
		if (x->kind == STEP_SET)
			assert_settings_equal(&x->set.settings, &y->set.settings);
		else if (x->kind == STEP_READ)
			assert_string_equal(x->read.file, y->read.file);
		else
			assert_memory_equal((const char *)x + from, (const char *)y + from,
					    sizeof(*x) - from);
	}
}

static void a_serialized_scenario_gives_the_same_plan(void **state)
{
	static const char *const texts[] = {every_key, ranked};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *text = strndup(texts[i], strlen(texts[i]) - 1); /* no line end */
		struct cl_scenario *s = NULL, *again = NULL;
		struct plan *a, *b;
		unsigned long length;
		char *serialized, *twice;

		assert_int_equal(cl_scenario_parse(text, strlen(text), "my dir/50%\n/a;b.ini", &s,
						   NULL),
				 0);
		assert_int_equal(cl_scenario_scale(s, 2, NULL), 0);
		set(s, "machine.cpus=7");
		set(s, "machine.cpus=8");
		set(s, "machine.boot=a=b \"c # d\"");
		set(s, "vm.swappiness=1");
		set(s, "populate.threads=2");
		serialized = scenario_serialize(s, &length);
		assert_non_null(serialized);
		assert_int_equal(length, strlen(serialized));
		assert_int_equal(cl_scenario_parse(serialized, length, "elsewhere", &again, NULL),
				 0);
		for (unsigned v = 0; v < scenario_variants(s); v++) {
			a = resolve(s, "guest", scenario_variant(s, v));
			b = resolve(again, "guest", scenario_variant(s, v));
			assert_int_equal(a->machine.cpus, 8);
			assert_string_equal(a->machine.boot, "a=b \"c # d\"");
			assert_string_equal(b->file, "my dir/50%\n/a;b.ini");
			assert_plans_equal(a, b);
			plan_free(a);
			plan_free(b);
		}
		assert_string_equal(cl_scenario_name(again), "a;b");
		twice = scenario_serialize(again, NULL);
		assert_string_equal(twice, serialized);
		free(twice);
		free(serialized);
		free(text);
		cl_scenario_free(s);
		cl_scenario_free(again);
	}
}

static void what_was_set_for_one_backend_travels_with_the_scenario(void **state)
{
	static const char text[] = "[machine]\nnodes = 24G\n"
				   "[step populate]\nkind = fault\nsize = 4G\n"
				   "[on guest]\nmachine.nodes = 768M\npopulate.size = 256M\n";
	struct cl_scenario *s = NULL, *again = NULL;
	unsigned long length;
	char *serialized;
	struct plan *p;

	(void)state;
	assert_int_equal(cl_scenario_parse(text, strlen(text), "a.ini", &s, NULL), 0);
	set(s, "machine.nodes=2G"); /* too little for 4G, but a guest fills 256M */
	serialized = scenario_serialize(s, &length);
	assert_int_equal(cl_scenario_parse(serialized, length, "a.ini", &again, NULL), 0);
	p = resolve(again, "guest", "mainline");
	assert_int_equal(p->machine.node_bytes[0], 2ull << 30);
	plan_free(p);
	free(serialized);
	cl_scenario_free(s);
	cl_scenario_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_arrives_in_the_plan),
		cmocka_unit_test(the_experiment_arrives),
		cmocka_unit_test(what_is_left_out_has_its_default),
		cmocka_unit_test(later_ranks_win),
		cmocka_unit_test(overriding_by_size_replaces_leave),
		cmocka_unit_test(overriding_the_selection_drops_the_keys_of_the_old_one),
		cmocka_unit_test(repeats_are_overridden_for_a_backend),
		cmocka_unit_test(each_repeat_has_its_own_seed),
		cmocka_unit_test(min_free_kbytes_is_written_behind_the_other_settings),
		cmocka_unit_test(skipped_steps_are_not_in_the_plan),
		cmocka_unit_test(the_host_may_have_any_nodes),
		cmocka_unit_test(scaling_divides_sizes_and_counts_but_no_shares),
		cmocka_unit_test(scaling_rounds_down_to_what_the_key_can_hold),
		cmocka_unit_test(scaling_below_the_smallest_is_an_error),
		cmocka_unit_test(variants_are_listed_in_file_order),
		cmocka_unit_test(an_unknown_variant_or_backend_is_refused),
		cmocka_unit_test(published_figures_keep_their_order_and_times_become_ns),
		cmocka_unit_test(checks_can_be_replaced_and_switched_off),
		cmocka_unit_test(line_ends_byte_order_mark_and_comments_do_not_matter),
		cmocka_unit_test(the_digest_is_of_the_bytes),
		cmocka_unit_test(a_serialized_scenario_gives_the_same_plan),
		cmocka_unit_test(what_was_set_for_one_backend_travels_with_the_scenario),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
