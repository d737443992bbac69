/* SPDX-License-Identifier: MIT */
/*
 * Waiting out the kernel's own deferral.
 *
 * While the kernel defers compaction it counts the attempts, and compacts at the 64th at the
 * latest. A block of the buffer that asks meanwhile gets base pages and is lost. So the asking
 * is done with a block of address space of our own, of which one page is touched and given
 * back, which costs about a sixteenth of a block of base pages.
 */
#include "pop_job.h"
#include <string.h>
#include <sys/mman.h>

#define LOOK_NS 20000 /* no faster can POP_SEEN_LITTLE_PAGES be looked at */

/* Map the block anew, so that a page table of the time before does not stand in the way. */
static bool renew(char *at, uint64_t size)
{
	return mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) == at &&
	       !pop_sys_huge(at, size, true);
}

/* Is the last page of the block there? */
static bool has_last(char *at, uint64_t size, uint64_t page)
{
	unsigned char there;

	return !mincore(at + size - page, page, &there) && (there & 1);
}

bool pop_ask(const struct pop_job *job, unsigned most, uint64_t *ns)
{
	uint64_t size = job->probe->block_bytes, page = job->probe->page_bytes;
	char *map = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;
	struct pop_counts before, now;
	uint64_t t;
	unsigned n;

	if (map == MAP_FAILED)
		return true;
	at = (char *)(((uintptr_t)map + size - 1) & ~(uintptr_t)(size - 1));
	pop_probe_counts(job->probe, &before);
	for (n = 0; n < most; n++) {
		/* Where mlockall() fills all mappings there is nothing to be asked. */
		if (!renew(at, size) || has_last(at, size, page))
			break;
		t = pop_sys_now_ns();
		*(volatile char *)at = 1;
		t = pop_sys_now_ns() - t;
		*ns += t;
		if (has_last(at, size, page))
			break; /* huge: what is given back now is there for the buffer */
		/* Has it compacted, in vain? Looking costs more than a deferred attempt. */
		if (t > LOOK_NS && (!pop_probe_counts(job->probe, &now) ||
				    now.scanned - before.scanned >= POP_SEEN_LITTLE_PAGES))
			break;
	}
	munmap(map, 2 * size);
	return n < most;
}
