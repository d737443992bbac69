/* SPDX-License-Identifier: MIT */
#include "os/measure.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "os/worker.h"
#include "util/util.h"

#define REFRESH "/proc/sys/vm/stat_refresh"

static int take_vmstat(struct counters *out, struct cl_error *err)
{
	size_t length;
	char *text;
	int r = file_read("/proc/vmstat", &text, &length);

	if (r)
		return cl_error(err, r, "cannot read /proc/vmstat: %s", strerror(-r));
	r = vmstat_parse(text, length, out, err);
	free(text);
	return r;
}

/*
 * Gauges and node counters are kept per CPU and added up lazily; this adds them up now. It
 * reports counters below zero as an error, which does not matter here.
 */
static void add_up(void)
{
	file_write(REFRESH, "1");
}

/* ---- around a step ----------------------------------------------------------------------- */

#define TEXT_ROOM (16ull << 10) /* for each of the two files; sixty nodes fit */

static int open_file(const char *path, int flags, int *fd, struct cl_error *err)
{
	*fd = open(path, flags | O_CLOEXEC);
	return *fd < 0 ? cl_error(err, -errno, "cannot read %s: %s", path, strerror(errno)) : 0;
}

/* kthreadd's children are the kernel's threads; a program may take any name. */
#define KTHREADD 2

static bool is_kswapd(const char *pid)
{
	char path[64], *text;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	if (file_read(path, &text, NULL))
		return false;
	if (sscanf(text, "%*d (kswapd%*u) %*c %d", &parent) != 1)
		parent = 0;
	free(text);
	return parent == KTHREADD;
}

static void open_kswapd(struct meter *t)
{
	DIR *proc = opendir("/proc");

	for (struct dirent *e = proc ? readdir(proc) : NULL; e; e = readdir(proc)) {
		char path[64];
		int fd;

		if (!isdigit((unsigned char)*e->d_name) || t->kswapds == PLAN_MAX_NODES ||
		    !is_kswapd(e->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/schedstat", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			t->kswapd[t->kswapds++] = fd;
	}
	if (proc)
		closedir(proc);
}

/* -1 where there are none, as in a container, or the kernel keeps no times of threads. */
static int64_t kswapd_ns(const struct meter *t)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < t->kswapds; i++) {
		char text[64];
		ssize_t n = pread(t->kswapd[i], text, sizeof(text) - 1, 0);

		if (n <= 0)
			return -1;
		text[n] = '\0';
		sum += strtoll(text, NULL, 10);
	}
	return t->kswapds ? sum : -1;
}

int meter_open(struct meter *t, struct cl_error *err)
{
	int r;

	*t = (struct meter){.refresh = -1, .vmstat = -1, .buddyinfo = -1};
	open_kswapd(t);
	/* A machine without it has counters that are some pages off. */
	t->refresh = open(REFRESH, O_WRONLY | O_CLOEXEC);
	r = open_file("/proc/vmstat", O_RDONLY, &t->vmstat, err);
	return r ? r : open_file("/proc/buddyinfo", O_RDONLY, &t->buddyinfo, err);
}

void meter_close(struct meter *t)
{
	const int fds[] = {t->refresh, t->vmstat, t->buddyinfo};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	for (unsigned i = 0; i < t->kswapds; i++)
		close(t->kswapd[i]);
	*t = (struct meter){.refresh = -1, .vmstat = -1, .buddyinfo = -1};
}

int measure_room(struct measure *m, struct cl_error *err)
{
	memset(m, 0, sizeof(*m));
	m->text = table_new(2 * TEXT_ROOM);
	if (!m->text)
		return cl_error(err, -ENOMEM, "out of memory");
	/* Numbers get longer, and a page that is not there yet would be a fault. */
	memset(m->text, 0, 2 * TEXT_ROOM);
	return 0;
}

static void drop_room(struct measure *m)
{
	table_free(m->text, 2 * TEXT_ROOM);
	m->text = NULL;
}

/* From the beginning to the end, with a null behind it. */
static int read_text(int fd, char *text, size_t *length)
{
	ssize_t n = 1;

	*length = 0;
	while (n > 0 && *length < TEXT_ROOM - 1) {
		do {
			n = pread(fd, text + *length, TEXT_ROOM - 1 - *length, (off_t)*length);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		*length += (size_t)n;
	}
	text[*length] = '\0';
	return n ? -EFBIG : 0;
}

int measure_read(const struct meter *t, struct measure *m, struct cl_error *err)
{
	int r;

	if (t->refresh >= 0)
		(void)!pwrite(t->refresh, "1", 1, 0);
	r = read_text(t->buddyinfo, m->text + TEXT_ROOM, &m->buddy_length);
	if (r)
		return cl_error(err, r, "cannot read /proc/buddyinfo: %s", strerror(-r));
	m->kswapd_ns = kswapd_ns(t);
	r = read_text(t->vmstat, m->text, &m->vmstat_length);
	return r ? cl_error(err, r, "cannot read /proc/vmstat: %s", strerror(-r)) : 0;
}

int measure_parse(struct measure *m, struct cl_error *err)
{
	int r = vmstat_parse(m->text, m->vmstat_length, &m->vmstat, err);

	if (!r)
		r = buddyinfo_parse(m->text + TEXT_ROOM, m->buddy_length, &m->buddy, err);
	drop_room(m);
	return r;
}

int measure_take(struct measure *m, struct cl_error *err)
{
	struct meter t;
	int r = meter_open(&t, err);

	memset(m, 0, sizeof(*m));
	if (!r)
		r = measure_room(m, err);
	if (!r)
		r = measure_read(&t, m, err);
	if (!r)
		r = measure_parse(m, err);
	meter_close(&t);
	if (r)
		measure_free(m);
	return r;
}

void measure_free(struct measure *m)
{
	drop_room(m);
	counters_free(&m->vmstat);
	buddyinfo_free(&m->buddy);
	memset(m, 0, sizeof(*m));
}

json_t *measure_vmstat(const struct measure *before, const struct measure *after)
{
	json_t *all = json_object();
	struct vmstat_delta d;

	if (vmstat_delta(&before->vmstat, &after->vmstat, &d))
		return all;
	for (unsigned i = 0; i < d.count; i++)
		json_object_set_new(all, d.entry[i].name, json_integer(d.entry[i].delta));
	vmstat_delta_free(&d);
	return all;
}

static json_t *buddy_zones(const struct buddyinfo *b)
{
	json_t *zones = json_array();

	for (unsigned i = 0; i < b->count; i++) {
		const struct buddy_zone *z = &b->zone[i];
		json_t *blocks = json_array();

		for (unsigned order = 0; order < z->orders; order++)
			json_array_append_new(blocks, json_integer((json_int_t)z->free[order]));
		json_array_append_new(zones, json_pack("{s:i, s:s, s:o}", "node", z->node, "zone",
						       z->zone, "free", blocks));
	}
	return zones;
}

json_t *measure_buddy(const struct measure *before, const struct measure *after)
{
	return json_pack("{s:o, s:o}", "before", buddy_zones(&before->buddy), "after",
			 buddy_zones(&after->buddy));
}

json_t *measure_kswapd(const struct measure *before, const struct measure *after)
{
	if (before->kswapd_ns < 0 || after->kswapd_ns < 0)
		return json_null();
	return json_integer((json_int_t)(after->kswapd_ns - before->kswapd_ns));
}

int64_t measure_grew(const struct measure *before, const struct measure *after, const char *name)
{
	return (int64_t)(counters_value(&after->vmstat, name) -
			 counters_value(&before->vmstat, name));
}

uint64_t measure_oom_kills(void)
{
	struct counters c;
	uint64_t kills;

	if (take_vmstat(&c, NULL))
		return 0;
	kills = counters_value(&c, "oom_kill");
	counters_free(&c);
	return kills;
}

int64_t measure_pins(void)
{
	struct counters c;
	int64_t held;

	add_up();
	if (take_vmstat(&c, NULL))
		return 0;
	held = (int64_t)(counters_value(&c, "nr_foll_pin_acquired") -
			 counters_value(&c, "nr_foll_pin_released"));
	counters_free(&c);
	return held;
}
