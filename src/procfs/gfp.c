/* SPDX-License-Identifier: MIT */
#include "procfs/gfp.h"
#include <stdio.h>
#include <string.h>

#define RECLAIM (GFP_F_DIRECT_RECLAIM | GFP_F_KSWAPD_RECLAIM)
#define KERNEL  (RECLAIM | GFP_F_IO | GFP_F_FS)
#define USER    (KERNEL | GFP_F_HARDWALL)
#define LIGHT                                                                                      \
	(((USER | GFP_F_HIGHMEM | GFP_F_MOVABLE) & ~RECLAIM) | GFP_F_COMP | GFP_F_NOMEMALLOC |     \
	 GFP_F_NOWARN)

/* Names of several flags, longest first, so that printing finds the shortest text. */
static const struct {
	const char *name;
	uint32_t flags;
	bool print;
} combinations[] = {
	{"GFP_TRANSHUGE", LIGHT | GFP_F_DIRECT_RECLAIM, true},
	{"GFP_TRANSHUGE_LIGHT", LIGHT, true},
	{"GFP_HIGHUSER_MOVABLE", USER | GFP_F_HIGHMEM | GFP_F_MOVABLE, true},
	{"GFP_HIGHUSER", USER | GFP_F_HIGHMEM, true},
	{"GFP_USER", USER, true},
	{"GFP_TEMPORARY", KERNEL | GFP_F_RECLAIMABLE, false},
	{"GFP_KERNEL_ACCOUNT", KERNEL | GFP_F_ACCOUNT, true},
	{"GFP_KERNEL", KERNEL, true},
	{"GFP_NOFS", RECLAIM | GFP_F_IO, true},
	{"GFP_ATOMIC", GFP_F_HIGH | GFP_F_ATOMIC | GFP_F_KSWAPD_RECLAIM, true},
	{"GFP_NOIO", RECLAIM, true},
	{"GFP_NOWAIT", GFP_F_KSWAPD_RECLAIM, true},
	{"GFP_DMA32", GFP_F_DMA32, true},
	{"GFP_DMA", GFP_F_DMA, true},
	{"__GFP_RECLAIM", RECLAIM, false},
	{"__GFP_WAIT", RECLAIM, false},
	{"__GFP_REPEAT", GFP_F_RETRY_MAYFAIL, false},
};

static const struct {
	const char *name;
	uint32_t flag;
} flags_by_name[] = {
	{"__GFP_DMA", GFP_F_DMA},
	{"__GFP_HIGHMEM", GFP_F_HIGHMEM},
	{"__GFP_DMA32", GFP_F_DMA32},
	{"__GFP_MOVABLE", GFP_F_MOVABLE},
	{"__GFP_RECLAIMABLE", GFP_F_RECLAIMABLE},
	{"__GFP_HIGH", GFP_F_HIGH},
	{"__GFP_IO", GFP_F_IO},
	{"__GFP_FS", GFP_F_FS},
	{"__GFP_ZERO", GFP_F_ZERO},
	{"__GFP_ATOMIC", GFP_F_ATOMIC},
	{"__GFP_DIRECT_RECLAIM", GFP_F_DIRECT_RECLAIM},
	{"__GFP_KSWAPD_RECLAIM", GFP_F_KSWAPD_RECLAIM},
	{"__GFP_WRITE", GFP_F_WRITE},
	{"__GFP_NOWARN", GFP_F_NOWARN},
	{"__GFP_RETRY_MAYFAIL", GFP_F_RETRY_MAYFAIL},
	{"__GFP_NOFAIL", GFP_F_NOFAIL},
	{"__GFP_NORETRY", GFP_F_NORETRY},
	{"__GFP_MEMALLOC", GFP_F_MEMALLOC},
	{"__GFP_COMP", GFP_F_COMP},
	{"__GFP_NOMEMALLOC", GFP_F_NOMEMALLOC},
	{"__GFP_HARDWALL", GFP_F_HARDWALL},
	{"__GFP_THISNODE", GFP_F_THISNODE},
	{"__GFP_ACCOUNT", GFP_F_ACCOUNT},
	{"__GFP_COLD", GFP_F_COLD},
	{"__GFP_NOTRACK", GFP_F_NOTRACK},
	{"__GFP_OTHER_NODE", GFP_F_OTHER_NODE},
	{"__GFP_NO_KSWAPD", GFP_F_NO_KSWAPD},
};

/* Known, without a meaning for us. */
static const char *const ignored[] = {
	"__GFP_NOLOCKDEP",           "__GFP_NO_OBJ_EXT", "__GFP_SKIP_KASAN",
	"__GFP_SKIP_ZERO",           "__GFP_ZEROTAGS",   "__GFP_SKIP_KASAN_POISON",
	"__GFP_SKIP_KASAN_UNPOISON", "__GFP_CMA",        "none"};

/* ---- layouts ------------------------------------------------------------------------ */

/* Bit i of a mask is flag layout.bit[i]. */
struct layout {
	uint32_t since; /* first version with it */
	uint32_t bit[28];
};

#define ZONE_BITS GFP_F_DMA, GFP_F_HIGHMEM, GFP_F_DMA32
#define MIDDLE_BITS                                                                                \
	GFP_F_HIGH, GFP_F_IO, GFP_F_FS, GFP_F_COLD, GFP_F_NOWARN, GFP_F_RETRY_MAYFAIL,             \
		GFP_F_NOFAIL, GFP_F_NORETRY, GFP_F_MEMALLOC, GFP_F_COMP, GFP_F_ZERO,               \
		GFP_F_NOMEMALLOC, GFP_F_HARDWALL, GFP_F_THISNODE

static const struct layout layouts[] = {
	{KERNEL_VERSION_CODE(2, 6, 0),
	 {ZONE_BITS, 0, GFP_F_DIRECT_RECLAIM, MIDDLE_BITS, GFP_F_RECLAIMABLE, GFP_F_MOVABLE}},
	{KERNEL_VERSION_CODE(2, 6, 31),
	 {ZONE_BITS, GFP_F_MOVABLE, GFP_F_DIRECT_RECLAIM, MIDDLE_BITS, GFP_F_RECLAIMABLE,
	  GFP_F_ACCOUNT, GFP_F_NOTRACK, GFP_F_NO_KSWAPD, GFP_F_OTHER_NODE, GFP_F_WRITE}},
	{KERNEL_VERSION_CODE(4, 4, 0),
	 {ZONE_BITS, GFP_F_MOVABLE, GFP_F_RECLAIMABLE, MIDDLE_BITS, GFP_F_ATOMIC, GFP_F_ACCOUNT,
	  GFP_F_NOTRACK, GFP_F_DIRECT_RECLAIM, GFP_F_OTHER_NODE, GFP_F_WRITE,
	  GFP_F_KSWAPD_RECLAIM}},
	{KERNEL_VERSION_CODE(4, 11, 0),
	 {ZONE_BITS, GFP_F_MOVABLE, GFP_F_RECLAIMABLE, MIDDLE_BITS, GFP_F_ATOMIC, GFP_F_ACCOUNT,
	  GFP_F_NOTRACK, GFP_F_DIRECT_RECLAIM, GFP_F_WRITE, GFP_F_KSWAPD_RECLAIM}},
	{KERNEL_VERSION_CODE(4, 19, 0),
	 {ZONE_BITS, GFP_F_MOVABLE, GFP_F_RECLAIMABLE, MIDDLE_BITS, GFP_F_ATOMIC, GFP_F_ACCOUNT,
	  GFP_F_DIRECT_RECLAIM, GFP_F_KSWAPD_RECLAIM, GFP_F_WRITE}},
	{KERNEL_VERSION_CODE(5, 0, 0), {ZONE_BITS,
					GFP_F_MOVABLE,
					GFP_F_RECLAIMABLE,
					GFP_F_HIGH,
					GFP_F_IO,
					GFP_F_FS,
					GFP_F_ZERO,
					GFP_F_ATOMIC,
					GFP_F_DIRECT_RECLAIM,
					GFP_F_KSWAPD_RECLAIM,
					GFP_F_WRITE,
					GFP_F_NOWARN,
					GFP_F_RETRY_MAYFAIL,
					GFP_F_NOFAIL,
					GFP_F_NORETRY,
					GFP_F_MEMALLOC,
					GFP_F_COMP,
					GFP_F_NOMEMALLOC,
					GFP_F_HARDWALL,
					GFP_F_THISNODE,
					GFP_F_ACCOUNT}},
};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))
enum { LAYOUT_2_6, LAYOUT_2_6_31, LAYOUT_4_4, LAYOUT_4_11, LAYOUT_4_19, LAYOUT_5_0 };

/*
 * Without a version: what every request of an era carries tells them apart. Since 4.4
 * nearly every mask wakes kswapd by a bit of its own.
 */
static unsigned guess_layout(uint64_t mask)
{
	if (mask >> 28 || (mask & 0xc00) == 0xc00)
		return LAYOUT_5_0;
	if (mask & 0x2000000)
		return LAYOUT_4_4;
	if ((mask & 0x1400000) == 0x1400000 || (mask & 0x1080000) == 0x1080000)
		return LAYOUT_4_11;
	if ((mask & 0x600000) == 0x600000 || (mask & 0x480000) == 0x480000)
		return LAYOUT_4_19;
	/* GFP_KERNEL 0xcc0, GFP_ATOMIC 0xa20 or 0x820, GFP_NOWAIT 0x800. */
	if ((mask & 0x800) && !(mask & 0x10))
		return LAYOUT_5_0;
	return LAYOUT_2_6_31;
}

uint32_t gfp_from_mask(uint64_t mask, uint32_t version)
{
	unsigned l = LAYOUT_2_6;
	uint32_t flags = 0;

	if (!version) {
		l = guess_layout(mask);
	} else {
		while (l + 1 < LAYOUTS && layouts[l + 1].since <= version)
			l++;
	}
	for (unsigned i = 0; i < 28; i++)
		if (mask >> i & 1)
			flags |= layouts[l].bit[i];
	/* Before 4.4 kswapd was woken unless told not to, and HIGH meant atomic. */
	if (l <= LAYOUT_2_6_31 && !(flags & GFP_F_NO_KSWAPD))
		flags |= GFP_F_KSWAPD_RECLAIM;
	if (l <= LAYOUT_2_6_31 && (flags & GFP_F_HIGH) && !(flags & GFP_F_DIRECT_RECLAIM))
		flags |= GFP_F_ATOMIC;
	/* 6.4 dropped the bit of its own. */
	if (l == LAYOUT_5_0 && (flags & GFP_F_HIGH) && !(flags & GFP_F_DIRECT_RECLAIM))
		flags |= GFP_F_ATOMIC;
	return flags;
}

static bool flags_of_name(struct span name, uint32_t *flags)
{
	for (size_t i = 0; i < sizeof(combinations) / sizeof(combinations[0]); i++) {
		if (span_is(name, combinations[i].name)) {
			*flags |= combinations[i].flags;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(flags_by_name) / sizeof(flags_by_name[0]); i++) {
		if (span_is(name, flags_by_name[i].name)) {
			*flags |= flags_by_name[i].flag;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (span_is(name, ignored[i]))
			return true;
	return false;
}

uint32_t gfp_from_names(struct span names, unsigned *unknown)
{
	uint32_t flags = 0;
	struct span name;

	*unknown = 0;
	while (names.length) {
		if (!span_until(&names, '|', &name)) {
			name = names;
			names.length = 0;
		}
		span_trim(&name);
		if (name.length && !flags_of_name(name, &flags))
			++*unknown;
	}
	if ((flags & GFP_F_HIGH) && !(flags & GFP_F_DIRECT_RECLAIM))
		flags |= GFP_F_ATOMIC;
	return flags;
}

static void append(char *buf, size_t size, const char *name)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s%s", used ? "|" : "", name);
}

char *gfp_print(uint32_t flags, char *buf, size_t size)
{
	uint32_t said = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(combinations) / sizeof(combinations[0]); i++) {
		uint32_t c = combinations[i].flags;

		if (combinations[i].print && (flags & c) == c && (c & ~said)) {
			if (said & c & ~(GFP_F_DMA | GFP_F_DMA32))
				continue;
			append(buf, size, combinations[i].name);
			said |= c;
		}
	}
	for (size_t i = 0; i < sizeof(flags_by_name) / sizeof(flags_by_name[0]); i++)
		if (flags & ~said & flags_by_name[i].flag)
			append(buf, size, flags_by_name[i].name);
	if (!buf[0])
		append(buf, size, "none");
	return buf;
}

bool kernel_version_parse(struct span s, uint32_t *code)
{
	uint64_t part[3] = {0, 0, 0};

	for (unsigned i = 0; i < 3; i++) {
		if (!span_u64(&s, &part[i]) || part[i] > 4095) {
			if (i < 2)
				return false;
			part[i] = 0;
			break;
		}
		if (i < 2 && !span_skip(&s, ".")) {
			if (!i)
				return false;
			break;
		}
	}
	if (part[0] < 2 || part[0] > 20)
		return false;
	*code = KERNEL_VERSION_CODE(part[0], part[1], part[2]);
	return true;
}
