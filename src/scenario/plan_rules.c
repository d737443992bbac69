/* SPDX-License-Identifier: MIT */
#include "scenario/plan_rules.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "util/util.h"

#define PAGEBLOCK_PAGES 512

static const struct assignment *key_assigned(const struct plan_context *c, unsigned step,
					     const struct step *t, const char *key)
{
	const struct option *o = option_find(SECTION_STEP, t->kind, key);

	return assigned(c->s, c->backend, c->variant, o, (int)c->origin[step], "");
}

/* Blame a key of a step, or the step when the key was left out. */
__attribute__((format(printf, 5, 6))) static int blame(const struct plan_context *c,
						       const struct plan *p, unsigned i,
						       const char *key, const char *fmt, ...)
{
	const struct step *t = &p->step[i];
	const struct assignment *a = key_assigned(c, i, t, key);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (a)
		return assignment_error(c->s, a, c->err, "%s: %s", a->key, text);
	return cl_error_at(c->err, -EINVAL, c->s->file, t->line, "step '%s' (%s): %s", t->name,
			   step_kind_name(t->kind), text);
}

/*
 * A key that the value of another makes void. Written at the same rank or above, that
 * is a mistake; from below, an override has changed the plan and the key is moot (1).
 */
static int moot(const struct plan_context *c, const struct plan *p, unsigned i, const char *key,
		const char *by, const char *why)
{
	const struct assignment *a = key_assigned(c, i, &p->step[i], key);
	const struct assignment *b = key_assigned(c, i, &p->step[i], by);

	if (a && (!b || a->rank >= b->rank)) {
		blame(c, p, i, key, "%s", why);
		return cl_error_hint(c->err, -EINVAL, "remove it, or change '%s'", by);
	}
	return a ? 1 : 0;
}

/* The nodes of the host and of a snapshot are not known before it runs. */
static bool nodes_unknown(const struct plan_context *c, const struct machine *m)
{
	return c->backend == BACKEND_HOST || m->snapshot;
}

/* Memory that is all CMA could not hold a kernel. */
static int check_cma(const struct plan_context *c, const struct machine *m)
{
	const struct option *o = option_find(SECTION_MACHINE, 0, "cma");
	const struct assignment *a = assigned(c->s, c->backend, c->variant, o, -1, "");
	char want[32], have[32];

	if (nodes_unknown(c, m))
		return 0;
	if (m->cmas > m->nodes)
		return assignment_error(c->s, a, c->err, "machine.cma: %u areas for %u node%s",
					m->cmas, m->nodes, m->nodes == 1 ? "" : "s");
	for (unsigned i = 0; i < m->cmas; i++) {
		if (m->cma_bytes[i] < m->node_bytes[i] / 4 * 3)
			continue;
		size_print(m->cma_bytes[i], want, sizeof(want));
		size_print(m->node_bytes[i], have, sizeof(have));
		return assignment_error(c->s, a, c->err,
					"machine.cma: %s is not less than three quarters of node "
					"%u's %s",
					want, i, have);
	}
	return 0;
}

int plan_check_machine(const struct plan_context *c, const struct machine *m)
{
	const struct option *o = option_find(SECTION_MACHINE, 0, "cpus");
	const struct assignment *a = assigned(c->s, c->backend, c->variant, o, -1, "");
	int r = check_cma(c, m);

	if (r)
		return r;
	if (nodes_unknown(c, m) || m->cpus >= m->nodes)
		return 0;
	if (!a) {
		o = option_find(SECTION_MACHINE, 0, "nodes");
		a = assigned(c->s, c->backend, c->variant, o, -1, "");
		assignment_error(c->s, a, c->err, "machine.nodes: %u nodes but only %u CPUs",
				 m->nodes, m->cpus);
	} else {
		assignment_error(c->s, a, c->err, "machine.cpus: %u CPUs for %u nodes", m->cpus,
				 m->nodes);
	}
	return cl_error_hint(c->err, -EINVAL, "each node needs a CPU; set machine.cpus");
}

static int check_node(const struct plan_context *c, const struct plan *p, unsigned i,
		      const char *key, int node)
{
	if (nodes_unknown(c, &p->machine) || node < (int)p->machine.nodes)
		return 0;
	blame(c, p, i, key, "there is no node %d", node);
	if (p->machine.nodes == 1)
		return cl_error_hint(c->err, -EINVAL, "machine.nodes has one node, 0");
	return cl_error_hint(c->err, -EINVAL, "machine.nodes has nodes 0 to %u",
			     p->machine.nodes - 1);
}

static uint64_t memory_of(const struct plan *p, int node)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < p->machine.nodes; n++)
		if (node == PLAN_NODE_ANY || node == (int)n)
			sum += p->machine.node_bytes[n];
	return sum;
}

/* An amount that the machine does not have can only end in the OOM killer. */
static int check_fits(const struct plan_context *c, const struct plan *p, unsigned i,
		      const char *key, const struct amount *a, int node)
{
	uint64_t there = memory_of(p, node);
	char want[32], have[32];

	if (nodes_unknown(c, &p->machine) || a->bytes < there)
		return 0;
	size_print(a->bytes, want, sizeof(want));
	size_print(there, have, sizeof(have));
	if (node == PLAN_NODE_ANY)
		blame(c, p, i, key, "%s is not less than the machine's %s", want, have);
	else
		blame(c, p, i, key, "%s is not less than the %s of node %d", want, have, node);
	return cl_error_hint(c->err, -EINVAL, "see machine.nodes");
}

static int check_fill(const struct plan_context *c, struct plan *p, unsigned i)
{
	struct step_fill *f = &p->step[i].fill;
	const struct assignment *size = key_assigned(c, i, &p->step[i], "size");
	const struct assignment *leave = key_assigned(c, i, &p->step[i], "leave");
	int r;

	if (!size && !leave) {
		blame(c, p, i, "size", "needs 'size' or 'leave'");
		return cl_error_hint(c->err, -EINVAL, "such as size = 1G or leave = 300M");
	}
	if (size && leave && size->rank == leave->rank) {
		blame(c, p, i, size->line > leave->line ? "size" : "leave",
		      "both 'size' and 'leave' are given");
		return cl_error_hint(c->err, -EINVAL, "remove one of them");
	}
	if (size && leave) {
		if (size->rank > leave->rank)
			memset(&f->leave, 0, sizeof(f->leave));
		else
			memset(&f->size, 0, sizeof(f->size));
	}
	r = check_node(c, p, i, "node", f->node);
	if (r)
		return r;
	return f->size.set ? check_fits(c, p, i, "size", &f->size, f->node)
			   : check_fits(c, p, i, "leave", &f->leave, f->node);
}

/* Only the keys of the chosen selection may be there; of the others nothing stays. */
static int check_punch(const struct plan_context *c, struct plan *p, unsigned i)
{
	static const char *const selections[] = {"position", "pfn", "pageblock", "random"};
	struct step_punch *t = &p->step[i].punch;
	bool modular = t->select == PUNCH_POSITION || t->select == PUNCH_PFN;
	uint32_t limit = modular ? t->modulo : PAGEBLOCK_PAGES;
	char why[80];
	int r = 0;

	snprintf(why, sizeof(why), "means nothing with select = %s", selections[t->select]);
	if (!modular)
		r = moot(c, p, i, "modulo", "select", why);
	if (r >= 0 && t->select == PUNCH_RANDOM)
		r = moot(c, p, i, "residue", "select", why);
	if (r >= 0 && t->select != PUNCH_RANDOM)
		r = moot(c, p, i, "share", "select", why);
	if (r < 0)
		return r;
	if (!modular)
		t->modulo = 0;
	if (t->select != PUNCH_RANDOM)
		t->share_ppm = 0;
	if (t->select == PUNCH_RANDOM)
		t->residue = 0;
	if (modular && !t->modulo) {
		blame(c, p, i, "modulo", "needs 'modulo'");
		return cl_error_hint(c->err, -EINVAL, "such as modulo = 2");
	}
	if (t->select == PUNCH_RANDOM && !t->share_ppm) {
		blame(c, p, i, "share", "needs 'share'");
		return cl_error_hint(c->err, -EINVAL, "such as share = 50%%");
	}
	if (t->select != PUNCH_RANDOM && t->residue >= limit)
		return blame(c, p, i, "residue", "%u is not below %s %u", t->residue,
			     modular ? "modulo, which is" : "the pages of a pageblock,", limit);
	return 0;
}

/* Without a disk the backend says so when it comes to it; other backends need none. */
static int check_disk(const struct plan_context *c, const struct plan *p, unsigned i,
		      const char *key, const struct amount *a)
{
	char want[32], have[32];

	if (c->backend != BACKEND_GUEST || !p->machine.disk_bytes ||
	    a->bytes < p->machine.disk_bytes)
		return 0;
	blame(c, p, i, key, "%s is not less than the scratch disk's %s",
	      size_print(a->bytes, want, sizeof(want)),
	      size_print(p->machine.disk_bytes, have, sizeof(have)));
	return cl_error_hint(c->err, -EINVAL, "see machine.disk");
}

/* Measuring each fault, and writing beside them. */
static int check_fault_io(const struct plan_context *c, const struct plan *p, unsigned i)
{
	const struct step_fault *f = &p->step[i].fault;
	const char *key = f->latency ? "latency" : "io_threads";

	if (f->method != METHOD_TOUCH && (f->latency || f->io_threads)) {
		blame(c, p, i, key, "means nothing but with method = touch");
		return cl_error_hint(c->err, -EINVAL, "remove it, or change 'method'");
	}
	if (!f->io_threads && f->io_size.set)
		return blame(c, p, i, "io_size", "means nothing without 'io_threads'");
	if (f->io_threads && !f->io_size.set) {
		blame(c, p, i, "io_size", "io_threads = %u needs 'io_size'", f->io_threads);
		return cl_error_hint(c->err, -EINVAL, "such as io_size = 1G");
	}
	return check_disk(c, p, i, "io_size", &f->io_size);
}

static int check_fault(const struct plan_context *c, struct plan *p, unsigned i)
{
	static const char *const policies[] = {"local", "bind", "preferred", "interleave",
					       "weighted"};
	struct step_fault *f = &p->step[i].fault;
	unsigned weights = 0;
	char why[80];
	int r = 0;

	snprintf(why, sizeof(why), "means nothing with policy = %s", policies[f->policy]);
	if (f->policy == POLICY_LOCAL)
		r = moot(c, p, i, "nodes", "policy", why);
	if (r >= 0 && f->policy != POLICY_WEIGHTED)
		r = moot(c, p, i, "weights", "policy", why);
	if (r < 0)
		return r;
	if (f->policy == POLICY_LOCAL)
		memset(&f->nodes, 0, sizeof(f->nodes));
	if (f->policy != POLICY_WEIGHTED)
		memset(f->weights, 0, sizeof(f->weights));
	if (f->policy != POLICY_LOCAL && !f->nodes.count) {
		blame(c, p, i, "nodes", "policy = %s needs 'nodes'", policies[f->policy]);
		return cl_error_hint(c->err, -EINVAL, "such as nodes = 0, 1");
	}
	while (weights < PLAN_MAX_NODES && f->weights[weights])
		weights++;
	if (f->policy == POLICY_WEIGHTED && !weights) {
		blame(c, p, i, "weights", "policy = weighted needs 'weights'");
		return cl_error_hint(c->err, -EINVAL, "such as weights = 3, 1");
	}
	if (f->policy == POLICY_WEIGHTED && weights != f->nodes.count) {
		blame(c, p, i, "weights", "%u weights for %u nodes", weights, f->nodes.count);
		return cl_error_hint(c->err, -EINVAL, "give one weight for each of 'nodes'");
	}
	if (f->method == METHOD_MAP_POPULATE && f->advice != ADVICE_NONE) {
		blame(c, p, i, "advice", "memory mapped with MAP_POPULATE is there before advice");
		return cl_error_hint(c->err, -EINVAL, "set advice = none");
	}
	if ((f->method == METHOD_COLLAPSE || f->method == METHOD_COMPACTLAB) &&
	    f->advice == ADVICE_NOHUGEPAGE) {
		blame(c, p, i, "advice", "contradicts the method, which makes huge pages");
		return cl_error_hint(c->err, -EINVAL, "set advice = hugepage");
	}
	r = check_fault_io(c, p, i);
	for (unsigned n = 0; !r && n < f->nodes.count; n++)
		r = check_node(c, p, i, "nodes", f->nodes.node[n]);
	if (!r)
		r = check_node(c, p, i, "cpu_node", f->cpu_node);
	if (!r)
		r = check_fits(c, p, i, "size", &f->size, PLAN_NODE_ANY);
	return r;
}

/* Index of the step before `i` that released the memory of `of`, or -1. */
static int released(const struct plan *p, unsigned of, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (p->step[k].kind == STEP_RELEASE && p->step[k].release.of == of)
			return (int)k;
	return -1;
}

static int check_reference(const struct plan_context *c, const struct plan *p, unsigned i,
			   unsigned of)
{
	unsigned memory = p->step[of].kind == STEP_PIN ? p->step[of].pin.of : of;
	int by = released(p, memory, i);

	if (by >= 0)
		return blame(c, p, i, "of", "the memory of step '%s' was released by '%s'",
			     p->step[memory].name, p->step[by].name);
	for (unsigned k = 0; k < i; k++)
		if (p->step[i].kind == STEP_UNPIN && p->step[k].kind == STEP_UNPIN &&
		    p->step[k].unpin.of == of)
			return blame(c, p, i, "of", "the pins of step '%s' were dropped by '%s'",
				     p->step[of].name, p->step[k].name);
	return 0;
}

static int check_set(const struct plan_context *c, const struct plan *p, unsigned i)
{
	if (p->step[i].set.settings.count || p->step[i].set.tried.count)
		return 0;
	cl_error_at(c->err, -EINVAL, c->s->file, p->step[i].line, "step '%s' (set) sets nothing",
		    p->step[i].name);
	return cl_error_hint(c->err, -EINVAL, "give it a key such as thp.defrag = always");
}

/* Pins that go in the midst of a fault step. */
static int check_unpin(const struct plan_context *c, const struct plan *p, unsigned i)
{
	const struct step_unpin *u = &p->step[i].unpin;
	const struct step_fault *f = &p->step[u->during].fault;
	int r = check_reference(c, p, i, u->of);

	if (r)
		return r;
	if (!u->during) {
		r = moot(c, p, i, "at", "during", "means nothing without 'during'");
		return r < 0 ? r : 0;
	}
	if (u->during != i - 1)
		return blame(c, p, i, "during", "step '%s' is not the one right before",
			     p->step[u->during].name);
	if (f->threads != 1 || f->until_defer_shift) {
		blame(c, p, i, "during", "step '%s' has %s", p->step[u->during].name,
		      f->threads != 1 ? "several threads" : "until_defer_shift");
		return cl_error_hint(c->err, -EINVAL,
				     "the last of its runs must be known, and "
				     "where in the memory it is");
	}
	return 0;
}

int plan_check_step(const struct plan_context *c, struct plan *p, unsigned i)
{
	struct step *t = &p->step[i];
	int r;

	switch (t->kind) {
	case STEP_FILL:
		return check_fill(c, p, i);
	case STEP_PUNCH:
		r = check_punch(c, p, i);
		return r ? r : check_reference(c, p, i, t->punch.of);
	case STEP_PIN:
		return check_reference(c, p, i, t->pin.of);
	case STEP_UNPIN:
		return check_unpin(c, p, i);
	case STEP_FAULT:
		return check_fault(c, p, i);
	case STEP_RELEASE:
		return check_reference(c, p, i, t->release.of);
	case STEP_WRITE:
		return check_disk(c, p, i, "size", &t->write.size);
	case STEP_REQUEST:
		return check_node(c, p, i, "cpu_node", t->request.cpu_node);
	case STEP_SET:
		return check_set(c, p, i);
	case STEP_COMPACT:
		return check_node(c, p, i, "node", t->compact.node);
	default:
		return 0;
	}
}
