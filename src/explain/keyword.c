/* SPDX-License-Identifier: MIT */
#include "explain/keyword.h"
#include "procfs/klog.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	unsigned set;
} words[] = {
	{"Mem-Info", KEYWORD_LOG},
	{"Mem-info", KEYWORD_LOG},
	{"lowmem_reserve", KEYWORD_LOG},
	{" free:", KEYWORD_LOG},
	{"*4kB", KEYWORD_LOG},
	{"_4kB", KEYWORD_LOG},
	{"*8kB", KEYWORD_LOG},
	{"*16kB", KEYWORD_LOG},
	{"*64kB", KEYWORD_LOG},
	{"Node ", KEYWORD_NODE},
	{"node0", KEYWORD_NODE},
	{"nr_", KEYWORD_VMSTAT},
	{"numa_", KEYWORD_VMSTAT},
	{"compact_", KEYWORD_VMSTAT},
	{"pgscan_", KEYWORD_VMSTAT},
	{"pgsteal_", KEYWORD_VMSTAT},
	{"pgalloc", KEYWORD_VMSTAT},
	{"pgfree", KEYWORD_VMSTAT},
	{"pgmigrate_", KEYWORD_VMSTAT},
	{"thp_", KEYWORD_VMSTAT},
	{"allocstall", KEYWORD_VMSTAT},
	{"htlb_", KEYWORD_VMSTAT},
	{"MemTotal:", KEYWORD_MEMINFO},
	{"MemFree:", KEYWORD_MEMINFO},
	{"MemAvailable:", KEYWORD_MEMINFO},
	{"Slab:", KEYWORD_MEMINFO},
	{"SReclaimable:", KEYWORD_MEMINFO},
	{"SUnreclaim:", KEYWORD_MEMINFO},
	{"HugePages_", KEYWORD_MEMINFO | KEYWORD_POOL},
	{"AnonHugePages:", KEYWORD_MEMINFO},
	{"CmaFree:", KEYWORD_MEMINFO},
	{"CmaTotal:", KEYWORD_MEMINFO},
	{"Linux version ", KEYWORD_SETTING},
	{"vm.", KEYWORD_SETTING},
	{"some avg10=", KEYWORD_SETTING},
	{"/sys/vm/", KEYWORD_SETTING},
	{"transparent_hugepage", KEYWORD_SETTING},
	{"madvise", KEYWORD_SETTING},
	{"%", KEYWORD_PERCENT},
	{"mm_compaction_", KEYWORD_TRACE},
	{"mm_page_alloc:", KEYWORD_TRACE},
	{" order=", KEYWORD_TRACE},
	{"+0x", KEYWORD_STACK},
	{" us ", KEYWORD_GRAPH},
	{"pgscand/s", KEYWORD_SAR},
	{"kcompactd", KEYWORD_DAEMON},
	{"khugepaged", KEYWORD_DAEMON},
	{"kswapd", KEYWORD_DAEMON},
	{"slabinfo - version", KEYWORD_SLAB},
	{"OBJ/SLAB", KEYWORD_SLAB},
	{"hugepages", KEYWORD_POOL},
	{"huge pages", KEYWORD_POOL},
	{"Page block order", KEYWORD_TYPES},
	{"Pages per block", KEYWORD_TYPES},
	{"Number of blocks type", KEYWORD_TYPES},
	{"Free pages count per", KEYWORD_TYPES},
	{"compact_zone", KEYWORD_FUNCTION},
	{"skb_page_frag", KEYWORD_FUNCTION},
	{"page_cache_ra_order", KEYWORD_FUNCTION},
	{"filemap_get_folio", KEYWORD_FUNCTION},
	{"filemap_alloc_folio", KEYWORD_FUNCTION},
	{"iomap_get_folio", KEYWORD_FUNCTION},
	{"abd_alloc", KEYWORD_FUNCTION},
	{"alloc_skb_with_frags", KEYWORD_FUNCTION},
	{"proactive_compact_node", KEYWORD_FUNCTION},
	{"collapse_huge_page", KEYWORD_FUNCTION},
	{"spin_lock", KEYWORD_FUNCTION},
	{"shrink_node", KEYWORD_FUNCTION},
	{"alloc_anon_folio", KEYWORD_FUNCTION},
	{"try_to_compact_pages", KEYWORD_FUNCTION},
	{"isolate_migratepages", KEYWORD_FUNCTION},
	{"isolate_freepages", KEYWORD_FUNCTION},
	{"compaction_alloc", KEYWORD_FUNCTION},
	{"do_huge_pmd_", KEYWORD_FUNCTION},
	{"clear_huge_page", KEYWORD_FUNCTION},
	{"folio_zero_user", KEYWORD_FUNCTION},
	{"direct_compact", KEYWORD_FUNCTION},
	{"try_to_free_pages", KEYWORD_FUNCTION},
};
#define WORDS   (sizeof(words) / sizeof(words[0]))
#define STATES  1400
#define CLASSES 96 /* different characters in all words, and one for all others */
#define NOWHERE UINT16_MAX

struct keywords {
	uint8_t class[256];
	unsigned classes;
	uint16_t next[STATES][CLASSES];
	uint16_t fail[STATES];
	unsigned set[STATES];
	unsigned states;
};

/* Counts what the word needs; false when the tables are too small for it. */
static bool measure(struct keywords *k, const char *word, size_t *letters)
{
	for (; *word; word++) {
		uint8_t *class = &k->class[(unsigned char)*word];

		++*letters;
		if (!*class && k->classes == CLASSES)
			return false;
		if (!*class)
			*class = (uint8_t)k->classes++;
	}
	return *letters < STATES;
}

static void add_word(struct keywords *k, const char *word, unsigned set)
{
	unsigned s = 0;

	for (; *word; word++) {
		uint16_t *to = &k->next[s][k->class[(unsigned char)*word]];

		if (*to == NOWHERE)
			*to = (uint16_t)k->states++;
		s = *to;
	}
	k->set[s] |= set;
}

/* Aho and Corasick: where to go on when a word breaks off, breadth first. */
static void link_states(struct keywords *k)
{
	uint16_t queue[STATES];
	unsigned head = 0, tail = 0;

	for (unsigned c = 0; c < k->classes; c++) {
		uint16_t *to = &k->next[0][c];

		if (*to == NOWHERE)
			*to = 0;
		else
			queue[tail++] = *to;
	}
	while (head < tail) {
		uint16_t s = queue[head++];

		k->set[s] |= k->set[k->fail[s]];
		for (unsigned c = 0; c < k->classes; c++) {
			uint16_t *to = &k->next[s][c];

			if (*to == NOWHERE) {
				*to = k->next[k->fail[s]][c];
			} else {
				k->fail[*to] = k->next[k->fail[s]][c];
				queue[tail++] = *to;
			}
		}
	}
}

struct keywords *keywords_new(void)
{
	struct keywords *k = calloc(1, sizeof(*k));
	size_t letters = 1;
	bool fits = k != NULL;

	if (k)
		k->classes = 1; /* 0 is of all characters that no word has */
	for (size_t i = 0; i < WORDS && fits; i++)
		fits = measure(k, words[i].word, &letters);
	for (size_t i = 0; klog_begin_words[i] && fits; i++)
		fits = measure(k, klog_begin_words[i], &letters);
	if (!fits) {
		free(k);
		return NULL;
	}
	memset(k->next, 0xff, sizeof(k->next));
	k->states = 1;
	for (size_t i = 0; i < WORDS; i++)
		add_word(k, words[i].word, words[i].set);
	for (size_t i = 0; klog_begin_words[i]; i++)
		add_word(k, klog_begin_words[i], KEYWORD_LOG | KEYWORD_BEGIN);
	link_states(k);
	return k;
}

void keywords_free(struct keywords *k)
{
	free(k);
}

unsigned keywords_in(const struct keywords *k, const char *text, size_t length)
{
	unsigned s = 0, set = 0;

	for (size_t i = 0; i < length; i++) {
		s = k->next[s][k->class[(unsigned char)text[i]]];
		set |= k->set[s];
	}
	return set;
}
