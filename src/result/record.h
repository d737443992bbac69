/* SPDX-License-Identifier: MIT */
#ifndef RESULT_RECORD_H
#define RESULT_RECORD_H
/*
 * The record of one run, a JSON object on one line. Schema 1:
 *
 *   schema            1
 *   scenario          name; scenario_sha256: of the file as read
 *   backend           "model" | "guest" | "host"
 *   kernel            uname -r and -v as the kernel that ran says, e.g.
 *                     {"release": "7.3.4+deb13-cloud-amd64", "version": "#1 SMP ..."}
 *   variant, policy   policy as read back from what ran ("mainline" where it has none)
 *   seed, repeat      integers; repeat counts from 0
 *   version           of compactlab
 *   wall_ns           whole run, by the clock of the machine that ran it
 *   simulated         true when times are simulated (model), else false
 *   state_hash        model only, else null
 *   evidence          {"machine": "virtual"|"bare", "hypervisor": name or null,
 *                      "cpus": n, "nodes": [{"node": 0, "bytes": n}, ...],
 *                      "accelerator": "kvm"|"tcg"|null, "thp": {"enabled": s, "defrag": s}};
 *                     of a run from a snapshot also "snapshot": {"file", "kernel", "taken", "step",
 *                     "inside": b, "guessed": {"block_types": n, "pins": n, "percpu": n},
 *                     "changed": n, "unknown_settings": n}; of one whose costs are from a file
 *                     also "costs": {"file", "sha256"}
 *   settings_restored {path: value, ...} of the settings that the run had changed and that were
 *                     put back at its end, {} when none was; absent where nothing is to be
 *                     put back (model). One that cannot be put back is an error of the run.
 *   snapshots         {step: file, ...} taken right before these steps; absent when there is none
 *   notes             [text, ...] anything a reader must know (what was not measured and why)
 *   steps             [step, ...] in order
 *
 * A step:
 *   name, kind
 *   time_ns           of the operation itself, without verification
 *   vmstat            {name: delta, ...} each /proc/vmstat line that changed
 *   buddyinfo         {"before": [zone...], "after": [zone...]}, zone:
 *                     {"node": 0, "zone": "Normal", "free": [order 0, ..., order 10]}
 *   compaction_ns     time tasks spent in direct or requested compaction, null when not traced
 *   compaction_daemon_ns   the same for kcompactd
 *   kswapd_ns         CPU time of the kswapd threads, null when the kernel does not tell
 *   defer_shift       largest deferral shift an event of this step showed, null when not
 *                     traced, -1 when there was no event
 *   pages             fault and fill: {"node0": {"base": n, "huge": n}, ...}; base in 4 KiB
 *                     pages, huge in 2 MiB pages; each page counted once
 *   runs              fault: times it was repeated (1 or more); time_ns and vmstat are of the
 *                     last one, sums over all are in "all_runs": {"time_ns", "vmstat"} when > 1
 *   detail            kind-specific numbers: {"bytes": n, "freed_pages": n, "kept_pages": n,
 *                     "pinned_pages": n, "files": n, "requests": n, "failed": n, "refused": n,
 *                     "cpu_node": n, "settings": {...}, "text": "..."}
 *
 * A measure is a path into a step: STEP.NAME where NAME is, in this order of search:
 *   time_ns, compaction_ns, compaction_daemon_ns, kswapd_ns, defer_shift, runs
 *   huge, base                 sums over all nodes
 *   huge_nodeN, base_nodeN     one node
 *   huge_remote                sum over all nodes but the step's cpu_node (or 0 when any)
 *   detail fields by name
 *   a vmstat name              its delta; 0 when the record has a vmstat object without it
 *                              and some kernel has a counter of that name
 * Fields that are absent or null are "not measured".
 */
#include <compactlab/result.h>
#include <jansson.h>
#include <stdbool.h>

#define RECORD_SCHEMA 1

struct cl_results {
	unsigned count, room;
	json_t **record;
	unsigned notes;
	char **note; /* what was not run or failed, and why */
};

struct cl_results *results_new(void);
int results_add(struct cl_results *r, json_t *record /* stolen */);
int results_note(struct cl_results *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The value of a measure ("populate.compact_stall") in one record. Returns 0,
 * -ENOENT when the record has no such step, -ENODATA when it was not measured.
 */
int record_measure(const json_t *record, const char *measure, double *out);

/* The same for a step of the record and a measure without the step's name. */
int step_measure(const json_t *record, const json_t *step, const char *name, double *out);

/* A step by its name of `length` bytes; NULL when the record has none such. Borrowed. */
const json_t *record_step(const json_t *record, const char *name, size_t length);

/* A text field, "" when it is absent or no text; the kernel's release, same. Borrowed. */
const char *record_text(const json_t *record, const char *field);
const char *record_kernel(const json_t *record);

/* Column label of a record: variant, plus the kernel when several ran. Caller frees. */
char *record_column(const json_t *record, bool with_kernel);

/*
 * Add the records of a JSON Lines file ("-": standard input). A last line without its
 * newline that is no record was cut off while it was written: it is left out, with a note.
 */
int results_load_file(struct cl_results *r, const char *path, struct cl_error *err);
#endif
