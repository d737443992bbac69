/* SPDX-License-Identifier: MIT */
#include "os/kernel_policy.h"
#include "os/settings.h"
#include "util/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/proc/sys/vm/compactlab_policy"

int kernel_policy_missing(struct cl_error *err)
{
	return cl_error_hint(err, -EOPNOTSUPP,
			     "`compactlab kernel build 7.3` makes one that has all policies; run "
			     "it with --on guest --kernel 7.3-policies");
}

int kernel_policy_probe(const char *policy, struct cl_error *err)
{
	if (!strcmp(policy, "mainline") || access(FILE_NAME, W_OK) == 0)
		return 0;
	cl_error(err, -EOPNOTSUPP, "the running kernel does not have the policy %s", policy);
	return kernel_policy_missing(err);
}

int kernel_policy_apply(struct watchdog *w, const char *policy, struct cl_error *err)
{
	int r;

	if (access(FILE_NAME, F_OK) < 0)
		return kernel_policy_probe(policy, err);
	r = settings_write(w, FILE_NAME, policy, err);
	if (r == -EINVAL) {
		cl_error(err, -EOPNOTSUPP, "the running kernel does not have the policy %s",
			 policy);
		return cl_error_hint(err, -EOPNOTSUPP,
				     "some are the model's alone; a kernel that was built before "
				     "the policy was there is to be built anew");
	}
	if (r == -EEXIST)
		return cl_error_hint(err, r, "two of these policies decide the same thing");
	return r;
}

char *kernel_policy_read(void)
{
	char word[512], *text;

	if (file_read(FILE_NAME, &text, NULL) < 0)
		return strdup("mainline");
	setting_word(text, word, sizeof(word));
	free(text);
	return strdup(word);
}
