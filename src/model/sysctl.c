/* SPDX-License-Identifier: MIT */
/*
 * sysctl.c - settings by name, with the kernel's parsing; see sysctl.h.
 */
#include "model/sysctl.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/kcompactd.h"
#include "model/policy.h"
#include "model/thp.h"
#include "model/watermark.h"

#define THP_PREFIX "transparent_hugepage/"
#define LRU_GEN    "lru_gen.enabled" /* 0, as there is no other LRU here */

void sysctl_defaults(struct sysctls *s, struct thp_settings *t)
{
	*s = (struct sysctls){
		.watermark_scale_factor = 10,
		.watermark_boost_factor = 15000,
		.lowmem_reserve_ratio = {256, 256, 32, 0},
		.compaction_proactiveness = 20,
		.extfrag_threshold = 500,
		.compact_unevictable_allowed = true,
		.swappiness = 60,
		.dirty_ratio = 20,
		.dirty_background_ratio = 10,
		.vfs_cache_pressure = 100,
	};
	*t = (struct thp_settings){
		.enabled = THP_ENABLED_MADVISE,
		.defrag = THP_DEFRAG_MADVISE,
		.size = {[PMD_ORDER] = THP_SIZE_INHERIT},
		.use_zero_page = true,
		.khugepaged_defrag = true,
		.pages_to_scan = 4096,
		.scan_sleep_ms = 10000,
		.alloc_sleep_ms = 60000,
		.max_ptes_none = 511,
		.max_ptes_swap = 64,
		.max_ptes_shared = 256,
	};
}

/* ---- numbers ------------------------------------------------------------------------------ */

enum after { AFTER_NOTHING, AFTER_MARKS, AFTER_PROACTIVENESS, AFTER_KHUGEPAGED };
enum width { WIDTH_BOOL, WIDTH_32, WIDTH_64 };

/* A setting that is one number. `offset` is into struct model. */
struct number {
	const char *name;
	size_t offset;
	enum width width;
	uint64_t min, max;
	enum after after;
};

#define VM(field)  offsetof(struct model, sysctl.field)
#define THP(field) offsetof(struct model, thp.field)

static const struct number numbers[] = {
	{"vm.min_free_kbytes", VM(min_free_kbytes), WIDTH_64, 0, UINT32_MAX, AFTER_MARKS},
	{"vm.watermark_scale_factor", VM(watermark_scale_factor), WIDTH_32, 1, 3000, AFTER_MARKS},
	{"vm.watermark_boost_factor", VM(watermark_boost_factor), WIDTH_32, 0, INT32_MAX,
	 AFTER_NOTHING},
	{"vm.percpu_pagelist_high_fraction", VM(percpu_pagelist_high_fraction), WIDTH_32, 0,
	 INT32_MAX, AFTER_MARKS},
	{"vm.zone_reclaim_mode", VM(zone_reclaim_mode), WIDTH_32, 0, 7, AFTER_NOTHING},
	{"vm.compaction_proactiveness", VM(compaction_proactiveness), WIDTH_32, 0, 100,
	 AFTER_PROACTIVENESS},
	{"vm.extfrag_threshold", VM(extfrag_threshold), WIDTH_32, 0, 1000, AFTER_NOTHING},
	{"vm.compact_unevictable_allowed", VM(compact_unevictable_allowed), WIDTH_BOOL, 0, 1,
	 AFTER_NOTHING},
	{"vm.defrag_mode", VM(defrag_mode), WIDTH_BOOL, 0, 1, AFTER_NOTHING},
	{"vm.swappiness", VM(swappiness), WIDTH_32, 0, 200, AFTER_NOTHING},
	{"vm.dirty_ratio", VM(dirty_ratio), WIDTH_32, 0, 100, AFTER_NOTHING},
	{"vm.dirty_background_ratio", VM(dirty_background_ratio), WIDTH_32, 0, 100, AFTER_NOTHING},
	{"vm.vfs_cache_pressure", VM(vfs_cache_pressure), WIDTH_32, 0, INT32_MAX, AFTER_NOTHING},
	{THP_PREFIX "use_zero_page", THP(use_zero_page), WIDTH_BOOL, 0, 1, AFTER_NOTHING},
	{THP_PREFIX "khugepaged/defrag", THP(khugepaged_defrag), WIDTH_BOOL, 0, 1, AFTER_NOTHING},
	{THP_PREFIX "khugepaged/pages_to_scan", THP(pages_to_scan), WIDTH_32, 1, UINT32_MAX,
	 AFTER_NOTHING},
	{THP_PREFIX "khugepaged/scan_sleep_millisecs", THP(scan_sleep_ms), WIDTH_32, 0, UINT32_MAX,
	 AFTER_KHUGEPAGED},
	{THP_PREFIX "khugepaged/alloc_sleep_millisecs", THP(alloc_sleep_ms), WIDTH_32, 0,
	 UINT32_MAX, AFTER_KHUGEPAGED},
	{THP_PREFIX "khugepaged/max_ptes_none", THP(max_ptes_none), WIDTH_32, 0, 511,
	 AFTER_NOTHING},
	{THP_PREFIX "khugepaged/max_ptes_swap", THP(max_ptes_swap), WIDTH_32, 0, 511,
	 AFTER_NOTHING},
	{THP_PREFIX "khugepaged/max_ptes_shared", THP(max_ptes_shared), WIDTH_32, 0, 511,
	 AFTER_NOTHING},
};

static const struct number *number_find(const char *name)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(numbers[i].name, name) == 0)
			return &numbers[i];
	}
	return NULL;
}

/* A decimal number, white space around it allowed; *end behind it. */
static int number_parse(const char *text, const char **end, uint64_t *value)
{
	char *stop;

	while (isspace((unsigned char)*text))
		text++;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &stop, 10);
	if (errno || (*stop && !isspace((unsigned char)*stop)))
		return -EINVAL;
	while (isspace((unsigned char)*stop))
		stop++;
	*end = stop;
	return 0;
}

static void number_store(struct model *m, const struct number *n, uint64_t value)
{
	char *at = (char *)m + n->offset;

	switch (n->width) {
	case WIDTH_BOOL:
		*(bool *)at = value != 0;
		break;
	case WIDTH_32:
		*(uint32_t *)at = (uint32_t)value;
		break;
	case WIDTH_64:
		*(uint64_t *)at = value;
		break;
	}
}

static uint64_t number_load(const struct model *m, const struct number *n)
{
	const char *at = (const char *)m + n->offset;

	switch (n->width) {
	case WIDTH_BOOL:
		return *(const bool *)at;
	case WIDTH_32:
		return *(const uint32_t *)at;
	case WIDTH_64:
		break;
	}
	return *(const uint64_t *)at;
}

static int number_write(struct model *m, const struct number *n, const char *text)
{
	const char *end;
	uint64_t value;

	if (number_parse(text, &end, &value) || *end || value < n->min || value > n->max)
		return -EINVAL;
	if (n->offset == VM(defrag_mode) && !m->profile->has_defrag_mode)
		return -EACCES;
	/* Either off or at least an eighth: fewer pages on the lists than that is asked for by 0.
	 */
	if (n->offset == VM(percpu_pagelist_high_fraction) && value != 0 && value < 8)
		return -EINVAL;
	number_store(m, n, value);
	if (n->offset == VM(min_free_kbytes))
		m->sysctl.user_min_free_kbytes = value;
	switch (n->after) {
	case AFTER_MARKS:
		watermark_setup(m);
		break;
	case AFTER_PROACTIVENESS:
		kcompactd_proactiveness_changed(m);
		break;
	case AFTER_KHUGEPAGED:
		khugepaged_settings_changed(m);
		break;
	case AFTER_NOTHING:
		break;
	}
	return 0;
}

static int ratios_write(struct model *m, const char *text)
{
	uint64_t value[4];
	const char *end = text;

	for (int i = 0; i < 4; i++) {
		if (number_parse(end, &end, &value[i]) || value[i] > INT32_MAX)
			return -EINVAL;
	}
	for (int i = 0; i < 4; i++)
		m->sysctl.lowmem_reserve_ratio[i] = (uint32_t)value[i];
	watermark_setup(m);
	return 0;
}

/* ---- words -------------------------------------------------------------------------------- */

static const char *const enabled_words[] = {"always", "madvise", "never", NULL};
static const char *const defrag_words[] = {"always",  "defer", "defer+madvise",
					   "madvise", "never", NULL};
/* In the kernel's order of display; enum thp_size_enabled in size_values. */
static const char *const size_words[] = {"always", "inherit", "madvise", "never", NULL};
static const enum thp_size_enabled size_values[] = {
	THP_SIZE_ALWAYS,
	THP_SIZE_INHERIT,
	THP_SIZE_MADVISE,
	THP_SIZE_NEVER,
};
static const char *const shmem_words[] = {"always", "within_size", "advise", "never",
					  "deny",   "force",       NULL};
static const enum shmem_enabled shmem_values[] = {
	SHMEM_HUGE_ALWAYS, SHMEM_HUGE_WITHIN_SIZE, SHMEM_HUGE_ADVISE,
	SHMEM_HUGE_NEVER,  SHMEM_HUGE_DENY,        SHMEM_HUGE_FORCE,
};

/* Whole-word match; a trailing newline is ignored, as sysfs_streq() does. */
static int word_find(const char *const *words, const char *text)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '\n')
		len--;
	for (int i = 0; words[i]; i++) {
		if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
			return i;
	}
	return -EINVAL;
}

static void thp_changed(struct model *m)
{
	khugepaged_settings_changed(m);
	/* Mirrors start_stop_khugepaged(): the recommended minimum comes and goes with it. */
	watermark_recalculate_min_free(m);
	watermark_setup(m);
}

/* Order of "hugepages-64kB/enabled"; negative: no such file. */
static int size_order(const char *file)
{
	unsigned kb, order;
	int used = 0;

	if (sscanf(file, "hugepages-%ukB/enabled%n", &kb, &used) != 1 || used == 0 || file[used])
		return -ENOENT;
	for (order = 2; order <= PMD_ORDER; order++) {
		if (kb == 4u << order)
			return (int)order;
	}
	return -ENOENT;
}

static int defrag_write(struct model *m, const char *value)
{
	int word;

	if (m->policy->parse_defrag)
		return m->policy->parse_defrag(value, strlen(value), &m->thp.defrag);
	word = word_find(defrag_words, value);
	if (word < 0)
		return word;
	m->thp.defrag = (enum thp_defrag)word;
	return 0;
}

static int enabled_write(struct model *m, const char *value)
{
	int word = word_find(enabled_words, value);

	if (word < 0)
		return m->policy->parse_enabled
			       ? m->policy->parse_enabled(value, strlen(value), &m->thp.enabled)
			       : word;
	m->thp.enabled = (enum thp_enabled)word;
	return 0;
}

static int thp_write(struct model *m, const char *file, const char *value)
{
	int order, word;

	if (strcmp(file, "defrag") == 0)
		return defrag_write(m, value);
	if (strcmp(file, "enabled") == 0) {
		word = enabled_write(m, value);
		if (word < 0)
			return word;
	} else if (strcmp(file, "shmem_enabled") == 0) {
		word = word_find(shmem_words, value);
		if (word < 0)
			return word;
		m->thp.shmem_enabled = shmem_values[word];
	} else {
		order = size_order(file);
		if (order < 0)
			return order;
		word = word_find(size_words, value);
		if (word < 0)
			return word;
		m->thp.size[order] = size_values[word];
	}
	thp_changed(m);
	return 0;
}

/* ---- by name ------------------------------------------------------------------------------ */

int sysctl_write(struct model *m, const char *name, const char *value)
{
	const struct number *n = number_find(name);

	if (n)
		return number_write(m, n, value);
	if (strcmp(name, "vm.lowmem_reserve_ratio") == 0)
		return ratios_write(m, value);
	if (strcmp(name, LRU_GEN) == 0)
		return strtoul(value, NULL, 0) == 0 ? 0 : -EOPNOTSUPP;
	if (strcmp(name, "vm.compact_memory") == 0 || strcmp(name, "vm.drop_caches") == 0)
		return -EOPNOTSUPP;
	if (strncmp(name, THP_PREFIX, strlen(THP_PREFIX)) == 0)
		return thp_write(m, name + strlen(THP_PREFIX), value);
	return -ENOENT;
}

/* "always [madvise] never" */
static int words_show(const char *const *words, int active, char *buf, size_t size)
{
	size_t used = 0;

	for (int i = 0; words[i]; i++) {
		int n = snprintf(buf + used, size - used, i == active ? "%s[%s]" : "%s%s",
				 i ? " " : "", words[i]);

		if (n < 0 || (size_t)n >= size - used)
			return -ENOSPC;
		used += (size_t)n;
	}
	return (int)used;
}

static int thp_read(const struct model *m, const char *file, char *buf, size_t size)
{
	int order, active = 0;

	if (strcmp(file, "enabled") == 0)
		return words_show(enabled_words, (int)m->thp.enabled, buf, size);
	if (strcmp(file, "defrag") == 0)
		return words_show(defrag_words, (int)m->thp.defrag, buf, size);
	if (strcmp(file, "shmem_enabled") == 0) {
		while (shmem_values[active] != m->thp.shmem_enabled)
			active++;
		return words_show(shmem_words, active, buf, size);
	}
	order = size_order(file);
	if (order < 0)
		return order;
	while (size_values[active] != m->thp.size[order])
		active++;
	return words_show(size_words, active, buf, size);
}

int sysctl_read(const struct model *m, const char *name, char *buf, size_t size)
{
	const struct number *n = number_find(name);
	int used;

	if (n) {
		if (n->offset == VM(defrag_mode) && !m->profile->has_defrag_mode)
			return -ENOENT;
		used = snprintf(buf, size, "%llu", (unsigned long long)number_load(m, n));
	} else if (strcmp(name, "vm.lowmem_reserve_ratio") == 0) {
		const uint32_t *r = m->sysctl.lowmem_reserve_ratio;

		used = snprintf(buf, size, "%u\t%u\t%u\t%u\t0", r[0], r[1], r[2], r[3]);
	} else if (strcmp(name, LRU_GEN) == 0) {
		used = snprintf(buf, size, "0x0000");
	} else if (strncmp(name, THP_PREFIX, strlen(THP_PREFIX)) == 0) {
		return thp_read(m, name + strlen(THP_PREFIX), buf, size);
	} else {
		return -ENOENT;
	}
	return used < 0 || (size_t)used >= size ? -ENOSPC : used;
}
