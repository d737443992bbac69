/* SPDX-License-Identifier: MIT */
/* The order in which zones are tried. */
#include "harness.h"

#include "model/zonelist.h"

static void assert_order(const struct zonelist *zl, const char *want)
{
	char got[256] = "";
	size_t used = 0;

	for (int i = 0; i < zl->nr; i++)
		used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%u.%u", i ? " " : "",
					 zl->ref[i].node.v, zl->ref[i].class);
	assert_string_equal(got, want);
}

static struct model_config nodes(unsigned nr, uint64_t mib)
{
	struct model_config c;

	model_config_defaults(&c);
	c.thp.enabled = THP_ENABLED_NEVER;
	c.daemons = false;
	c.nr_nodes = nr;
	for (unsigned n = 0; n < nr; n++) {
		c.node[n].mib = mib;
		c.node[n].cpus = 1;
	}
	return c;
}

static void test_near_nodes_first_and_high_zones_first(void **state)
{
	struct model_config c = nodes(2, 8192);
	struct model *m;

	(void)state;
	c.node[1].movable_mib = 1024;
	m = machine_make(&c);
	assert_order(&m->node[0].zonelist[ZONELIST_FALLBACK], "0.2 0.1 0.0 1.3 1.2");
	assert_order(&m->node[1].zonelist[ZONELIST_FALLBACK], "1.3 1.2 0.2 0.1 0.0");
	assert_order(&m->node[0].zonelist[ZONELIST_NOFALLBACK], "0.2 0.1 0.0");
	machine_end(m);
}

static void test_equal_distances_are_shared_out(void **state)
{
	struct model_config c = nodes(4, 2048);
	struct model *m;

	(void)state;
	/* All on one socket distance: lower ids are charged one for being behind. */
	m = machine_make(&c);
	assert_order(&m->node[0].zonelist[ZONELIST_FALLBACK], "0.1 0.0 1.2 1.1 2.2 3.2");
	assert_order(&m->node[1].zonelist[ZONELIST_FALLBACK], "1.2 1.1 2.2 3.2 0.1 0.0");
	/* Node 1 was charged once as node 0's first, so node 2 prefers node 3, then node 0. */
	assert_order(&m->node[2].zonelist[ZONELIST_FALLBACK], "2.2 3.2 0.1 0.0 1.2 1.1");
	machine_end(m);
}

static void
test_distance_beats_everything_and_memory_only_nodes_are_preferred_at_equal(void **state)
{
	struct model_config c = nodes(3, 2048);
	struct model *m;

	(void)state;
	c.node[0].distance[0] = 10;
	c.node[0].distance[1] = 30;
	c.node[0].distance[2] = 20;
	m = machine_make(&c);
	assert_order(&m->node[0].zonelist[ZONELIST_FALLBACK], "0.1 0.0 2.2 1.2 1.1");
	machine_end(m);

	c = nodes(3, 2048);
	c.node[2].cpus = 0;
	m = machine_make(&c);
	assert_order(&m->node[0].zonelist[ZONELIST_FALLBACK], "0.1 0.0 2.2 1.2 1.1");
	machine_end(m);
}

static void test_class_and_mask_filter(void **state)
{
	struct model_config c = nodes(2, 8192);
	struct model *m = machine_make(&c);
	const struct zonelist *zl = &m->node[0].zonelist[ZONELIST_FALLBACK];

	(void)state;
	assert_int_equal(zonelist_next(zl, 0, ZONE_MOVABLE, NODEMASK_NONE), 0);
	assert_int_equal(zonelist_next(zl, 0, ZONE_DMA32, NODEMASK_NONE), 1);
	assert_int_equal(zonelist_next(zl, 0, ZONE_MOVABLE, 2), 3);
	assert_int_equal(zonelist_next(zl, 4, ZONE_MOVABLE, NODEMASK_NONE), -1);
	assert_int_equal(zonelist_next(zl, 3, ZONE_DMA32, NODEMASK_NONE), -1);
	machine_end(m);
}

static void test_tiny_machines_do_not_group_by_mobility(void **state)
{
	static const struct {
		enum profile_id profile;
		uint64_t pages; /* a block a type: one more with CONFIG_CMA */
	} rows[] = {{PROFILE_B, 2560}, {PROFILE_C, 3072}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct model *m = machine_quiet(rows[i].profile, rows[i].pages);

		assert_false(m->grouping_disabled);
		machine_end(m);
		m = machine_quiet(rows[i].profile, rows[i].pages - PAGEBLOCK_PAGES);
		assert_true(m->grouping_disabled);
		machine_end(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_near_nodes_first_and_high_zones_first),
		cmocka_unit_test(test_equal_distances_are_shared_out),
		cmocka_unit_test(
			test_distance_beats_everything_and_memory_only_nodes_are_preferred_at_equal),
		cmocka_unit_test(test_class_and_mask_filter),
		cmocka_unit_test(test_tiny_machines_do_not_group_by_mobility),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
