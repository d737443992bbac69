/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a snapshot: an error, or a snapshot that reads back the same after it was written.
 * Run like fuzz_scenario.c.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "snapshot/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void check_runs(const struct snapshot *s)
{
	struct snapshot_cursor c = {0};
	struct snapshot_state state;
	uint64_t count, pages = 0;

	while (snapshot_next(s, &c, &count, &state)) {
		must(count > 0 && c.pfn == pages && c.pfn % (1u << state.order) == 0);
		must(state.kind < SNAPSHOT_KINDS && state.order <= SNAPSHOT_MAX_ORDER);
		pages = c.next_pfn;
	}
	must(pages == s->pages);
}

static void check_again(const struct snapshot *s)
{
	struct cl_error err = {0};
	struct snapshot *again;
	void *packed;
	size_t size;

	must(snapshot_pack(s, &packed, &size, &err) == 0);
	must(snapshot_unpack(packed, size, "again", &again, &err) == 0);
	must(again->runs == s->runs && again->pages == s->pages);
	must(!s->runs || !memcmp(again->run, s->run, s->runs * sizeof(*s->run)));
	must(again->stretches == s->stretches && again->settings == s->settings);
	free(packed);
	snapshot_free(again);
}

/* One line may stand for terabytes; that is right, and no use here. */
static bool is_large(const uint8_t *data, size_t size)
{
	static const char word[] = "pages ";

	for (size_t i = 0; i + sizeof(word) < size; i++) {
		size_t digits = 0;

		if (memcmp(data + i, word, sizeof(word) - 1))
			continue;
		for (i += sizeof(word) - 1; i < size && data[i] != ' ' && data[i] != '\n'; i++)
			;
		while (i + 1 < size && data[++i] >= '0' && data[i] <= '9')
			digits++;
		if (digits > 3)
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cl_error err = {0};
	struct snapshot *s;

	if (is_large(data, size))
		return 0;
	if (snapshot_unpack(data, size, "fuzz", &s, &err)) {
		must(s == NULL && err.what[0] != '\0');
		return 0;
	}
	check_runs(s);
	check_again(s);
	snapshot_free(s);
	return 0;
}
