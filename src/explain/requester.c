/* SPDX-License-Identifier: MIT */
#include "explain/requester.h"
#include "explain/evidence.h"
#include <string.h>

/* A name, or the beginning of names when it ends in '*'. */
static bool matches(const char *function, const char *pattern)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return !strncmp(function, pattern, n - 1);
	return !strcmp(function, pattern);
}

/* Between the requester and the failure: never an answer to "who asked?". */
static const char *const machinery[] = {
	"dump_stack*",
	"show_stack*",
	"dump_backtrace*",
	"unwind_backtrace*",
	"warn_alloc*",
	"dump_header*",
	"oom_kill_process*",
	"out_of_memory*",
	"__alloc_*",
	"alloc_page*",
	"alloc_kmem_pages*",
	"alloc_frozen_*",
	"__get_free_pages*",
	"get_free_pages*",
	"get_zeroed_page*",
	"__kmalloc*",
	"kmalloc*",
	"kmem_cache_alloc*",
	"kmem_getpages*",
	"cache_alloc*",
	"cache_grow*",
	"fallback_alloc*",
	"new_slab*",
	"allocate_slab*",
	"alloc_slab_page*",
	"___slab_alloc*",
	"__slab_alloc*",
	"slab_alloc*",
	"__do_kmalloc*",
	"___kmalloc*",
	"kvmalloc*",
	"__kvmalloc*",
	"kcalloc*",
	"kzalloc*",
	"krealloc*",
	"__krealloc*",
	"kmemdup*",
	"memdup_user*",
	"dma_direct_alloc*",
	"__dma_direct_alloc*",
	"dma_alloc_*",
	"__dma_alloc*",
	"dma_generic_alloc*",
	"dmam_alloc_*",
	"x86_swiotlb_alloc*",
	"swiotlb_alloc*",
	"arch_dma_alloc*",
	"arm_dma_alloc*",
	"__swiotlb_alloc*",
	"intel_alloc_*",
	"dma_common_*",
	"pool_alloc_page*",
	"__vmalloc*",
	"vmalloc*",
	"vzalloc*",
	"__alloc_skb*",
	"__netdev_alloc_skb*",
	"__napi_alloc_skb*",
	"napi_alloc_skb*",
	"netdev_alloc_*",
	"__netdev_alloc_frag*",
	"page_frag_alloc*",
	"__page_frag_*",
	"skb_page_frag_refill*",
	"kmalloc_reserve*",
	"pskb_expand_head*",
	"skb_copy*",
	"alloc_skb_with_frags*",
	"sock_alloc_send_*",
	"sk_page_frag_refill*",
	"mempool_alloc*",
	"__page_cache_alloc*",
	"folio_alloc*",
	"__folio_alloc*",
	"vma_alloc_*",
	"alloc_buffer_head*",
	"nommu_alloc*",
	"sn_dma_alloc*",
	"ret_from_*",
	"page_alloc*",
	"pagefault_out_of_memory*",
	"mem_cgroup_out_of_memory*",
	"consistent_alloc*",
	"__alloc_from_contiguous*",
	"dma_alloc*",
	"iommu_dma_alloc*",
	"__iommu_dma_alloc*",
	"alloc_fresh_*",
	"get_page_from_freelist*",
	"__warn*",
	"nmi_*",
	"mips_dma_alloc*",
	"jazz_dma_alloc*",
	"__GI_*",
	"stack_trace*",
	"shrink_slab_node*",
	"__slab_alloc_node*",
	"__kmem_cache_alloc*",
};

static bool is_machinery(const char *function)
{
	for (size_t k = 0; k < sizeof(machinery) / sizeof(machinery[0]); k++)
		if (matches(function, machinery[k]))
			return true;
	return false;
}

/*
 * Old kernels print whatever on the stack looks like a function: what stands between the allocator
 * and its own wrapper was left there by somebody else.
 */
static bool is_leftover(const struct klog_event *e, unsigned i)
{
	return i > 0 && i + 1 < e->frames &&
	       !strncmp(e->frame[i - 1].function, "__alloc_pages", 13) &&
	       !strcmp(e->frame[i + 1].function, "__get_free_pages");
}

void requester_find(const struct klog_event *e, struct requester *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < e->frames; i++) {
		const char *f = e->frame[i].function;

		if (is_machinery(f) || is_leftover(e, i))
			continue;
		memcpy(out->function, f, sizeof(out->function));
		memcpy(out->module, e->frame[i].module, sizeof(out->module));
		/* A core function on behalf of a driver: name the driver's module too. */
		for (unsigned k = i; k < e->frames && !out->module[0] && k < i + 3; k++)
			memcpy(out->module, e->frame[k].module, sizeof(out->module));
		return;
	}
}

static const struct {
	const char *pattern;
	enum seen_part part;
} meanings[] = {
	{"compact_zone*", SEEN_COMPACTION},
	{"try_to_compact_pages", SEEN_COMPACTION},
	{"__alloc_pages_direct_compact", SEEN_COMPACTION},
	{"isolate_migratepages*", SEEN_COMPACTION},
	{"isolate_freepages*", SEEN_COMPACTION},
	{"fast_isolate_freepages", SEEN_COMPACTION},
	{"fast_find_migrateblock", SEEN_COMPACTION},
	{"compaction_alloc", SEEN_COMPACTION},
	{"compact_unlock_should_abort", SEEN_COMPACTION},
	{"compact_lock_irqsave", SEEN_COMPACTION},
	{"compact_checklock_irqsave", SEEN_COMPACTION},
	{"__reset_isolation_suitable", SEEN_COMPACTION},
	{"pageblock_pfn_to_page", SEEN_COMPACTION},
	{"__pageblock_pfn_to_page", SEEN_COMPACTION},
	{"suitable_migration_target", SEEN_COMPACTION},
	{"do_huge_pmd_*", SEEN_THP},
	{"__do_huge_pmd_*", SEEN_THP},
	{"alloc_anon_folio", SEEN_THP},
	{"vma_alloc_anon_folio_pmd", SEEN_THP},
	{"alloc_hugepage_vma", SEEN_THP},
	{"khugepaged*", SEEN_THP},
	{"collapse_huge_page", SEEN_THP},
	{"try_to_free_pages", SEEN_RECLAIM},
	{"do_try_to_free_pages", SEEN_RECLAIM},
	{"shrink_node*", SEEN_RECLAIM},
	{"shrink_zone*", SEEN_RECLAIM},
	{"shrink_lruvec", SEEN_RECLAIM},
	{"shrink_slab*", SEEN_RECLAIM},
	{"shrink_inactive_list", SEEN_RECLAIM},
	{"shrink_page_list", SEEN_RECLAIM},
	{"shrink_folio_list", SEEN_RECLAIM},
	{"__alloc_pages_direct_reclaim", SEEN_RECLAIM},
	{"_raw_spin_lock*", SEEN_LOCK},
	{"_spin_lock*", SEEN_LOCK},
	{"native_queued_spin_lock_slowpath", SEEN_LOCK},
	{"queued_spin_lock_slowpath", SEEN_LOCK},
	{"__lock_text_start", SEEN_LOCK},
	{"rwsem_spin_on_owner", SEEN_LOCK},
	{"osq_lock", SEEN_LOCK},
	{"clear_huge_page", SEEN_CLEAR},
	{"clear_page*", SEEN_CLEAR},
	{"clear_subpage", SEEN_CLEAR},
	{"folio_zero_user", SEEN_CLEAR},
	{"clear_pages*", SEEN_CLEAR},
	{"copy_user_huge_page", SEEN_COPY},
	{"copy_page*", SEEN_COPY},
	{"do_huge_pmd_wp_page*", SEEN_COPY},
	{"page_cache_ra_order", SEEN_FOLIO},
	{"__filemap_get_folio*", SEEN_FOLIO},
	{"filemap_alloc_folio*", SEEN_FOLIO},
	{"iomap_get_folio", SEEN_FOLIO},
	{"skb_page_frag_refill", SEEN_FOLIO},
	{"sk_page_frag_refill", SEEN_FOLIO},
	{"alloc_skb_with_frags", SEEN_FOLIO},
	{"abd_alloc*", SEEN_FOLIO},
	{"kcompactd*", SEEN_DAEMON},
	{"proactive_compact_node", SEEN_DAEMON},
};

unsigned function_parts(const char *function)
{
	unsigned parts = 0;

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (*function == *meanings[i].pattern && matches(function, meanings[i].pattern))
			parts |= 1u << meanings[i].part;
	return parts;
}
