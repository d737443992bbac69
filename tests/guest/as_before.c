/* SPDX-License-Identifier: MIT */
#include "as_before.h"
#include "os/measure.h"
#include "procfs/procfs.h"
#include "util/util.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000 /* in the flags of /proc/PID/stat since 2.6 */

static const char *const names[ASPECTS] = {"settings", "traces", "processes",
					   "pins",     "files",  "memory"};

const char *aspect_name(enum aspect a)
{
	return names[a];
}

/* ---- trees of files ------------------------------------------------------------------ */

/* Counters among the settings, and filesystems that come and go with processes. */
static bool left_out(const char *path, const char *name)
{
	static const char *const list[] = {".",          "..",    "stats", "pages_collapsed",
					   "full_scans", "/proc", "/sys"};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i], *list[i] == '/' ? path : name))
			return true;
	return false;
}

static void note_file(json_t *into, const char *path, bool contents)
{
	char *text = NULL;

	/* Some can only be written to. */
	if (contents && file_read(path, &text, NULL))
		return;
	json_object_set_new(into, path, json_string(text ? text : ""));
	free(text);
}

/* Add every file below a directory; with `contents`, what is in it. */
static void walk(json_t *into, const char *directory, bool contents)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = format("%s/%s", strcmp(directory, "/") ? directory : "", e->d_name);
		struct stat s;

		if (path && !left_out(path, e->d_name) && lstat(path, &s) == 0) {
			if (S_ISDIR(s.st_mode))
				walk(into, path, contents);
			if (!S_ISDIR(s.st_mode) || !contents)
				note_file(into, path, contents);
		}
		free(path);
	}
	if (d)
		closedir(d);
}

static json_t *settings_now(void)
{
	json_t *all = json_object();

	walk(all, "/proc/sys/vm", true);
	walk(all, "/sys/kernel/mm/transparent_hugepage", true);
	return all;
}

json_t *before_changed(const struct before *b)
{
	json_t *list = json_array(), *now = settings_now(), *value;
	const char *path;

	json_object_foreach(now, path, value)
		if (!json_equal(value, json_object_get(b->settings, path)))
			json_array_append_new(list, json_string(path));
	json_decref(now);
	return list;
}

static json_t *files_now(void)
{
	json_t *all = json_object();

	walk(all, "/", false);
	note_file(all, "/proc/self/mounts", true);
	return all;
}

static bool same_files(const json_t *before, json_t *now, char *how, size_t size)
{
	const char *path;
	json_t *value;

	json_object_foreach(now, path, value) {
		const json_t *was = json_object_get(before, path);

		if (!was)
			snprintf(how, size, "%s is new", path);
		else if (!json_equal(was, value))
			snprintf(how, size, "%s is '%s' and was '%s'", path,
				 json_string_value(value), json_string_value(was));
		if (!was || !json_equal(was, value))
			return false;
	}
	if (json_object_size(now) == json_object_size(before))
		return true;
	snprintf(how, size, "a file is gone");
	return false;
}

/* ---- the rest ------------------------------------------------------------------------- */

static bool no_traces(char *how, size_t size)
{
	DIR *d = opendir("/sys/kernel/tracing/instances");
	struct dirent *e;
	bool none = d != NULL;

	if (!d)
		snprintf(how, size, "the kernel has no tracefs");
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(how, size, "there is the trace instance %s", e->d_name);
			none = false;
		}
	if (d)
		closedir(d);
	return none;
}

/* Is it a process of the kernel's, or one that ended while we looked? */
static bool is_kernel_thread(pid_t pid, char *how, size_t size)
{
	char path[64], *text, *end;
	unsigned flags = PF_KTHREAD;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, &text, NULL))
		return true;
	end = strrchr(text, ')');
	if (end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1) {
		end[1] = '\0';
		snprintf(how, size, "there is the process %s", text);
	}
	free(text);
	return flags & PF_KTHREAD;
}

static bool no_processes(char *how, size_t size)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	bool none = d != NULL;

	while (d && none && (e = readdir(d))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid > 0 && pid != getpid())
			none = is_kernel_thread(pid, how, size);
	}
	if (d)
		closedir(d);
	return none;
}

static bool no_pins(char *how, size_t size)
{
	int64_t pins = measure_pins();

	snprintf(how, size, "%" PRId64 " pages are pinned", pins);
	return pins == 0;
}

/*
 * Free memory with what each CPU keeps of it on lists of its own: up to 20 MiB that the kernel
 * gives back over some 20 s.
 */
uint64_t before_free_bytes(int node)
{
	struct zoneinfo z;
	uint64_t pages = 0;
	size_t length;
	char *text;

	if (file_read("/proc/zoneinfo", &text, &length))
		return 0;
	if (zoneinfo_parse(text, length, &z, NULL) == 0) {
		for (unsigned i = 0; i < z.count; i++) {
			if (z.zone[i].node != node)
				continue;
			pages += z.zone[i].free;
			for (unsigned k = 0; k < z.zone[i].pagesets; k++)
				pages += z.zone[i].pageset[k].count;
		}
		zoneinfo_free(&z);
	}
	free(text);
	return pages * 4096;
}

static bool same_memory(const struct before *b, char *how, size_t size)
{
	for (int i = 0; i < AS_BEFORE_NODES; i++) {
		int64_t was = (int64_t)b->free_bytes[i], is = (int64_t)before_free_bytes(i);

		snprintf(how, size, "node %d has %" PRId64 " KiB free and had %" PRId64, i,
			 is / 1024, was / 1024);
		if (llabs(is - was) > AS_BEFORE_SLACK)
			return false;
	}
	return true;
}

/* ---- together -------------------------------------------------------------------------- */

void before_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

void before_settle(void)
{
	file_write("/proc/sys/vm/drop_caches", "7"); /* 4: without a word in the log */
}

void before_take(struct before *b)
{
	before_settle();
	b->settings = settings_now();
	b->files = files_now();
	for (int i = 0; i < AS_BEFORE_NODES; i++)
		b->free_bytes[i] = before_free_bytes(i);
}

void before_free(struct before *b)
{
	json_decref(b->settings);
	json_decref(b->files);
	memset(b, 0, sizeof(*b));
}

static bool same_tree(const json_t *before, json_t *now, char *how, size_t size)
{
	bool same = same_files(before, now, how, size);

	json_decref(now);
	return same;
}

bool before_same(const struct before *b, enum aspect a, char *how, size_t size)
{
	*how = '\0';
	switch (a) {
	case ASPECT_SETTINGS:
		return same_tree(b->settings, settings_now(), how, size);
	case ASPECT_TRACES:
		return no_traces(how, size);
	case ASPECT_PROCESSES:
		return no_processes(how, size);
	case ASPECT_PINS:
		return no_pins(how, size);
	case ASPECT_FILES:
		return same_tree(b->files, files_now(), how, size);
	case ASPECT_MEMORY:
		return same_memory(b, how, size);
	case ASPECTS:
		break;
	}
	return true;
}
