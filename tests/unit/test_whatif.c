/* SPDX-License-Identifier: MIT */
/* What remedies are predicted to do, from tables whose numbers are chosen here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <compactlab/explain.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"
#include "whatif/whatif_machine.h"
#include "whatif/whatif_state.h"

/* One zone of 256 MiB: 128 pageblocks. */
struct shape {
	unsigned long managed, anon, file, dirty, slab, pinned;
	unsigned long unmovable, reclaimable; /* blocks */
	unsigned long cma;
	unsigned long movable_free[11], unmovable_free[11], reclaimable_free[11], cma_free[11];
};

static const struct shape scattered = {
	.managed = 65536,
	.anon = 20000,
	.file = 16000,
	.dirty = 1000,
	.slab = 4000,
	.unmovable = 10,
	.reclaimable = 8,
	.movable_free = {6000, 3000, 1000, 200, 50, 10, 4, 2, 1, 1, 1},
	.unmovable_free = {100, 50, 10},
	.reclaimable_free = {10, 5, 1},
};

static unsigned long sum(const unsigned long *free)
{
	unsigned long pages = 0;

	for (unsigned o = 0; o < 11; o++)
		pages += free[o] << o;
	return pages;
}

static unsigned long free_pages(const struct shape *s)
{
	return sum(s->movable_free) + sum(s->unmovable_free) + sum(s->reclaimable_free) +
	       sum(s->cma_free);
}

static void add(struct cl_explanation *x, const char *name, char *text)
{
	struct cl_error err = {0};

	assert_non_null(text);
	assert_int_equal(cl_explain_add_text(x, text, strlen(text), name, &err), 0);
	free(text);
}

static void row(FILE *to, const char *type, const unsigned long *free)
{
	fprintf(to, "Node    0, zone   Normal, type %12s", type);
	for (unsigned o = 0; o < 11; o++)
		fprintf(to, " %6lu", free[o]);
	fputc('\n', to);
}

static char *pagetypeinfo(const struct shape *s)
{
	unsigned long blocks = (s->managed + 511) / 512;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	fprintf(to, "Page block order: 9\nPages per block:  512\n\n"
		    "Free pages count per migrate type at order       0      1      2\n");
	row(to, "Unmovable", s->unmovable_free);
	row(to, "Movable", s->movable_free);
	row(to, "Reclaimable", s->reclaimable_free);
	row(to, "CMA", s->cma_free);
	fprintf(to,
		"\nNumber of blocks type     Unmovable      Movable  Reclaimable          CMA\n"
		"Node 0, zone   Normal %lu %lu %lu %lu\n",
		s->unmovable, blocks - s->unmovable - s->reclaimable - s->cma, s->reclaimable,
		s->cma);
	fclose(to);
	return text;
}

static char *zoneinfo(const struct shape *s)
{
	return format("Node 0, zone   Normal\n  per-node stats\n      nr_slab_reclaimable %lu\n"
		      "      nr_slab_unreclaimable 500\n      nr_dirty     %lu\n"
		      "      nr_foll_pin_acquired %lu\n      nr_foll_pin_released 100\n"
		      "  pages free     %lu\n        boost    0\n        min      800\n"
		      "        low      1000\n        high     1200\n        spanned  %lu\n"
		      "        present  %lu\n        managed  %lu\n        cma      %lu\n"
		      "      nr_free_pages %lu\n      nr_zone_inactive_anon %lu\n"
		      "      nr_zone_active_anon 0\n      nr_zone_inactive_file %lu\n"
		      "      nr_zone_active_file 0\n      nr_zone_unevictable 0\n  pagesets\n"
		      "    cpu: 0\n              count:    0\n              high:     0\n"
		      "              batch:    1\n  start_pfn:           1048576\n",
		      s->slab, s->dirty, 100 + s->pinned, free_pages(s), s->managed, s->managed,
		      s->managed, s->cma * 512, free_pages(s), s->anon, s->file);
}

static struct cl_explanation *evidence(const struct shape *s)
{
	struct cl_explanation *x;
	struct cl_error err = {0};

	assert_int_equal(cl_explain_new(false, &x), 0);
	add(x, "zoneinfo", zoneinfo(s));
	add(x, "pagetypeinfo", pagetypeinfo(s));
	assert_int_equal(cl_explain_finish(x, &err), 0);
	return x;
}

static const struct prediction *find(const struct cl_explanation *x, const char *id)
{
	for (unsigned i = 0; i < x->what_if.predictions; i++)
		if (!strcmp(x->what_if.prediction[i].id, id))
			return &x->what_if.prediction[i];
	fail_msg("no prediction %s", id);
	return NULL;
}

static struct cl_explanation *predict(const struct shape *s)
{
	struct cl_explanation *x = evidence(s);
	struct cl_error err = {0};

	assert_int_equal(cl_explain_what_if(x, &err), 0);
	assert_string_equal(x->what_if.missing, "");
	return x;
}

/* ---- the state ---------------------------------------------------------------------------- */

static void the_machine_shows_the_tables_it_was_made_from(void **state)
{
	struct cl_explanation *x = evidence(&scattered);
	struct whatif_state *s = malloc(sizeof(*s));
	struct whatif_plan plan;
	struct model *m;
	const char *why = "";

	(void)state;
	assert_int_equal(whatif_state(x, s, &x->what_if), 0);
	assert_int_equal(whatif_plan_make(s, &x->what_if, &plan), 0);
	assert_int_equal(plan.misplaced, 0);
	assert_int_equal(whatif_machine(s, &plan, "mainline", &m, &why), 0);
	for (unsigned o = 0; o < 11; o++) {
		assert_int_equal(m->zone[0].nr_chunks[o], scattered.movable_free[o] +
								  scattered.unmovable_free[o] +
								  scattered.reclaimable_free[o]);
	}
	model_destroy(m);
	whatif_plan_free(&plan);
	free(s);
	cl_explain_free(x);
}

static void the_same_evidence_gives_the_same_prediction(void **state)
{
	struct cl_explanation *x = predict(&scattered), *y = predict(&scattered);

	(void)state;
	assert_memory_equal(&x->what_if, &y->what_if, sizeof(x->what_if));
	cl_explain_free(x);
	cl_explain_free(y);
}

static void the_kernel_of_the_evidence_is_modelled(void **state)
{
	const char *version = "Linux version 6.12.9-amd64 (builder@box) (gcc) #1 SMP\n";
	struct cl_explanation *x;
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(cl_explain_new(false, &x), 0);
	add(x, "zoneinfo", zoneinfo(&scattered));
	add(x, "pagetypeinfo", pagetypeinfo(&scattered));
	assert_int_equal(cl_explain_add_text(x, version, strlen(version), "version", &err), 0);
	assert_int_equal(cl_explain_finish(x, &err), 0);
	assert_int_equal(cl_explain_what_if(x, &err), 0);
	assert_string_equal(x->what_if.kernel, "6.12");
	cl_explain_free(x);
}

/* ---- the remedies ------------------------------------------------------------------------- */

static void nothing_changes_nothing(void **state)
{
	struct cl_explanation *x = predict(&scattered);

	(void)state;
	assert_int_equal(find(x, "nothing")->before, 3);
	assert_int_equal(find(x, "nothing")->after, 3);
	cl_explain_free(x);
}

static void compaction_makes_blocks_of_free_memory_between_movable_pages(void **state)
{
	struct cl_explanation *x = predict(&scattered);
	const struct prediction *p = find(x, "compact_memory");

	(void)state;
	/* 22000 pages are free in movable blocks, 43 blocks' worth. */
	assert_in_range(p->after, 25, 43);
	assert_true(p->moved > 2000 && p->remedy_ns > 0);
	cl_explain_free(x);
}

static void compaction_makes_nothing_where_every_block_has_pinned_pages(void **state)
{
	struct shape pinned = scattered;
	struct cl_explanation *x;

	(void)state;
	pinned.pinned = 20000;
	x = predict(&pinned);
	/* What is free in one block still moves to another; 110 movable blocks, 20000 pins. */
	assert_in_range(find(x, "compact_memory")->after, 3, 20);
	cl_explain_free(x);
}

static void drop_caches_frees_what_its_number_says(void **state)
{
	struct cl_explanation *x = predict(&scattered);
	uint64_t pages = find(x, "drop_caches=1")->dropped;

	(void)state;
	/* Dirty pages stay. The requests afterwards may reclaim a few more. */
	assert_in_range(pages, 15000, 15500);
	assert_in_range(find(x, "drop_caches=2")->dropped, 3900, 4500);
	assert_in_range(find(x, "drop_caches=3")->dropped, 18900, 19500);
	assert_true(find(x, "drop_caches=3+compact_memory")->after >
		    find(x, "drop_caches=1")->after + 20);
	cl_explain_free(x);
}

static void defrag_never_serves_what_is_there_and_waits_for_nothing(void **state)
{
	struct cl_explanation *x = predict(&scattered);
	const struct prediction *never = find(x, "defrag=never");
	const struct prediction *madvise = find(x, "defrag=madvise");

	(void)state;
	assert_int_equal(never->asked, 64);
	assert_int_equal(never->got, 3);
	assert_int_equal(never->moved, 0);
	assert_true(madvise->got > 20 && madvise->longest_ns > never->longest_ns);
	cl_explain_free(x);
}

static void blocks_of_cma_are_not_for_requests_of_the_kernel(void **state)
{
	struct shape cma = scattered;
	struct cl_explanation *x;
	struct cl_error err = {0};
	const char *log = "x: page allocation failure: order:9, mode:0x40dc0(GFP_KERNEL|"
			  "__GFP_COMP|__GFP_ZERO), nodemask=(null)\n";

	(void)state;
	cma.cma = 40;
	cma.cma_free[10] = 20;
	cma.anon = 0;
	cma.movable_free[9] = cma.movable_free[10] = 0;
	assert_int_equal(cl_explain_new(false, &x), 0);
	add(x, "zoneinfo", zoneinfo(&cma));
	add(x, "pagetypeinfo", pagetypeinfo(&cma));
	assert_int_equal(cl_explain_add_text(x, log, strlen(log), "log", &err), 0);
	assert_int_equal(cl_explain_finish(x, &err), 0);
	assert_int_equal(cl_explain_what_if(x, &err), 0);
	assert_string_equal(x->what_if.missing, "");
	assert_int_equal(find(x, "nothing")->after, 40);
	assert_int_equal(find(x, "nothing")->asked, 8);
	/* What is served was made by compaction during the request. */
	assert_true(find(x, "nothing")->got == 0 || find(x, "nothing")->moved > 0);
	cl_explain_free(x);
}

/* ---- limits ------------------------------------------------------------------------------- */

static void a_large_machine_is_modelled_smaller_and_its_blocks_multiplied(void **state)
{
	struct shape large = {.managed = 32ul << 20, .anon = 1ul << 20};
	struct cl_explanation *x;

	(void)state;
	large.unmovable = 1000;
	large.reclaimable = 1000;
	large.movable_free[10] = 28672;
	x = predict(&large);
	assert_int_equal(x->what_if.scale, 2);
	assert_int_equal(find(x, "nothing")->before, 57344);
	assert_int_equal(find(x, "nothing")->after, 57344);
	cl_explain_free(x);
}

static void without_the_tables_it_says_what_is_missing(void **state)
{
	const char *text = "Node 0, zone   Normal   1 2 3 4 5 6 7 8 9 10 11\n";
	struct cl_explanation *x;
	struct cl_error err = {0};
	char *out = NULL;
	size_t size;
	FILE *to;
	json_t *j;

	(void)state;
	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_what_if(x, &err), -EINVAL);
	assert_int_equal(cl_explain_add_text(x, text, strlen(text), "buddyinfo", &err), 0);
	assert_int_equal(cl_explain_finish(x, &err), 0);
	assert_int_equal(cl_explain_what_if(x, &err), 0);
	assert_non_null(strstr(x->what_if.missing, "/proc/pagetypeinfo"));
	to = open_memstream(&out, &size);
	assert_int_equal(cl_explain_print(to, x, CL_EXPLAIN_JSON, 0, false), 0);
	fclose(to);
	j = json_loads(out, 0, NULL);
	assert_true(json_is_string(json_object_get(json_object_get(j, "what_if"), "missing")));
	json_decref(j);
	free(out);
	cl_explain_free(x);
}

static void a_snapshot_says_where_the_pages_are(void **state)
{
	struct cl_explanation *x;
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_add_snapshot(x, SNAPSHOT_DIR "/pinned-node.snapshot.gz", &err),
			 0);
	assert_int_equal(cl_explain_finish(x, &err), 0);
	assert_int_equal(cl_explain_what_if(x, &err), 0);
	assert_string_equal(x->what_if.missing, "");
	assert_non_null(strstr(x->what_if.assumption[x->what_if.assumptions - 1], "snapshot"));
	/* Every second page of node 0 is pinned: compaction cannot make a block there. */
	assert_in_range(find(x, "compact_memory")->after, find(x, "nothing")->after,
			find(x, "nothing")->after + 10);
	assert_int_equal(find(x, "nothing")->after, find(x, "nothing")->before);
	cl_explain_free(x);
}

static void what_is_no_snapshot_is_refused(void **state)
{
	struct cl_explanation *x;
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_add_snapshot(x, SNAPSHOT_DIR, &err), -EINVAL);
	assert_int_equal(cl_explain_add_snapshot(x, __FILE__, &err), -EINVAL);
	assert_int_equal(cl_explain_add_snapshot(x, "nowhere", &err), -EINVAL);
	cl_explain_free(x);
}

static void tables_that_contradict_each_other_are_named(void **state)
{
	struct shape odd = scattered;
	struct cl_explanation *x;
	bool named = false;

	(void)state;
	/* More free than the zone has. */
	odd.movable_free[0] = 60000;
	x = predict(&odd);
	for (unsigned i = 0; i < x->what_if.assumptions; i++)
		named |= strstr(x->what_if.assumption[i], "did not fit") != NULL;
	assert_true(named);
	cl_explain_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_shows_the_tables_it_was_made_from),
		cmocka_unit_test(the_same_evidence_gives_the_same_prediction),
		cmocka_unit_test(the_kernel_of_the_evidence_is_modelled),
		cmocka_unit_test(nothing_changes_nothing),
		cmocka_unit_test(compaction_makes_blocks_of_free_memory_between_movable_pages),
		cmocka_unit_test(compaction_makes_nothing_where_every_block_has_pinned_pages),
		cmocka_unit_test(drop_caches_frees_what_its_number_says),
		cmocka_unit_test(defrag_never_serves_what_is_there_and_waits_for_nothing),
		cmocka_unit_test(blocks_of_cma_are_not_for_requests_of_the_kernel),
		cmocka_unit_test(a_large_machine_is_modelled_smaller_and_its_blocks_multiplied),
		cmocka_unit_test(without_the_tables_it_says_what_is_missing),
		cmocka_unit_test(a_snapshot_says_where_the_pages_are),
		cmocka_unit_test(what_is_no_snapshot_is_refused),
		cmocka_unit_test(tables_that_contradict_each_other_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
