/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_ZONE_VIEW_H
#define EXPLAIN_ZONE_VIEW_H
/*
 * The free blocks of each zone as one request sees them.
 *
 * A block counts as usable when the request may use its zone, the zone's watermark lets
 * it (lowmem_reserve of the request's class, the share of the reserve an atomic request
 * may take, before 4.4 the test for each order), and the block is on a list it may be
 * taken from: HighAtomic blocks serve high-order atomic requests only, CMA blocks movable
 * ones, Isolate blocks nobody.
 */
#include "explain/evidence.h"

#define ZONE_VIEWS_MOST 256

struct request {
	int order; /* -1: not known */
	uint32_t gfp;
	bool has_gfp;
	uint32_t version; /* 0: not known */
	bool old;         /* before 4.4, by version or by the form of the mask */
};

enum zone_why {
	ZONE_OPEN,
	ZONE_OUT_OF_REACH,    /* the flags exclude it */
	ZONE_RESERVE,         /* lowmem_reserve holds it back */
	ZONE_WATERMARK,       /* free is not above the watermark */
	ZONE_ORDER_WATERMARK, /* before 4.4: not enough above the order */
	ZONE_ASSUMED_RESERVE, /* DMA, reserve not printed: held back on every known machine */
	ZONE_WHYS
};

struct zone_view {
	int node;
	char name[PROCFS_NAME];
	int file, state_line, list_line;
	bool has_marks, has_blocks, has_types;
	unsigned page_kb, orders;
	uint64_t free_kb, min_kb, low_kb, high_kb, size_kb, free_cma_kb, highatomic_kb,
		highatomic_free_kb;
	unsigned reserves;
	uint64_t reserve_pages[PROCFS_MAX_ZONES];
	uint64_t blocks[PROCFS_MAX_ORDERS];
	uint8_t types[PROCFS_MAX_ORDERS];
	bool has_total;
	uint64_t total_kb, sum_kb;
	/* as the request sees it */
	bool eligible;
	enum zone_why why;      /* why it cannot serve the order */
	uint64_t reserve_kb;    /* lowmem_reserve of the request's class */
	int present_order;      /* biggest block, -1: none */
	int usable_order;       /* biggest one the request can have */
	uint64_t held_blocks;   /* of the order or more, held back by reserve or watermark */
	uint64_t parked_blocks; /* only HighAtomic or Isolate */
	uint64_t cma_blocks;    /* only CMA */
	int index;              /* fragmentation index in thousandths, -1000: a block is there */
	bool has_index;
};

struct zone_views {
	unsigned count;
	struct zone_view *zone;
	bool borrowed;
};

int zone_views_of_event(struct zone_views *v, const struct klog_event *e, int file);
/* From tables: buddyinfo, with the marks of zoneinfo where both are there. */
int zone_views_of_tables(struct zone_views *v, const struct buddyinfo *b, int buddy_file,
			 int buddy_line, const struct zoneinfo *z, int zones_file, int zones_line,
			 unsigned page_kb);
void zone_views_free(struct zone_views *v);
/* Fill in what depends on the request. */
void zone_views_judge(struct zone_views *v, const struct request *r);
struct request request_of_event(const struct klog_event *e);
const char *zone_why_text(enum zone_why why);

/* A zone of which only the free list is known says nothing of its reserve. */
static inline bool zone_reserve_known(const struct zone_view *z)
{
	return z->has_marks || z->reserves;
}
#endif
