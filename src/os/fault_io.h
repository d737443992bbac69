/* SPDX-License-Identifier: MIT */
#ifndef OS_FAULT_IO_H
#define OS_FAULT_IO_H
/*
 * What a fault step may do besides touching: time each fault, and write files from threads of its
 * own. Whether a fault gave a huge page is seen afterwards, in the page tables: until then only the
 * time of each touch is kept.
 */
#include "os/worker.h"

struct fault_io;

/* For the step's keys `latency` and `io_*`; *out NULL when it has neither. */
int fault_io_start(struct memory *m, const struct step_fault *f, struct fault_io **out,
		   struct cl_error *err);
void fault_io_free(struct fault_io *io);
/* Touches [from, to) of the memory as thread `thread`. */
void fault_io_touch(struct fault_io *io, struct memory *m, unsigned thread, uint64_t from,
		    uint64_t to);
/* What writer `writer` (from 0) has to write. */
int fault_io_write(struct fault_io *io, const struct step_fault *f, unsigned writer);
/* From the first touch to the last, of all threads. */
uint64_t fault_io_touch_ns(const struct fault_io *io, const struct step_fault *f);
/* Sums the times up, by what the page tables say of each page. */
int fault_io_verify(struct fault_io *io, struct memory *m, const struct step_fault *f,
		    struct worker_reply *reply);
#endif
