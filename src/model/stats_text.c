/* SPDX-License-Identifier: MIT */
/*
 * stats_text.c - buddyinfo, pagetypeinfo, zoneinfo and the other text files; see stats.h.
 */
#include "model/stats.h"

void stats_buddyinfo(const struct model *m, FILE *out)
{
	NOT_YET(m, out);
}

void stats_pagetypeinfo(const struct model *m, FILE *out)
{
	NOT_YET(m, out);
}

void stats_zoneinfo(const struct model *m, FILE *out)
{
	NOT_YET(m, out);
}

void stats_pressure_memory(const struct model *m, FILE *out)
{
	NOT_YET(m, out);
}

void stats_meminfo(const struct model *m, FILE *out)
{
	NOT_YET(m, out);
}

void stats_extfrag_index(const struct model *m, FILE *out)
{
	NOT_YET(m, out);
}

uint64_t stats_kpageflags(const struct model *m, pfn_t pfn)
{
	NOT_YET(m, pfn);
}

uint64_t stats_kpagecount(const struct model *m, pfn_t pfn)
{
	NOT_YET(m, pfn);
}
