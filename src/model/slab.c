/* SPDX-License-Identifier: MIT */
/*
 * slab.c - object caches as users of pages; see slab.h.
 */
#include "model/slab.h"

#include <errno.h>

#include "model/alloc.h"
#include "model/clock.h"
#include "model/mempolicy.h"
#include "model/owner.h"
#include "model/policy.h"

#define SLUB_MAX_ORDER 3u
#define MAX_COUNT      255u /* flag[head] counts the objects of a slab */
#define SHRINK_BATCH   128u
#define SHRINK_SEEKS   2u

/* ---- sizes -------------------------------------------------------------------------------- */

static unsigned slab_get_order(uint64_t bytes)
{
	unsigned order = 0;

	while ((uint64_t)PAGE_SIZE_BYTES << order < bytes)
		order++;
	return order;
}

static unsigned slab_fls(uint32_t x)
{
	return x ? 32 - (unsigned)__builtin_clz(x) : 0;
}

/* Mirrors calculate_order(): little waste first, then whatever fits. */
static unsigned slab_order(uint32_t cpus, uint32_t size)
{
	uint32_t most = (PAGE_SIZE_BYTES << SLUB_MAX_ORDER) / size;
	uint32_t objects = 4 * (slab_fls(cpus) + 1);
	unsigned min;

	if (most == 0)
		return slab_get_order(size);
	if (objects > most)
		objects = most;
	min = slab_get_order((uint64_t)objects * size);
	for (unsigned fraction = 16; fraction > 1; fraction /= 2) {
		for (unsigned order = min; order <= SLUB_MAX_ORDER; order++) {
			uint32_t bytes = PAGE_SIZE_BYTES << order;

			if (bytes % size <= bytes / fraction)
				return order;
		}
	}
	return slab_get_order(size);
}

int slab_cache_new(struct model *m, const char *name, uint32_t object_bytes, bool reclaimable)
{
	struct slab_cache *c = &m->slab[m->nr_slab_caches];
	uint32_t per, group;

	if (m->nr_slab_caches == MAX_SLAB_CACHES)
		return -ENOSPC;
	if (object_bytes == 0 || object_bytes > PAGE_SIZE_BYTES << SLUB_MAX_ORDER)
		return -EINVAL;
	c->name = name;
	c->object_bytes = object_bytes;
	c->order = (uint8_t)slab_order(m->nr_cpus, object_bytes);
	c->min_order = (uint8_t)slab_get_order(object_bytes);
	/* Objects too small for the count are counted by the group. */
	per = (PAGE_SIZE_BYTES << c->order) / object_bytes;
	group = (per + MAX_COUNT - 1) / MAX_COUNT;
	c->object_bytes *= group;
	c->objects_per_slab = (uint16_t)((PAGE_SIZE_BYTES << c->order) / c->object_bytes);
	c->objects_per_min = (uint16_t)((PAGE_SIZE_BYTES << c->min_order) / c->object_bytes);
	c->reclaimable = reclaimable;
	return (int)m->nr_slab_caches++;
}

int slab_init(struct model *m)
{
	static const struct {
		const char *name;
		uint32_t bytes;
		bool reclaimable;
	} caches[] = {
		[SLAB_DENTRY] = {"dentry", 192, true},
		[SLAB_INODE] = {"inode_cache", 608, true},
		[SLAB_SHMEM_INODE] = {"shmem_inode_cache", 696, false},
		[SLAB_XARRAY_NODE] = {"radix_tree_node", 576, true},
		[SLAB_KMALLOC_1K] = {"kmalloc-1k", 1024, false},
		[SLAB_LSM_INODE] = {"lsm_inode_cache", 88, false},
		[SLAB_MAPLE_NODE] = {"maple_node", 256, false},
	};

	for (int i = 0; i < NR_SLAB_KNOWN; i++) {
		int id = slab_cache_new(m, caches[i].name, caches[i].bytes, caches[i].reclaimable);

		if (id != i)
			return id < 0 ? id : -EINVAL;
	}
	return 0;
}

/* ---- allocation --------------------------------------------------------------------------- */

gfp_t slab_mainline_gfp(gfp_t gfp, unsigned order, unsigned min_order)
{
	gfp_t first = (gfp | __GFP_NOWARN | __GFP_NORETRY) & ~__GFP_NOFAIL;

	if (first & __GFP_DIRECT_RECLAIM && order > min_order)
		first = (first | __GFP_NOMEMALLOC) & ~(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM);
	return first;
}

/* A cache gets its range of slots when it makes its first slab. */
static bool slab_has_region(struct model *m, struct slab_cache *c)
{
	struct region *r;

	if (c->region.v)
		return true;
	if (owner_region_new(m, REGION_SLAB, m->map.end_pfn / 2, 0, &c->region))
		return false;
	r = owner_region(m, c->region);
	r->chunk_gfp = c->reclaimable ? __GFP_RECLAIMABLE : 0;
	c->oldest_slot = r->first_slot;
	return true;
}

/* Mirrors allocate_slab(). */
static bool slab_new(struct model *m, struct slab_cache *c, gfp_t gfp)
{
	unsigned order = c->order;
	slot_t slot;
	pfn_t page;

	if (!slab_has_region(m, c))
		return false;
	if (c->reclaimable)
		gfp |= __GFP_RECLAIMABLE;
	page = mempolicy_alloc(m,
			       m->policy->slab_gfp(gfp | (order ? __GFP_COMP : 0), order,
						   c->min_order),
			       order, NULL, ILX_NONE);
	if (page == PFN_NONE) {
		order = c->min_order;
		page = mempolicy_alloc(m, gfp | (order ? __GFP_COMP : 0), order, NULL, ILX_NONE);
	}
	if (page == PFN_NONE)
		return false;
	slot = owner_next_slot(m, owner_region(m, c->region));
	if (slot.v == 0) {
		free_pages(m, page, order);
		return false;
	}
	owner_attach(m, page, order, PG_SLAB, slot, false);
	c->partial_slot = slot.v;
	return true;
}

static uint32_t slab_capacity(const struct model *m, const struct slab_cache *c, pfn_t head)
{
	return PG_ORDER(m->map.state[head]) == c->order ? c->objects_per_slab : c->objects_per_min;
}

uint64_t slab_alloc(struct model *m, int cache, gfp_t gfp, uint64_t n)
{
	struct slab_cache *c = &m->slab[cache];
	uint64_t done = 0;

	must(cache >= 0 && (uint32_t)cache < m->nr_slab_caches);
	while (done < n) {
		pfn_t head;
		uint64_t room;

		if (c->partial_slot == 0 && !slab_new(m, c, gfp))
			break;
		head = m->own.pfn[c->partial_slot];
		room = slab_capacity(m, c, head) - m->map.flag[head];
		if (room > n - done)
			room = n - done;
		else
			c->partial_slot = 0;
		m->map.flag[head] = (uint8_t)(m->map.flag[head] + room);
		done += room;
	}
	c->live += done;
	clock_charge(m, COST_SLAB_OBJECT, done);
	return done;
}

int slab_adopt(struct model *m, int cache, pfn_t head, unsigned order)
{
	struct slab_cache *c = &m->slab[cache];
	uint32_t objects;
	slot_t slot;

	must(cache >= 0 && (uint32_t)cache < m->nr_slab_caches);
	if (!slab_has_region(m, c))
		return -ENOSPC;
	slot = owner_next_slot(m, owner_region(m, c->region));
	if (slot.v == 0)
		return -ENOSPC;
	owner_attach(m, head, order, PG_SLAB, slot, false);
	objects = slab_capacity(m, c, head);
	m->map.flag[head] = (uint8_t)objects;
	c->live += objects;
	c->freeable += objects;
	return 0;
}

/* ---- freeing ------------------------------------------------------------------------------ */

/* The oldest slab that is still there; PFN_NONE if the cache is empty. */
static pfn_t slab_oldest(struct model *m, struct slab_cache *c)
{
	const struct region *r;

	if (c->live == 0)
		return PFN_NONE;
	r = owner_region(m, c->region);
	while (m->own.pfn[c->oldest_slot] == 0) {
		c->oldest_slot++;
		if (c->oldest_slot == r->first_slot + r->nr_slots)
			c->oldest_slot = r->first_slot;
	}
	return m->own.pfn[c->oldest_slot];
}

uint64_t slab_free_oldest(struct model *m, int cache, uint64_t n)
{
	struct slab_cache *c = &m->slab[cache];
	uint64_t pages = 0, done = 0;

	while (done < n) {
		pfn_t head = slab_oldest(m, c);
		uint64_t take;
		unsigned order;

		if (head == PFN_NONE)
			break;
		order = PG_ORDER(m->map.state[head]);
		take = m->map.flag[head] < n - done ? m->map.flag[head] : n - done;
		m->map.flag[head] = (uint8_t)(m->map.flag[head] - take);
		done += take;
		c->live -= take;
		if (m->map.flag[head])
			break;
		if (c->partial_slot == c->oldest_slot)
			c->partial_slot = 0;
		owner_detach(m, head);
		free_pages(m, head, order);
		pages += 1ull << order;
	}
	clock_charge(m, COST_SLAB_OBJECT, done);
	if (c->freeable > c->live)
		c->freeable = c->live;
	return pages;
}

/* Mirrors do_shrink_slab(). */
static uint64_t slab_shrink_cache(struct model *m, struct scan_control *sc, int cache)
{
	struct slab_cache *c = &m->slab[cache];
	uint64_t freeable = c->freeable * m->sysctl.vfs_cache_pressure / 100;
	uint64_t delta = 4 * (freeable >> sc->priority) / SHRINK_SEEKS;
	uint64_t total = (c->shrink_deferred >> sc->priority) + delta;
	uint64_t scanned = 0, pages = 0;

	if (total > 2 * freeable)
		total = 2 * freeable;
	while (c->freeable && (total >= SHRINK_BATCH || total >= c->freeable)) {
		uint64_t n = total < SHRINK_BATCH ? total : SHRINK_BATCH;

		if (n > c->freeable)
			n = c->freeable;
		pages += slab_free_oldest(m, cache, n);
		c->freeable -= n < c->freeable ? n : c->freeable;
		stat_event(m, VM_SLABS_SCANNED, (int64_t)n);
		scanned += n;
		total -= n;
		if (total == 0)
			break;
	}
	delta += c->shrink_deferred;
	c->shrink_deferred = delta > scanned ? delta - scanned : 0;
	if (c->shrink_deferred > 2 * freeable)
		c->shrink_deferred = 2 * freeable;
	return pages;
}

uint64_t slab_shrink(struct model *m, struct scan_control *sc, struct node *n)
{
	uint64_t pages = 0;

	for (uint32_t i = 0; i < m->nr_slab_caches; i++) {
		struct slab_cache *c = &m->slab[i];
		pfn_t oldest;

		if (!c->reclaimable || c->freeable == 0)
			continue;
		/* Objects are kept by age, not by node: they belong to the node that holds the
		 * oldest. */
		oldest = slab_oldest(m, c);
		if (oldest != PFN_NONE && zone_of(m, oldest)->node.v == n->id.v)
			pages += slab_shrink_cache(m, sc, (int)i);
	}
	return pages;
}
