/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_MODEL_H
#define BACKEND_MODEL_H
/*
 * One run on the userspace kernel; shared by model.c (the run), model_machine.c (what a plan's
 * machine is made of), model_step.c (steps and their records), model_memory.c (steps that hold
 * memory), model_pin.c and model_punch.c.
 */
#include <compactlab/error.h>
#include <jansson.h>
#include "backend/backend.h"
#include "model/model.h"

/* The model's header has words of its own for the choices of a fault step. */
#define MODEL_PAGE_BYTES 4096ull
#define MODEL_HUGE_PAGES 512ull

/* What a fill, fault, files, write or request step holds until it is released. */
struct held {
	bool alive;
	enum fill_memory kind;
	unsigned threads; /* tasks; files and writes have a region each */
	task_id *task;
	unsigned regions;
	region_id *region;
	uint64_t pages;  /* of region[0] in use */
	bool squeezed;   /* its worker keeps a list of places */
	region_id below; /* of the first task: data and heap, below the regions; 0: none */
};

/* Compaction that the events of a step tell of. */
struct account {
	struct model *m;
	ns_t task_begin, daemon_begin[MAX_NODES];
	bool task_runs, daemon_runs[MAX_NODES];
	uint64_t task_ns, daemon_ns;
	int defer_shift; /* -1: no event */
	FILE *trace;     /* gets every event as text; may be NULL */
};

struct model_exec {
	const struct backend_run *run;
	const struct plan *plan;
	struct model *m;
	struct held *held;   /* by the index of the step that made it */
	pin_id *pin;         /* by the index of the pin step */
	uint64_t *pinned;    /* pages, same */
	int pin_cache;       /* slab cache of io_uring's buffer tables */
	task_id others_task; /* stands for the other programs of the machine */
	region_id others;
	unsigned others_pages;
	struct account account;
	unsigned first;   /* step to begin with: those before are in the snapshot */
	json_t *snapshot; /* for the record's evidence; NULL: booted */
	json_t *costs;    /* same; NULL: the built-in ones */
	json_t *steps, *notes;
	struct model_effect *span; /* that is open: model_span_open() */
	bool span_taken;           /* its end, early: model_on_cut_short() */
};

/* Counters and free lists at one moment. */
struct model_shot {
	int64_t value[NR_VMSTAT];
	uint64_t kswapd_ns;
	uint64_t chunks[MAX_ZONES][NR_PAGE_ORDERS];
};

/* What an operation did: fills its part of a step's record. */
struct model_effect {
	uint64_t time_ns;
	struct model_shot before, after;
	uint64_t compaction_ns, daemon_ns;
	int defer_shift;
};

/* ---- model_machine.c -------------------------------------------------------------------- */

/* As given; a relative one that is not there, beside the scenario. Caller frees; NULL: no memory.
 */
char *model_find_file(const struct plan *p, const char *name);
/*
 * The machine of a plan; also checks the policy. Where the plan names a file of costs, *costs (may
 * be NULL) is set to what the record says of it. -EINVAL, -EOPNOTSUPP.
 */
int model_machine_config(const struct backend_run *run, struct model_config *config, json_t **costs,
			 struct cl_error *err);
/*
 * What has been running on the machine before the first step: kernel memory and slabs in places
 * drawn by the seed, some of it freed again. No two boots are alike. No page cache: a guest whose
 * root is in its kernel image has next to none.
 */
int model_machine_age(struct model *m, struct cl_error *err);
/* "vm.swappiness" as sysctl_write() wants it; 0, -EINVAL. */
int model_setting_name(const char *name, char *out, size_t size);
/* Applies settings and verifies them; `into` (may be NULL) gets {name: {from, to}}. */
int model_settings(struct model *m, const struct settings *s, const char *file, json_t *into,
		   struct cl_error *err);
/*
 * For a machine from a snapshot: those that have their value are left alone, since to write one has
 * effects of its own, as on compaction_proactiveness, which calls kcompactd.
 */
int model_settings_change(struct model *m, const struct settings *s, const char *file,
			  struct cl_error *err);
/* Writes each, unless it is no value of the setting: then *refused is true. */
int model_settings_try(struct model *m, const struct settings *s, const char *file, bool *refused,
		       struct cl_error *err);
json_t *model_evidence(const struct model *m);

/* ---- model_snapshot.c ------------------------------------------------------------------- */

/*
 * Makes x->m as the plan's snapshot shows it, and what the steps up to x->first hold. `config` is
 * complete but for zones and CPUs.
 */
int model_snapshot_begin(struct model_exec *x, struct model_config *config, struct cl_error *err);

/* ---- model_step.c ------------------------------------------------------------------------- */

/* Runs step i and appends its record. Errors name the step, the file and the line. */
int model_step(struct model_exec *x, unsigned i, struct cl_error *err);
/* The counters around an operation. */
void model_span_open(struct model_exec *x, struct model_effect *e);
void model_span_close(struct model_exec *x, struct model_effect *e);
/* Listens for the events that a record needs, and writes those that run->trace asks for. */
void model_account_start(struct model_exec *x);
/* Can this file of the kernel be read from the model? */
bool model_file_known(const char *file);

/* ---- model_memory.c, model_files.c, model_pin.c, model_punch.c
 * -------------------------------------------------------- */

/* The kinds of steps that hold memory. They fill record and effect; 0 or an error without place. */
int model_fill(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
	       struct cl_error *err);
int model_fault(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err);
int model_files(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err);
int model_write(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err);
int model_request(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		  struct cl_error *err);
int model_punch(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err);
int model_pin_step(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		   struct cl_error *err);
int model_unpin_step(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		     struct cl_error *err);
int model_release(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		  struct cl_error *err);
void model_held_free(struct held *h);
/* A step's memory is bound to a node, or to none. */
void model_bind_region(struct model *m, region_id region, int node);
/* Sets a number of a step's detail. */
void model_detail(json_t *record, const char *name, uint64_t value);
/* One operation of a task of the step, to its end. */
int model_act(struct model_exec *x, struct held *h, unsigned thread, struct op *op,
	      struct cl_error *err);
/* Tasks on the CPUs of a node, in turn; PLAN_NODE_ANY: of the machine. Room for the regions. */
int model_make_tasks(struct model_exec *x, struct held *h, unsigned threads, unsigned regions,
		     int cpu_node, struct cl_error *err);
uint64_t model_amount_pages(const struct model *m, const struct amount *a, int node);
/* The error of an operation of the step that failed, 0 when it did not. */
int model_killed(struct model_exec *x, const struct held *h, const struct op *op,
		 struct cl_error *err);
/* Those who write beside a fault: their files, regions 1 and up; let them go with model_run(). */
int model_io_files(struct model_exec *x, struct held *h, const struct step_fault *f,
		   struct cl_error *err);
int model_io_start(struct model_exec *x, struct held *h, const struct step_fault *f,
		   struct cl_error *err);
/* Memory of the step's worker for a table of its own. Of pagemap, an entry a page of what it holds. */
#define MODEL_ENTRY_BYTES 8u
int model_table(struct model_exec *x, struct held *h, uint64_t bytes, region_id *table,
		struct cl_error *err);
/* -EINVAL when the memory of that step was released. */
int model_still_held(struct model_exec *x, unsigned of, struct cl_error *err);
#endif
