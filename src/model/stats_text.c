/* SPDX-License-Identifier: MIT */
/*
 * stats_text.c - buddyinfo, pagetypeinfo, zoneinfo and the other text files; see stats.h.
 *
 * Column widths and blanks are the kernel's, because scripts cut at columns.
 */
#include "model/stats.h"

#include "model/buddy.h"
#include "model/compact.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/watermark.h"

static const char *const zone_names[NR_ZONE_CLASSES] = {"DMA", "DMA32", "Normal", "Movable",
							"Device"};
static const char *const type_names[NR_MIGRATETYPES] = {"Unmovable",  "Movable", "Reclaimable",
							"HighAtomic", "CMA",     "Isolate"};

#define LIST_COUNT_MAX 100000u /* pagetypeinfo stops counting a list here */

static bool type_is_shown(const struct model *m, int type)
{
	return type != MIGRATE_CMA || model_has_cma(m);
}

/* ---- free lists --------------------------------------------------------------------------- */

void stats_buddyinfo(const struct model *m, FILE *out)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		const struct zone *z = &m->zone[i];

		fprintf(out, "Node %u, zone %8s ", z->node.v, z->name);
		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++)
			fprintf(out, "%6llu ", (unsigned long long)z->nr_chunks[order]);
		fputc('\n', out);
	}
}

static void print_lists(const struct model *m, const struct zone *z, FILE *out)
{
	for (int type = 0; type < NR_MIGRATETYPES; type++) {
		if (!type_is_shown(m, type))
			continue;
		fprintf(out, "Node %4u, zone %8s, type %12s ", z->node.v, z->name,
			type_names[type]);
		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
			uint64_t chunks = buddy_list_chunks(z, order, (enum migratetype)type);
			bool over = chunks >= LIST_COUNT_MAX;

			fprintf(out, "%s%6llu ", over ? ">" : "",
				(unsigned long long)(over ? LIST_COUNT_MAX : chunks));
		}
		fputc('\n', out);
	}
}

void stats_pagetypeinfo(const struct model *m, FILE *out)
{
	for (unsigned n = 0; n < MAX_NODES; n++) {
		const struct node *node = &m->node[n];

		if (!node->online || node->present == 0)
			continue;
		fprintf(out, "Page block order: %d\nPages per block:  %u\n\n%-43s ",
			PAGEBLOCK_ORDER, PAGEBLOCK_PAGES,
			"Free pages count per migrate type at order");
		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++)
			fprintf(out, "%6u ", order);
		fputc('\n', out);
		for (int c = 0; c < NR_ZONE_CLASSES; c++) {
			if (node->zone[c].v != ZONE_NONE.v)
				print_lists(m, &m->zone[node->zone[c].v], out);
		}
		fprintf(out, "\n%-23s", "Number of blocks type ");
		for (int type = 0; type < NR_MIGRATETYPES; type++) {
			if (type_is_shown(m, type))
				fprintf(out, "%12s ", type_names[type]);
		}
		fputc('\n', out);
		for (int c = 0; c < NR_ZONE_CLASSES; c++) {
			const struct zone *z;

			if (node->zone[c].v == ZONE_NONE.v)
				continue;
			z = &m->zone[node->zone[c].v];
			fprintf(out, "Node %u, zone %8s ", n, z->name);
			for (int type = 0; type < NR_MIGRATETYPES; type++) {
				if (type_is_shown(m, type))
					fprintf(out, "%12u ", z->nr_blocks_of[type]);
			}
			fputc('\n', out);
		}
	}
}

void stats_extfrag_index(const struct model *m, FILE *out)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		const struct zone *z = &m->zone[i];

		fprintf(out, "Node %u, zone %8s ", z->node.v, z->name);
		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
			int index = compact_fragmentation_index(z, order);

			fprintf(out, "%2d.%03d ", index / 1000, index % 1000);
		}
		fputc('\n', out);
	}
}

/* ---- zoneinfo ----------------------------------------------------------------------------- */

static void print_rows(const struct model *m, const int64_t *values, int first, int end, FILE *out)
{
	uint16_t order[NR_VMSTAT];
	uint32_t nr = stats_vmstat_order(m, order);

	/* Within a group the vmstat order; reclaim rows that stand among the events there fall out.
	 */
	for (uint32_t i = 0; i < nr; i++) {
		if (order[i] >= VM_EVENT_FIRST)
			break;
		if (order[i] >= first && order[i] < end)
			fprintf(out, "\n      %-12s %lld", vmstat_rows[order[i]].name,
				(long long)values[order[i] - first]);
	}
}

/* Mirrors calculate_normal_threshold(). */
static unsigned stat_threshold(const struct model *m, const struct zone *z)
{
	uint64_t mem = z->managed >> (27 - PAGE_SHIFT);
	unsigned cpus = 32 - (unsigned)__builtin_clz(m->nr_cpus);
	unsigned threshold = 2 * cpus * (1 + (mem ? 64 - (unsigned)__builtin_clzll(mem) : 0));

	return threshold < 125 ? threshold : 125;
}

static void print_marks(const struct zone *z, FILE *out)
{
	fprintf(out,
		"\n  pages free     %lld\n        boost    %llu\n        min      %llu\n        "
		"low      "
		"%llu\n        high     %llu\n        promo    %llu\n        spanned  %llu\n       "
		" present  "
		"%llu\n        managed  %llu\n        cma      %llu",
		(long long)zone_free_pages(z), (unsigned long long)z->boost,
		(unsigned long long)zone_wmark(z, WMARK_MIN),
		(unsigned long long)zone_wmark(z, WMARK_LOW),
		(unsigned long long)zone_wmark(z, WMARK_HIGH),
		(unsigned long long)zone_wmark(z, WMARK_PROMO),
		(unsigned long long)(z->end_pfn - z->start_pfn), (unsigned long long)z->present,
		(unsigned long long)z->managed, (unsigned long long)z->cma_pages);
	fputs("\n        protection: (", out);
	for (int c = 0; c < NR_ZONE_CLASSES; c++)
		fprintf(out, "%s%llu", c ? ", " : "", (unsigned long long)z->lowmem_reserve[c]);
	fputc(')', out);
}

static void print_pagesets(const struct model *m, const struct zone *z, FILE *out)
{
	/* Since there are limits to show, a column is as wide as their names. */
	bool limits = m->profile->zoneinfo_pcp_limits;
	int width = limits ? 9 : 6;

	fputs("\n  pagesets", out);
	for (uint32_t c = 0; c < m->nr_cpus; c++) {
		const struct pcp *p = &z->pcp[c];

		fprintf(out,
			"\n    cpu: %u\n              %-*s %u\n              %-*s %u"
			"\n              %-*s %u",
			c, width, "count:", p->count, width, "high:", p->high, width,
			"batch:", p->batch);
		if (limits)
			fprintf(out, "\n              high_min: %u\n              high_max: %u",
				p->high_min, p->high_max);
		fprintf(out, "\n  vm stats threshold: %u", stat_threshold(m, z));
	}
}

static void print_zone(const struct model *m, const struct node *n, int class, bool first,
		       FILE *out)
{
	/* The marks of a Movable zone have a floor even where there is none. */
	static const struct zone empty[] = {{.class = ZONE_NORMAL},
					    {.class = ZONE_MOVABLE, .wmark = {32, 32, 32, 32}}};
	bool populated = n->zone[class].v != ZONE_NONE.v;
	const struct zone *z =
		populated ? &m->zone[n->zone[class].v] : &empty[class == ZONE_MOVABLE];

	fprintf(out, "Node %u, zone %8s", n->id.v, zone_names[class]);
	if (first) {
		fputs("\n  per-node stats", out);
		print_rows(m, n->stat, VM_NODE_FIRST, VM_GLOBAL_FIRST, out);
	}
	print_marks(z, out);
	if (!populated) {
		fputc('\n', out);
		return;
	}
	print_rows(m, z->stat, 0, NR_VM_ZONE_ITEMS, out);
	print_pagesets(m, z, out);
	fprintf(out, "\n  node_unreclaimable:  %d\n  start_pfn:           %u",
		n->kswapd.failures >= KSWAPD_HOPELESS, z->start_pfn);
	if (m->profile->zoneinfo_highatomic)
		fprintf(out, "\n  reserved_highatomic: %llu\n  free_highatomic:     %llu",
			(unsigned long long)z->nr_reserved_highatomic,
			(unsigned long long)z->nr_free_highatomic);
	fputc('\n', out);
}

void stats_zoneinfo(const struct model *m, FILE *out)
{
	for (unsigned i = 0; i < MAX_NODES; i++) {
		const struct node *n = &m->node[i];
		bool shown = false;

		if (!n->online)
			continue;
		for (int c = 0; c < NR_ZONE_CLASSES; c++) {
			bool first = !shown && n->zone[c].v != ZONE_NONE.v;

			print_zone(m, n, c, first, out);
			shown |= first;
		}
	}
}

/* ---- meminfo and pressure ----------------------------------------------------------------- */

/* Stall time is exact; the running averages are not kept. */
void stats_pressure_memory(const struct model *m, FILE *out)
{
	fprintf(out, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n",
		(unsigned long long)(m->clock.psi_some_ns / 1000));
	fprintf(out, "full avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n",
		(unsigned long long)(m->clock.psi_full_ns / 1000));
}

static void print_kb(FILE *out, const char *name, int64_t pages)
{
	fprintf(out, "%-15s %8lld kB\n", name, (long long)pages * 4);
}

/* Mirrors si_mem_available(). */
static int64_t available_pages(const struct model *m)
{
	int64_t cache = stats_get(m, VM_NR_ACTIVE_FILE) + stats_get(m, VM_NR_INACTIVE_FILE);
	int64_t slab =
		stats_get(m, VM_NR_SLAB_RECLAIMABLE) + stats_get(m, VM_NR_KERNEL_MISC_RECLAIMABLE);
	int64_t pages = stats_get(m, VM_NR_FREE_PAGES) - (int64_t)m->total_reserve_pages;
	int64_t low = 0;

	for (uint32_t i = 0; i < m->nr_zones; i++)
		low += (int64_t)zone_wmark(&m->zone[i], WMARK_LOW);
	pages += cache - (cache / 2 < low ? cache / 2 : low);
	pages += slab - (slab / 2 < low ? slab / 2 : low);
	return pages > 0 ? pages : 0;
}

/* One line: the sum of up to two rows, in pages or in huge pages. */
struct meminfo_row {
	const char *name;
	enum vmstat_item item[2];
	unsigned pages_each;
};

static void print_rows_kb(const struct model *m, const struct meminfo_row *rows, size_t nr,
			  FILE *out)
{
	for (size_t i = 0; i < nr; i++) {
		int64_t pages = stats_get(m, rows[i].item[0]);

		if (rows[i].item[1] != NR_VMSTAT)
			pages += stats_get(m, rows[i].item[1]);
		print_kb(out, rows[i].name, pages * rows[i].pages_each);
	}
}

#define ROW1(name, a)                                                                              \
	{                                                                                          \
		name, {VM_##a, NR_VMSTAT}, 1                                                       \
	}
#define ROW2(name, a, b)                                                                           \
	{                                                                                          \
		name, {VM_##a, VM_##b}, 1                                                          \
	}
#define ROW_THP(name, a)                                                                           \
	{                                                                                          \
		name, {VM_##a, NR_VMSTAT}, PAGEBLOCK_PAGES                                         \
	}
#define NR_ROWS(rows) (sizeof(rows) / sizeof(rows[0]))

/* The lines of what the machine has, in the kernel's order. */
void stats_meminfo(const struct model *m, FILE *out)
{
	static const struct meminfo_row lists[] = {
		ROW1("SwapCached:", NR_SWAPCACHED),
		ROW2("Active:", NR_ACTIVE_ANON, NR_ACTIVE_FILE),
		ROW2("Inactive:", NR_INACTIVE_ANON, NR_INACTIVE_FILE),
		ROW1("Active(anon):", NR_ACTIVE_ANON),
		ROW1("Inactive(anon):", NR_INACTIVE_ANON),
		ROW1("Active(file):", NR_ACTIVE_FILE),
		ROW1("Inactive(file):", NR_INACTIVE_FILE),
		ROW1("Unevictable:", NR_UNEVICTABLE),
		ROW1("Mlocked:", NR_MLOCK),
	};
	static const struct meminfo_row uses[] = {
		ROW1("Dirty:", NR_DIRTY),
		ROW1("Writeback:", NR_WRITEBACK),
		ROW1("AnonPages:", NR_ANON_PAGES),
		ROW1("Mapped:", NR_MAPPED),
		ROW1("Shmem:", NR_SHMEM),
		ROW2("KReclaimable:", NR_SLAB_RECLAIMABLE, NR_KERNEL_MISC_RECLAIMABLE),
		ROW2("Slab:", NR_SLAB_RECLAIMABLE, NR_SLAB_UNRECLAIMABLE),
		ROW1("SReclaimable:", NR_SLAB_RECLAIMABLE),
		ROW1("SUnreclaim:", NR_SLAB_UNRECLAIMABLE),
		ROW1("PageTables:", NR_PAGE_TABLE_PAGES),
		ROW_THP("AnonHugePages:", NR_ANON_TRANSPARENT_HUGEPAGES),
		ROW_THP("ShmemHugePages:", NR_SHMEM_HUGEPAGES),
		ROW_THP("ShmemPmdMapped:", NR_SHMEM_PMDMAPPED),
		ROW_THP("FileHugePages:", NR_FILE_HUGEPAGES),
		ROW_THP("FilePmdMapped:", NR_FILE_PMDMAPPED),
	};
	int64_t managed = 0, cma = 0, hugetlb = stats_get(m, VM_NR_HUGETLB);

	for (uint32_t i = 0; i < m->nr_zones; i++) {
		managed += (int64_t)m->zone[i].managed;
		cma += (int64_t)m->zone[i].cma_pages;
	}
	print_kb(out, "MemTotal:", managed);
	print_kb(out, "MemFree:", stats_get(m, VM_NR_FREE_PAGES));
	print_kb(out, "MemAvailable:", available_pages(m));
	print_kb(out, "Buffers:", 0);
	print_kb(out, "Cached:", stats_get(m, VM_NR_FILE_PAGES));
	print_rows_kb(m, lists, NR_ROWS(lists), out);
	print_kb(out, "SwapTotal:", (int64_t)m->swap_pages);
	print_kb(out, "SwapFree:", (int64_t)(m->swap_pages - m->swap_used));
	print_rows_kb(m, uses, NR_ROWS(uses), out);
	if (model_has_cma(m)) {
		print_kb(out, "CmaTotal:", cma);
		print_kb(out, "CmaFree:", stats_get(m, VM_NR_FREE_CMA));
	}
	/* Nobody maps the pages of a pool here. */
	fprintf(out, "HugePages_Total:   %5lld\nHugePages_Free:    %5lld\n",
		(long long)hugetlb / PAGEBLOCK_PAGES, (long long)hugetlb / PAGEBLOCK_PAGES);
	fputs("HugePages_Rsvd:        0\nHugePages_Surp:        0\n", out);
	print_kb(out, "Hugepagesize:", PAGEBLOCK_PAGES);
	print_kb(out, "Hugetlb:", hugetlb);
}

/* ---- /proc/kpageflags --------------------------------------------------------------------- */

#define KPF(bit)          (1ull << (bit))
#define KPF_REFERENCED    KPF(2)
#define KPF_UPTODATE      KPF(3)
#define KPF_DIRTY         KPF(4)
#define KPF_LRU           KPF(5)
#define KPF_ACTIVE        KPF(6)
#define KPF_SLAB          KPF(7)
#define KPF_WRITEBACK     KPF(8)
#define KPF_BUDDY         KPF(10)
#define KPF_MMAP          KPF(11)
#define KPF_ANON          KPF(12)
#define KPF_SWAPBACKED    KPF(14)
#define KPF_COMPOUND_HEAD KPF(15)
#define KPF_COMPOUND_TAIL KPF(16)
#define KPF_HUGE          KPF(17)
#define KPF_UNEVICTABLE   KPF(18)
#define KPF_NOPAGE        KPF(20)
#define KPF_THP           KPF(22)
#define KPF_OFFLINE       KPF(23)
#define KPF_PGTABLE       KPF(26)
#define KPF_RESERVED      KPF(32)
#define KPF_MLOCKED       KPF(33)

/* Head of the chunk or compound that a page is in. A body page's head is the nearest one that
 * reaches it. */
static pfn_t chunk_head(const struct model *m, pfn_t pfn)
{
	if (PG_KIND(memmap_state(m, pfn)) != PG_BODY)
		return memmap_head(m, pfn);
	for (unsigned order = 1; order <= MAX_PAGE_ORDER; order++) {
		pfn_t head = pfn & ~((1u << order) - 1);
		uint8_t s = memmap_state(m, head);

		if (PG_KIND(s) != PG_BODY && PG_ORDER(s) >= order)
			return head;
	}
	return pfn;
}

static bool is_mapped(const struct model *m, pfn_t head)
{
	return m->own.region[owner_region_of_slot(m, owner_slot(m, head)).v].mapped;
}

static uint64_t folio_flags(const struct model *m, pfn_t head, enum page_kind kind)
{
	static const struct {
		uint8_t pgf;
		uint64_t kpf;
	} bits[] = {
		{PGF_LRU, KPF_LRU},
		{PGF_ACTIVE, KPF_ACTIVE},
		{PGF_UNEVICTABLE, KPF_UNEVICTABLE | KPF_MLOCKED},
		{PGF_DIRTY, KPF_DIRTY},
		{PGF_WRITEBACK, KPF_WRITEBACK},
		{PGF_REFERENCED, KPF_REFERENCED},
	};
	uint64_t flags = KPF_UPTODATE;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		flags |= m->map.flag[head] & bits[i].pgf ? bits[i].kpf : 0;
	if (kind == PG_ANON)
		flags |= KPF_ANON;
	if (kind != PG_FILE)
		flags |= KPF_SWAPBACKED;
	if (is_mapped(m, head))
		flags |= KPF_MMAP;
	return flags;
}

uint64_t stats_kpageflags(const struct model *m, pfn_t pfn)
{
	uint64_t flags = 0;
	unsigned order;
	uint8_t state;
	pfn_t head;

	if (pfn >= m->map.end_pfn || m->map.zone_of_block[block_of(pfn).v] == ZONE_NONE.v)
		return KPF_NOPAGE;
	head = chunk_head(m, pfn);
	state = memmap_state(m, head);
	order = PG_ORDER(state);
	switch (PG_KIND(state)) {
	case PG_FREE:
		return KPF_BUDDY;
	case PG_HOLE:
		return KPF_NOPAGE;
	case PG_RESERVED:
		return KPF_RESERVED;
	case PG_ANON:
	case PG_FILE:
	case PG_SHMEM:
		flags = folio_flags(m, head, PG_KIND(state)) | (order ? KPF_THP : 0);
		break;
	case PG_SLAB:
		flags = KPF_SLAB;
		break;
	case PG_PGTABLE:
		flags = KPF_PGTABLE;
		break;
	case PG_HUGETLB:
		flags = KPF_HUGE;
		break;
	case PG_MOVABLE_OPS:
		flags = KPF_OFFLINE;
		break;
	default:
		break;
	}
	if (order && KINDS_OWNED >> PG_KIND(state) & 1)
		flags |= pfn == head ? KPF_COMPOUND_HEAD : KPF_COMPOUND_TAIL;
	return flags;
}
