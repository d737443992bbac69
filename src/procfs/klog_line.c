/* SPDX-License-Identifier: MIT */
#include "procfs/klog_line.h"
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- headers ------------------------------------------------------------------------ */

bool klog_line_order(struct span s, int *order)
{
	struct span rest = s;

	while (span_after(rest, "order", &rest)) {
		struct span t = rest;

		if ((span_skip(&t, ":") || span_skip(&t, "=")) &&
		    (span_blanks(&t), span_int(&t, order)) && *order >= -1 && *order < 64)
			return true;
	}
	*order = -1;
	return false;
}

bool klog_line_gfp(struct span s, const char *key, struct klog_event *e)
{
	struct span rest, names;
	unsigned unknown;

	if (!span_after(s, key, &rest))
		return false;
	span_blanks(&rest);
	if (!span_hex(&rest, &e->gfp_mask)) {
		/* Names only: "mode:GFP_KERNEL|__GFP_COMP". */
		if (!span_word(&rest, &names) || !span_find(names, "GFP_"))
			return false;
		while (names.length && strchr(",;)", names.at[names.length - 1]))
			names.length--;
		e->gfp = gfp_from_names(names, &unknown);
		e->has_gfp = e->gfp_named = true;
		return true;
	}
	e->has_gfp = true;
	if (span_skip(&rest, "(") && span_until(&rest, ')', &names) && span_find(names, "GFP_")) {
		e->gfp = gfp_from_names(names, &unknown);
		e->gfp_named = true;
	}
	return true;
}

/* The task's name is all that stands in front. */
static void comm_before(struct span s, const char *mark, struct klog_event *e)
{
	const char *at = span_find(s, mark);
	struct span comm;

	if (!at)
		return;
	comm = span_of(s.at, (size_t)(at - s.at));
	span_trim(&comm);
	while (comm.length && strchr(": ", comm.at[comm.length - 1]))
		comm.length--;
	/* Two CPUs on one line: what is behind the last ": " is not of the name. */
	{
		const char *cut = span_find(comm, ": order:");

		if (cut)
			comm.length = (size_t)(cut - comm.at);
	}
	if (comm.length > 48) { /* something is still in front of it */
		const char *blank = memrchr(comm.at, ' ', comm.length);

		if (blank)
			comm = span_of(blank + 1, comm.length - (size_t)(blank + 1 - comm.at));
	}
	span_put(comm, e->comm, sizeof(e->comm));
}

bool klog_line_header(struct span s, struct klog_event *e)
{
	struct span rest;

	if (span_find(s, "page allocation failure")) {
		e->kind = KLOG_FAILURE;
		comm_before(s, "page allocation failure", e);
		klog_line_order(s, &e->order);
		klog_line_gfp(s, "mode:", e);
		return e->order >= 0 || e->has_gfp || s.length < 120;
	}
	if (span_after(s, "page allocation stalls for ", &rest)) {
		e->kind = KLOG_STALL;
		comm_before(s, "page allocation stalls", e);
		span_u64(&rest, &e->stall_ms);
		klog_line_order(s, &e->order);
		klog_line_gfp(s, "mode:", e);
		return true;
	}
	if (span_find(s, "invoked oom-killer")) {
		e->kind = KLOG_OOM;
		comm_before(s, "invoked oom-killer", e);
		klog_line_order(s, &e->order);
		klog_line_gfp(s, "gfp_mask=", e);
		return true;
	}
	if (span_find(s, "vmalloc: allocation failure") ||
	    span_find(s, "vmap allocation for size")) {
		e->kind = KLOG_VMALLOC;
		comm_before(s, "vmalloc: allocation failure", e);
		klog_line_gfp(s, "mode:", e);
		return true;
	}
	return false;
}

void klog_line_lockup(struct span s, struct klog_event *e)
{
	struct span rest, name;

	if (span_after(s, "stuck for ", &rest) || span_after(s, "more than ", &rest))
		span_u64(&rest, &e->stuck_s);
	/* "... stuck for 23s! [khugepaged:123]" and "INFO: task khugepaged:123 blocked". */
	if ((span_after(s, "! [", &rest) && span_until(&rest, ':', &name)) ||
	    (span_after(s, "INFO: task ", &rest) && span_until(&rest, ':', &name)))
		span_put(name, e->comm, sizeof(e->comm));
}

/* ---- task and version --------------------------------------------------------------- */

static void find_version(struct span s, struct klog_event *e)
{
	struct span rest = s, before;

	while (span_after(rest, " #", &rest)) {
		const char *at;

		if (!rest.length || *rest.at < '0' || *rest.at > '9')
			continue;
		before = span_of(s.at, (size_t)(rest.at - 2 - s.at));
		span_trim(&before);
		at = memrchr(before.at, ' ', before.length);
		if (at)
			before = span_of(at + 1, before.length - (size_t)(at + 1 - before.at));
		if (kernel_version_parse(before, &e->version)) {
			span_put(before, e->kernel, sizeof(e->kernel));
			return;
		}
	}
}

bool klog_line_task(struct span s, struct klog_event *e)
{
	struct span rest, comm;
	const char *end = NULL;
	static const char *const ends[] = {" Tainted:", " Not tainted", " Kdump:", " Not"};

	if (!span_after(s, "Comm: ", &rest) && !span_after(s, "comm: ", &rest))
		return false;
	if (!span_find(s, "PID: ") && !span_find(s, "Pid: ") && !span_find(s, "pid: "))
		return false;
	find_version(s, e);
	for (size_t i = 0; i < COUNT_OF(ends) && !end; i++)
		end = span_find(rest, ends[i]);
	comm = rest;
	if (end)
		comm.length = (size_t)(end - rest.at);
	span_trim(&comm);
	if (!e->comm[0] && comm.length && comm.length < sizeof(e->comm))
		span_put(comm, e->comm, sizeof(e->comm));
	if (span_after(s, "PID: ", &rest) || span_after(s, "Pid: ", &rest))
		span_int(&rest, &e->pid);
	return true;
}

/* ---- machine-wide counts ------------------------------------------------------------ */

static const struct {
	const char *name;
	enum klog_count count;
} counts[] = {
	{"active_anon", KLOG_ACTIVE_ANON},
	{"inactive_anon", KLOG_INACTIVE_ANON},
	{"active_file", KLOG_ACTIVE_FILE},
	{"inactive_file", KLOG_INACTIVE_FILE},
	{"unevictable", KLOG_UNEVICTABLE},
	{"dirty", KLOG_DIRTY},
	{"writeback", KLOG_WRITEBACK},
	{"slab_reclaimable", KLOG_SLAB_RECLAIMABLE},
	{"slab_unreclaimable", KLOG_SLAB_UNRECLAIMABLE},
	{"shmem", KLOG_SHMEM},
	{"free", KLOG_FREE},
	{"free_cma", KLOG_FREE_CMA},
	{"pagetables", KLOG_PAGETABLES},
};

bool klog_line_counts(struct span s, struct klog_event *e)
{
	struct span word, key;
	bool any = false;
	uint64_t v;

	while (span_word(&s, &word)) {
		if (!span_until(&word, ':', &key) || !span_u64(&word, &v) || word.length)
			continue;
		for (size_t i = 0; i < COUNT_OF(counts); i++) {
			if (span_is(key, counts[i].name)) {
				/* The first report is the one the header belongs to. */
				if (e->count[counts[i].count] == UINT64_MAX)
					e->count[counts[i].count] = v;
				any = true;
			}
		}
	}
	if (any)
		e->memory_state = true;
	return any;
}

static bool number_then(struct span s, const char *text, uint64_t *v)
{
	return span_u64(&s, v) && span_skip(&s, " ") && span_is(s, text);
}

bool klog_line_summary(struct span s, struct klog_event *e)
{
	static const struct {
		const char *text;
		enum klog_count count;
	} lines[] = {
		{"total pagecache pages", KLOG_PAGECACHE},
		{"pages RAM", KLOG_RAM},
		{"pages of RAM", KLOG_RAM},
		{"pages reserved", KLOG_RESERVED},
		{"reserved pages", KLOG_RESERVED},
		{"pages cma reserved", KLOG_CMA_RESERVED},
	};
	struct span rest;
	uint64_t v;

	span_trim(&s);
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		if (number_then(s, lines[i].text, &v)) {
			if (e->count[lines[i].count] == UINT64_MAX)
				e->count[lines[i].count] = v;
			return true;
		}
	}
	if (span_after(s, "Free swap", &rest) || span_after(s, "Total swap", &rest)) {
		enum klog_count which =
			span_find(s, "Free swap") ? KLOG_SWAP_FREE_KB : KLOG_SWAP_TOTAL_KB;

		span_blanks(&rest);
		if (!span_skip(&rest, "=") && !span_skip(&rest, ":"))
			return false;
		span_blanks(&rest);
		if (span_u64(&rest, &v) && e->count[which] == UINT64_MAX)
			e->count[which] = v;
		return true;
	}
	return false;
}

/* ---- oom and slub ------------------------------------------------------------------- */

bool klog_line_oom_detail(struct span s, struct klog_event *e)
{
	struct span rest;

	if (span_after(s, "oom-kill:constraint=", &rest)) {
		e->memcg |= span_starts(rest, "CONSTRAINT_MEMCG");
		e->policy_bound |= span_starts(rest, "CONSTRAINT_CPUSET") ||
				   span_starts(rest, "CONSTRAINT_MEMORY_POLICY");
		return true;
	}
	if (span_find(s, "Memory cgroup out of memory") ||
	    span_find(s, "Memory cgroup stats for") || span_find(s, "as a result of limit of")) {
		e->memcg = true;
		return true;
	}
	return false;
}

bool klog_line_slub_cache(struct span s, struct klog_event *e)
{
	struct span rest, name, inner;
	uint64_t id;

	if (e->kind != KLOG_SLUB)
		return false;
	rest = s;
	/* A mailer may have put the name on a line of its own. */
	if (!span_after(s, "cache: ", &rest) && (e->cache[0] || !span_find(s, "(")))
		return false;
	if (!span_until(&rest, ',', &name))
		return false;
	inner = name;
	if (span_until(&inner, '(', &name)) {
		e->cache_cgroup = span_u64(&inner, &id) && span_skip(&inner, ":");
	}
	span_trim(&name);
	span_put(name, e->cache, sizeof(e->cache));
	if (span_after(s, "default order: ", &rest))
		span_int(&rest, &e->cache_order);
	if (span_after(s, "min order: ", &rest))
		span_int(&rest, &e->cache_min_order);
	return true;
}

/* ---- CMA and hugetlb ---------------------------------------------------------------- */

/* "4+7+7+166" or "6@8314+253648@8496": the largest. */
static uint64_t biggest_run(struct span s)
{
	uint64_t best = 0, v;

	for (;;) {
		span_blanks(&s);
		if (!span_u64(&s, &v))
			return best;
		if (v > best)
			best = v;
		if (span_skip(&s, "@"))
			span_u64(&s, &v);
		if (!span_skip(&s, "+"))
			return best;
	}
}

static bool cma_available(struct span s, struct klog_event *one)
{
	struct span rest, totals;

	if (!span_after(s, "number of available pages:", &rest))
		return false;
	one->area_known = true;
	one->run_pages = biggest_run(rest);
	if (span_after(rest, "=>", &totals)) {
		span_blanks(&totals);
		span_u64(&totals, &one->area_free_pages);
	}
	if (span_after(rest, "free of ", &totals) || span_after(rest, "total: ", &totals))
		span_u64(&totals, &one->area_pages);
	return true;
}

bool klog_line_cma(struct span s, const struct klog_event *open, struct klog_event *one)
{
	struct span rest;

	if (span_find(s, ") PFNs busy")) {
		one->busy_ranges = 1;
		return true;
	}
	if (span_find(s, "cma") && span_after(s, "req-size: ", &rest)) {
		span_u64(&rest, &one->wanted);
		if (span_after(s, "ret: ", &rest))
			span_int(&rest, &one->ret);
		return true;
	}
	if (cma_available(s, one))
		return true;
	if (span_find(s, "ailed to allocate from CMA") ||
	    (span_find(s, "cma_alloc(): returned") && span_find(s, "null")) ||
	    (span_find(s, "cma") && span_find(s, "ailed to reserve"))) {
		one->final_failure = true;
		return true;
	}
	/* A driver's word counts only beside CMA lines. */
	if (open &&
	    (span_find(s, "ailed to allocate buffer") || span_find(s, "dma_alloc") ||
	     span_find(s, "coherent allocation failed")) &&
	    span_find(s, "ailed")) {
		one->final_failure = true;
		return true;
	}
	return false;
}

void klog_line_cma_add(struct klog_event *e, const struct klog_event *one)
{
	e->busy_ranges += one->busy_ranges;
	e->final_failure |= one->final_failure;
	if (one->wanted)
		e->wanted = one->wanted;
	if (one->ret)
		e->ret = one->ret;
	if (one->area_known) {
		e->area_known = true;
		e->run_pages = one->run_pages;
		e->area_free_pages = one->area_free_pages;
		e->area_pages = one->area_pages;
	}
}

static uint64_t unit_kb(struct span s)
{
	span_blanks(&s);
	if (span_starts(s, "KiB") || span_starts(s, "kB"))
		return 1;
	if (span_starts(s, "MiB") || span_starts(s, "MB"))
		return 1024;
	if (span_starts(s, "GiB") || span_starts(s, "GB"))
		return 1024 * 1024;
	return 0;
}

bool klog_line_hugetlb(struct span s, struct klog_event *e)
{
	struct span rest;
	uint64_t hundredths;

	if (!span_after(s, "Only allocated ", &rest) || !span_u64(&rest, &e->got) ||
	    !span_find(rest, "hugepage"))
		return false;
	e->has_got = true;
	if (span_after(s, "allocating ", &rest))
		span_u64(&rest, &e->wanted);
	if (span_after(s, "page size ", &rest) && span_fixed(&rest, 100, &hundredths) &&
	    hundredths < UINT32_MAX)
		e->page_kb = hundredths * unit_kb(rest) / 100;
	return true;
}

/* ---- what functions are ------------------------------------------------------------- */

static bool in(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

bool klog_line_is_interrupt_function(const char *function)
{
	static const char *const list[] = {
		"__do_softirq",  "do_softirq",      "__irq_svc",       "el1_irq",
		"el1h_64_irq",   "do_IRQ",          "handle_IRQ",      "common_interrupt",
		"irq_exit",      "irq_exit_rcu",    "ret_from_intr",   "asm_common_interrupt",
		"net_rx_action", "handle_softirqs", "ia64_handle_irq", "plat_irq_dispatch",
	};

	return in(function, list, COUNT_OF(list));
}

bool klog_line_is_memory_function(const char *function)
{
	static const char *const list[] = {
		"compact_zone",
		"compact_zone_order",
		"try_to_compact_pages",
		"__alloc_pages_direct_compact",
		"isolate_migratepages",
		"isolate_migratepages_block",
		"isolate_migratepages_range",
		"isolate_freepages",
		"isolate_freepages_block",
		"compaction_alloc",
		"kcompactd",
		"kcompactd_do_work",
		"migrate_pages",
		"shrink_slab",
		"shrink_node",
		"shrink_zone",
		"shrink_lruvec",
		"do_try_to_free_pages",
		"try_to_free_pages",
		"__alloc_pages_slowpath",
		"alloc_contig_range",
	};

	return in(function, list, COUNT_OF(list));
}
