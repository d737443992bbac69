/* SPDX-License-Identifier: MIT */
#include "os/guard.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "os/numa.h"
#include "os/worker.h"
#include "procfs/procfs.h"
#include "util/util.h"

/* ---- what there is ---------------------------------------------------------------------- */

/* The number in a file, UINT64_MAX for "max" and for files that are not there. */
static uint64_t limit_read(const char *path)
{
	uint64_t value = UINT64_MAX;
	char *text, *end;

	if (file_read(path, &text, NULL))
		return value;
	value = strtoull(text, &end, 10);
	if (end == text)
		value = UINT64_MAX;
	free(text);
	return value;
}

/* Page cache counts as used but gives way, as in MemAvailable. */
static uint64_t group_cache(const char *base, const char *group)
{
	char *path = format("%s%s/memory.stat", base, group), *text;
	uint64_t cache = 0;
	struct counters c;
	size_t length;

	if (path && file_read(path, &text, &length) == 0) {
		if (vmstat_parse(text, length, &c, NULL) == 0) {
			/* Version 1 has sums over the groups below under names of their own. */
			if (!counters_get(&c, "total_inactive_file", &cache))
				cache = counters_value(&c, "inactive_file");
			counters_free(&c);
		}
		free(text);
	}
	free(path);
	return cache;
}

static uint64_t limit_room(const char *base, const char *group, const char *limit,
			   const char *usage)
{
	char *a = format("%s%s/%s", base, group, limit), *b = format("%s%s/%s", base, group, usage);
	uint64_t most = a ? limit_read(a) : UINT64_MAX, used = b ? limit_read(b) : UINT64_MAX;
	uint64_t cache;

	free(a);
	free(b);
	/* A version 1 group without a limit shows a number near 2^63. */
	if (most >= 1ull << 60 || used == UINT64_MAX)
		return UINT64_MAX;
	cache = group_cache(base, group);
	used = used > cache ? used - cache : 0;
	return most > used ? most - used : 0;
}

/* What the own group and those above it still allow. */
static uint64_t group_room(const char *base, char *group, const char *limit, const char *usage)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		uint64_t room = limit_room(base, group, limit, usage);
		char *slash = strrchr(group, '/');

		least = room < least ? room : least;
		if (!slash)
			return least;
		*slash = '\0';
	}
}

static uint64_t groups_room(void)
{
	uint64_t least = UINT64_MAX, room;
	char *text, *line, *save = NULL;

	if (file_read("/proc/self/cgroup", &text, NULL))
		return least;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		if (!strcmp(kinds, ":"))
			room = group_room("/sys/fs/cgroup", group, "memory.max", "memory.current");
		else if (!strcmp(kinds, ":memory"))
			room = group_room("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
					  "memory.usage_in_bytes");
		else
			continue;
		least = room < least ? room : least;
	}
	free(text);
	return least;
}

int guard_available(uint64_t *bytes)
{
	uint64_t room;
	int r = numa_meminfo("/proc/meminfo", "MemAvailable", bytes);

	if (r)
		return r;
	room = groups_room();
	if (room < *bytes)
		*bytes = room;
	return 0;
}

/* ---- before the run ----------------------------------------------------------------------- */

struct estimate {
	uint64_t available;
	uint64_t used;  /* by the steps so far */
	uint64_t *held; /* by each step's memory */
};

static uint64_t share_of(const struct amount *a, uint64_t free_bytes)
{
	if (a->ppm_of_free)
		return (uint64_t)((unsigned __int128)free_bytes * a->ppm_of_free / 1000000);
	return a->bytes;
}

/* Free memory a share is taken of when the step comes: estimated, never less than it will be. */
static uint64_t free_then(const struct estimate *e, int node)
{
	uint64_t free_bytes = 0;

	numa_free_bytes(node, &free_bytes);
	return free_bytes > e->used ? free_bytes - e->used : 0;
}

static uint64_t fill_bytes(const struct estimate *e, const struct step_fill *f)
{
	uint64_t have = free_then(e, f->node), leave, rest;
	int id[PLAN_MAX_NODES];

	if (!f->leave.set)
		return share_of(&f->size, have);
	leave = share_of(&f->leave, have);
	/* Where there is one node, page cache gives way too: all that is available is filled. */
	rest = e->available > e->used ? e->available - e->used : 0;
	if (rest > have && (f->node == PLAN_NODE_ANY || numa_nodes(id, PLAN_MAX_NODES) == 1))
		have = rest;
	return have > leave ? have - leave : 0;
}

static uint64_t punched_bytes(const struct step_punch *s, uint64_t held)
{
	uint64_t chosen = held;

	if (s->select == PUNCH_POSITION || s->select == PUNCH_PFN)
		chosen = held / (s->modulo ? s->modulo : 1);
	else if (s->select == PUNCH_PAGEBLOCK)
		chosen = held / PAGES_PER_HUGE;
	else
		chosen = (uint64_t)((unsigned __int128)held * s->share_ppm / 1000000);
	return s->action == PUNCH_FREE ? chosen : held - chosen;
}

static void estimate_step(struct estimate *e, const struct plan *p, unsigned i)
{
	const struct step *s = &p->step[i];
	uint64_t less = 0;

	switch (s->kind) {
	case STEP_FILL:
		e->held[i] = fill_bytes(e, &s->fill);
		break;
	case STEP_FAULT:
		e->held[i] = share_of(&s->fault.size, free_then(e, s->fault.cpu_node));
		break;
	case STEP_FILES:
		e->held[i] = s->files.count *
			     ((s->files.size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
		break;
	case STEP_REQUEST:
		e->held[i] = s->request.count * (PAGE_BYTES << s->request.order);
		break;
	case STEP_PUNCH:
		less = punched_bytes(&s->punch, e->held[s->punch.of]);
		e->held[s->punch.of] -= less;
		break;
	case STEP_RELEASE:
		less = e->held[s->release.of];
		e->held[s->release.of] = 0;
		break;
	default:
		break;
	}
	e->used += e->held[i];
	e->used -= less;
}

int guard_plan(const struct plan *p, bool guard, struct cl_error *err)
{
	struct estimate e = {.held = calloc(p->steps + 1, sizeof(uint64_t))};
	uint64_t keep = guard ? GUARD_PLAN_BYTES : 0;
	char need[32], have[32], left[32];
	int r;

	if (!e.held)
		return cl_error(err, -ENOMEM, "out of memory");
	/* In a guest the OOM killer is part of what is tried out; only the impossible is refused.
	 */
	r = guard ? guard_available(&e.available) : numa_total_bytes(PLAN_NODE_ANY, &e.available);
	if (r)
		cl_error(err, r, "cannot read the available memory: %s", strerror(-r));
	for (unsigned i = 0; i < p->steps && !r; i++) {
		estimate_step(&e, p, i);
		if (e.used + keep <= e.available)
			continue;
		r = cl_error_at(err, -EOPNOTSUPP, p->file, p->step[i].line,
				"step %s: the run would hold %s of %s available memory and must "
				"leave %s",
				p->step[i].name, size_print(e.used >> 20 << 20, need, sizeof(need)),
				size_print(e.available >> 20 << 20, have, sizeof(have)),
				size_print(keep, left, sizeof(left)));
		cl_error_hint(err, r, "make the steps smaller, with --scale or [on %s]",
			      p->backend ? p->backend : "host");
	}
	free(e.held);
	return r;
}

/* ---- during the run ------------------------------------------------------------------------ */

int guard_judge(uint64_t available, double full_avg10, bool filling, struct cl_error *err)
{
	char have[32], least[32];

	if (available < GUARD_STOP_BYTES) {
		cl_error(err, -ENOMEM, "stopped by the guard: only %s of memory is available",
			 size_print(available >> 20 << 20, have, sizeof(have)));
		return cl_error_hint(
			err, -ENOMEM,
			"a run on the host leaves %s to others: make the steps smaller",
			size_print(GUARD_STOP_BYTES, least, sizeof(least)));
	}
	if (filling && full_avg10 >= GUARD_PRESSURE) {
		cl_error(err, -ENOMEM,
			 "stopped by the guard: all tasks stalled for memory %.0f %% of the time",
			 full_avg10);
		return cl_error_hint(err, -ENOMEM, "make the steps smaller");
	}
	return 0;
}

int guard_check(bool filling, struct cl_error *err)
{
	struct pressure pressure = {0};
	uint64_t available;
	size_t length;
	char *text;
	int r = guard_available(&available);

	if (r)
		return cl_error(err, r, "cannot read the available memory: %s", strerror(-r));
	if (filling && file_read("/proc/pressure/memory", &text, &length) == 0) {
		if (pressure_parse(text, length, &pressure, NULL))
			memset(&pressure, 0, sizeof(pressure));
		free(text);
	}
	return guard_judge(available, pressure.full.present ? pressure.full.avg10 : 0, filling,
			   err);
}
