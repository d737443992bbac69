/* SPDX-License-Identifier: MIT */
/* Steps that make files on the model: files, write, and the writers beside a fault. */
#include "backend/model.h"
#include <errno.h>

/* Large folios of the scratch filesystem. */
#define WRITE_MAX_ORDER 9u

/* Runs what the threads were given and gathers; `units` of what was done. */
static int threads_run(struct model_exec *x, struct held *h, struct model_effect *e,
		       uint64_t *units, struct cl_error *err)
{
	ns_t start = model_now(x->m);
	int r = 0;

	model_run(x->m);
	e->time_ns = model_now(x->m) - start;
	model_span_close(x, e);
	*units = 0;
	for (unsigned t = 0; t < h->threads && !r; t++) {
		const struct op *op = model_result(x->m, h->task[t]);

		*units += op->done;
		r = model_killed(x, h, op, err);
	}
	return r;
}

int model_files(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err)
{
	const struct step_files *f = &x->plan->step[i].files;
	struct held *h = &x->held[i];
	unsigned threads = f->threads ? f->threads : 1;
	uint64_t made = 0;
	int r = model_make_tasks(x, h, threads, threads, PLAN_NODE_ANY, err);

	h->kind = FILL_SHMEM;
	for (unsigned t = 0; t < threads && !r; t++) {
		uint64_t n = f->count / threads + (t < f->count % threads);

		r = model_shmem_set(x->m, n ? n : 1, f->size_bytes, &h->region[t]);
		if (r)
			return cl_error(err, r, "the model has no room for so many files");
	}
	if (r)
		return r;
	model_span_open(x, e);
	for (unsigned t = 0; t < threads && !r; t++) {
		struct op op = {.kind = OP_FILES,
				.region = h->region[t],
				.count = f->count / threads + (t < f->count % threads)};

		if (op.count)
			r = model_start(x->m, h->task[t], &op);
	}
	r = threads_run(x, h, e, &made, err);
	model_detail(record, "bytes", made * f->size_bytes);
	model_detail(record, "files", made);
	if (!r && made != f->count)
		r = cl_error(err, -EIO, "%llu of %llu files are there", (unsigned long long)made,
			     (unsigned long long)f->count);
	return r;
}

static void record_writes(json_t *record, uint64_t writes, uint64_t time_ns)
{
	model_detail(record, "writes", writes);
	if (time_ns)
		model_detail(record, "writes_per_s",
			     (uint64_t)((double)writes * 1e9 / (double)time_ns));
}

int model_write(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err)
{
	const struct step_write *s = &x->plan->step[i].write;
	struct held *h = &x->held[i];
	unsigned threads = s->threads ? s->threads : 1;
	uint64_t pages = model_amount_pages(x->m, &s->size, PLAN_NODE_ANY), made = 0;
	int r = model_make_tasks(x, h, threads, threads, PLAN_NODE_ANY, err);

	if (r)
		return r;
	if (!pages)
		return cl_error(err, -EINVAL, "size comes to less than one page");
	h->kind = FILL_FILE;
	for (unsigned t = 0; t < threads; t++) {
		uint64_t n = pages / threads + (t < pages % threads);

		r = model_file(x->m, (n ? n : 1) * MODEL_PAGE_BYTES, WRITE_MAX_ORDER,
			       &h->region[t]);
		if (r)
			return cl_error(err, r, "the model has no room for so large a file");
	}
	model_span_open(x, e);
	for (unsigned t = 0; t < threads && !r; t++) {
		struct op op = {.kind = OP_WRITE,
				.region = h->region[t],
				.count = pages / threads + (t < pages % threads),
				.step = (uint32_t)(s->chunk_bytes / MODEL_PAGE_BYTES),
				.sleep_ns = s->think_ns};

		if (op.count)
			r = model_start(x->m, h->task[t], &op);
	}
	r = threads_run(x, h, e, &made, err);
	model_detail(record, "bytes", made * MODEL_PAGE_BYTES);
	model_detail(record, "files", threads);
	record_writes(record, made * MODEL_PAGE_BYTES / s->chunk_bytes, e->time_ns);
	return r;
}

/* ---- beside a fault ------------------------------------------------------------------------ */

/* A file each, which is written again from its start where the step is repeated. */
int model_io_files(struct model_exec *x, struct held *h, const struct step_fault *f,
		   struct cl_error *err)
{
	uint64_t pages = model_amount_pages(x->m, &f->io_size, PLAN_NODE_ANY);

	for (unsigned t = 0; t < f->io_threads; t++) {
		uint64_t n = pages / f->io_threads + (t < pages % f->io_threads);
		/* As with one page a call the order cannot exceed 0, say so to the file. */
		unsigned most = f->io_chunk_bytes > MODEL_PAGE_BYTES ? WRITE_MAX_ORDER : 0;
		int r = model_file(x->m, (n ? n : 1) * MODEL_PAGE_BYTES, most, &h->region[1 + t]);

		if (r)
			return cl_error(err, r, "the model has no room for so large a file");
	}
	return 0;
}

int model_io_start(struct model_exec *x, struct held *h, const struct step_fault *f,
		   struct cl_error *err)
{
	uint64_t pages = model_amount_pages(x->m, &f->io_size, PLAN_NODE_ANY);

	for (unsigned t = 0; t < f->io_threads; t++) {
		struct op op = {.kind = OP_WRITE,
				.region = h->region[1 + t],
				.count = pages / f->io_threads + (t < pages % f->io_threads),
				.step = (uint32_t)(f->io_chunk_bytes / MODEL_PAGE_BYTES),
				.sleep_ns = f->io_pause_ns};

		if (op.count && model_start(x->m, h->task[f->threads + t], &op))
			return cl_error(err, -EBUSY, "the operation cannot be started");
	}
	return 0;
}
