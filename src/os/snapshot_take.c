/* SPDX-License-Identifier: MIT */
/* A snapshot of the running machine. */
#include "os/snapshot_take.h"
#include <compactlab/snapshot.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "os/numa.h"
#include "os/settings.h"
#include "procfs/procfs.h"
#include "util/util.h"

/* Pages looked at in one go: a whole number of the largest folios. */
#define WINDOW  (1u << SNAPSHOT_MAX_ORDER)

#define FLAG(f) (1ull << KPAGEFLAG_##f)

/* ---- one page -------------------------------------------------------------------------------- */

static enum snapshot_kind kind_of(uint64_t f, uint64_t mapped)
{
	if (f & FLAG(NOPAGE))
		return SNAPSHOT_HOLE;
	if (f & (FLAG(RESERVED) | FLAG(HWPOISON)))
		return SNAPSHOT_RESERVED;
	if (f & FLAG(BUDDY))
		return SNAPSHOT_FREE;
	if (f & FLAG(HUGE))
		return SNAPSHOT_HUGETLB;
	if (f & FLAG(SLAB))
		return SNAPSHOT_SLAB;
	if (f & FLAG(PGTABLE))
		return SNAPSHOT_PGTABLE;
	if (f & FLAG(OFFLINE))
		return SNAPSHOT_BALLOON;
	if (f & FLAG(ZERO_PAGE))
		return SNAPSHOT_KERNEL;
	if (f & FLAG(ANON))
		return SNAPSHOT_ANON;
	if (f & FLAG(SWAPBACKED))
		return SNAPSHOT_SHMEM;
	/* A file's page that is on no list yet is told by being mapped with valid contents. */
	if (f & FLAG(LRU) || (f & FLAG(UPTODATE) && mapped))
		return SNAPSHOT_FILE;
	return SNAPSHOT_KERNEL;
}

static bool is_owned(enum snapshot_kind kind)
{
	return kind == SNAPSHOT_ANON || kind == SNAPSHOT_FILE || kind == SNAPSHOT_SHMEM;
}

struct snapshot_state snapshot_classify(uint64_t f, uint64_t mapped)
{
	static const struct {
		uint64_t flag;
		uint16_t ours;
	} words[] = {
		{FLAG(LRU), SNAPSHOT_LRU},
		{FLAG(ACTIVE), SNAPSHOT_ACTIVE},
		{FLAG(REFERENCED), SNAPSHOT_REFERENCED},
		{FLAG(DIRTY), SNAPSHOT_DIRTY},
		{FLAG(WRITEBACK), SNAPSHOT_WRITEBACK},
		{FLAG(UNEVICTABLE), SNAPSHOT_UNEVICTABLE},
	};
	struct snapshot_state s = {.kind = (uint8_t)kind_of(f, mapped)};
	bool owned = is_owned(s.kind);

	for (size_t i = 0; owned && i < sizeof(words) / sizeof(words[0]); i++)
		if (f & words[i].flag)
			s.flags |= words[i].ours;
	/* Of anonymous memory, dirty says nothing; without it there are fewer states. */
	if (s.kind != SNAPSHOT_FILE)
		s.flags &= (uint16_t)~SNAPSHOT_DIRTY;
	if (owned && mapped)
		s.flags |= SNAPSHOT_MAPPED;
	if (owned && mapped > 1)
		s.flags |= SNAPSHOT_SHARED;
	return s;
}

/* ---- pages ----------------------------------------------------------------------------------- */

struct window {
	int flags_fd, count_fd;
	uint64_t flags[WINDOW], mapped[WINDOW];
	bool large[WINDOW], pinned[WINDOW];
};

static int window_read(int fd, uint64_t pfn, uint64_t count, uint64_t *entry)
{
	size_t want = count * sizeof(*entry), got = 0;

	while (got < want) {
		ssize_t n = pread(fd, (char *)entry + got, want - got,
				  (off_t)(pfn * sizeof(*entry) + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	/* The files end with the last page; what would follow is none. */
	for (size_t i = got / sizeof(*entry); i < count; i++)
		entry[i] = FLAG(NOPAGE);
	return 0;
}

static bool is_tail(const struct window *w, unsigned i)
{
	return w->flags[i] & FLAG(COMPOUND_TAIL);
}

/* The order of the folio whose first page is at i: its tails follow. */
static unsigned folio_order(const struct window *w, unsigned i)
{
	unsigned order = 0;

	if (!(w->flags[i] & FLAG(COMPOUND_HEAD)))
		return 0;
	while (order < SNAPSHOT_MAX_ORDER && !(i & ((2u << order) - 1)) &&
	       is_tail(w, i + (1u << order)) && is_tail(w, i + (2u << order) - 1))
		order++;
	return order;
}

/* Pinned by anybody, if the kernel's memory shows it, and by the run. */
static void window_pins(struct window *w, uint64_t pfn, const uint64_t *pinned,
			const struct inside *inside)
{
	for (unsigned i = 0; i < WINDOW; i++)
		w->large[i] = w->flags[i] & FLAG(COMPOUND_HEAD);
	memset(w->pinned, 0, sizeof(w->pinned));
	if (inside && inside_pins(inside, pfn, WINDOW, w->mapped, w->large, w->pinned) == 0)
		return;
	for (unsigned i = 0; pinned && i < WINDOW; i++)
		w->pinned[i] = pinned[(pfn + i) / 64] >> (pfn + i) % 64 & 1;
}

static int window_add(struct snapshot *s, const struct window *w)
{
	for (unsigned i = 0; i < WINDOW;) {
		struct snapshot_state state = snapshot_classify(w->flags[i], w->mapped[i]);
		int r;

		/* Pages of a folio that began before are the rest of a gigantic one. */
		if (i == 0 && is_tail(w, 0) && state.kind == SNAPSHOT_HUGETLB)
			while (state.order < SNAPSHOT_MAX_ORDER && is_tail(w, (1u << state.order)))
				state.order++;
		else if (state.kind > SNAPSHOT_FREE)
			state.order = (uint8_t)folio_order(w, i);
		if (w->pinned[i] && is_owned(state.kind))
			state.flags |= SNAPSHOT_PINNED;
		r = snapshot_add(s, state, 1);
		if (r)
			return r;
		i += 1u << state.order;
	}
	return 0;
}

static int take_pages(struct snapshot *s, uint64_t pages, const uint64_t *pinned,
		      const struct inside *inside, struct cl_error *err)
{
	struct window *w = calloc(1, sizeof(*w));
	int r = 0;

	if (!w)
		return cl_error(err, -ENOMEM, "out of memory");
	w->flags_fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	w->count_fd = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC);
	if (w->flags_fd < 0 || w->count_fd < 0) {
		r = cl_error(err, -EOPNOTSUPP, "cannot read /proc/kpageflags: %s", strerror(errno));
		cl_error_hint(err, r, "root is needed, and a kernel with CONFIG_PROC_PAGE_MONITOR");
	}
	for (uint64_t pfn = 0; pfn < pages && !r; pfn += WINDOW) {
		r = window_read(w->flags_fd, pfn, WINDOW, w->flags);
		if (!r)
			r = window_read(w->count_fd, pfn, WINDOW, w->mapped);
		if (!r) {
			window_pins(w, pfn, pinned, inside);
			r = window_add(s, w);
		}
		if (r)
			cl_error(err, r, "cannot read the state of pages: %s", strerror(-r));
	}
	if (w->flags_fd >= 0)
		close(w->flags_fd);
	if (w->count_fd >= 0)
		close(w->count_fd);
	free(w);
	return r;
}

/* ---- settings -------------------------------------------------------------------------------- */

static void keep_setting(struct snapshot *s, const char *name)
{
	static const char *const triggers[] = {"vm.compact_memory", "vm.drop_caches",
					       "vm.stat_refresh"};
	char path[512], word[512], *text;

	for (size_t i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++)
		if (!strcmp(name, triggers[i]))
			return;
	if (setting_path(name, path, sizeof(path)) || file_read(path, &text, NULL))
		return;
	/* Some settings have a line a zone or none at all; a word is what the format holds. */
	setting_word(text, word, sizeof(word));
	if (word[0])
		(void)!snapshot_setting_add(s, name, word);
	free(text);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Every file of a folder, and of those one below it. */
static void keep_settings(struct snapshot *s, const char *folder, const char *prefix, int depth)
{
	struct dirent **entry;
	int count = scandir(folder, &entry, NULL, by_name);

	for (int i = 0; i < count; i++) {
		const char *leaf = entry[i]->d_name;
		char *name = format("%s%s", prefix, leaf), *path = format("%s/%s", folder, leaf);
		char *below = format("%s%s/", prefix, leaf);

		if (name && path && below && leaf[0] != '.') {
			if (entry[i]->d_type == DT_DIR && depth && strcmp(leaf, "stats") != 0)
				keep_settings(s, path, below, depth - 1);
			else if (entry[i]->d_type == DT_REG)
				keep_setting(s, name);
		}
		free(name);
		free(path);
		free(below);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void take_distances(struct snapshot_node *n, unsigned node)
{
	char path[80], *text, *at, *end;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/distance", node);
	if (file_read(path, &text, NULL))
		return;
	for (at = text; n->distances < SNAPSHOT_MAX_NODES; at = end) {
		unsigned long v = strtoul(at, &end, 10);

		if (end == at)
			break;
		n->distance[n->distances++] = v < 255 ? (uint8_t)v : 255;
	}
	free(text);
}

static int take_machine(struct snapshot *s, struct cl_error *err)
{
	time_t now = time(NULL);
	struct utsname u;
	struct tm utc;
	cpu_set_t cpus;
	int id[SNAPSHOT_MAX_NODES];
	unsigned count = numa_nodes(id, SNAPSHOT_MAX_NODES);
	char taken[32];

	if (uname(&u) < 0 || !gmtime_r(&now, &utc))
		return cl_error(err, -errno, "cannot tell which machine this is");
	strftime(taken, sizeof(taken), "%Y-%m-%dT%H:%M:%SZ", &utc);
	s->release = strdup(u.release);
	s->version = strdup(u.version);
	s->machine = strdup(u.machine);
	s->taken = strdup(taken);
	s->cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	for (unsigned i = 0; i < count && id[i] < SNAPSHOT_MAX_NODES; i++) {
		struct snapshot_node *n = &s->node[id[i]];

		n->there = true;
		n->cpus = numa_cpus(id[i], &cpus) ? 0 : (unsigned)CPU_COUNT(&cpus);
		take_distances(n, (unsigned)id[i]);
	}
	if (!s->release || !s->version || !s->machine || !s->taken)
		return cl_error(err, -ENOMEM, "out of memory");
	return 0;
}

static int take_texts(struct snapshot *s, struct cl_error *err)
{
	for (unsigned i = 0; i < SNAPSHOT_TEXTS; i++) {
		char path[32];
		int r;

		snprintf(path, sizeof(path), "/proc/%s", snapshot_text_name(i));
		r = file_read(path, &s->text[i], NULL);
		if (r) {
			s->text[i] = NULL;
			cl_error(err, -EOPNOTSUPP, "cannot read %s: %s", path, strerror(-r));
			return cl_error_hint(err, -EOPNOTSUPP, "root is needed");
		}
	}
	return 0;
}

int snapshot_machine_pages(uint64_t *pages, struct cl_error *err)
{
	struct zoneinfo z;
	char *text;
	size_t length;
	int r = file_read("/proc/zoneinfo", &text, &length);

	*pages = 0;
	if (r)
		return cl_error(err, r, "cannot read /proc/zoneinfo: %s", strerror(-r));
	r = zoneinfo_parse(text, length, &z, err);
	free(text);
	if (r)
		return r;
	for (unsigned i = 0; i < z.count; i++)
		if (z.zone[i].present && z.zone[i].start_pfn + z.zone[i].spanned > *pages)
			*pages = z.zone[i].start_pfn + z.zone[i].spanned;
	zoneinfo_free(&z);
	if (*pages > SNAPSHOT_MAX_PAGES)
		return cl_error(err, -EOPNOTSUPP, "machines of more than 4 TiB are not supported");
	return 0;
}

int snapshot_take(struct snapshot *s, const uint64_t *pinned, const struct inside *inside,
		  struct cl_error *err)
{
	uint64_t pages;
	int r = snapshot_machine_pages(&pages, err);

	if (!r && sysconf(_SC_PAGESIZE) != 4096)
		r = cl_error(err, -EOPNOTSUPP, "only machines with 4 KiB pages are supported");
	if (!r)
		r = take_machine(s, err);
	if (r)
		return r;
	keep_settings(s, "/proc/sys/vm", "vm.", 0);
	keep_settings(s, "/sys/kernel/mm/transparent_hugepage", "thp.", 1);
	keep_settings(s, "/sys/kernel/mm/lru_gen", "lru_gen.", 0);
	/* The texts last: they are what the pages are compared with. */
	r = take_pages(s, pages, pinned, inside, err);
	/* Without it there is less to see, that is all. */
	if (!r && inside)
		(void)!inside_take(inside, s);
	return r ? r : take_texts(s, err);
}

int cl_snapshot_take(const char *path, struct cl_error *err)
{
	struct snapshot *s = snapshot_new(0);
	struct inside *inside = NULL;
	void *data = NULL;
	size_t size = 0;
	int r = s ? 0 : cl_error(err, -ENOMEM, "out of memory");

	/* On most machines it can be seen; a snapshot says whether it was. */
	(void)!inside_open(&inside);
	if (!r)
		r = snapshot_take(s, NULL, inside, err);
	inside_close(inside);
	if (!r)
		r = snapshot_pack(s, &data, &size, err);
	if (!r) {
		r = file_replace(path, data, size);
		if (r)
			cl_error_at(err, r, path, 0, "cannot write the snapshot: %s", strerror(-r));
	}
	free(data);
	snapshot_free(s);
	return r;
}
