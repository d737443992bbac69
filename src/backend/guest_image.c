/* SPDX-License-Identifier: MIT */
#include "backend/guest_image.h"
#include "backend/cpio.h"
#include "config.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROGRAM "compactlab-guest"

static bool program_at(const char *directory, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/%s", directory, name);

	return n > 0 && (size_t)n < size && access(path, X_OK) == 0;
}

int guest_program(char *path, size_t size, struct cl_error *err)
{
	char self[1024], *directory;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		directory = dirname(self);
		if (program_at(directory, PROGRAM, path, size) ||
		    program_at(directory, "../" PROGRAM, path, size))
			return 0;
	}
	if (program_at(CL_LIBEXECDIR, PROGRAM, path, size))
		return 0;
	cl_error(err, -EOPNOTSUPP, "the guest's program %s is neither beside this one nor in %s",
		 PROGRAM, CL_LIBEXECDIR);
	return cl_error_hint(err, -EOPNOTSUPP,
			     "build it with `make`, or install with `make install`");
}

char *guest_order_print(const struct plan *plan)
{
	return format("file=%s\nvariant=%s\nrepeat=%u\nseed=%" PRIu64 "\n", plan->file,
		      plan->variant, plan->repeat, plan->seed - plan->repeat);
}

int guest_order_parse(char *text, struct guest_order *out)
{
	char *save;

	memset(out, 0, sizeof(*out));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, '=');

		if (!value)
			return -EINVAL;
		*value++ = '\0';
		if (!strcmp(line, "file"))
			out->file = value;
		else if (!strcmp(line, "variant"))
			out->variant = value;
		else if (!strcmp(line, "repeat"))
			out->repeat = (unsigned)strtoul(value, NULL, 10);
		else if (!strcmp(line, "seed"))
			out->seed = strtoull(value, NULL, 10);
		else
			return -EINVAL;
	}
	return out->file && out->variant ? 0 : -EINVAL;
}

int guest_initramfs(const struct backend_run *run, struct cl_error *err)
{
	char path[1200], *program = NULL, *scenario = NULL, *order = NULL;
	struct cpio c = {.fd = -1};
	unsigned long scenario_length;
	size_t length;
	int r = guest_program(path, sizeof(path), err);

	if (r)
		return r;
	r = file_read(path, &program, &length);
	if (r)
		return cl_error(err, r, "cannot read %s: %s", path, strerror(-r));
	scenario = scenario_serialize(run->scenario, &scenario_length);
	order = guest_order_print(run->plan);
	c.fd = memfd_create("compactlab-initramfs", MFD_CLOEXEC);
	if (c.fd < 0)
		r = cl_error(err, -errno, "cannot make an initramfs: %s", strerror(errno));
	else if (!scenario || !order)
		r = cl_error(err, -ENOMEM, "out of memory");
	if (!r) {
		cpio_directory(&c, "dev", 0755);
		cpio_file(&c, "init", 0755, program, length);
		cpio_file(&c, "scenario.ini", 0644, scenario, scenario_length);
		cpio_file(&c, "run", 0644, order, strlen(order));
		r = cpio_end(&c);
		if (r)
			cl_error(err, r, "cannot write the initramfs: %s", strerror(-r));
	}
	free(program);
	free(scenario);
	free(order);
	if (r && c.fd >= 0)
		close(c.fd);
	return r ? r : c.fd;
}

static const char *temporary_directory(void)
{
	const char *t = getenv("TMPDIR");

	/* Not /tmp, which may be kept in memory. */
	return t && t[0] ? t : "/var/tmp";
}

/* O_TMPFILE where the filesystem has it, else a file whose name is removed at once. */
static int nameless_file(struct cl_error *err)
{
	const char *directory = temporary_directory();
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0)
		return fd;
	path = format("%s/compactlab-XXXXXX", directory);
	fd = path ? mkostemp(path, O_CLOEXEC) : -1;
	if (fd < 0)
		cl_error(err, -errno, "cannot make a scratch disk in %s: %s", directory,
			 strerror(errno));
	else
		unlink(path);
	free(path);
	return fd < 0 ? -errno : fd;
}

int guest_disk_probe(struct cl_error *err)
{
	const char *const argv[] = {"mke2fs", "-V", NULL};

	if (child_run(argv, NULL, NULL) == 0)
		return 0;
	cl_error(err, -EOPNOTSUPP, "mke2fs, which makes the guest's scratch disk, is not here");
	return cl_error_hint(err, -EOPNOTSUPP, "apt install e2fsprogs");
}

int guest_disk(uint64_t bytes, struct cl_error *err)
{
	int fd = nameless_file(err), r = 0;
	char *path, *errors = NULL;

	if (fd < 0)
		return fd;
	path = format("/proc/%d/fd/%d", (int)getpid(), fd);
	if (!path)
		r = cl_error(err, -ENOMEM, "out of memory");
	else if (ftruncate(fd, (off_t)bytes) < 0)
		r = cl_error(err, -errno, "cannot make a scratch disk of %" PRIu64 " bytes: %s",
			     bytes, strerror(errno));
	if (!r) {
		/* All tables now: a thread that does it later would disturb the run. */
		const char *const argv[] = {
			"mke2fs", "-q",   "-F",
			"-t",     "ext4", "-m",
			"0",      "-E",   "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
			path,     NULL};
		int status = child_run(argv, NULL, &errors);

		if (status)
			r = cl_error(err, status < 0 ? status : -EIO, "mke2fs failed: %.400s",
				     errors && errors[0] ? errors : "no reason given");
	}
	free(errors);
	free(path);
	if (r)
		close(fd);
	return r ? r : fd;
}
