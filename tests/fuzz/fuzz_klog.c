/* SPDX-License-Identifier: MIT */
/* Any bytes as a kernel log: reports within their bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "procfs/klog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void done(void *arg, struct klog_event *e)
{
	char gfp[256];

	(void)arg;
	must(e->frames <= KLOG_FRAMES && e->line <= e->last_line);
	must(memchr(e->comm, '\0', sizeof(e->comm)) != NULL);
	must(memchr(e->kernel, '\0', sizeof(e->kernel)) != NULL);
	must(e->order >= -1 && e->order < 64);
	for (unsigned i = 0; i < e->zones; i++) {
		const struct klog_zone *z = &e->zone[i];

		must(z->orders <= PROCFS_MAX_ORDERS && z->reserves <= PROCFS_MAX_ZONES);
		must(!z->list_line || z->page_kb);
		klog_zone_sum_kb(z);
	}
	gfp_print(e->gfp, gfp, sizeof(gfp));
	must(gfp[0] != '\0');
	klog_event_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct klog_reader *r = klog_reader_new(done, NULL);
	struct span rest = span_of((const char *)data, size), line;
	int n = 0;

	must(r != NULL);
	while (span_line(&rest, &line)) {
		n++;
		klog_reader_line(r, line, n, n % 8 != 7);
	}
	klog_reader_end(r);
	klog_reader_free(r);
	return 0;
}
