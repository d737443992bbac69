/* SPDX-License-Identifier: MIT */
/*
 * filemap.c - page cache: folio orders, writes, reads, dirty accounting, flusher; see filemap.h.
 */
#include "model/filemap.h"

#include "model/alloc.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/mempolicy.h"
#include "model/owner.h"
#include "model/watermark.h"

#define READAHEAD_MAX     32u  /* 128 KiB, the kernel's default window */
#define FLUSH_PAGES       256u /* written by one step of the flusher */
#define FLUSH_LOOK        8192u
#define FLUSH_INTERVAL_NS 5000000000ull
#define THROTTLE_NS       200000000ull /* longest pause of balance_dirty_pages() */

/* ---- allocation --------------------------------------------------------------------------- */

static gfp_t filemap_gfp(const struct region *r)
{
	return r->mapping_nofs ? GFP_HIGHUSER_MOVABLE & ~__GFP_FS : GFP_HIGHUSER_MOVABLE;
}

static unsigned ilog2_u64(uint64_t x)
{
	return 63 - (unsigned)__builtin_clzll(x);
}

pfn_t filemap_alloc(struct model *m, const struct region *r, uint64_t index, uint64_t bytes,
		    gfp_t gfp, unsigned *order)
{
	unsigned k = bytes > PAGE_SIZE_BYTES ? ilog2_u64(bytes) - PAGE_SHIFT : 0;

	if (k > r->max_order)
		k = r->max_order;
	if (k < r->min_order)
		k = r->min_order;
	if (index & ((1ull << k) - 1))
		k = (unsigned)__builtin_ctzll(index);
	for (;; k--) {
		gfp_t this = gfp | (k > r->min_order ? __GFP_NORETRY | __GFP_NOWARN : 0);
		pfn_t head = mempolicy_alloc(m, this | (k ? __GFP_COMP : 0), k, NULL, ILX_NONE);

		if (head != PFN_NONE) {
			*order = k;
			return head;
		}
		if (k <= r->min_order)
			return PFN_NONE;
	}
}

static void filemap_add(struct model *m, struct region *r, uint64_t index, pfn_t head,
			unsigned order)
{
	owner_attach(m, head, order, PG_FILE, (slot_t){r->first_slot + (uint32_t)index}, false);
	lru_add(m, head);
}

/* Pages from index on that are not cached, at most `most`, as bytes: a folio must not overlap
 * another. */
static uint64_t filemap_hole_bytes(const struct model *m, const struct region *r, uint64_t index,
				   uint64_t most)
{
	uint64_t n = 1;

	while (n < most && m->own.pfn[r->first_slot + index + n] == 0)
		n++;
	return n * PAGE_SIZE_BYTES;
}

/* ---- dirty accounting --------------------------------------------------------------------- */

static uint64_t filemap_dirty_pages(const struct node *n)
{
	return (uint64_t)(n->stat[VM_NR_DIRTY - VM_NODE_FIRST] +
			  n->stat[VM_NR_WRITEBACK - VM_NODE_FIRST]);
}

/* Mirrors domain_dirty_limits(); *dirty: pages dirty or under writeback. */
static void filemap_limits(struct model *m, uint64_t *dirty, uint64_t *background, uint64_t *limit)
{
	uint64_t memory = watermark_dirtyable(m, m->node, m->nr_nodes);

	*dirty = 0;
	for (unsigned i = 0; i < m->nr_nodes; i++)
		*dirty += filemap_dirty_pages(&m->node[i]);
	*limit = memory * m->sysctl.dirty_ratio / 100;
	*background = memory * m->sysctl.dirty_background_ratio / 100;
	if (*background >= *limit)
		*background = *limit / 2;
	m->stat[VM_NR_DIRTY_THRESHOLD - VM_GLOBAL_FIRST] = (int64_t)*limit;
	m->stat[VM_NR_DIRTY_BACKGROUND_THRESHOLD - VM_GLOBAL_FIRST] = (int64_t)*background;
}

static void filemap_count(struct model *m, pfn_t head, enum vmstat_item item, int sign)
{
	struct zone *z = zone_of(m, head);
	int64_t pages = sign * (1 << PG_ORDER(m->map.state[head]));

	stat_node(&m->node[z->node.v], item, pages);
	stat_zone(z, VM_NR_ZONE_WRITE_PENDING, pages);
}

void filemap_set_dirty(struct model *m, pfn_t head)
{
	if (m->map.flag[head] & PGF_DIRTY)
		return;
	memmap_flag_set(m, head, PGF_DIRTY);
	filemap_count(m, head, VM_NR_DIRTY, 1);
	stat_node(&m->node[zone_of(m, head)->node.v], VM_NR_DIRTIED,
		  1 << PG_ORDER(m->map.state[head]));
}

void filemap_clean(struct model *m, pfn_t head)
{
	int64_t pages = 1 << PG_ORDER(m->map.state[head]);

	if (m->map.flag[head] & PGF_DIRTY) {
		memmap_flag_clear(m, head, PGF_DIRTY);
		filemap_count(m, head, VM_NR_DIRTY, -1);
		stat_node(&m->node[zone_of(m, head)->node.v], VM_NR_WRITTEN, pages);
		stat_event(m, VM_PGPGOUT, pages * 4);
	}
}

void filemap_remove(struct model *m, pfn_t head)
{
	unsigned order = PG_ORDER(m->map.state[head]);

	if (m->map.flag[head] & PGF_DIRTY)
		filemap_count(m, head, VM_NR_DIRTY, -1);
	if (m->map.flag[head] & PGF_WRITEBACK)
		filemap_count(m, head, VM_NR_WRITEBACK, -1);
	lru_forget(m, head);
	owner_detach(m, head);
	clock_charge(m, COST_UNMAP_PAGE, 1);
	free_pages(m, head, order);
}

/* ---- the flusher -------------------------------------------------------------------------- */

int flusher_init(struct model *m)
{
	if (!m->config.daemons)
		return 0;
	m->flusher = clock_actor_new(m, ACTOR_FLUSHER, 0);
	return 0;
}

static void flusher_finish(struct model *m)
{
	const struct region *r;

	if (m->flush_region.v == 0)
		return;
	r = &m->own.region[m->flush_region.v];
	for (uint32_t i = m->flush_from;
	     r->kind == REGION_FILE && i < m->flush_to && i < r->nr_slots; i++) {
		pfn_t head = owner_page(m, r, i);

		if (head == PFN_NONE || memmap_head(m, head) != head ||
		    !(m->map.flag[head] & PGF_WRITEBACK))
			continue;
		filemap_count(m, head, VM_NR_WRITEBACK, -1);
		memmap_flag_clear(m, head, PGF_WRITEBACK);
		stat_node(&m->node[zone_of(m, head)->node.v], VM_NR_WRITTEN,
			  1 << PG_ORDER(m->map.state[head]));
		stat_event(m, VM_PGPGOUT, 4ll << PG_ORDER(m->map.state[head]));
	}
	m->flush_region = (region_id){0};
}

/*
 * Puts dirty folios of one file under writeback, from where the last step stopped. Pages started;
 * *dirty: a dirty folio was met, if only one that is still being written.
 */
static uint32_t flusher_start(struct model *m, uint32_t region, bool *dirty)
{
	struct region *r = &m->own.region[region];
	uint32_t pages = 0, looked = 0;
	uint32_t i = r->scan_group < r->nr_slots ? r->scan_group : 0;

	m->flush_from = i;
	while (looked < FLUSH_LOOK && pages < FLUSH_PAGES && i < r->nr_slots) {
		pfn_t head = m->own.pfn[r->first_slot + i] & SLOT_PFN_MASK;
		uint32_t step = 1;

		if (head != PFN_NONE && !(m->own.pfn[r->first_slot + i] & SLOT_SWAP)) {
			head = memmap_head(m, head);
			step = 1u << PG_ORDER(m->map.state[head]);
			*dirty |= m->map.flag[head] & PGF_DIRTY;
			if ((m->map.flag[head] & (PGF_DIRTY | PGF_WRITEBACK)) == PGF_DIRTY) {
				filemap_count(m, head, VM_NR_DIRTY, -1);
				memmap_flag_clear(m, head, PGF_DIRTY);
				memmap_flag_set(m, head, PGF_WRITEBACK);
				filemap_count(m, head, VM_NR_WRITEBACK, 1);
				pages += step;
			}
		}
		i += step;
		looked++;
	}
	r->scan_group = i < r->nr_slots ? i : 0;
	m->flush_to = i;
	if (pages)
		m->flush_region = (region_id){region};
	return pages;
}

void flusher_step(struct model *m)
{
	uint64_t dirty, background, limit;
	uint32_t pages = 0;

	flusher_finish(m);
	filemap_limits(m, &dirty, &background, &limit);
	for (uint32_t i = 1; dirty && pages == 0 && i < m->own.nr_regions; i++) {
		struct region *r = &m->own.region[i];
		uint32_t rounds = r->nr_slots / FLUSH_LOOK + 2;
		bool met = false;

		if (r->kind != REGION_FILE || !r->nr_pages || r->flusher_clean)
			continue;
		while (pages == 0 && rounds--)
			pages = flusher_start(m, i, &met);
		r->flusher_clean = !met;
	}
	clock_charge(m, COST_DISK_WRITE_PAGE, pages);
	m->flush_until = m->clock.now;
	if (pages)
		clock_wake_at(m, m->flusher, m->clock.now);
	else if (dirty)
		clock_wake_at(m, m->flusher, m->clock.now + FLUSH_INTERVAL_NS);
}

static bool filemap_below_limit(struct model *m, void *arg)
{
	uint64_t dirty, background, limit;

	(void)arg;
	filemap_limits(m, &dirty, &background, &limit);
	return dirty <= (background + limit) / 2;
}

/* Mirrors balance_dirty_pages(): above the background limit the flusher works, midway to the limit
 * writers wait for it. */
static void filemap_balance(struct model *m)
{
	uint64_t dirty, background, limit;
	ns_t wake = m->clock.now;

	if (!m->config.daemons)
		return;
	filemap_limits(m, &dirty, &background, &limit);
	if (dirty <= background)
		wake += FLUSH_INTERVAL_NS;
	/* The disk is no faster for being asked again. */
	clock_wake_at(m, m->flusher, wake > m->flush_until ? wake : m->flush_until);
	if (dirty > (background + limit) / 2)
		clock_wait(m, m->clock.now + THROTTLE_NS, filemap_below_limit, NULL);
}

/* ---- writing ------------------------------------------------------------------------------ */

uint64_t filemap_write(struct model *m, region_id file, uint64_t index, uint64_t pages)
{
	struct region *r = owner_region(m, file);
	pfn_t pfn = owner_page(m, r, index), head;
	uint64_t room, done;
	unsigned order;
	gfp_t gfp;

	if (index + pages > r->nr_slots)
		pages = r->nr_slots - index;
	if (pages == 0)
		return 0;
	if (pfn == PFN_NONE) {
		gfp = filemap_gfp(r) | __GFP_WRITE;
		if (m->profile->iomap_write_nofs)
			gfp &= ~__GFP_FS;
		room = (1ull << r->max_order) - (index & ((1ull << r->max_order) - 1));
		head = filemap_alloc(m, r, index,
				     filemap_hole_bytes(m, r, index, pages < room ? pages : room),
				     gfp, &order);
		if (head == PFN_NONE)
			return 0;
		filemap_add(m, r, index, head, order);
		pfn = head;
	}
	head = memmap_head(m, pfn);
	order = PG_ORDER(m->map.state[head]);
	done = (1u << order) - (pfn - head);
	if (done > pages)
		done = pages;
	clock_charge(m, COST_FILE_WRITE_PAGE, done);
	r->flusher_clean = false;
	filemap_set_dirty(m, head);
	filemap_balance(m);
	return done;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Mirrors get_init_ra_size() and get_next_ra_size(). */
static uint32_t readahead_first(uint64_t wanted)
{
	uint32_t size = 1;

	while (size < wanted && size < READAHEAD_MAX)
		size *= 2;
	if (size <= READAHEAD_MAX / 32)
		return size * 4;
	return size <= READAHEAD_MAX / 4 ? size * 2 : READAHEAD_MAX;
}

static uint32_t readahead_next(uint32_t size)
{
	if (size < READAHEAD_MAX / 16)
		return size * 4;
	return size <= READAHEAD_MAX / 2 ? size * 2 : READAHEAD_MAX;
}

/* Mirrors page_cache_ra_order(): one failed large folio ends large folios for this window. */
static uint64_t readahead_window(struct model *m, struct region *r, uint64_t index, uint32_t size,
				 unsigned order)
{
	gfp_t gfp = (filemap_gfp(r) | __GFP_NORETRY | __GFP_NOWARN) & ~__GFP_FS;
	uint64_t end = index + size, at = index;
	bool large = true;

	if (end > r->nr_slots)
		end = r->nr_slots;
	while (at < end) {
		unsigned k = large ? order : r->min_order;
		uint32_t slot = r->first_slot + (uint32_t)at;
		pfn_t head;

		if (m->own.pfn[slot]) {
			at++;
			continue;
		}
		if (at & ((1ull << k) - 1))
			k = (unsigned)__builtin_ctzll(at);
		while (k > r->min_order &&
		       (at + (1ull << k) > end || !owner_range_is_empty(m, slot, k)))
			k--;
		head = mempolicy_alloc(m, gfp | (k ? __GFP_COMP : 0), k, NULL, ILX_NONE);
		if (head == PFN_NONE) {
			if (k == r->min_order)
				break;
			large = false;
			continue;
		}
		filemap_add(m, r, at, head, k);
		at += 1ull << k;
	}
	clock_charge(m, COST_DISK_READ_PAGE, at - index);
	stat_event(m, VM_PGPGIN, (int64_t)(at - index) * 4);
	return at - index;
}

static void filemap_readahead(struct model *m, struct region *r, uint64_t index, uint64_t pages)
{
	unsigned order;

	if (r->ra_size && index == (uint64_t)r->ra_index + r->ra_size) {
		/* Sequential: the kernel asked for this window when the marker of the last was
		 * read. */
		r->ra_size = readahead_next(r->ra_size);
		r->ra_order = (uint8_t)(r->ra_order + 2);
	} else {
		r->ra_size = readahead_first(pages < READAHEAD_MAX ? pages : READAHEAD_MAX);
		r->ra_order = m->profile->readahead_order_from_marker ? 2 : 0;
	}
	r->ra_index = (uint32_t)index;
	order = r->ra_order;
	if (order > r->max_order)
		order = r->max_order;
	if (order > ilog2_u64(r->ra_size))
		order = ilog2_u64(r->ra_size);
	if (m->profile->readahead_order_from_marker)
		r->ra_order = (uint8_t)order;
	(void)readahead_window(m, r, index, r->ra_size, order);
}

uint64_t filemap_read(struct model *m, region_id file, uint64_t index, uint64_t pages)
{
	struct region *r = owner_region(m, file);
	pfn_t pfn, head;
	uint64_t done;

	if (index + pages > r->nr_slots)
		pages = r->nr_slots - index;
	if (pages == 0)
		return 0;
	if (owner_page(m, r, index) == PFN_NONE)
		filemap_readahead(m, r, index, pages);
	pfn = owner_page(m, r, index);
	if (pfn == PFN_NONE) {
		/* No memory for readahead; the page itself is asked for with the mapping's own
		 * mask. */
		pfn = mempolicy_alloc(m, filemap_gfp(r), r->min_order, NULL, ILX_NONE);
		if (pfn == PFN_NONE)
			return 0;
		filemap_add(m, r, index & ~((1ull << r->min_order) - 1), pfn, r->min_order);
		clock_charge(m, COST_DISK_READ_PAGE, 1);
		pfn = owner_page(m, r, index);
	}
	head = memmap_head(m, pfn);
	done = (1u << PG_ORDER(m->map.state[head])) - (pfn - head);
	if (done > pages)
		done = pages;
	clock_charge(m, COST_FILE_READ_PAGE, done);
	lru_mark_accessed(m, head);
	return done;
}
