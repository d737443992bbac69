/* SPDX-License-Identifier: MIT */
#include "os/measure.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

static int take_vmstat(struct counters *out, struct cl_error *err)
{
	size_t length;
	char *text;
	int r = file_read("/proc/vmstat", &text, &length);

	if (r)
		return cl_error(err, r, "cannot read /proc/vmstat: %s", strerror(-r));
	r = vmstat_parse(text, length, out, err);
	free(text);
	return r;
}

/*
 * Gauges and node counters are kept per CPU and added up lazily; this adds them up now. It
 * reports counters below zero as an error, which does not matter here.
 */
static void add_up(void)
{
	file_write("/proc/sys/vm/stat_refresh", "1");
}

int measure_take(struct measure *m, struct cl_error *err)
{
	size_t length;
	char *text;
	int r;

	memset(m, 0, sizeof(*m));
	add_up();
	r = take_vmstat(&m->vmstat, err);
	if (r)
		return r;
	r = file_read("/proc/buddyinfo", &text, &length);
	if (r)
		r = cl_error(err, r, "cannot read /proc/buddyinfo: %s", strerror(-r));
	if (!r) {
		r = buddyinfo_parse(text, length, &m->buddy, err);
		free(text);
	}
	if (r)
		measure_free(m);
	return r;
}

void measure_free(struct measure *m)
{
	counters_free(&m->vmstat);
	buddyinfo_free(&m->buddy);
	memset(m, 0, sizeof(*m));
}

json_t *measure_vmstat(const struct measure *before, const struct measure *after)
{
	json_t *all = json_object();
	struct vmstat_delta d;

	if (vmstat_delta(&before->vmstat, &after->vmstat, &d))
		return all;
	for (unsigned i = 0; i < d.count; i++)
		json_object_set_new(all, d.entry[i].name, json_integer(d.entry[i].delta));
	vmstat_delta_free(&d);
	return all;
}

static json_t *buddy_zones(const struct buddyinfo *b)
{
	json_t *zones = json_array();

	for (unsigned i = 0; i < b->count; i++) {
		const struct buddy_zone *z = &b->zone[i];
		json_t *blocks = json_array();

		for (unsigned order = 0; order < z->orders; order++)
			json_array_append_new(blocks, json_integer((json_int_t)z->free[order]));
		json_array_append_new(zones, json_pack("{s:i, s:s, s:o}", "node", z->node, "zone",
						       z->zone, "free", blocks));
	}
	return zones;
}

json_t *measure_buddy(const struct measure *before, const struct measure *after)
{
	return json_pack("{s:o, s:o}", "before", buddy_zones(&before->buddy), "after",
			 buddy_zones(&after->buddy));
}

int64_t measure_grew(const struct measure *before, const struct measure *after, const char *name)
{
	return (int64_t)(counters_value(&after->vmstat, name) -
			 counters_value(&before->vmstat, name));
}

uint64_t measure_oom_kills(void)
{
	struct counters c;
	uint64_t kills;

	if (take_vmstat(&c, NULL))
		return 0;
	kills = counters_value(&c, "oom_kill");
	counters_free(&c);
	return kills;
}

int64_t measure_pins(void)
{
	struct counters c;
	int64_t held;

	add_up();
	if (take_vmstat(&c, NULL))
		return 0;
	held = (int64_t)(counters_value(&c, "nr_foll_pin_acquired") -
			 counters_value(&c, "nr_foll_pin_released"));
	counters_free(&c);
	return held;
}
