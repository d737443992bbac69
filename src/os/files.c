/* SPDX-License-Identifier: MIT */
/*
 * The files step: many small files on a private tmpfs.
 *
 * The tmpfs is mounted nowhere: a mount that only this process's descriptor refers to. It goes,
 * with all files, when the worker ends for whatever reason.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "os/mountfd.h"
#include "os/team.h"
#include "os/worker.h"

struct files {
	int mount;
	int *directory; /* one a thread, so that they do not queue for one directory's lock */
};

static int write_zeroes(int fd, uint64_t bytes)
{
	static const char data[65536] = {1};

	while (bytes) {
		size_t want = bytes < sizeof(data) ? (size_t)bytes : sizeof(data);
		ssize_t n = write(fd, data, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static int files_work(void *arg, unsigned thread)
{
	struct memory *m = arg;
	const struct step_files *f = &m->plan->step[m->step].files;
	uint64_t n = f->count / f->threads + (thread < f->count % f->threads);

	for (uint64_t i = 0; i < n; i++) {
		char name[32];
		int fd, r;

		snprintf(name, sizeof(name), "f%llu", (unsigned long long)i);
		fd = openat(m->files->directory[thread], name,
			    O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			return -errno;
		r = write_zeroes(fd, f->size_bytes);
		close(fd);
		if (r)
			return r;
		atomic_fetch_add(&m->shared->held_bytes,
				 (f->size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
	}
	return 0;
}

static int files_prepare(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_files *f = &m->plan->step[step].files;
	struct team_place place = {.mode = NUMA_DEFAULT};
	const struct mountfd_option limits[] = {{"size", "100%"}, {"nr_inodes", "0"}, {NULL, NULL}};
	struct files *all = calloc(1, sizeof(*all));

	if (!all)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	m->files = all;
	all->directory = calloc(f->threads, sizeof(int));
	if (!all->directory)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	all->mount = mountfd_open("tmpfs", limits);
	if (all->mount < 0)
		return cl_error(&reply->error, all->mount, "cannot make a private tmpfs: %s",
				strerror(-all->mount));
	for (unsigned i = 0; i < f->threads; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d%u", i);
		if (mkdirat(all->mount, name, 0700) == 0)
			all->directory[i] =
				openat(all->mount, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		else
			all->directory[i] = -1;
		if (all->directory[i] < 0)
			return cl_error(&reply->error, -errno, "cannot make a directory: %s",
					strerror(errno));
	}
	return team_start(f->threads, &place, files_work, m, &m->team, &reply->error);
}

static int files_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_files *f = &m->plan->step[step].files;
	int r = team_run(m->team, &reply->time_ns);

	if (r)
		return cl_error(&reply->error, r, "cannot create the files: %s", strerror(-r));
	reply->files = f->count;
	reply->bytes = f->count * f->size_bytes;
	return 0;
}

static uint64_t count_entries(int directory)
{
	DIR *d = fdopendir(dup(directory));
	uint64_t n = 0;

	if (!d)
		return 0;
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		n += e->d_name[0] == 'f';
	closedir(d);
	return n;
}

static int files_verify(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_files *f = &m->plan->step[step].files;

	for (unsigned i = 0; i < f->threads; i++)
		reply->files += count_entries(m->files->directory[i]);
	reply->bytes = reply->files * f->size_bytes;
	if (reply->files != f->count)
		return cl_error(&reply->error, -EIO, "%llu of %llu files are there",
				(unsigned long long)reply->files, (unsigned long long)f->count);
	return 0;
}

const struct worker_job files_job = {files_prepare, files_act, files_verify};
