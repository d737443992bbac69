/* SPDX-License-Identifier: MIT */
/* Can a plan run here? Looks only, changes nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "os/kernel_policy.h"
#include "os/guard.h"
#include "os/numa.h"
#include "os/os.h"
#include "os/settings.h"
#include "os/trace.h"
#include "os/worker.h"
#include "procfs/procfs.h"
#include "util/util.h"

static int probe_machine(struct cl_error *err)
{
	if (geteuid() != 0) {
		cl_error(err, -EOPNOTSUPP, "running steps on this kernel needs root");
		return cl_error_hint(err, -EOPNOTSUPP, "run it with sudo");
	}
	if (sysconf(_SC_PAGESIZE) != (long)PAGE_BYTES)
		return cl_error(err, -EOPNOTSUPP, "only machines with 4 KiB pages are supported");
	if (access("/proc/kpageflags", R_OK) < 0 || access("/proc/self/pagemap", R_OK) < 0) {
		cl_error(err, -EOPNOTSUPP, "this kernel does not show where pages are");
		return cl_error_hint(err, -EOPNOTSUPP, "it needs CONFIG_PROC_PAGE_MONITOR");
	}
	return 0;
}

static int probe_node(const struct plan *p, const struct step *s, const char *does, int node,
		      struct cl_error *err)
{
	int all[PLAN_MAX_NODES];
	unsigned count;

	if (node == PLAN_NODE_ANY || numa_has(node))
		return 0;
	count = numa_nodes(all, PLAN_MAX_NODES);
	cl_error_at(err, -EOPNOTSUPP, p->file, s->line, "this machine has %s; step %s %s node %d",
		    count == 1 ? "one node" : "no such node", s->name, does, node);
	return cl_error_hint(err, -EOPNOTSUPP, "use --on guest, which has the nodes of [machine]");
}

static int probe_pins(const struct plan *p, const struct step *s, struct cl_error *err)
{
	int r = pin_probe(err);

	if (r && err && !err->line) {
		snprintf(err->file, sizeof(err->file), "%s", p->file ? p->file : "");
		err->line = s->line;
	}
	return r;
}

static int probe_fault(const struct plan *p, const struct step *s, struct cl_error *err)
{
	static const char weights[] = "/sys/kernel/mm/mempolicy/weighted_interleave";
	const struct step_fault *f = &s->fault;
	int r = probe_node(p, s, "runs on", f->cpu_node, err), root;

	for (unsigned i = 0; i < f->nodes.count && !r && f->policy != POLICY_LOCAL; i++)
		r = probe_node(p, s, "uses", f->nodes.node[i], err);
	if (!r && f->policy == POLICY_WEIGHTED && access(weights, F_OK) < 0) {
		r = cl_error_at(err, -EOPNOTSUPP, p->file, s->line,
				"step %s: this kernel has no weighted interleaving", s->name);
		cl_error_hint(err, r, "Linux 6.9 or later has, on a kernel with NUMA");
	}
	if (!r && f->until_defer_shift) {
		root = trace_root();
		if (root >= 0)
			close(root);
		else
			r = cl_error_at(err, -EOPNOTSUPP, p->file, s->line,
					"step %s: until_defer_shift needs tracefs: %s", s->name,
					strerror(-root));
	}
	if (!r && f->method == METHOD_PIN)
		r = probe_pins(p, s, err);
	return r;
}

int os_probe_snapshot(const struct plan *p, struct cl_error *err)
{
	if (!p->machine.snapshot)
		return 0;
	cl_error(err, -EOPNOTSUPP, "a real machine cannot be started from a snapshot");
	return cl_error_hint(err, -EOPNOTSUPP, "use --on model, or leave machine.snapshot out");
}

static int probe_step(const struct plan *p, const struct step *s, struct cl_error *err)
{
	int r;

	switch (s->kind) {
	case STEP_FILL:
		return probe_node(p, s, "binds to", s->fill.node, err);
	case STEP_FAULT:
		return probe_fault(p, s, err);
	case STEP_REQUEST:
		return probe_node(p, s, "runs on", s->request.cpu_node, err);
	case STEP_COMPACT:
		return probe_node(p, s, "compacts", s->compact.node, err);
	case STEP_SET:
		r = settings_probe(&s->set.settings, p->file, err);
		return r ? r : settings_probe(&s->set.tried, p->file, err);
	case STEP_PIN:
		return probe_pins(p, s, err);
	default:
		return 0;
	}
}

/* The areas are made at boot, by a parameter that a kernel without CMA passes over. */
static int probe_cma(const struct plan *p, struct cl_error *err)
{
	uint64_t want = 0, have = 0;
	struct counters c;
	size_t length;
	char *text;

	for (unsigned i = 0; i < p->machine.cmas; i++)
		want += p->machine.cma_bytes[i];
	if (want && file_read("/proc/meminfo", &text, &length) == 0) {
		if (meminfo_parse(text, length, &c, NULL, NULL) == 0) {
			have = counters_value(&c, "CmaTotal") << 10;
			counters_free(&c);
		}
		free(text);
	}
	if (have >= want)
		return 0;
	cl_error(err, -EOPNOTSUPP, "this kernel has %" PRIu64 "M of CMA areas, not %" PRIu64 "M",
		 have >> 20, want >> 20);
	return cl_error_hint(err, -EOPNOTSUPP,
			     "machine.cma needs CONFIG_DMA_NUMA_CMA and --on guest, or --on model");
}

int os_probe(const struct os_run *run, struct cl_error *err)
{
	const struct plan *p = run->plan;
	int r = os_probe_snapshot(p, err);

	if (!r)
		r = probe_machine(err);
	if (!r)
		r = kernel_policy_probe(p->policy, err);
	if (!r)
		r = probe_cma(p, err);
	if (!r)
		r = settings_probe(&p->machine.settings, p->file, err);
	for (unsigned i = 0; i < p->steps && !r; i++)
		r = probe_step(p, &p->step[i], err);
	return r ? r : guard_plan(p, run->guard, err);
}
