/* SPDX-License-Identifier: MIT */
/* `compactlab calibrate`: the scenario whose steps tell costs apart, and what is printed of it. */
#include "backend/calibrate.h"
#include <compactlab/calibrate.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "backend/costs.h"

#define REPEATS 3

static const char scenario[] =
	"[experiment]\n"
	"title = calibrate: what work costs\n"
	"[machine]\n"
	"nodes = 768M\n"
	/*
	 * Emulated CPUs take turns on one thread of the host, and the time of a thread has the
	 * turns of the other CPUs in it: kswapd's, those of the faults beside it.
	 */
	"cpus = 1\n"
	"disk = 768M\n"
	"vm.compaction_proactiveness = 0\n"
	"thp.enabled = madvise\n"
	"thp.defrag = madvise\n"
	/* A virtual machine's memory is there after the first touch only. */
	"[step warm]\n"
	"kind = fill\n"
	"leave = 128M\n"
	"[step warm-release]\n"
	"kind = release\n"
	"of = warm\n"
	"[step huge]\n"
	"kind = fault\n"
	"size = 128M\n"
	"advice = hugepage\n"
	"[step huge-release]\n"
	"kind = release\n"
	"of = huge\n"
	"[step base]\n"
	"kind = fault\n"
	"size = 128M\n"
	"advice = nohugepage\n"
	"[step base-release]\n"
	"kind = release\n"
	"of = base\n"
	/* Each free page is a hole of its own; the more there are, the less is scanned for one. */
	"[step few]\n"
	"kind = fill\n"
	"leave = 128M\n"
	"[step few-holes]\n"
	"kind = punch\n"
	"of = few\n"
	"select = random\n"
	"share = 6%\n"
	"[step few-compact]\n"
	"kind = compact\n"
	"[step few-release]\n"
	"kind = release\n"
	"of = few\n"
	"[step many]\n"
	"kind = fill\n"
	"leave = 128M\n"
	"[step pins]\n"
	"kind = pin\n"
	"of = many\n"
	"[step pinned-compact]\n"
	"kind = compact\n"
	"[step pins-release]\n"
	"kind = unpin\n"
	"of = pins\n"
	"[step many-holes]\n"
	"kind = punch\n"
	"of = many\n"
	"select = random\n"
	"share = 50%\n"
	"[step many-compact]\n"
	"kind = compact\n"
	"[step many-release]\n"
	"kind = release\n"
	"of = many\n"
	/* Last, since nothing releases files, and their pages would move. */
	"[step empty]\n"
	"kind = files\n"
	"count = 4000\n"
	"[step written]\n"
	"kind = files\n"
	"count = 4000\n"
	"size = 4K\n"
	/* More than there is, so that clean pages of the file have to go. */
	"[step cache]\n"
	"kind = fill\n"
	"memory = file\n"
	"size = 420M\n"
	"[step pressure]\n"
	"kind = fault\n"
	"size = 240M\n"
	"advice = nohugepage\n"
	/* Nothing is reclaimed of a machine that others use. */
	"[on host]\n"
	"cache.size = 4M\n"
	"pressure.size = 2M\n"
	"warm.size = 1G\n"
	"few.size = 1G\n"
	"many.size = 1G\n";

int calibrate_scenario(struct cl_scenario **out, struct cl_error *err)
{
	return cl_scenario_parse(scenario, sizeof(scenario) - 1, "calibrate", out, err);
}

/* ---- what is printed ----------------------------------------------------------------------- */

static unsigned count_measured(const struct calibrated c[NR_COSTS])
{
	unsigned n = 0;

	for (int i = 0; i < NR_COSTS; i++)
		n += c[i].values > 0;
	return n;
}

static void print_file(FILE *to, const json_t *record, unsigned records,
		       const struct calibrated c[NR_COSTS])
{
	char remark[160];

	costs_print_head(to);
	fprintf(to, "# compactlab calibrate --on %s, kernel %s, %u runs.\n",
		record_text(record, "backend"), record_kernel(record), records);
	fprintf(to,
		"# %u costs of %d are measured, as the median of the runs; the others are the "
		"model's own.\n",
		count_measured(c), NR_COSTS);
	for (int i = 0; i < NR_COSTS; i++) {
		enum cost_id id = (enum cost_id)i;
		uint64_t ns = c[i].values ? c[i].ns : cost_rows[i].default_ns;

		if (c[i].values)
			snprintf(remark, sizeof(remark), "measured [%" PRIu64 "..%" PRIu64 "]: %s",
				 c[i].low, c[i].high, calibrate_how(id));
		else
			snprintf(remark, sizeof(remark), "not measured: %s", cost_rows[i].source);
		costs_print_row(to, id, ns, remark);
	}
}

static int print_json(FILE *to, const json_t *record, unsigned records,
		      const struct calibrated c[NR_COSTS])
{
	json_t *costs = json_object(), *all;
	int r;

	for (int i = 0; i < NR_COSTS; i++) {
		const struct cost_row *row = &cost_rows[i];

		if (c[i].values)
			json_object_set_new(costs, row->name,
					    json_pack("{s:I, s:s, s:b, s:I, s:I, s:i, s:s}", "ns",
						      (json_int_t)c[i].ns, "unit", row->unit,
						      "measured", 1, "low", (json_int_t)c[i].low,
						      "high", (json_int_t)c[i].high, "runs",
						      (int)c[i].values, "how",
						      calibrate_how((enum cost_id)i)));
		else
			json_object_set_new(costs, row->name,
					    json_pack("{s:I, s:s, s:b, s:s}", "ns",
						      (json_int_t)row->default_ns, "unit",
						      row->unit, "measured", 0, "source",
						      row->source));
	}
	all = json_pack("{s:i, s:s, s:O, s:i, s:o}", "schema", 1, "backend",
			record_text(record, "backend"), "kernel", json_object_get(record, "kernel"),
			"runs", (int)records, "costs", costs);
	r = all ? json_dumpf(all, to, JSON_COMPACT) : -1;
	json_decref(all);
	fputc('\n', to);
	return r ? -EIO : 0;
}

static int print(FILE *to, const struct cl_results *records, bool json, struct cl_error *err)
{
	struct calibrated c[NR_COSTS];
	int r = calibrate_fit(records, c);

	if (r)
		return cl_error(err, r, "no memory for the costs");
	if (!count_measured(c))
		return cl_error(err, -EIO, "the runs tell no cost");
	if (json)
		r = print_json(to, records->record[0], records->count, c);
	else
		print_file(to, records->record[0], records->count, c);
	return r || ferror(to) ? cl_error(err, -EIO, "the costs cannot be written") : 0;
}

int cl_calibrate(FILE *to, const struct cl_run_options *run, bool json, struct cl_error *err)
{
	struct cl_run_options options = *run;
	struct cl_results *records = NULL;
	struct cl_scenario *s;
	int r;

	if (!options.backend)
		options.backend = "guest";
	if (!options.repeat)
		options.repeat = REPEATS;
	/* Runs beside each other would measure each other. */
	options.jobs = 1;
	if (options.kernels && strchr(options.kernels, ','))
		return cl_error(err, -EINVAL, "costs are of one kernel, not of %s",
				options.kernels);
	r = calibrate_scenario(&s, err);
	if (r)
		return r;
	r = cl_run(s, &options, &records, err);
	if (!r)
		r = print(to, records, json, err);
	cl_results_free(records);
	cl_scenario_free(s);
	return r;
}
