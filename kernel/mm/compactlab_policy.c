/* SPDX-License-Identifier: MIT */
/*
 * compactlab_policy.c - vm.compactlab_policy: which policies are active.
 *
 * Written: names joined by '+'. Read: the same, as written. EINVAL for a name that is not known,
 * EEXIST for two that decide the same thing differently; both leave everything as it was.
 */
#include <linux/mm.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysctl.h>

#include "compactlab.h"

#define NAMES_MAX 256

static const char *const policy_names[] = {
	[COMPACTLAB_DEFER_ASYNC_V2] = "defer-async-v2",
	[COMPACTLAB_DEFER_ASYNC_V3] = "defer-async-v3",
	[COMPACTLAB_SAMPLE_RANDOM] = "sample-random",
	[COMPACTLAB_NORETRY_NOSTALL] = "noretry-nostall",
	[COMPACTLAB_MIGRATABLE_CHECK] = "migratable-check",
	[COMPACTLAB_THP_DEFRAG_2016] = "thp-defrag-2016",
	[COMPACTLAB_THP_DEFRAG_2016_PATCH] = "thp-defrag-2016-patch",
};

static const unsigned long conflicts[] = {
	BIT(COMPACTLAB_DEFER_ASYNC_V2) | BIT(COMPACTLAB_DEFER_ASYNC_V3),
	BIT(COMPACTLAB_THP_DEFRAG_2016) | BIT(COMPACTLAB_THP_DEFRAG_2016_PATCH),
};

unsigned long compactlab_policies __read_mostly;

static DEFINE_MUTEX(lock); /* of what follows, and writers of the mask */
static char active[NAMES_MAX] = "mainline";

static int parse(const char *names, unsigned long *mask)
{
	char copy[NAMES_MAX], *rest = copy, *name;

	strscpy(copy, names, sizeof(copy));
	*mask = 0;
	while ((name = strsep(&rest, "+"))) {
		int i = match_string(policy_names, ARRAY_SIZE(policy_names), name);

		if (i >= 0)
			*mask |= BIT(i);
		else if (strcmp(name, "mainline"))
			return -EINVAL;
	}
	for (int i = 0; i < ARRAY_SIZE(conflicts); i++)
		if ((*mask & conflicts[i]) == conflicts[i])
			return -EEXIST;
	return 0;
}

/* The default of the kernels that the two policies stand for; what is written later counts. */
static void set_thp_defrag(enum transparent_hugepage_flag flag)
{
	static const enum transparent_hugepage_flag flags[] = {
		TRANSPARENT_HUGEPAGE_DEFRAG_DIRECT_FLAG,
		TRANSPARENT_HUGEPAGE_DEFRAG_KSWAPD_FLAG,
		TRANSPARENT_HUGEPAGE_DEFRAG_KSWAPD_OR_MADV_FLAG,
		TRANSPARENT_HUGEPAGE_DEFRAG_REQ_MADV_FLAG,
	};

	for (int i = 0; i < ARRAY_SIZE(flags); i++)
		if (flags[i] != flag)
			clear_bit(flags[i], &transparent_hugepage_flags);
	set_bit(flag, &transparent_hugepage_flags);
}

static void change(unsigned long mask)
{
	unsigned long chosen = mask & ~compactlab_policies;

	if (mask == compactlab_policies)
		return;
	WRITE_ONCE(compactlab_policies, mask);
	compactlab_defer_forget();
	if (chosen & BIT(COMPACTLAB_THP_DEFRAG_2016))
		set_thp_defrag(TRANSPARENT_HUGEPAGE_DEFRAG_DIRECT_FLAG);
	if (chosen & BIT(COMPACTLAB_THP_DEFRAG_2016_PATCH))
		set_thp_defrag(TRANSPARENT_HUGEPAGE_DEFRAG_REQ_MADV_FLAG);
}

static int policy_handler(const struct ctl_table *table, int write, void *buffer, size_t *length,
			  loff_t *position)
{
	char text[NAMES_MAX];
	struct ctl_table on_text = {.procname = table->procname,
				    .data = text,
				    .maxlen = sizeof(text)};
	unsigned long mask;
	int r;

	mutex_lock(&lock);
	strscpy(text, active, sizeof(text));
	r = proc_dostring(&on_text, write, buffer, length, position);
	if (!r && write) {
		r = parse(strim(text), &mask);
		if (!r) {
			change(mask);
			strscpy(active, strim(text), sizeof(active));
		}
	}
	mutex_unlock(&lock);
	return r;
}

static struct ctl_table policy_table[] = {
	{
		.procname = "compactlab_policy",
		.mode = 0644,
		.proc_handler = policy_handler,
	},
};

static int __init policy_init(void)
{
	register_sysctl_init("vm", policy_table);
	return 0;
}
subsys_initcall(policy_init);
