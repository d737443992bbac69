/* SPDX-License-Identifier: MIT */
/*
 * Random sequences of task operations on machines with everything switched on and any policy,
 * validated as they go; between set-up and end nothing may be allocated. MODEL_RANDOM_SEEDS=N and
 * MODEL_RANDOM_OPS=N make it longer, MODEL_RANDOM_SECONDS=N goes on with further seeds for so long,
 * MODEL_RANDOM_FIRST=N begins at another seed than 1.
 */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "model/owner.h"
#include "model/policy.h"

#define MAX_REGIONS 24
#define MAX_PINS    16
#define TASKS       3

struct world {
	struct model *m;
	struct rng *rng;
	task_id task[TASKS];
	unsigned nr_regions;
	struct {
		region_id id;
		enum region_kind kind;
		uint64_t pages;
		task_id task;
	} region[MAX_REGIONS];
	unsigned nr_pins;
	struct {
		pin_id id;
		region_id region;
	} pin[MAX_PINS];
	region_id pool;
	unsigned killed;
};

/*
 * The linker gives the model's calls of these to us (see meson.build): the file is linked with
 * --wrap for each.
 */
static unsigned allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	allocations++;
	return __real_realloc(p, size);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	allocations++;
	return __real_mmap(at, size, prot, flags, fd, offset);
}

static uint64_t draw(struct world *w, uint64_t bound)
{
	return rng_below(w->rng, bound);
}

static void run(struct world *w, struct op *op)
{
	task_id task = w->task[draw(w, TASKS)];

	assert_int_equal(model_do(w->m, task, op), 0);
	assert_true(op->finished);
}

static void new_region(struct world *w)
{
	static const enum advice advices[] = {ADVISE_NONE, ADVISE_HUGEPAGE, ADVISE_NOHUGEPAGE};
	unsigned i = w->nr_regions;
	uint64_t pages = 1 + draw(w, 3000);
	int err;

	if (i == MAX_REGIONS)
		return;
	w->region[i].pages = pages;
	w->region[i].task = w->task[draw(w, TASKS)];
	switch (draw(w, 4)) {
	case 0:
		w->region[i].kind = REGION_FILE;
		err = model_file(w->m, pages * 4096, (unsigned)draw(w, 10), &w->region[i].id);
		break;
	case 1:
		w->region[i].kind = REGION_SHMEM;
		err = model_shmem(w->m, w->region[i].task, pages * 4096, draw(w, 2),
				  &w->region[i].id);
		break;
	default:
		w->region[i].kind = REGION_ANON;
		err = model_mmap(w->m, w->region[i].task, pages * 4096, advices[draw(w, 3)],
				 &w->region[i].id);
	}
	assert_int_equal(err, 0);
	w->nr_regions++;
}

static void drop_region(struct world *w, unsigned i)
{
	for (unsigned p = 0; p < w->nr_pins;) {
		if (w->pin[p].region.v == w->region[i].id.v)
			w->pin[p] = w->pin[--w->nr_pins];
		else
			p++;
	}
	model_munmap(w->m, w->region[i].id);
	w->region[i] = w->region[--w->nr_regions];
}

/* Who was chosen by the OOM killer leaves, and another takes his place. */
static void bury(struct world *w)
{
	for (unsigned t = 0; t < TASKS; t++) {
		task_id id = w->task[t];

		if (!w->m->task[id.v].oom_victim)
			continue;
		w->killed++;
		for (unsigned i = 0; i < w->nr_regions;) {
			if (w->region[i].task.v == id.v)
				drop_region(w, i);
			else
				i++;
		}
		model_task_exit(w->m, id);
		assert_int_equal(model_task(w->m, t, &w->task[t]), 0);
	}
}

static void random_policy(struct world *w, region_id region)
{
	struct mempolicy p = {
		.mode = (enum mpol_mode)draw(w, 7),
		.nodes = 1 + (nodemask_t)draw(w, 3),
		.home = NODE_NONE,
		.weight = {3, 1},
	};

	model_region_policy(w->m, region, draw(w, 3) ? &p : NULL);
}

/* Something on one region. */
static void touch_region(struct world *w)
{
	struct op op = {0};
	unsigned i;

	if (w->nr_regions == 0)
		return;
	i = (unsigned)draw(w, w->nr_regions);
	op.region = w->region[i].id;
	op.index = draw(w, w->region[i].pages);
	op.count = 1 + draw(w, w->region[i].pages - op.index);
	op.modulo = 1 + (uint32_t)draw(w, 16);
	op.residue = (uint32_t)draw(w, op.modulo);
	op.permille = (uint32_t)draw(w, 1000);
	op.step = 1 + (uint32_t)draw(w, 4);
	switch (draw(w, 8)) {
	case 0:
	case 1:
	case 2:
		op.kind = w->region[i].kind == REGION_FILE ? (draw(w, 2) ? OP_WRITE : OP_READ)
							   : OP_TOUCH;
		op.write = draw(w, 8) != 0;
		break;
	case 3:
	case 4:
		op.kind = OP_RELEASE;
		op.pick = (enum pick)draw(w, PICK_LIST);
		op.pick_order = (enum pick_order)draw(w, 4);
		break;
	case 5:
		if (w->region[i].kind == REGION_FILE || w->nr_pins == MAX_PINS)
			return;
		op.kind = OP_PIN;
		op.times = 1 + (uint32_t)draw(w, 3);
		op.fault_in = draw(w, 2);
		break;
	case 6:
		if (w->region[i].kind == REGION_FILE)
			return;
		op.kind = draw(w, 2) ? OP_MLOCK : OP_MUNLOCK;
		break;
	case 7:
		if (w->region[i].kind != REGION_ANON) {
			random_policy(w, op.region);
			return;
		}
		op.kind = OP_COLLAPSE;
		break;
	}
	run(w, &op);
	if (op.kind == OP_PIN && op.pin.v && op.error == 0) {
		w->pin[w->nr_pins].id = op.pin;
		w->pin[w->nr_pins++].region = op.region;
	}
}

static void unpin_one(struct world *w)
{
	struct op op = {.kind = OP_UNPIN};
	unsigned p;

	if (w->nr_pins == 0)
		return;
	p = (unsigned)draw(w, w->nr_pins);
	op.region = w->pin[p].region;
	op.pin = w->pin[p].id;
	run(w, &op);
	w->pin[p] = w->pin[--w->nr_pins];
}

static void kernel_things(struct world *w)
{
	struct op op = {0};

	switch (draw(w, 6)) {
	case 0:
		op = (struct op){.kind = OP_KALLOC,
				 .region = w->pool,
				 .count = 1 + draw(w, 50),
				 .order = (unsigned)draw(w, 4),
				 .gfp = GFP_KERNEL | __GFP_NORETRY};
		break;
	case 1:
		op = (struct op){.kind = OP_RELEASE,
				 .region = w->pool,
				 .count = 4096,
				 .pick = PICK_RANDOM,
				 .permille = (uint32_t)draw(w, 1000)};
		break;
	case 2:
		op = (struct op){.kind = OP_SLAB,
				 .count = 1 + draw(w, 2000),
				 .cache = (int)draw(w, 5)};
		break;
	case 3:
		op = (struct op){.kind = OP_COMPACT, .node = (int)draw(w, 3) - 1};
		break;
	case 4:
		op = (struct op){.kind = OP_DROP_CACHES, .what = 1 + (unsigned)draw(w, 3)};
		break;
	case 5:
		op = (struct op){.kind = OP_SLEEP, .sleep_ns = draw(w, 3000000000ull)};
		break;
	}
	run(w, &op);
}

static void settings(struct world *w)
{
	static const char *const choice[][2] = {
		{"transparent_hugepage/defrag", "always"},
		{"transparent_hugepage/defrag", "defer"},
		{"transparent_hugepage/defrag", "madvise"},
		{"transparent_hugepage/enabled", "always"},
		{"transparent_hugepage/enabled", "madvise"},
		{"transparent_hugepage/hugepages-64kB/enabled", "always"},
		{"transparent_hugepage/hugepages-64kB/enabled", "never"},
		{"transparent_hugepage/shmem_enabled", "always"},
		{"transparent_hugepage/shmem_enabled", "never"},
		{"vm.compaction_proactiveness", "60"},
		{"vm.compaction_proactiveness", "0"},
		{"vm.watermark_boost_factor", "0"},
		{"vm.watermark_boost_factor", "15000"},
		{"vm.min_free_kbytes", "4000"},
		{"vm.percpu_pagelist_high_fraction", "8"},
		{"vm.defrag_mode", "1"},
		{"vm.defrag_mode", "0"},
	};
	size_t i = draw(w, sizeof(choice) / sizeof(choice[0]));
	int err = model_set(w->m, choice[i][0], choice[i][1]);

	/* Not there in every profile; other words under the policies of 2016. */
	assert_true(err == 0 || err == -EACCES ||
		    (w->m->policy != &policy_mainline && err == -EINVAL));
}

static uint64_t from_env(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : fallback;
}

static uint64_t one_world(enum profile_id profile, uint64_t seed, bool swap)
{
	struct model_config c = two_nodes_config(profile, 16 * PAGEBLOCK_PAGES);
	struct world w = {0};
	uint64_t ops = from_env("MODEL_RANDOM_OPS", 300), hash;
	unsigned policies = 0;
	char why[256];

	while (policy_registry[policies])
		policies++;
	if (seed % (policies + 1)) {
		snprintf(c.policy, sizeof(c.policy), "%s",
			 policy_registry[seed % (policies + 1) - 1]->name);
		assert_int_equal(policy_defaults(&c), 0);
	}

	c.node[0].cpus = 2;
	c.lru_batches = c.pcp = c.daemons = c.page_tables = true;
	c.thp.enabled = THP_ENABLED_ALWAYS;
	c.sysctl.compaction_proactiveness = 20;
	c.sysctl.user_min_free_kbytes = 2000;
	c.sysctl.min_free_kbytes = 2000;
	c.seed = seed;
	c.swap_mib = swap ? 16 : 0;
	allocations = 0;
	w.m = machine_make(&c);
	assert_true(allocations > 0);
	allocations = 0;
	w.rng = &w.m->rng[RNG_TEST];
	for (unsigned i = 0; i < TASKS; i++)
		assert_int_equal(model_task(w.m, i, &w.task[i]), 0);
	assert_int_equal(model_pool(w.m, REGION_KERNEL, 4096, &w.pool), 0);
	for (uint64_t n = 0; n < ops; n++) {
		switch (draw(&w, 10)) {
		case 0:
			new_region(&w);
			break;
		case 1:
			if (w.nr_regions && draw(&w, 3) == 0)
				drop_region(&w, (unsigned)draw(&w, w.nr_regions));
			break;
		case 2:
			unpin_one(&w);
			break;
		case 3:
			kernel_things(&w);
			break;
		case 4:
			settings(&w);
			break;
		default:
			touch_region(&w);
		}
		bury(&w);
		if (!validate(w.m, why, sizeof(why)))
			fail_msg("profile %d seed %llu after operation %llu: %s", (int)profile,
				 (unsigned long long)seed, (unsigned long long)n, why);
	}
	assert_int_equal(allocations, 0);
	if (getenv("MODEL_RANDOM_TELL"))
		print_message("profile %d seed %llu: %.1f s, %u killed, %lld faults, %lld stalls, "
			      "%lld ok, %lld migrated, %lld/%lld stolen, %lld thp, %lld collapsed, "
			      "%lld kcompactd, %lld swapped, hash %016llx\n",
			      (int)profile, (unsigned long long)seed, (double)model_now(w.m) / 1e9,
			      w.killed, (long long)counter(w.m, VM_PGFAULT),
			      (long long)counter(w.m, VM_COMPACT_STALL),
			      (long long)counter(w.m, VM_COMPACT_SUCCESS),
			      (long long)counter(w.m, VM_PGMIGRATE_SUCCESS),
			      (long long)counter(w.m, VM_PGSTEAL_KSWAPD),
			      (long long)counter(w.m, VM_PGSTEAL_DIRECT),
			      (long long)counter(w.m, VM_THP_FAULT_ALLOC),
			      (long long)counter(w.m, VM_THP_COLLAPSE_ALLOC),
			      (long long)counter(w.m, VM_COMPACT_DAEMON_WAKE),
			      (long long)counter(w.m, VM_PSWPOUT),
			      (unsigned long long)model_state_hash(w.m));
	hash = model_state_hash(w.m);
	machine_end(w.m);
	return hash;
}

static void test_nothing_breaks_whatever_tasks_do(void **state)
{
	uint64_t first = from_env("MODEL_RANDOM_FIRST", 1), seed = first;
	uint64_t last = first + from_env("MODEL_RANDOM_SEEDS", 8) - 1;
	time_t end = time(NULL) + (time_t)from_env("MODEL_RANDOM_SECONDS", 0);

	(void)state;
	for (; seed <= last || time(NULL) < end; seed++) {
		for (int p = 0; p < 3; p++)
			(void)one_world((enum profile_id)p, seed, seed / 2 % 2);
	}
	if (getenv("MODEL_RANDOM_SECONDS"))
		print_message("%llu seeds, 3 profiles each: clean\n",
			      (unsigned long long)(seed - first));
}

static void test_equal_seeds_give_equal_machines(void **state)
{
	uint64_t a = one_world(PROFILE_C, 7, true);

	(void)state;
	assert_true(one_world(PROFILE_C, 7, true) == a);
	assert_true(one_world(PROFILE_C, 8, true) != a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_breaks_whatever_tasks_do),
		cmocka_unit_test(test_equal_seeds_give_equal_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
