/* SPDX-License-Identifier: MIT */
#include "procfs/klog.h"
#include <string.h>

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$';
}

static bool zone_name(struct span s)
{
	static const char *const names[] = {"DMA",     "DMA32",   "Normal",
					    "HighMem", "Movable", "Device"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (span_is(s, names[i]))
			return true;
	return false;
}

/* "Node 0 " when it is there. */
static bool take_node(struct span *s, int *node)
{
	struct span t = *s;

	*node = 0;
	span_blanks(&t);
	if (!span_skip(&t, "Node ")) {
		*s = t;
		return true;
	}
	span_blanks(&t);
	if (!span_int(&t, node) || *node < 0 || *node > 4095)
		return false;
	span_skip(&t, ",");
	span_blanks(&t);
	span_skip(&t, "zone ");
	span_blanks(&t);
	*s = t;
	return true;
}

/* ---- free lists --------------------------------------------------------------------- */

static uint8_t type_of(char c)
{
	switch (c) {
	case 'U':
		return KLOG_TYPE_U;
	case 'M':
		return KLOG_TYPE_M;
	case 'E':
		return KLOG_TYPE_E;
	case 'H':
		return KLOG_TYPE_H;
	case 'C':
		return KLOG_TYPE_C;
	case 'I':
		return KLOG_TYPE_I;
	case 'R':
		return KLOG_TYPE_R;
	}
	return 0;
}

/* "(UME)" */
static bool take_types(struct span *s, uint8_t *types)
{
	struct span t = *s, in;

	span_blanks(&t);
	if (!span_skip(&t, "(") || !span_until(&t, ')', &in) || in.length > 8)
		return false;
	*types = 0;
	for (size_t i = 0; i < in.length; i++) {
		if (!type_of(in.at[i]))
			return false;
		*types |= type_of(in.at[i]);
	}
	*s = t;
	return true;
}

/* "11101*4kB"; trackers eat the asterisk or turn it into something else. */
static bool take_blocks(struct span *s, uint64_t *count, uint64_t *kb)
{
	struct span t = *s;

	span_blanks(&t);
	if (!span_u64(&t, count))
		return false;
	if (!span_skip(&t, "*") && !span_skip(&t, "\\*") && !span_skip(&t, "_") &&
	    !span_skip(&t, "x") && !span_skip(&t, "&ast;"))
		return false;
	if (!span_u64(&t, kb) || !(span_skip(&t, "kB") || span_skip(&t, "KB")))
		return false;
	*s = t;
	return true;
}

/* Columns and the total, from where *s stands. Each column is twice the one before. */
static bool take_columns(struct span *s, struct klog_zone *z)
{
	uint64_t count, kb;

	while (z->orders < PROCFS_MAX_ORDERS && take_blocks(s, &count, &kb)) {
		if (!kb || kb > UINT32_MAX ||
		    (z->orders && kb != (uint64_t)z->page_kb << z->orders))
			return false;
		if (!z->orders)
			z->page_kb = (unsigned)kb;
		z->blocks[z->orders] = count;
		if (take_types(s, &z->types[z->orders]))
			z->has_types = true;
		z->orders++;
	}
	span_blanks(s);
	if (span_skip(s, "=")) {
		span_blanks(s);
		z->has_total = span_u64(s, &z->total_kb);
	}
	return true;
}

bool klog_free_list(struct span text, struct klog_zone *z)
{
	struct span s = text, name;
	int node;

	if (!take_node(&s, &node) || !span_until(&s, ':', &name))
		return false;
	span_trim(&name);
	if (!zone_name(name))
		return false;
	memset(z->blocks, 0, sizeof(z->blocks));
	memset(z->types, 0, sizeof(z->types));
	z->orders = 0;
	z->has_types = z->has_total = false;
	if (!take_columns(&s, z) || z->orders < 2)
		return false;
	z->node = node;
	span_put(name, z->name, sizeof(z->name));
	return true;
}

bool klog_free_list_more(struct span text, struct klog_zone *z)
{
	struct klog_zone trial = *z;
	struct span s = text;

	span_blanks(&s);
	/* The letters of the last column may have been wrapped too. */
	if (trial.orders && !trial.types[trial.orders - 1] &&
	    take_types(&s, &trial.types[trial.orders - 1]))
		trial.has_types = true;
	if (!take_columns(&s, &trial) || (trial.orders == z->orders && !trial.has_total))
		return false;
	*z = trial;
	return true;
}

uint64_t klog_zone_sum_kb(const struct klog_zone *z)
{
	uint64_t sum = 0;

	for (unsigned o = 0; o < z->orders; o++)
		sum += z->blocks[o] * ((uint64_t)z->page_kb << o);
	return sum;
}

/* ---- the state of a zone ------------------------------------------------------------ */

static const struct {
	const char *name;
	size_t at;
} state_fields[] = {
	{"free", offsetof(struct klog_zone, free_kb)},
	{"boost", offsetof(struct klog_zone, boost_kb)},
	{"min", offsetof(struct klog_zone, min_kb)},
	{"low", offsetof(struct klog_zone, low_kb)},
	{"high", offsetof(struct klog_zone, high_kb)},
	{"reserved_highatomic", offsetof(struct klog_zone, reserved_highatomic_kb)},
	{"free_highatomic", offsetof(struct klog_zone, free_highatomic_kb)},
	{"free_cma", offsetof(struct klog_zone, free_cma_kb)},
	{"present", offsetof(struct klog_zone, present_kb)},
	{"managed", offsetof(struct klog_zone, managed_kb)},
	{"active_file", offsetof(struct klog_zone, active_file_kb)},
	{"inactive_file", offsetof(struct klog_zone, inactive_file_kb)},
	{"slab_reclaimable", offsetof(struct klog_zone, slab_reclaimable_kb)},
	{"slab_unreclaimable", offsetof(struct klog_zone, slab_unreclaimable_kb)},
	{"pages_scanned", offsetof(struct klog_zone, pages_scanned)},
};

static void set_field(struct klog_zone *z, struct span name, uint64_t value)
{
	for (size_t i = 0; i < sizeof(state_fields) / sizeof(state_fields[0]); i++)
		if (span_is(name, state_fields[i].name))
			*(uint64_t *)((char *)z + state_fields[i].at) = value;
}

struct state_seen {
	bool free, min;
	unsigned fields;
};

static void take_fields(struct span *s, struct klog_zone *z, struct state_seen *seen)
{
	struct span word;

	while (span_word(s, &word)) {
		struct span key;
		uint64_t value;

		if (!span_until(&word, ':', &key)) {
			if (span_is(word, "all_unreclaimable?")) {
				span_blanks(s);
				z->all_unreclaimable = span_starts(*s, "yes");
			}
			continue;
		}
		if (!span_u64(&word, &value))
			continue;
		if (word.length && !span_is(word, "kB") && !span_is(word, "KB"))
			continue;
		seen->fields += word.length > 0;
		set_field(z, key, value);
		seen->free |= span_is(key, "free");
		seen->min |= span_is(key, "min");
	}
}

bool klog_zone_state(struct span text, struct klog_zone *z)
{
	struct state_seen seen = {0};
	struct span s = text, name;
	int node;

	if (!take_node(&s, &node) || !span_word(&s, &name) || !zone_name(name))
		return false;
	take_fields(&s, z, &seen);
	if (!seen.free || !seen.min)
		return false;
	z->node = node;
	span_put(name, z->name, sizeof(z->name));
	return true;
}

bool klog_zone_state_more(struct span text, struct klog_zone *z)
{
	struct klog_zone trial = *z;
	struct state_seen seen = {0};
	struct span s = text, rest = text, word;

	/* It begins with a field; "Node 0 ..." and "lowmem_reserve[]:" do not. */
	if (!span_word(&rest, &word) || !span_find(word, ":") || span_starts(word, "lowmem") ||
	    span_starts(word, "Node"))
		return false;
	take_fields(&s, &trial, &seen);
	if (!seen.fields || seen.free)
		return false;
	*z = trial;
	return true;
}

/* ---- stacks ------------------------------------------------------------------------- */

/* Is "NAME+0x12" with an optional "/0x34" at `plus`? */
static bool offset_at(struct span s, size_t plus)
{
	uint64_t v;
	struct span t = span_of(s.at + plus, s.length - plus);

	return span_skip(&t, "+0x") && span_hex(&t, &v);
}

bool klog_frame(struct span s, struct klog_frame *f)
{
	size_t plus = s.length;
	struct span name, rest, module;

	/* The last one: where a line has two, the second is the caller. */
	while (plus-- > 0)
		if (s.at[plus] == '+' && offset_at(s, plus))
			break;
	if (plus == SIZE_MAX || !plus)
		return false;
	name = span_of(s.at + plus, 0);
	while (name.at > s.at && is_name(name.at[-1])) {
		name.at--;
		name.length++;
	}
	while (name.length && *name.at == '.') { /* powerpc's function descriptors */
		name.at++;
		name.length--;
	}
	if (!name.length || (*name.at >= '0' && *name.at <= '9'))
		return false;
	memset(f, 0, sizeof(*f));
	/* "func.isra.0", "func.constprop.12": what the compiler made of it is of no interest. */
	{
		const char *dot = memchr(name.at, '.', name.length);

		if (dot && dot > name.at)
			name.length = (size_t)(dot - name.at);
	}
	span_put(name, f->function, sizeof(f->function));
	/* ":ip_conntrack:alloc_hashtable+0x33/0x7a": before 2.6.25 the module stood in front. */
	if (name.at - s.at >= 3 && name.at[-1] == ':') {
		const char *end = name.at - 1, *at = end;

		while (at > s.at && is_name(at[-1]))
			at--;
		if (at > s.at && at[-1] == ':' && at < end &&
		    (size_t)(end - at) < sizeof(f->module)) {
			span_put(span_of(at, (size_t)(end - at)), f->module, sizeof(f->module));
			return true;
		}
	}
	rest = span_of(s.at + plus, s.length - plus);
	if (span_until(&rest, '[', &module) && span_until(&rest, ']', &module) && module.length &&
	    module.length < sizeof(f->module) && *module.at != '<') {
		const char *blank = memchr(module.at, ' ', module.length);

		if (blank)
			module.length = (size_t)(blank - module.at);
		span_put(module, f->module, sizeof(f->module));
	}
	return true;
}
