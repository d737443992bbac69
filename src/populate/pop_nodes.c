/* SPDX-License-Identifier: MIT */
#include "pop_nodes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *next_line(const char *p)
{
	p = strchr(p, '\n');
	return p ? p + 1 : NULL;
}

/* "Node 0, zone   Normal": the beginning of a zone in both files. */
static bool zone_header(const char *line, int *node, char name[16], const char **rest)
{
	int end = 0;

	if (sscanf(line, "Node %d, zone %15s%n", node, name, &end) != 2 || *node < 0)
		return false;
	*rest = line + end;
	return true;
}

static struct pop_zone *zone_find(const struct pop_nodes *n, int node, const char *name)
{
	for (unsigned i = 0; i < n->zones; i++)
		if (n->zone[i].node == node && !strcmp(n->zone[i].name, name))
			return (struct pop_zone *)&n->zone[i];
	return NULL;
}

/* Last number of "(0, 2961, 15886)": the reserve against allocations from any zone. */
static uint64_t protection_last(const char *p)
{
	uint64_t last = 0;
	const char *end = strchr(p, ')');

	while (end && p < end) {
		if (*p >= '0' && *p <= '9')
			last = strtoull(p, (char **)&p, 10);
		else
			p++;
	}
	return last;
}

bool pop_nodes_zoneinfo(struct pop_nodes *n, const char *text)
{
	struct pop_zone *z = NULL;

	n->zones = 0;
	for (const char *line = text; line && *line; line = next_line(line)) {
		const char *rest;
		char name[16], word[16];
		unsigned long long value;
		int node;

		if (zone_header(line, &node, name, &rest)) {
			if (n->zones == POP_ZONES)
				return false;
			z = &n->zone[n->zones++];
			memset(z, 0, sizeof(*z));
			z->node = node;
			memcpy(z->name, name, sizeof(z->name));
			continue;
		}
		if (!z)
			continue;
		if (sscanf(line, " %15s %llu", word, &value) == 2 && !strcmp(word, "min") &&
		    !z->keep_pages)
			z->keep_pages = value;
		else if (sscanf(line, " %15s", word) == 1 && !strcmp(word, "protection:"))
			z->keep_pages += protection_last(line);
	}
	n->have_keep = n->zones > 0;
	return n->have_keep;
}

bool pop_nodes_buddyinfo(const struct pop_nodes *n, const char *text, struct pop_free *f)
{
	bool any = false;

	memset(f, 0, sizeof(*f));
	for (const char *line = text; line && *line; line = next_line(line)) {
		uint64_t pages = 0, blocks = 0, count, keep = 0;
		const struct pop_zone *z;
		const char *p;
		char name[16], *end;
		int node;

		if (!zone_header(line, &node, name, &p) || node >= POP_NODES)
			continue;
		for (unsigned order = 0; order < 32; order++, p = end) {
			while (*p == ' ')
				p++;
			if (*p < '0' || *p > '9')
				break;
			count = strtoull(p, &end, 10);
			pages += count << order;
			if (order >= n->order)
				blocks += count << (order - n->order);
		}
		any = true;
		z = zone_find(n, node, name);
		if (z)
			keep = z->keep_pages;
		pages = pages > keep ? pages - keep : 0;
		f->pages[node] += pages;
		pages >>= n->order;
		f->blocks[node] += blocks < pages ? blocks : pages;
	}
	return any;
}

bool pop_nodes_list(const char *text, uint64_t *bits, unsigned limit)
{
	const char *p = text;

	memset(bits, 0, (limit + 63) / 64 * sizeof(*bits));
	while (*p >= '0' && *p <= '9') {
		char *end;
		unsigned long first = strtoul(p, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long i = first; i <= last && i < limit; i++)
			bits[i / 64] |= 1ull << (i % 64);
		p = *end == ',' ? end + 1 : end;
	}
	return p != text && (*p == 0 || *p == '\n');
}

uint64_t pop_free_in(const struct pop_free *f, const struct pop_nodemask *m)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < POP_NODES; i++)
		if (pop_mask_has(m, i))
			sum += f->blocks[i];
	return sum;
}
