/* SPDX-License-Identifier: MIT */
/* What the model's machine is made of: sizes, profile, policy, settings. */
#include "backend/model.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/costs.h"
#include "model/policy.h"
#include "model/rng.h"
#include "model/slab.h"
#include "model/sysctl.h"
#include "util/util.h"

#define MIB (1ull << 20)
/* A struct page is 64 bytes: this share of each node holds the kernel's array of them. */
#define MEMMAP_SHARE 64u
/*
 * The rest of what a 7.3 guest is not given to manage: its image, at 16 MiB, and where memory
 * reaches beyond 4 GiB, buffers for devices that cannot.
 */
#define IMAGE_MIB  51u
#define BOUNCE_MIB 64u
/* QEMU's q35: a machine of so much has 2 GiB below 4 GiB, a smaller one has everything there. */
#define LARGE_MIB     2816u
#define LARGE_LOW_MIB 2048u
#define DMA32_MIB     4096u
/* A node too small for such things is a test's. */
#define SMALLEST_MIB    64u
#define MOST_MULTI_PINS (1u << 22)

/* ---- the machine -------------------------------------------------------------------------- */

/* A name of a kernel chooses the profile: "7.3.4", "6.12 (model)", "6.18.35-amd64". */
static int choose_profile(const char *kernel, enum profile_id *id, struct cl_error *err)
{
	char version[16];

	if (!kernel)
		return 0;
	snprintf(version, sizeof(version), "%.*s", (int)strspn(kernel, "0123456789."), kernel);
	for (char *dot = strrchr(version, '.'); dot; dot = strrchr(version, '.')) {
		if (profile_parse(version, id) == 0)
			return 0;
		*dot = '\0';
	}
	cl_error(err, -EOPNOTSUPP, "the model does not know the kernel %s", kernel);
	return cl_error_hint(err, -EOPNOTSUPP, "it knows 6.12, 6.18 and 7.3");
}

static void make_nodes(const struct machine *machine, struct model_config *c)
{
	unsigned nodes = machine->nodes ? machine->nodes : 1;
	unsigned cpus = machine->cpus ? machine->cpus : 1;
	uint64_t total = 0;

	c->nr_nodes = nodes;
	for (unsigned i = 0; i < nodes; i++)
		total += machine->node_bytes[i] / MIB;
	if (total >= LARGE_MIB)
		c->pci_hole_mib = DMA32_MIB - LARGE_LOW_MIB;
	for (unsigned i = 0; i < nodes; i++) {
		struct node_config *n = &c->node[i];

		n->mib = machine->node_bytes[i] / MIB & ~1ull;
		n->reserved_mib = n->mib / MEMMAP_SHARE;
		if (i == 0 && n->mib >= SMALLEST_MIB)
			c->image_mib = n->mib / 8 < IMAGE_MIB ? (uint32_t)n->mib / 8 : IMAGE_MIB;
		if (i == 0 && total >= LARGE_MIB)
			n->reserved_mib += BOUNCE_MIB;
		/* Equal runs; the first nodes get what does not divide. */
		n->cpus = (uint16_t)(cpus / nodes + (i < cpus % nodes));
	}
	c->nr_cma = machine->cmas;
	for (unsigned i = 0; i < c->nr_cma; i++) {
		c->cma[i].node = (uint8_t)i;
		c->cma[i].mib = machine->cma_bytes[i] / MIB;
	}
}

static unsigned count_tasks(const struct plan *p)
{
	unsigned tasks = 32;

	for (unsigned i = 0; i < p->steps; i++) {
		const struct step *s = &p->step[i];

		tasks += s->kind == STEP_FAULT   ? s->fault.threads + s->fault.io_threads
			 : s->kind == STEP_FILES ? s->files.threads
			 : s->kind == STEP_WRITE ? s->write.threads
						 : 1;
	}
	return tasks;
}

char *model_find_file(const struct plan *p, const char *name)
{
	const char *slash = strrchr(p->file, '/');

	if (*name == '/' || !slash || access(name, F_OK) == 0)
		return strdup(name);
	return format("%.*s/%s", (int)(slash - p->file), p->file, name);
}

/* The costs of the plan's file over the default ones, if it names one. */
static int read_costs(const struct plan *p, struct cost_table *costs, json_t **used,
		      struct cl_error *err)
{
	char hash[COSTS_HASH_SIZE], *path;
	int r;

	if (!p->machine.costs)
		return 0;
	path = model_find_file(p, p->machine.costs);
	r = path ? costs_load(path, costs, hash, err) : cl_error(err, -ENOMEM, "out of memory");
	if (!r && used)
		*used = json_pack("{s:s, s:s}", "file", path, "sha256", hash);
	free(path);
	return r;
}

static int slow_down(const struct machine *machine, struct cost_table *costs, struct cl_error *err)
{
	for (unsigned i = 0; i < NR_COSTS; i++) {
		uint64_t ns = (uint64_t)costs->ns[i] * machine->slowdown;

		if (cost_set(costs, cost_rows[i].name, ns)) {
			cl_error(err, -EINVAL,
				 "the cost %s, %u times slowed down, is above a second",
				 cost_rows[i].name, machine->slowdown);
			return cl_error_hint(err, -EINVAL,
					     "costs measured on a slow machine need no slowdown");
		}
	}
	return 0;
}

int model_machine_config(const struct backend_run *run, struct model_config *config, json_t **costs,
			 struct cl_error *err)
{
	const struct plan *p = run->plan;
	const char *bad;
	int r;

	model_config_defaults(config);
	r = choose_profile(run->kernel ? run->kernel : p->machine.kernel, &config->profile, err);
	if (r)
		return r;
	if (strlen(p->policy) >= sizeof(config->policy))
		return cl_error(err, -EINVAL, "the policy's name is too long");
	snprintf(config->policy, sizeof(config->policy), "%s", p->policy);
	config->more_policy = run->policy;
	r = policy_check(config->policy, config->more_policy, &bad);
	if (r) {
		cl_error(err, -EOPNOTSUPP,
			 r == -EEXIST ? "two of the policies in %s change the same thing"
				      : "the model has no policy %s",
			 config->policy);
		return cl_error_hint(err, -EOPNOTSUPP, "see compactlab list policies");
	}
	r = policy_defaults(config);
	if (r)
		return cl_error(err, r, "the policy %s cannot be set up", config->policy);
	if (p->machine.cmas > MAX_CMA_AREAS)
		return cl_error(err, -EOPNOTSUPP, "the model has room for %d CMA areas, not %u",
				MAX_CMA_AREAS, p->machine.cmas);
	make_nodes(&p->machine, config);
	r = read_costs(p, &config->cost, costs, err);
	if (!r)
		r = slow_down(&p->machine, &config->cost, err);
	if (r)
		return r;
	config->seed = p->seed;
	config->max_tasks = count_tasks(p);
	config->max_multi_pins = MOST_MULTI_PINS;
	return 0;
}

/* ---- its past ----------------------------------------------------------------------------- */

/*
 * What a system that has just booted took. The nodes of six boots of a 7.3 guest hold 6000 to 8400
 * and 4600 to 7000 pages of kernel memory then, 11,600 to 13,000 together. Init has its own on each
 * node in turn, as the kernel's first process does; what others work for lies on their nodes.
 */
#define AGE_PAGES      6500u
#define AGE_PAGES_NODE 2300u
#define AGE_SHARE      16u  /* but no more than this part of the memory */
#define AGE_WORKERS    8u   /* each for a sixteenth; init has the other half */
#define AGE_ROUND      64u  /* taken between two looks at what to give back */
#define AGE_GIVEN      195u /* per thousand of it were given back ... */
#define AGE_GIVEN_MORE 50u  /* ... or up to so much more */
#define AGE_INODES     500u /* and as many dentries and nodes of their trees */

/*
 * The buffers of the events that the runner listens to (src/os/trace.c), made on one CPU for each
 * CPU on its node: 1/64 of memory together, 8 MiB a CPU at most. Taking so much at once makes the
 * refills of that CPU's lists as large as they get: some 1800 free pages of each node are left
 * there.
 */
#define TRACE_SHARE 64u
#define TRACE_MOST  2048u

/*
 * And the memory of its programs: the files of a guest's first file system, on the node where they
 * were unpacked, and what processes have on each node with CPUs (26 to 39 pages).
 */
#define PROGRAM_FILES 366u
#define PROGRAM_PAGES 33u

struct past {
	struct model *m;
	struct rng *rng;
	task_id task;
	region_id pool;
	uint64_t chunks; /* that were put into it */
};

static uint64_t draw(struct past *a, uint64_t bound)
{
	return rng_below(a->rng, bound);
}

/* One thing somebody did; pages it took, about. */
static uint64_t past_event(struct past *a)
{
	struct op op = {.kind = OP_NONE};

	if (draw(a, 10) < 9) {
		static const uint8_t orders[] = {0, 0, 0, 0, 0, 0, 1, 1, 2, 3};

		op.kind = OP_KALLOC;
		op.region = a->pool;
		op.count = 1 + draw(a, 8);
		op.order = orders[draw(a, sizeof(orders))];
		op.gfp = GFP_KERNEL;
	} else {
		op.kind = OP_SLAB;
		op.cache = draw(a, 8) ? SLAB_KMALLOC_1K : (int)draw(a, SLAB_KMALLOC_1K + 1);
		op.count = 1 + draw(a, 200);
	}
	(void)!model_do(a->m, a->task, &op);
	if (op.kind == OP_KALLOC)
		a->chunks += op.done;
	return op.kind == OP_KALLOC ? op.done << op.order : op.done / 4;
}

static unsigned any_cpu(struct past *a)
{
	return (unsigned)draw(a, a->m->nr_cpus);
}

/* The first process: inodes come first, and are few, so that little is left for more of them. */
static int past_init(struct past *a, const struct mempolicy *policy)
{
	static const int caches[] = {SLAB_DENTRY, SLAB_INODE, SLAB_XARRAY_NODE};
	struct op op = {.kind = OP_SLAB, .count = AGE_INODES};
	int r = 0;

	model_task_policy(a->m, a->task, policy);
	for (unsigned i = 0; i < 3 && !r; i++) {
		op.cache = caches[i];
		r = model_do(a->m, a->task, &op);
	}
	return r;
}

/* About a fifth goes back at once, so that the refills of the CPU's lists stay small. */
static int past_round(struct past *a, uint64_t *taken)
{
	struct op op = {.kind = OP_RELEASE,
			.pick = PICK_RANDOM,
			.region = a->pool,
			.index = a->chunks};
	uint64_t until = *taken + AGE_ROUND;

	while (*taken < until)
		*taken += past_event(a);
	op.count = a->chunks - op.index;
	op.permille = AGE_GIVEN + (uint32_t)draw(a, AGE_GIVEN_MORE);
	return op.count ? model_do(a->m, a->task, &op) : 0;
}

/* Somebody takes so many pages. */
static int past_take(struct past *a, unsigned cpu, uint64_t pages, const struct mempolicy *policy)
{
	uint64_t taken = 0;
	int r = model_task(a->m, cpu, &a->task);

	if (!r)
		r = model_pool(a->m, REGION_KERNEL, pages + AGE_ROUND, &a->pool);
	if (r)
		return r;
	a->chunks = 0;
	if (policy)
		r = past_init(a, policy);
	while (!r && taken < pages)
		r = past_round(a, &taken);
	model_task_exit(a->m, a->task);
	return r;
}

static int past_kernel(struct past *a)
{
	struct mempolicy policy = {.mode = MPOL_INTERLEAVE, .home = NODE_NONE};
	uint64_t pages = AGE_PAGES, memory = 0;
	int r;

	for (unsigned i = 0; i < a->m->nr_nodes; i++) {
		if (!a->m->node[i].present)
			continue;
		policy.nodes |= 1u << i;
		pages += AGE_PAGES_NODE;
		memory += a->m->node[i].present;
	}
	if (pages > memory / AGE_SHARE)
		pages = memory / AGE_SHARE;
	r = past_take(a, any_cpu(a), pages / 2, &policy);
	for (unsigned i = 0; i < AGE_WORKERS && !r; i++)
		r = past_take(a, any_cpu(a), pages / 2 / AGE_WORKERS, NULL);
	return r;
}

static int past_trace(struct past *a)
{
	struct op op = {.kind = OP_KALLOC, .gfp = GFP_KERNEL};
	struct mempolicy policy = {.mode = MPOL_PREFERRED, .home = NODE_NONE};
	uint64_t memory = 0;
	int r = model_task(a->m, any_cpu(a), &a->task);

	for (unsigned i = 0; i < a->m->nr_nodes; i++)
		memory += a->m->node[i].present;
	op.count = memory / TRACE_SHARE / a->m->nr_cpus;
	if (op.count > TRACE_MOST)
		op.count = TRACE_MOST;
	op.count += op.count / 64; /* what describes them */
	if (!r)
		r = model_pool(a->m, REGION_KERNEL, op.count * a->m->nr_cpus, &op.region);
	for (unsigned i = 0; i < a->m->nr_cpus && !r; i++) {
		policy.nodes = 1u << a->m->cpu[i].node.v;
		model_task_policy(a->m, a->task, &policy);
		r = model_do(a->m, a->task, &op);
	}
	model_task_exit(a->m, a->task);
	return r;
}

/*
 * The pool for devices that reach no further than ZONE_DMA: 128 KiB for each GiB of memory, at
 * least as much. Debian's kernels have it. Without it huge pages leave so much of that zone that
 * page tables come out of it, and nobody wakes kswapd.
 */
static int past_dma_pool(struct model *m)
{
	struct op op = {.kind = OP_KALLOC, .count = 1, .order = 5, .gfp = GFP_KERNEL | __GFP_DMA};
	uint64_t memory = 0;
	task_id task;
	int r = model_task(m, 0, &task);

	for (unsigned i = 0; i < m->nr_nodes; i++)
		memory += m->node[i].present;
	while (op.order < MAX_PAGE_ORDER && (uint64_t)1 << op.order < memory >> 13)
		op.order++;
	if (!r)
		r = model_pool(m, REGION_KERNEL, (uint64_t)1 << op.order, &op.region);
	if (r)
		return r;
	r = model_do(m, task, &op);
	model_task_exit(m, task);
	return r;
}

/* Programs stay until the end. */
static int past_files(struct past *a)
{
	struct op op = {.kind = OP_TOUCH, .count = PROGRAM_FILES, .write = true};
	task_id task;
	int r = model_task(a->m, any_cpu(a), &task);

	if (!r)
		r = model_shmem(a->m, task, PROGRAM_FILES * MODEL_PAGE_BYTES, false, &op.region);
	return r ? r : model_do(a->m, task, &op);
}

static int past_program(struct past *a, unsigned cpu)
{
	struct op op = {.kind = OP_TOUCH, .count = PROGRAM_PAGES, .write = true};
	task_id task;
	int r = model_task(a->m, cpu, &task);

	if (!r)
		r = model_mmap(a->m, task, PROGRAM_PAGES * MODEL_PAGE_BYTES, ADVISE_NOHUGEPAGE,
			       &op.region);
	return r ? r : model_do(a->m, task, &op);
}

/* In the order in which a kernel does it. */
int model_machine_age(struct model *m, struct cl_error *err)
{
	struct past a = {.m = m, .rng = &m->rng[RNG_BOOT]};
	int r = past_dma_pool(m);

	if (!r)
		r = past_kernel(&a);
	if (!r)
		r = past_files(&a);
	model_free_init(m, any_cpu(&a));
	for (unsigned i = 0; i < m->nr_nodes && !r; i++)
		if (m->node[i].nr_cpus)
			r = past_program(&a, m->node[i].first_cpu +
						     (unsigned)draw(&a, m->node[i].nr_cpus));
	if (!r)
		r = past_trace(&a);
	return r ? cl_error(err, r, "the machine cannot be set up") : 0;
}

/* ---- settings ----------------------------------------------------------------------------- */

int model_setting_name(const char *name, char *out, size_t size)
{
	int n = -1;

	if (!strncmp(name, "vm.", 3) || !strncmp(name, "lru_gen.", 8)) {
		n = snprintf(out, size, "%s", name);
	} else if (!strncmp(name, "thp.", 4)) {
		n = snprintf(out, size, "transparent_hugepage/%s", name + 4);
		for (char *p = out; *p; p++)
			if (*p == '.')
				*p = '/';
	}
	return n < 0 || (size_t)n >= size ? -EINVAL : 0;
}

/* The active word of a list of choices, else the text. */
static void active_word(const char *text, char *out, size_t size)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (close)
		snprintf(out, size, "%.*s", (int)(close - open - 1), open + 1);
	else
		snprintf(out, size, "%s", text);
}

static int apply(struct model *m, const struct setting *s, const char *file, json_t *into,
		 struct cl_error *err)
{
	char name[128], text[256], old[256];
	int r;

	if (model_setting_name(s->name, name, sizeof(name)))
		return cl_error_at(
			err, -EINVAL, file, s->line,
			"%s is not a setting: names are vm.NAME, thp.NAME and lru_gen.NAME",
			s->name);
	r = sysctl_read(m, name, text, sizeof(text));
	if (r < 0) {
		cl_error_at(err, -EOPNOTSUPP, file, s->line, "the model has no setting %s",
			    s->name);
		return cl_error_hint(err, -EOPNOTSUPP,
				     "it has those of memory management; leave it out or override "
				     "it with [on model]");
	}
	active_word(text, old, sizeof(old));
	r = sysctl_write(m, name, s->value);
	if (r) {
		cl_error_at(err, r == -EACCES ? -EOPNOTSUPP : r, file, s->line,
			    "cannot write '%s' to %s: %s", s->value, s->name, strerror(-r));
		return cl_error_hint(err, r, "it shows '%s'", old);
	}
	if (into)
		json_object_set_new(into, s->name,
				    json_pack("{s:s, s:s}", "from", old, "to", s->value));
	return 0;
}

int model_settings(struct model *m, const struct settings *s, const char *file, json_t *into,
		   struct cl_error *err)
{
	int r = 0;

	for (unsigned i = 0; i < s->count && !r; i++)
		r = apply(m, &s->item[i], file, into, err);
	return r;
}

static bool has_value(struct model *m, const struct setting *s)
{
	char name[128], text[256], old[256];

	if (model_setting_name(s->name, name, sizeof(name)) ||
	    sysctl_read(m, name, text, sizeof(text)) < 0)
		return false;
	active_word(text, old, sizeof(old));
	return !strcmp(old, s->value);
}

int model_settings_change(struct model *m, const struct settings *s, const char *file,
			  struct cl_error *err)
{
	int r = 0;

	for (unsigned i = 0; i < s->count && !r; i++)
		if (!has_value(m, &s->item[i]))
			r = apply(m, &s->item[i], file, NULL, err);
	return r;
}

int model_settings_try(struct model *m, const struct settings *s, const char *file, bool *refused,
		       struct cl_error *err)
{
	*refused = false;
	for (unsigned i = 0; i < s->count; i++) {
		int r = apply(m, &s->item[i], file, NULL, err);

		if (r == -EINVAL)
			*refused = true;
		else if (r)
			return r;
	}
	return 0;
}

/* ---- evidence ----------------------------------------------------------------------------- */

static json_t *thp_word(const struct model *m, const char *name)
{
	char text[128], word[128];

	if (sysctl_read(m, name, text, sizeof(text)) < 0)
		return json_null();
	active_word(text, word, sizeof(word));
	return json_string(word);
}

json_t *model_evidence(const struct model *m)
{
	json_t *nodes = json_array();

	for (unsigned i = 0; i < m->nr_nodes; i++) {
		uint64_t pages = 0;

		for (unsigned z = 0; z < m->nr_zones; z++)
			pages += m->zone[z].node.v == i ? m->zone[z].managed : 0;
		json_array_append_new(nodes, json_pack("{s:i, s:I}", "node", (int)i, "bytes",
						       (json_int_t)(pages * MODEL_PAGE_BYTES)));
	}
	return json_pack("{s:s, s:s, s:I, s:o, s:n, s:{s:o, s:o}}", "machine", "virtual",
			 "hypervisor", "model", "cpus", (json_int_t)m->nr_cpus, "nodes", nodes,
			 "accelerator", "thp", "enabled",
			 thp_word(m, "transparent_hugepage/enabled"), "defrag",
			 thp_word(m, "transparent_hugepage/defrag"));
}
