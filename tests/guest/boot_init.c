/* SPDX-License-Identifier: MIT */
/*
 * boot_init PROGRAM KERNEL CPUS NODE-SIZE...: boot a kernel with a program of its own as first
 * process, in a machine of this shape. Prints the record it sends and exits with 0, or
 * its error and 1; 77 where guests cannot run.
 */
#include "backend/cpio.h"
#include "backend/guest_console.h"
#include "backend/guest_qemu.h"
#include "util/util.h"
#include <compactlab/kernel.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXIT_SKIP 77

static int fail(int r, const struct cl_error *err)
{
	char text[2048];

	fprintf(stderr, "%s\n", cl_error_text(err, text, sizeof(text)));
	return r == -EOPNOTSUPP ? EXIT_SKIP : EXIT_FAILURE;
}

/* Nothing but the program. Returns a descriptor. */
static int initramfs(const char *program, struct cl_error *err)
{
	struct cpio c = {.fd = memfd_create("initramfs", MFD_CLOEXEC)};
	size_t length;
	char *data;
	int r = c.fd < 0 ? -errno : file_read(program, &data, &length);

	if (!r) {
		cpio_directory(&c, "dev", 0755);
		cpio_file(&c, "init", 0755, data, length);
		r = cpio_end(&c);
		free(data);
	}
	return r ? cl_error(err, r, "cannot put %s into an initramfs: %s", program, strerror(-r))
		 : c.fd;
}

static void print_console(int fd)
{
	char text[8192], tail[4096];
	off_t length = lseek(fd, 0, SEEK_END);
	ssize_t n = pread(fd, text, sizeof(text) - 1, length > 8000 ? length - 8000 : 0);

	text[n > 0 ? n : 0] = '\0';
	fprintf(stderr, "console: %s\n", console_tail(text, 20, tail, sizeof(tail)));
}

static void print_step(void *arg, const char *step)
{
	(void)arg;
	fprintf(stderr, "step %s\n", step);
}

static int boot(struct qemu *q, struct cl_error *err)
{
	struct qemu_outcome o;
	int r = qemu_run(q, &o, err);

	if (r)
		return r;
	if (o.error)
		r = wire_error(o.error, err);
	else if (!o.record)
		r = cl_error(err, -EIO, "no verdict came%s, last step %s: %s",
			     o.end == QEMU_TIMEOUT ? " in time" : "",
			     o.last_step ? o.last_step : "none", o.errors ? o.errors : "");
	else
		printf("%s\n", o.record);
	if (r)
		print_console(q->console);
	qemu_outcome_free(&o);
	return r;
}

int main(int argc, char **argv)
{
	struct machine machine = {.timeout_ns = 500ull * 1000000000};
	char program[1200];
	struct qemu q = {.machine = &machine,
			 .program = program,
			 .kvm = qemu_kvm_usable(),
			 .disk = -1,
			 .step = print_step};
	struct cl_error err = {0};
	struct cl_kernel kernel;
	int r;

	if (argc < 5 || argc > 4 + PLAN_MAX_NODES) {
		fprintf(stderr, "usage: boot_init PROGRAM KERNEL CPUS NODE-SIZE...\n");
		return EXIT_FAILURE;
	}
	machine.cpus = (unsigned)atoi(argv[3]);
	for (int i = 4; i < argc; i++)
		if (size_parse(argv[i], &machine.node_bytes[machine.nodes++])) {
			fprintf(stderr, "%s is no size\n", argv[i]);
			return EXIT_FAILURE;
		}
	r = qemu_find(program, sizeof(program), &err);
	if (!r)
		r = cl_kernel_find(argv[2], &kernel, &err);
	if (r)
		return fail(r, &err);
	q.image = kernel.path;
	q.console = memfd_create("console", MFD_CLOEXEC);
	q.initramfs = initramfs(argv[1], &err);
	r = q.initramfs < 0 ? q.initramfs : boot(&q, &err);
	/* What does not work in the guest is a failure, also where a run would be skipped. */
	return r ? fail(-EIO, &err) : EXIT_SUCCESS;
}
