/* SPDX-License-Identifier: MIT */
#include "pop_room.h"
#include "pop_sys.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t pop_room_field(const char *text, const char *name, uint64_t otherwise)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, name, length) && (line[length] == ' ' || line[length] == '\t'))
			return strtoull(line + length, NULL, 10);
	}
	return otherwise;
}

/* Is the word in a list such as "cpu,memory"? */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += length)
		if ((p == list || p[-1] == ',') && (p[length] == ',' || !p[length]))
			return true;
	return false;
}

int pop_room_path(const char *cgroup, char *path, unsigned size)
{
	int version = 0;

	/* A line is "id:controllers:path"; version 2 is the one without controllers. */
	for (const char *line = cgroup; line && *line;) {
		const char *next = strchr(line, '\n');
		char controllers[256] = "", at[1024];

		if (sscanf(line, "%*d::%1023[^\n]", at) == 1) {
			if (version == 0) {
				version = 2;
				snprintf(path, size, "%s", at);
			}
		} else if (sscanf(line, "%*d:%255[^:\n]:%1023[^\n]", controllers, at) == 2 &&
			   list_has(controllers, "memory")) {
			version = 1;
			snprintf(path, size, "%s", at);
		}
		line = next ? next + 1 : NULL;
	}
	return version;
}

static uint64_t read_number(const char *mount, const char *path, const char *file)
{
	char name[1200], text[64];

	snprintf(name, sizeof(name), "%s%s/%s", mount, path, file);
	if (pop_sys_read(name, text, sizeof(text)) <= 0 || text[0] < '0' || text[0] > '9')
		return UINT64_MAX; /* not there, or "max" */
	return strtoull(text, NULL, 10);
}

/* What a group could give up before anything is killed: clean page cache, by its own count. */
static uint64_t reclaimable(const char *mount, const char *path, int version)
{
	char name[1200], *text;
	uint64_t bytes;

	snprintf(name, sizeof(name), "%s%s/memory.stat", mount, path);
	text = pop_sys_read_all(name);
	if (!text)
		return 0;
	if (version == 2)
		bytes = pop_room_field(text, "inactive_file", 0) +
			pop_room_field(text, "active_file", 0);
	else
		bytes = pop_room_field(text, "total_inactive_file", 0) +
			pop_room_field(text, "total_active_file", 0);
	free(text);
	return bytes;
}

uint64_t pop_room_cgroup(void)
{
	char path[1024] = "", *cgroup = pop_sys_read_all("/proc/self/cgroup");
	int version = cgroup ? pop_room_path(cgroup, path, sizeof(path)) : 0;
	const char *mount = version == 2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
	const char *max = version == 2 ? "memory.max" : "memory.limit_in_bytes";
	const char *now = version == 2 ? "memory.current" : "memory.usage_in_bytes";
	uint64_t room = UINT64_MAX;

	free(cgroup);
	if (!version)
		return room;
	if (!strcmp(path, "/"))
		path[0] = 0;
	/* From the process's own group up to the root, every limit holds. */
	for (;;) {
		uint64_t limit = read_number(mount, path, max);
		char *slash;

		/* Version 1 writes "no limit" as a number near 2^63. */
		if (limit < 1ull << 62) {
			uint64_t used = read_number(mount, path, now);
			uint64_t left = limit > used ? limit - used : 0;

			if (used != UINT64_MAX)
				left += reclaimable(mount, path, version);
			if (left < room)
				room = left;
		}
		slash = strrchr(path, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	return room;
}

uint64_t pop_room_machine(void)
{
	char text[8192];
	uint64_t available;

	if (pop_sys_read("/proc/meminfo", text, sizeof(text)) <= 0)
		return UINT64_MAX;
	available = pop_room_field(text, "MemAvailable:", UINT64_MAX);
	if (available == UINT64_MAX)
		return available;
	/* MemAvailable is careful with watermarks; what it keeps back is not out of reach. */
	available += pop_room_field(text, "MemTotal:", 0) / 32;
	return (available + pop_room_field(text, "SwapFree:", 0)) * 1024;
}

uint64_t pop_room_node(int node)
{
	static const char *const parts[] = {"MemFree:", "Active(file):", "Inactive(file):",
					    "SReclaimable:"};
	char path[64], name[64], text[8192];
	uint64_t kib = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	if (pop_sys_read(path, text, sizeof(text)) <= 0)
		return UINT64_MAX;
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(name, sizeof(name), "Node %d %s", node, parts[i]);
		kib += pop_room_field(text, name, 0);
	}
	return kib * 1024;
}
