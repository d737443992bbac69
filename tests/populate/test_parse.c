/* SPDX-License-Identifier: MIT */
/* What the library reads from the kernel's text files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "populate/pop_nodes.h"
#include "populate/pop_probe.h"
#include "populate/pop_room.h"
#include "populate/pop_vma.h"

/* ---- free blocks ---------------------------------------------------------------- */

static const char zoneinfo[] = "Node 0, zone      DMA\n"
			       "  per-node stats\n"
			       "      nr_inactive_anon 3116\n"
			       "  pages free     2304\n"
			       "        boost    0\n"
			       "        min      86\n"
			       "        low      107\n"
			       "        high     128\n"
			       "        spanned  4095\n"
			       "        protection: (0, 3019, 4811, 4811)\n"
			       "  pagesets\n"
			       "    cpu: 0\n"
			       "              count:    0\n"
			       "              high:     378\n"
			       "Node 0, zone   Normal\n"
			       "  pages free     100000\n"
			       "        min      1000\n"
			       "        high     1500\n"
			       "        protection: (0, 0, 0, 0)\n"
			       "Node 1, zone   Normal\n"
			       "        min      2000\n"
			       "        protection: (0, 0, 0, 0)\n";

static const char buddyinfo[] = "Node 0, zone      DMA      0      0      0      0      0      0   "
				"   0      0      1      1      3 \n"
				"Node 0, zone   Normal      0      0      0      0      0      0   "
				"   0      0      0      4      2 \n"
				"Node 1, zone   Normal   5000      0      0      0      0      0   "
				"   0      0      0      0      1 \n";

static void blocks_behind_watermarks_and_reserves_do_not_count(void **state)
{
	struct pop_nodes n = {.order = 9};
	struct pop_free f;

	(void)state;
	assert_true(pop_nodes_zoneinfo(&n, zoneinfo));
	assert_int_equal(n.zones, 3);
	assert_int_equal(n.zone[0].keep_pages, 86 + 4811);
	assert_int_equal(n.zone[1].keep_pages, 1000);
	assert_true(pop_nodes_buddyinfo(&n, buddyinfo, &f));
	/* DMA: all behind the reserve. Normal: 8 blocks are 4,096 pages, less 1,000: 6. */
	assert_int_equal(f.blocks[0], 6);
	assert_int_equal(f.pages[0], 3096);
	/* 5,000 + 1,024 - 2,000 pages would be 7 blocks, but only two are whole. */
	assert_int_equal(f.blocks[1], 2);
}

static void without_zoneinfo_every_free_block_counts(void **state)
{
	struct pop_nodes n = {.order = 9};
	struct pop_free f;

	(void)state;
	assert_true(pop_nodes_buddyinfo(&n, buddyinfo, &f));
	assert_int_equal(f.blocks[0], 1 + 6 + 4 + 4);
	assert_int_equal(f.blocks[1], 2);
}

static void blocks_of_other_sizes_are_counted_in_that_size(void **state)
{
	struct pop_nodes n = {.order = 10};
	struct pop_free f;

	(void)state;
	assert_true(pop_nodes_buddyinfo(&n, buddyinfo, &f));
	assert_int_equal(f.blocks[0], 3 + 2);
}

static void text_that_is_no_buddyinfo_is_refused(void **state)
{
	struct pop_nodes n = {.order = 9};
	struct pop_free f;

	(void)state;
	assert_false(pop_nodes_buddyinfo(&n, "", &f));
	assert_false(pop_nodes_buddyinfo(&n, "gVisor\n", &f));
	assert_false(pop_nodes_buddyinfo(&n, "Node 9999, zone x 1 2 3\n", &f));
	assert_false(pop_nodes_zoneinfo(&n, "nothing\n"));
}

static void lists_of_numbers_become_bits(void **state)
{
	uint64_t bits[4];

	(void)state;
	assert_true(pop_nodes_list("0-3,8\n", bits, 256));
	assert_int_equal(bits[0], 0x10f);
	assert_true(pop_nodes_list("64,255", bits, 256));
	assert_int_equal(bits[1], 1);
	assert_int_equal(bits[3], 1ull << 63);
	assert_true(pop_nodes_list("0-9999999\n", bits, 256)); /* above the limit: left out */
	assert_int_equal(bits[3], UINT64_MAX);
	assert_false(pop_nodes_list("", bits, 256));
	assert_false(pop_nodes_list("\n", bits, 256));
	assert_false(pop_nodes_list("x", bits, 256));
}

/* ---- settings ------------------------------------------------------------------- */

static char dir[] = "/tmp/cl-thp-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_settings(void **state)
{
	char path[256];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/hugepages-2048kB", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/hugepages-64kB", dir);
	return mkdir(path, 0755);
}

static int remove_settings(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static struct pop_thp settings(const char *enabled, const char *defrag, const char *huge,
			       const char *small)
{
	struct pop_thp t;

	put("enabled", enabled);
	put("defrag", defrag);
	put("hugepages-2048kB/enabled", huge);
	put("hugepages-64kB/enabled", small);
	pop_probe_thp(dir, 4096, 2 << 20, &t);
	return t;
}

#define INHERIT  "always [inherit] madvise never\n"
#define NEVER4   "always inherit madvise [never]\n"
#define MADVISE3 "always [madvise] never\n"
#define MADVISE5 "always defer defer+madvise [madvise] never\n"

static void settings_say_whether_huge_pages_are_possible_and_stall(void **state)
{
	struct pop_thp t;

	(void)state;
	t = settings(MADVISE3, MADVISE5, INHERIT, NEVER4);
	assert_true(t.known && t.huge && t.stalls && !t.smaller);
	t = settings("always madvise [never]\n", MADVISE5, INHERIT, NEVER4);
	assert_true(t.known && !t.huge);
	/* The size's own word rules over the global one, both ways. */
	t = settings("always madvise [never]\n", MADVISE5, "[always] inherit madvise never\n",
		     NEVER4);
	assert_true(t.huge);
	t = settings("[always] madvise never\n", MADVISE5, NEVER4, NEVER4);
	assert_false(t.huge);
	t = settings(MADVISE3, MADVISE5, INHERIT, "always inherit [madvise] never\n");
	assert_true(t.smaller);
	t = settings(MADVISE3, MADVISE5, INHERIT, INHERIT);
	assert_true(t.smaller);
	t = settings("always madvise [never]\n", MADVISE5, INHERIT, INHERIT);
	assert_false(t.smaller);
}

static void only_never_and_defer_fault_without_waiting(void **state)
{
	(void)state;
	assert_false(
		settings(MADVISE3, "always defer defer+madvise madvise [never]\n", INHERIT, NEVER4)
			.stalls);
	assert_false(
		settings(MADVISE3, "always [defer] defer+madvise madvise never\n", INHERIT, NEVER4)
			.stalls);
	assert_true(
		settings(MADVISE3, "[always] defer defer+madvise madvise never\n", INHERIT, NEVER4)
			.stalls);
	assert_true(
		settings(MADVISE3, "always defer [defer+madvise] madvise never\n", INHERIT, NEVER4)
			.stalls);
	assert_true(settings(MADVISE3, "", INHERIT, NEVER4).stalls); /* unknown: be careful */
}

static void a_kernel_without_settings_has_no_huge_pages(void **state)
{
	struct pop_thp t;

	(void)state;
	pop_probe_thp("/nonexistent", 4096, 2 << 20, &t);
	assert_false(t.known);
	assert_false(t.huge);
}

/* ---- kinds of memory ------------------------------------------------------------ */

static int filesystem(const char *path)
{
	return !strncmp(path, "/tmpfs/", 7) ? 1 : !strncmp(path, "/huge/", 6) ? 2 : 0;
}

static const struct pop_vma_ask ask = {0, 1, 1, filesystem};

static enum pop_memory kind(const char *maps, uint64_t start, uint64_t end)
{
	return pop_vma_kind(maps, start, end, &ask);
}

static const char maps[] =
	"1000-2000 rw-p 00000000 00:00 0 \n"
	"2000-3000 rw-p 00000000 00:00 0                          [heap]\n"
	"4000-5000 r--p 00000000 00:00 0 \n"
	"6000-7000 rw-s 00000000 00:01 5                          /memfd:a b (deleted)\n"
	"7000-8000 rw-s 00000000 00:0f 5                          /memfd:a b (deleted)\n"
	"8000-9000 rw-s 00000000 00:01 6                          /dev/zero (deleted)\n"
	"9000-a000 rw-s 00000000 08:01 77                         /home/file name\n"
	"a000-b000 rw-s 00000000 00:20 77                         /tmpfs/file\n"
	"b000-c000 rw-s 00000000 00:21 77                         /huge/file\n"
	"c000-d000 rw-p 00000000 00:10 78                         /anon_hugepage (deleted)\n"
	"d000-e000 rw-p 00000000 00:00 0                          [anon:my name]\n"
	"e000-f000 rw-p 00000000 08:01 79                         /usr/lib/libc.so\n";

static void kinds_of_memory_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(kind(maps, 0x1000, 0x3000), POP_ANON);
	assert_int_equal(kind(maps, 0x1000, 0x3001), POP_HOLE);
	assert_int_equal(kind(maps, 0x3000, 0x3800), POP_HOLE);
	assert_int_equal(kind(maps, 0x20000, 0x21000), POP_HOLE);
	assert_int_equal(kind(maps, 0x4000, 0x5000), POP_READONLY);
	assert_int_equal(kind(maps, 0x6000, 0x7000), POP_SHMEM);
	assert_int_equal(kind(maps, 0x7000, 0x8000), POP_HUGETLB);
	assert_int_equal(kind(maps, 0x8000, 0x9000), POP_SHMEM);
	assert_int_equal(kind(maps, 0x9000, 0xa000), POP_OTHER_FILE);
	assert_int_equal(kind(maps, 0xa000, 0xb000), POP_SHMEM);
	assert_int_equal(kind(maps, 0xb000, 0xc000), POP_HUGETLB);
	assert_int_equal(kind(maps, 0xc000, 0xd000), POP_HUGETLB);
	assert_int_equal(kind(maps, 0xd000, 0xe000), POP_ANON);
	assert_int_equal(kind(maps, 0xe000, 0xf000), POP_OTHER_FILE);
	assert_int_equal(kind(maps, 0x8000, 0xb000), POP_OTHER_FILE); /* the least able */
	assert_int_equal(kind("rubbish\n", 0x1000, 0x2000), POP_UNKNOWN);
}

/* ---- room ----------------------------------------------------------------------- */

static void the_memory_cgroup_is_found_in_both_versions(void **state)
{
	char path[1024];

	(void)state;
	assert_int_equal(pop_room_path("0::/user.slice/a b\n", path, sizeof(path)), 2);
	assert_string_equal(path, "/user.slice/a b");
	assert_int_equal(pop_room_path("9:name=systemd:/\n4:cpu,memory:/docker/x\n0::/\n", path,
				       sizeof(path)),
			 1);
	assert_string_equal(path, "/docker/x");
	assert_int_equal(pop_room_path("3:nomemory:/x\n", path, sizeof(path)), 0);
	assert_int_equal(pop_room_path("", path, sizeof(path)), 0);
}

static void fields_are_found_by_their_whole_name(void **state)
{
	const char text[] = "SwapFreeX: 1\nMemAvailable:   12 kB\nactive_file 7\n";

	(void)state;
	assert_int_equal(pop_room_field(text, "MemAvailable:", 0), 12);
	assert_int_equal(pop_room_field(text, "active_file", 0), 7);
	assert_int_equal(pop_room_field(text, "SwapFree", 99), 99);
	assert_int_equal(pop_room_field("", "x", 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_behind_watermarks_and_reserves_do_not_count),
		cmocka_unit_test(without_zoneinfo_every_free_block_counts),
		cmocka_unit_test(blocks_of_other_sizes_are_counted_in_that_size),
		cmocka_unit_test(text_that_is_no_buddyinfo_is_refused),
		cmocka_unit_test(lists_of_numbers_become_bits),
		cmocka_unit_test(settings_say_whether_huge_pages_are_possible_and_stall),
		cmocka_unit_test(only_never_and_defer_fault_without_waiting),
		cmocka_unit_test(a_kernel_without_settings_has_no_huge_pages),
		cmocka_unit_test(kinds_of_memory_are_told_apart),
		cmocka_unit_test(the_memory_cgroup_is_found_in_both_versions),
		cmocka_unit_test(fields_are_found_by_their_whole_name),
	};

	return cmocka_run_group_tests(tests, make_settings, remove_settings);
}
