/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_GUEST_QEMU_H
#define BACKEND_GUEST_QEMU_H
/*
 * QEMU as a child: what it is called with, and running it until the guest is done.
 */
#include "backend/guest_wire.h"
#include "scenario/plan.h"
#include <sys/types.h>

#define QEMU_BOOT_TIMEOUT_NS (180ull * 1000000000) /* for the guest's first word */

/* Full path of the emulator. -EOPNOTSUPP and how to get it. */
int qemu_find(char *path, size_t size, struct cl_error *err);
/* Can this process run guests on the processor itself? */
bool qemu_kvm_usable(void);

struct qemu {
	const struct machine *machine;
	const char *program; /* of qemu_find() */
	const char *image;   /* bzImage */
	bool kvm;
	int initramfs, console, disk; /* descriptors; disk -1 for none */
	/* Called with the name of each step that starts. May be NULL. */
	void (*step)(void *arg, const char *step);
	/* Asked all the time; once true, the guest is ended at once. May be NULL. */
	bool (*stopped)(void *arg);
	void *arg;
};

/* Kernel parameters, also shown in the manual. Caller frees. NULL without memory. */
char *qemu_kernel_parameters(const struct machine *m);

/* The command line, NULL-terminated; `wire` is the descriptor of the second port. */
char **qemu_command(const struct qemu *q, int wire);
void qemu_command_free(char **argv);

enum qemu_end {
	QEMU_ENDED,   /* by itself: power off, panic, or it could not start */
	QEMU_TIMEOUT, /* the run's time was over */
	QEMU_SILENT,  /* init did not say a word in QEMU_BOOT_TIMEOUT_NS */
	QEMU_BROKEN,  /* KVM gave up on the guest */
	QEMU_STOPPED  /* the caller wanted no more */
};

struct qemu_outcome {
	enum qemu_end end;
	int status;      /* of waitpid(); meaningful after QEMU_ENDED */
	bool finished;   /* the guest said "end" */
	char *hello;     /* release of the kernel that ran, or NULL */
	char *last_step; /* that started, or NULL */
	char *record;    /* JSON, or NULL */
	char *error;     /* JSON, or NULL */
	char *errors;    /* what QEMU said on standard error */
	unsigned damaged;
};

/*
 * Start QEMU and see it through; it is gone when this returns. -EINTR when it was stopped.
 * Signals from the terminal do not reach it: it is for the caller to stop.
 */
int qemu_run(const struct qemu *q, struct qemu_outcome *out, struct cl_error *err);
void qemu_outcome_free(struct qemu_outcome *out);
#endif
