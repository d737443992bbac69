/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_KERNEL_MAKE_H
#define BACKEND_KERNEL_MAKE_H
/* Configuring and compiling a tree of Linux sources, outside of it. */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stdio.h>

struct make {
	const char *tree, *objects;
	const char *base;    /* folder of both */
	const char *release; /* the kernel's ends in "-" and this */
	const char *output;  /* file that gets what make says */
	unsigned jobs;
	FILE *log; /* progress, or NULL */
};

/* What the build needs and is not here, with the command that installs it. */
int make_probe(bool policies, struct cl_error *err);

/*
 * tinyconfig with the fragments over it, later ones first in rank; a NULL ends them. Lines
 * that this version of the kernel does not take are told to the log.
 */
int make_configure(const struct make *m, const char *const fragments[], struct cl_error *err);

/* The image is "bzImage"; its path is objects/arch/x86/boot/bzImage. */
int make_target(const struct make *m, const char *target, struct cl_error *err);
#endif
