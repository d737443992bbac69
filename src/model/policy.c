/* SPDX-License-Identifier: MIT */
/*
 * policy.c - mainline's table of hooks and the composition of policies; see policy.h.
 */
#include "model/policy.h"

#include <errno.h>
#include <string.h>

#include "model/arena.h"
#include "model/defer.h"
#include "model/slab.h"
#include "model/thp.h"

#define MAX_COMPOSED 8

struct policy_state {
	struct policy table;
	uint32_t nr;
	const struct policy *part[MAX_COMPOSED];
	uint64_t words[MAX_COMPOSED][POLICY_WORDS];
};

const struct policy policy_mainline = {
	.name = "mainline",
	.summary = "the kernel as released",
	.deferred = defer_mainline_deferred,
	.defer_failed = defer_mainline_failed,
	.defer_reset = defer_mainline_reset,
	.restart = defer_mainline_restart,
	.thp_gfp = thp_mainline_gfp,
	.khugepaged_gfp = khugepaged_mainline_gfp,
	.slab_gfp = slab_mainline_gfp,
};

/* Every hook once: composition, the conflict test and completeness follow from this list. */
#define POLICY_HOOKS(X)                                                                            \
	X(deferred) X(defer_failed) X(defer_reset) X(restart) X(free_resample) X(slow_gfp)         \
	X(thisnode_gives_up) X(may_drop_nofragment) X(suitable) X(thp_gfp) X(khugepaged_gfp) X(slab_gfp) X(defaults)    \
	X(parse_defrag) X(parse_enabled)

const struct policy *policy_find(const char *name, const struct policy *more)
{
	if (more && strcmp(name, more->name) == 0)
		return more;
	if (strcmp(name, policy_mainline.name) == 0)
		return &policy_mainline;
	for (const struct policy *const *p = policy_registry; *p; p++) {
		if (strcmp((*p)->name, name) == 0)
			return *p;
	}
	return NULL;
}

/* Lays `p` over `t`; -EEXIST when a hook was already changed by an earlier policy. */
static int policy_overlay(struct policy *t, const struct policy *p)
{
#define X(hook)                                                                                    \
	if (p->hook) {                                                                             \
		if (t->hook != policy_mainline.hook && t->hook != p->hook)                         \
			return -EEXIST;                                                            \
		t->hook = p->hook;                                                                 \
	}
	POLICY_HOOKS(X)
#undef X
	return 0;
}

static int policy_parse(const char *names, const struct policy *more, struct policy_state *s,
			const char **bad)
{
	s->table = policy_mainline;
	while (*names) {
		char name[MAX_POLICY_NAME];
		size_t len = strcspn(names, "+");
		const struct policy *p;
		int err;

		*bad = names;
		if (len == 0 || len >= sizeof(name))
			return -ENOENT;
		memcpy(name, names, len);
		name[len] = '\0';
		p = policy_find(name, more);
		if (!p)
			return -ENOENT;
		if (p != &policy_mainline) {
			if (s->nr == MAX_COMPOSED)
				return -ENOENT;
			err = policy_overlay(&s->table, p);
			if (err)
				return err;
			s->part[s->nr++] = p;
		}
		names += len;
		if (*names == '+' && *++names == '\0')
			return -ENOENT;
	}
	*bad = NULL;
	return 0;
}

int policy_check(const char *names, const struct policy *more, const char **bad)
{
	struct policy_state s = { 0 };

	return policy_parse(names, more, &s, bad);
}

int policy_defaults(struct model_config *config)
{
	struct policy_state s = { 0 };
	const char *bad;
	int err = policy_parse(config->policy, config->more_policy, &s, &bad);

	if (!err && s.table.defaults)
		s.table.defaults(config);
	return err;
}

int policy_compose(struct model *m, const char *names)
{
	struct policy_state *s = arena_reserve(m->arena, sizeof(*s));
	const char *bad;
	int err;

	if (!s)
		return -ENOMEM;
	err = policy_parse(names, m->config.more_policy, s, &bad);
	if (err)
		return err;
	s->table.name = m->config.policy;
	m->policy_state = s;
	m->policy = &s->table;
	return 0;
}

uint64_t *policy_words(struct model *m, const struct policy *p)
{
	struct policy_state *s = m->policy_state;

	for (uint32_t i = 0; i < s->nr; i++) {
		if (s->part[i] == p)
			return s->words[i];
	}
	return NULL;
}
