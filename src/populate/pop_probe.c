/* SPDX-License-Identifier: MIT */
#include "pop_probe.h"
#include "pop_room.h"
#include <compactlab/populate.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THP "/sys/kernel/mm/transparent_hugepage"

const char *pop_probe_choice(const char *text, char *buf, size_t size)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
	size_t length = close ? (size_t)(close - open - 1) : 0;

	if (length >= size)
		length = 0;
	if (length)
		memcpy(buf, open + 1, length);
	buf[length] = 0;
	return buf;
}

/* The chosen word of a file; false when it cannot be read. */
static bool read_choice(const char *directory, const char *file, char word[32])
{
	char path[512], text[256];

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	if (pop_sys_read(path, text, sizeof(text)) <= 0)
		return false;
	return *pop_probe_choice(text, word, 32) != 0;
}

/* Does this choice allow memory that has MADV_HUGEPAGE? */
static bool allows_advised(const char *word, bool inherited)
{
	if (!strcmp(word, "inherit"))
		return inherited;
	return !strcmp(word, "always") || !strcmp(word, "madvise");
}

void pop_probe_thp(const char *directory, uint64_t page_bytes, uint64_t block_bytes,
		   struct pop_thp *t)
{
	char word[32], file[64];
	bool global;

	memset(t, 0, sizeof(*t));
	t->known = read_choice(directory, "enabled", word);
	global = t->known && allows_advised(word, false);
	t->huge = global;
	/* Since 6.8 each size has a setting of its own, the huge page's included. */
	for (uint64_t size = 2 * page_bytes; size <= block_bytes; size *= 2) {
		snprintf(file, sizeof(file), "hugepages-%llukB/enabled",
			 (unsigned long long)(size / 1024));
		if (!read_choice(directory, file, word))
			continue;
		if (size == block_bytes)
			t->huge = allows_advised(word, global);
		else if (allows_advised(word, global))
			t->smaller = true;
	}
	/*
	 * "never" and "defer" fault huge pages from what is free, without waiting; all
	 * other words let memory with MADV_HUGEPAGE compact and reclaim directly.
	 */
	t->stalls = !(read_choice(directory, "defrag", word) &&
		      (!strcmp(word, "never") || !strcmp(word, "defer")));
	t->shmem = read_choice(directory, "shmem_enabled", word) && strcmp(word, "never") != 0 &&
		   strcmp(word, "deny") != 0;
	snprintf(file, sizeof(file), "hugepages-%llukB/shmem_enabled",
		 (unsigned long long)(block_bytes / 1024));
	if (read_choice(directory, file, word) && strcmp(word, "inherit") != 0)
		t->shmem = strcmp(word, "never") != 0;
}

/* Nodes this process may use, of those that have memory. */
static void probe_nodes(struct pop_probe *p)
{
	char text[4096], *status, *line;
	struct pop_nodemask has = {0}, may = {0};
	bool know_has, know_may = false;

	know_has = pop_sys_read("/sys/devices/system/node/has_memory", text, sizeof(text)) > 0 &&
		   pop_nodes_list(text, has.word, POP_NODES);
	status = pop_sys_read_all("/proc/self/status");
	line = status ? strstr(status, "Mems_allowed_list:") : NULL;
	if (line) {
		line += strlen("Mems_allowed_list:");
		know_may = pop_nodes_list(line + strspn(line, " \t"), may.word, POP_NODES);
	}
	free(status);
	if (!know_may)
		may = has;
	for (unsigned i = 0; i < POP_NODE_WORDS; i++)
		p->memory.word[i] = know_has ? has.word[i] & may.word[i] : may.word[i];
	if (pop_mask_empty(&p->memory))
		pop_mask_set(&p->memory, 0);
}

static void probe_thp(struct pop_probe *p)
{
	char text[64];
	unsigned long long size;

	p->block_bytes = 2u << 20;
	if (pop_sys_read(THP "/hpage_pmd_size", text, sizeof(text)) > 0 &&
	    sscanf(text, "%llu", &size) == 1 && size > p->page_bytes && !(size & (size - 1)))
		p->block_bytes = size;
	else if (p->page_bytes != 4096) /* a page table's worth of pages, everywhere known */
		p->block_bytes = p->page_bytes / 8 * p->page_bytes;
	pop_probe_thp(THP, p->page_bytes, p->block_bytes, &p->thp);
	if (!p->thp.known && access("/sys/kernel/mm", F_OK) != 0) {
		p->missing |= CL_POPULATE_NO_SYSFS;
		p->thp.huge = p->thp.stalls = true;
	}
	if (pop_sys_thp_disabled())
		p->thp.huge = p->thp.shmem = p->thp.smaller = false;
}

void pop_probe_open(struct pop_probe *p)
{
	struct pop_policy policy;
	struct pop_region region;
	uint64_t next;
	char *text;
	long pages = sysconf(_SC_PAGESIZE);

	memset(p, 0, sizeof(*p));
	p->page_bytes = pages > 0 ? (uint64_t)pages : 4096;
	probe_thp(p);
	probe_nodes(p);
	p->nodes.order = (unsigned)__builtin_ctzll(p->block_bytes / p->page_bytes);

	p->populate_write = pop_sys_has_populate_write();
	p->collapse = pop_sys_has_collapse();
	p->buddyinfo = pop_sys_open("/proc/buddyinfo");
	text = p->buddyinfo >= 0 ? pop_sys_read_all("/proc/zoneinfo") : NULL;
	if (text)
		pop_nodes_zoneinfo(&p->nodes, text);
	free(text);
	p->vmstat = pop_sys_open("/proc/vmstat");
	p->pagemap = pop_sys_open("/proc/self/pagemap");
	if (p->pagemap >= 0 && pop_sys_scan(p->pagemap, 0, p->page_bytes, &region, 1, &next) < 0) {
		close(p->pagemap);
		p->pagemap = -ENOTTY;
	}

	if (!p->populate_write)
		p->missing |= CL_POPULATE_NO_POPULATE_WRITE;
	if (p->buddyinfo < 0)
		p->missing |= CL_POPULATE_NO_BUDDYINFO;
	if (!p->nodes.have_keep)
		p->missing |= CL_POPULATE_NO_ZONEINFO;
	if (p->pagemap < 0)
		p->missing |= CL_POPULATE_NO_SCAN;
	if (!p->collapse)
		p->missing |= CL_POPULATE_NO_COLLAPSE;
	if (!p->thp.smaller)
		p->missing |= CL_POPULATE_NO_SMALLER;
	if (pop_sys_get_policy(&policy))
		p->missing |= CL_POPULATE_NO_MEMPOLICY;
}

void pop_probe_close(struct pop_probe *p)
{
	if (p->buddyinfo >= 0)
		close(p->buddyinfo);
	if (p->vmstat >= 0)
		close(p->vmstat);
	if (p->pagemap >= 0)
		close(p->pagemap);
}

bool pop_probe_free(const struct pop_probe *p, struct pop_free *f)
{
	char text[16384];

	memset(f, 0, sizeof(*f));
	return p->buddyinfo >= 0 && pop_sys_reread(p->buddyinfo, text, sizeof(text)) > 0 &&
	       pop_nodes_buddyinfo(&p->nodes, text, f);
}

bool pop_probe_counts(const struct pop_probe *p, struct pop_counts *c)
{
	uint64_t acquired, released;
	char text[16384] = "";
	size_t have = 0;
	ssize_t n = 1;

	memset(c, 0, sizeof(*c));
	/* Each call adds counters of all CPUs up anew: no further than the last one of ours. */
	while (p->vmstat >= 0 && n > 0 && !strstr(text, "compact_free_scanned")) {
		n = pread(p->vmstat, text + have, sizeof(text) - 1 - have, (off_t)have);
		have += n > 0 ? (size_t)n : 0;
		text[have] = 0;
	}
	if (!have)
		return false;
	c->scanned = pop_room_field(text, "compact_migrate_scanned", 0);
	c->migrated = pop_room_field(text, "pgmigrate_success", 0);
	acquired = pop_room_field(text, "nr_foll_pin_acquired", 0);
	released = pop_room_field(text, "nr_foll_pin_released", 0);
	c->pins = acquired > released ? acquired - released : 0;
	/* A kernel without compaction has none of these. */
	return c->scanned != 0 || c->migrated != 0;
}

bool pop_probe_cpus(int node, uint64_t *cpus)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	return pop_sys_read(path, text, sizeof(text)) > 0 && pop_nodes_list(text, cpus, POP_CPUS);
}
