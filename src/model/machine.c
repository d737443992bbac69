/* SPDX-License-Identifier: MIT */
/*
 * machine.c - making, booting and ending a machine; the calls of model.h; see model.h.
 */
#include "model/model.h"

#include <errno.h>
#include <string.h>

#include "model/alloc.h"
#include "model/arena.h"
#include "model/buddy.h"
#include "model/clock.h"
#include "model/cma.h"
#include "model/filemap.h"
#include "model/kcompactd.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pcp.h"
#include "model/pin.h"
#include "model/reclaim.h"
#include "model/slab.h"
#include "model/stats.h"
#include "model/sysctl.h"
#include "model/thp.h"
#include "model/watermark.h"
#include "model/zonelist.h"

#define MIB_PAGES    256u
#define SYNC_LOOK_NS 10000000ull
#define FIRST_MIB    256u
/* At the end of a node of a 7.3 guest, see plan_node_end(). */
#define NODE_PAGES     63u
#define LOADER_PAGES   47u
#define FIRMWARE_PAGES 32u
#define FIRMWARE_BELOW 397u
#define DMA_END        4096u    /* 16 MiB; the kernel image begins here */
#define DMA32_END      1048576u /* 4 GiB */

/* ---- configuration ------------------------------------------------------------------------ */

void model_config_defaults(struct model_config *config)
{
	*config = (struct model_config){
		.profile = PROFILE_C,
		.policy = "mainline",
		.seed = 1,
		.nr_nodes = 1,
		.node = {{.mib = 4096, .cpus = 2}},
		.pci_hole_mib = 1024,
		.lru_batches = true,
		.pcp = true,
		.daemons = true,
		.page_tables = true,
		.max_tasks = 256,
		.max_regions = 4096,
		.max_pin_sets = 1024,
		.max_multi_pins = 65536,
	};
	sysctl_defaults(&config->sysctl, &config->thp);
	cost_defaults(&config->cost);
}

/* Pages that boot does not hand over, and when it does at last. */
enum plan_freed { FREED_NEVER, FREED_FIRST, FREED_LAST };

struct plan_range {
	pfn_t start, end;
	enum plan_freed freed;
};

/* One zone to be: collected first, because the arrays are sized by the highest pfn. */
struct plan {
	uint32_t nr;
	struct zone_config zone[MAX_ZONES];
	pfn_t hole_start, hole_end;
	uint32_t nr_reserved;
	/* Ascending, each within a zone, besides the zones' ends. */
	struct plan_range reserved[10 + 4 * MAX_NODES];
	pfn_t end_pfn;
};

static const char *plan_add(struct plan *p, unsigned node, enum zone_class class, uint64_t start,
			    uint64_t end, uint64_t managed)
{
	if (start >= end)
		return NULL;
	if (p->nr == MAX_ZONES)
		return "too many zones";
	if (end >= MAX_PFN)
		return "memory beyond 4 TiB";
	p->zone[p->nr++] = (struct zone_config){
		.node = (uint8_t)node,
		.class = class,
		.start_pfn = start,
		.spanned = end - start,
		.managed = managed,
	};
	if (p->end_pfn < pb_end((pfn_t)end - 1))
		p->end_pfn = pb_end((pfn_t)end - 1);
	return NULL;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Nodes lie one behind the other in physical address, around the hole below 4 GiB. */
static const char *plan_nodes(const struct model_config *c, struct plan *p)
{
	uint64_t at = c->flat ? PAGEBLOCK_PAGES : 0;
	uint64_t hole = c->flat ? 0 : (uint64_t)c->pci_hole_mib * MIB_PAGES;
	const char *why = NULL;

	for (unsigned n = 0; n < c->nr_nodes && !why; n++) {
		uint64_t pages = c->node[n].mib * MIB_PAGES;
		uint64_t movable = c->node[n].movable_mib * MIB_PAGES;
		uint64_t reserved = c->node[n].reserved_mib * MIB_PAGES;
		uint64_t start = at, end, movable_start;

		if (pages % PAGEBLOCK_PAGES || movable % PAGEBLOCK_PAGES)
			return "node sizes must be multiples of 2 MiB";
		if (movable + reserved > pages)
			return "movable and reserved parts exceed the node";
		if (pages == 0)
			continue;
		if (hole && at < DMA32_END && at + pages > DMA32_END - hole) {
			if (at >= DMA32_END - hole) {
				at = start = DMA32_END;
			} else {
				p->hole_start = DMA32_END - (pfn_t)hole;
				p->hole_end = DMA32_END;
				at += hole;
			}
		}
		end = at + pages;
		/* The movable part is the node's top; if it reached the hole, it would contain it.
		 */
		movable_start = end - movable;
		if (c->flat) {
			why = plan_add(p, n, ZONE_NORMAL, start, movable_start, 0);
		} else {
			why = plan_add(p, n, ZONE_DMA, max_u64(start, 1),
				       min_u64(movable_start, DMA_END), 0);
			if (!why)
				why = plan_add(p, n, ZONE_DMA32, max_u64(start, DMA_END),
					       min_u64(movable_start, DMA32_END), 0);
			if (!why)
				why = plan_add(p, n, ZONE_NORMAL, max_u64(start, DMA32_END),
					       movable_start, 0);
		}
		if (!why)
			why = plan_add(p, n, ZONE_MOVABLE, movable_start, end, 0);
		if (!why && reserved) {
			struct zone_config *top = &p->zone[p->nr - 1];

			if (reserved >= top->spanned)
				return "reserved part exceeds the node's highest zone";
			top->managed = top->spanned - reserved;
		}
		at = end;
	}
	return why;
}

static void plan_reserve(struct plan *p, uint64_t start, uint64_t end)
{
	p->reserved[p->nr_reserved++] = (struct plan_range){(pfn_t)start, (pfn_t)end, FREED_NEVER};
}

/*
 * The kernel's image of a 7.3 guest from 16 MiB on, in pages. What serves boot alone is freed at
 * its end: initial code and data, then what fills sections up to whole blocks.
 */
static const struct {
	uint16_t pages;
	enum plan_freed freed;
} image_parts[] = {
	{4464, FREED_NEVER}, {144, FREED_LAST},   {3432, FREED_NEVER},
	{152, FREED_LAST},   {2220, FREED_NEVER}, {1103, FREED_FIRST},
	{778, FREED_NEVER},  {507, FREED_FIRST},  {17, FREED_NEVER},
};
#define IMAGE_PARTS (sizeof(image_parts) / sizeof(image_parts[0]))

/* In one piece where the configuration has less room. */
static uint64_t plan_image_parts(struct plan *p, uint64_t room)
{
	uint64_t pages = 0, at = DMA_END;

	for (unsigned i = 0; i < IMAGE_PARTS; i++)
		pages += image_parts[i].pages;
	if (room < pages) {
		plan_reserve(p, at, at + room);
		return at + room;
	}
	for (unsigned i = 0; i < IMAGE_PARTS; i++) {
		plan_reserve(p, at, at + image_parts[i].pages);
		p->reserved[p->nr_reserved - 1].freed = image_parts[i].freed;
		at += image_parts[i].pages;
	}
	return at;
}

/*
 * What is reserved of a node lies below its last block. That block and the one below all are used
 * in part, by tables of the boot loader and of boot; the last pages below 4 GiB are the firmware's.
 */
static void plan_node_end(struct plan *p, struct zone_config *z, bool firmware, uint64_t image_end)
{
	uint64_t end = z->start_pfn + z->spanned, tables;
	uint64_t reserved = z->managed ? z->spanned - z->managed : 0;

	if (p->hole_start > z->start_pfn && p->hole_start < end)
		end = p->hole_start;
	if (end < max_u64(image_end, z->start_pfn) + reserved + 4 * PAGEBLOCK_PAGES)
		return;
	if (reserved) {
		uint64_t at = end - PAGEBLOCK_PAGES - reserved;

		plan_reserve(p, at - PAGEBLOCK_PAGES, at - PAGEBLOCK_PAGES + NODE_PAGES);
		plan_reserve(p, at, at + reserved);
		tables = firmware ? end - FIRMWARE_BELOW : end;
		plan_reserve(p, tables - LOADER_PAGES, tables);
		z->managed = 0;
	}
	if (firmware)
		plan_reserve(p, end - FIRMWARE_PAGES, end);
}

/* What a PC's firmware and kernel keep. */
static const char *plan_image(const struct model_config *c, struct plan *p)
{
	uint64_t pages = (uint64_t)c->image_mib * MIB_PAGES;
	uint64_t end = DMA_END + pages + 3 * PAGEBLOCK_PAGES;

	if (!c->image_mib)
		return NULL;
	if (c->flat || p->nr < 2 || p->zone[1].class != ZONE_DMA32 ||
	    DMA_END + (p->zone[1].managed ? p->zone[1].managed : p->zone[1].spanned) <= end)
		return "no room for a kernel image";
	plan_reserve(p, 1, FIRST_MIB);
	end = plan_image_parts(p, pages);
	for (uint32_t i = 1; i < p->nr; i++)
		plan_node_end(p, &p->zone[i],
			      p->zone[i].class <= ZONE_DMA32 &&
				      (i + 1 == p->nr || p->zone[i + 1].class > ZONE_DMA32),
			      end);
	return NULL;
}

static const char *plan_make(const struct model_config *c, struct plan *p)
{
	const char *why = NULL;

	if (c->nr_nodes == 0 || c->nr_nodes > MAX_NODES)
		return "1 to 16 nodes";
	if (c->nr_zones == 0) {
		why = plan_nodes(c, p);
		return why ? why : plan_image(c, p);
	}
	for (uint32_t i = 0; i < c->nr_zones && !why; i++) {
		const struct zone_config *z = &c->zone[i];

		if (z->node >= c->nr_nodes || z->class >= ZONE_DEVICE || z->managed > z->spanned ||
		    z->start_pfn == 0 || z->spanned == 0)
			return "a zone is not well formed";
		if (z->start_pfn % PAGEBLOCK_PAGES && z->start_pfn != 1)
			return "zones must begin at pageblocks (or at pfn 1)";
		if (i && z->start_pfn < c->zone[i - 1].start_pfn + c->zone[i - 1].spanned)
			return "zones must ascend and not overlap";
		why = plan_add(p, z->node, z->class, z->start_pfn, z->start_pfn + z->spanned,
			       z->managed);
	}
	return why;
}

/* ---- set-up ------------------------------------------------------------------------------- */

static const char *const zone_names[] = {"DMA", "DMA32", "Normal", "Movable", "Device"};

static bool machine_reserve_tables(struct model *m, const struct plan *p)
{
	const struct model_config *c = &m->config;
	uint32_t cpus = 0;

	for (unsigned n = 0; n < c->nr_nodes; n++)
		cpus += c->node[n].cpus;
	m->nr_zones = p->nr;
	m->nr_nodes = c->nr_nodes;
	m->nr_cpus = cpus;
	m->zone = arena_reserve(m->arena, p->nr * sizeof(*m->zone));
	m->node = arena_reserve(m->arena, MAX_NODES * sizeof(*m->node));
	m->cpu = arena_reserve(m->arena, cpus * sizeof(*m->cpu));
	return m->zone && m->node && m->cpu;
}

static void machine_make_nodes(struct model *m)
{
	const struct model_config *c = &m->config;
	uint16_t cpu = 0;

	for (unsigned i = 0; i < MAX_NODES; i++) {
		struct node *n = &m->node[i];

		n->id = (node_id){(uint8_t)i};
		for (unsigned k = 0; k < NR_ZONE_CLASSES; k++)
			n->zone[k] = ZONE_NONE;
		if (i >= c->nr_nodes)
			continue;
		n->online = true;
		m->online_nodes |= 1u << i;
		n->first_cpu = cpu;
		n->nr_cpus = c->node[i].cpus;
		if (n->nr_cpus)
			m->cpu_nodes |= 1u << i;
		for (unsigned k = 0; k < n->nr_cpus; k++)
			m->cpu[cpu++].node = n->id;
		for (unsigned k = 0; k < MAX_NODES; k++) {
			uint8_t d = c->node[i].distance[k];

			n->distance[k] = d ? d : k == i ? 10 : 20;
		}
	}
}

/* The last of it lies at the zone's end. */
static void machine_reserve_of_zone(struct zone *z, const struct plan *p)
{
	for (uint32_t k = 0; k < p->nr_reserved; k++) {
		const struct plan_range *r = &p->reserved[k];

		if (r->start < z->start_pfn || r->end > z->end_pfn)
			continue;
		z->managed -= r->end - r->start;
		if (r->start > (z->start_pfn + z->end_pfn) / 2 && r->start < z->boot_end)
			z->boot_end = r->start;
	}
}

static void machine_make_zones(struct model *m, const struct plan *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct zone_config *zc = &p->zone[i];
		struct zone *z = &m->zone[i];
		struct node *n = &m->node[zc->node];

		z->id = (zone_id){(uint8_t)i};
		z->node = n->id;
		z->class = zc->class;
		z->name = zone_names[zc->class];
		z->start_pfn = (pfn_t)zc->start_pfn;
		z->end_pfn = (pfn_t)(zc->start_pfn + zc->spanned);
		z->present = zc->spanned;
		if (p->hole_start >= z->start_pfn && p->hole_end <= z->end_pfn)
			z->present -= p->hole_end - p->hole_start;
		z->managed = z->present;
		if (zc->managed)
			z->managed -= zc->spanned - zc->managed;
		z->boot_end = (pfn_t)(z->start_pfn + z->managed);
		machine_reserve_of_zone(z, p);
		n->zone[z->class] = z->id;
		if (n->present == 0)
			n->start_pfn = z->start_pfn;
		n->end_pfn = z->end_pfn;
		n->present += z->present;
		memmap_add_zone(m, z);
	}
	if (p->hole_end)
		memmap_hole_blocks(m, p->hole_start, p->hole_end);
}

/* What memblock hands over, in ascending order, without what is reserved and the hole. */
static void machine_free_memory(struct model *m, const struct plan *p)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		const struct zone_config *zc = &p->zone[i];
		struct zone *z = &m->zone[i];
		pfn_t at = z->start_pfn, end = z->end_pfn;

		if (zc->managed) {
			end = z->start_pfn + (pfn_t)zc->managed;
			memmap_reserve(m, end, z->end_pfn, PG_RESERVED);
		}
		for (uint32_t k = 0; k < p->nr_reserved; k++) {
			const struct plan_range *r = &p->reserved[k];

			if (r->start < z->start_pfn || r->end > z->end_pfn)
				continue;
			buddy_boot_range(m, z, at, r->start);
			memmap_reserve(m, r->start, r->end, PG_RESERVED);
			at = r->end;
		}
		if (p->hole_end && p->hole_start >= at && p->hole_end <= end) {
			buddy_boot_range(m, z, at, p->hole_start);
			at = p->hole_end;
		}
		buddy_boot_range(m, z, at, end);
	}
}

static void machine_keep_init(struct model *m, const struct plan *p, enum plan_freed when)
{
	for (uint32_t k = 0; k < p->nr_reserved; k++) {
		if (p->reserved[k].freed != when)
			continue;
		m->init_memory[m->nr_init_memory].start = p->reserved[k].start;
		m->init_memory[m->nr_init_memory++].end = p->reserved[k].end;
	}
}

/* The order matters where a comment says so. */
static int machine_boot(struct model *m, const struct plan *p)
{
	static int (*const inits[])(struct model * m) = {
		clock_init, /* first: others make their actors */
		owner_init, pin_init, pcp_init, lru_init, task_init,
	};
	static int (*const late[])(struct model * m) = {
		kswapd_init, kcompactd_init, khugepaged_init, flusher_init, slab_init,
	};
	int err;

	for (size_t i = 0; i < sizeof(inits) / sizeof(inits[0]); i++) {
		err = inits[i](m);
		if (err)
			return err;
	}
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		err = buddy_init_zone(m, &m->zone[i]);
		if (err)
			return err;
	}
	zonelist_build(m);
	err = cma_init(m); /* block types must stand before the memory is freed into lists */
	if (err)
		return err;
	machine_free_memory(m, p);
	machine_keep_init(m, p, FREED_FIRST);
	machine_keep_init(m, p, FREED_LAST);
	watermark_recalculate_min_free(m);
	watermark_setup(m); /* also sizes the pcp sets */
	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
		err = late[i](m);
		if (err)
			return err;
	}
	m->clock.now = 0; /* boot took no simulated time */
	m->booted = true;
	return 0;
}

int model_create(const struct model_config *config, struct model **out, const char **why)
{
	struct plan plan = {0};
	struct model *m;
	struct arena *arena;
	int err = -ENOMEM;

	*out = NULL;
	*why = plan_make(config, &plan);
	if (*why)
		return -EINVAL;
	*why = "no address space for the machine";
	arena = arena_new();
	m = arena ? arena_reserve(arena, sizeof(*m)) : NULL;
	if (!m)
		goto fail;
	m->arena = arena;
	m->config = *config;
	m->profile = profile_get(config->profile);
	if (!machine_reserve_tables(m, &plan))
		goto fail;
	if (m->nr_cpus == 0) {
		*why = "a machine needs a CPU";
		err = -EINVAL;
		goto fail;
	}
	for (int i = 0; i < NR_RNG_STREAMS; i++)
		rng_seed(&m->rng[i], config->seed, (enum rng_stream)i);
	err = policy_compose(m, m->config.policy);
	if (err) {
		*why = "unknown policy, or two policies change the same hook";
		goto fail;
	}
	m->sysctl = m->config.sysctl;
	m->thp = m->config.thp;
	m->cost = m->config.cost;
	err = memmap_init(m, plan.end_pfn);
	if (err)
		goto fail;
	machine_make_nodes(m);
	machine_make_zones(m, &plan);
	err = machine_boot(m, &plan);
	if (err) {
		*why = "a part of the machine could not be set up";
		goto fail;
	}
	*why = NULL;
	*out = m;
	return 0;
fail:
	arena_free(arena);
	return err;
}

/* Mirrors free_reserved_page() of each page; no simulated time. */
void model_free_init(struct model *m, unsigned cpu)
{
	struct context ctx = m->ctx;
	ns_t now = m->clock.now;

	m->ctx.cpu = (cpu_id){(uint16_t)cpu};
	m->ctx.node = m->cpu[cpu].node;
	for (uint32_t i = 0; i < m->nr_init_memory; i++)
		for (pfn_t p = m->init_memory[i].start; p < m->init_memory[i].end; p++) {
			zone_of(m, p)->managed++;
			memmap_unreserve(m, p);
			free_pages(m, p, 0);
		}
	m->nr_init_memory = 0;
	m->clock.now = now;
	m->ctx = ctx;
}

void model_destroy(struct model *m)
{
	if (m)
		arena_free(m->arena); /* the machine itself lives in it */
}

/* ---- reading ------------------------------------------------------------------------------ */

void model_text(struct model *m, enum model_text what, FILE *out)
{
	static void (*const writers[])(const struct model *m, FILE *out) = {
		[TEXT_VMSTAT] = stats_vmstat,
		[TEXT_BUDDYINFO] = stats_buddyinfo,
		[TEXT_PAGETYPEINFO] = stats_pagetypeinfo,
		[TEXT_ZONEINFO] = stats_zoneinfo,
		[TEXT_PRESSURE_MEMORY] = stats_pressure_memory,
		[TEXT_MEMINFO] = stats_meminfo,
		[TEXT_EXTFRAG_INDEX] = stats_extfrag_index,
	};

	writers[what](m, out);
}

void model_stat_refresh(struct model *m)
{
	pcp_tick(m);
}

void model_counters(const struct model *m, int64_t *values)
{
	stats_snapshot(m, values);
}

const char *model_counter_name(enum vmstat_item item)
{
	return vmstat_rows[item].name;
}

void model_trace(struct model *m, void (*fn)(void *ctx, const struct trace_event *ev), void *ctx)
{
	m->trace.fn = fn;
	m->trace.ctx = ctx;
	m->trace.mask = fn ? UINT32_MAX : 0;
}

void model_trace_only(struct model *m, uint32_t mask)
{
	m->trace.mask = m->trace.fn ? mask : 0;
}

void model_on_cut_short(struct model *m, void (*fn)(void *ctx), void *ctx)
{
	m->cut_short.fn = fn;
	m->cut_short.ctx = ctx;
}

bool model_was_cut_short(const struct model *m)
{
	return m->clock.cut_short;
}

ns_t model_now(const struct model *m)
{
	return m->clock.now;
}

uint64_t model_bytes_resident(const struct model *m)
{
	return arena_resident(m->arena);
}

/* ---- tasks, regions, running -------------------------------------------------------------- */

int model_task(struct model *m, unsigned cpu, task_id *out)
{
	return task_new(m, (cpu_id){(uint16_t)cpu}, out);
}

void model_task_policy(struct model *m, task_id task, const struct mempolicy *policy)
{
	must(task.v && task.v < m->nr_tasks);
	m->task[task.v].policy = *policy;
}

void model_task_cpu(struct model *m, task_id task, unsigned cpu)
{
	must(task.v && task.v < m->nr_tasks && cpu < m->nr_cpus && m->task[task.v].op == NULL);
	m->task[task.v].cpu = (cpu_id){(uint16_t)cpu};
}

void model_task_exit(struct model *m, task_id task)
{
	task_exit(m, task);
}

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + PAGE_SIZE_BYTES - 1) / PAGE_SIZE_BYTES;
}

/* A mapping's pages may need tables, which are chunks of a region of their own: one a 2 MiB range,
 * and the levels above. */
static int machine_make_tables(struct model *m, region_id id)
{
	struct region *r = owner_region(m, id);
	region_id tables;
	int err;

	if (!m->config.page_tables)
		return 0;
	err = owner_region_new(m, REGION_PGTABLE, thp_tables_wanted(r), 0, &tables);
	if (err)
		return err;
	owner_region(m, tables)->task = r->task;
	r->pgtable = tables.v;
	return 0;
}

int model_mmap(struct model *m, task_id task, uint64_t bytes, enum advice advice, region_id *out)
{
	struct region *r;
	int err;

	must(task.v && task.v < m->nr_tasks);
	err = owner_region_new(m, REGION_ANON, pages_of(bytes), 0, out);
	if (err)
		return err;
	r = owner_region(m, *out);
	r->task = task;
	r->advice = advice;
	/* Where the kernel would put it: ascending, huge page aligned, far from everything else. */
	r->addr = 0x7f0000000000ull + (uint64_t)r->first_slot * PAGE_SIZE_BYTES;
	r->pgoff = r->addr >> PAGE_SHIFT;
	err = machine_make_tables(m, *out);
	if (err)
		owner_region_free(m, *out);
	return err;
}

int model_file(struct model *m, uint64_t bytes, unsigned max_order, region_id *out)
{
	int err = owner_region_new(m, REGION_FILE, pages_of(bytes), 0, out);

	if (!err)
		owner_region(m, *out)->max_order = (uint8_t)max_order;
	return err;
}

int model_shmem(struct model *m, task_id task, uint64_t bytes, bool huge, region_id *out)
{
	int err = owner_region_new(m, REGION_SHMEM, pages_of(bytes), 0, out);
	struct region *r;

	if (err)
		return err;
	r = owner_region(m, *out);
	r->task = task;
	r->mapped = task.v != 0;
	r->huge_allowed = huge;
	r->inode = out->v;
	if (r->mapped) {
		err = machine_make_tables(m, *out);
		if (err)
			owner_region_free(m, *out);
	}
	return err;
}

int model_shmem_set(struct model *m, uint64_t files, uint64_t bytes_each, region_id *out)
{
	/* Empty files are inodes and directory entries alone, but no region is empty. */
	uint64_t pages = max_u64(files * pages_of(bytes_each), 1);
	int err = owner_region_new(m, REGION_SHMEM_SET, pages, 0, out);

	if (!err)
		owner_region(m, *out)->file_pages = (uint32_t)pages_of(bytes_each);
	return err;
}

int model_pool(struct model *m, enum region_kind kind, uint64_t chunks, region_id *out)
{
	return owner_region_new(m, kind, chunks, 0, out);
}

void model_advise(struct model *m, region_id region, enum advice advice)
{
	owner_region(m, region)->advice = advice;
}

void model_region_policy(struct model *m, region_id region, const struct mempolicy *policy)
{
	struct region *r = owner_region(m, region);

	r->has_policy = policy != NULL;
	if (policy)
		r->policy = *policy;
}

void model_munmap(struct model *m, region_id region)
{
	task_unmap(m, region);
}

int model_start(struct model *m, task_id task, const struct op *op)
{
	return task_start(m, task, op);
}

void model_run(struct model *m)
{
	clock_run(m, NS_NEVER);
}

int model_do(struct model *m, task_id task, struct op *op)
{
	int err = task_start(m, task, op);

	if (err)
		return err;
	model_run(m);
	*op = m->op[task.v];
	return 0;
}

const struct op *model_result(const struct model *m, task_id task)
{
	must(task.v && task.v < m->nr_tasks);
	return &m->op[task.v];
}

void model_sleep(struct model *m, ns_t ns)
{
	clock_run(m, m->clock.now + ns);
}

void model_sync(struct model *m)
{
	if (!m->config.daemons)
		return;
	while (stats_get(m, VM_NR_DIRTY) + stats_get(m, VM_NR_WRITEBACK) > 0) {
		clock_wake_at(m, m->flusher, m->clock.now);
		clock_run(m, m->clock.now + SYNC_LOOK_NS);
	}
}

int model_set(struct model *m, const char *name, const char *value)
{
	return sysctl_write(m, name, value);
}

bool model_counter_printed(const struct model *m, enum vmstat_item item)
{
	return stats_is_printed(m, item);
}

ns_t model_kswapd_ns(const struct model *m)
{
	ns_t sum = 0;

	for (uint32_t i = 0; i < m->clock.nr_daemons; i++)
		if (m->clock.actor[i].kind == ACTOR_KSWAPD)
			sum += m->clock.actor[i].busy_ns;
	return sum;
}
