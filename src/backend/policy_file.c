/* SPDX-License-Identifier: MIT */
/* A policy from a shared object, for the model. */
#include "backend/policy_file.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/policy.h"

struct cl_policy_file {
	void *handle;
	const struct policy_export *export;
};

/* Letters, digits and "-_.": a plus sign joins names. */
static bool is_name(const char *name)
{
	return name && *name && strlen(name) < MAX_POLICY_NAME / 2 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
		       strlen(name);
}

static int examine(const struct cl_policy_file *f, const char *path, struct cl_error *err)
{
	const struct policy_export *e = f->export;

	if (!e) {
		cl_error(err, -EINVAL, "%s has no compactlab_policy", path);
		return cl_error_hint(err, -EINVAL, "end its source with POLICY_EXPORT(NAME)");
	}
	if (e->policy_bytes != sizeof(struct policy) || e->model_bytes != sizeof(struct model)) {
		cl_error(err, -EINVAL, "%s was compiled for another version of the model", path);
		return cl_error_hint(err, -EINVAL,
				     "compile it again, against the sources of this program");
	}
	if (!is_name(e->policy->name) || !e->policy->summary)
		return cl_error(err, -EINVAL,
				"the policy in %s needs a name of letters, digits and -_. and a "
				"summary",
				path);
	if (policy_find(e->policy->name, NULL))
		return cl_error(err, -EINVAL,
				"%s calls its policy %s, which is the name of another", path,
				e->policy->name);
	return 0;
}

int cl_policy_file_open(const char *path, struct cl_policy_file **out, struct cl_error *err)
{
	struct cl_policy_file *f = calloc(1, sizeof(*f));
	int r = 0;

	*out = NULL;
	if (!f)
		return cl_error(err, -ENOMEM, "out of memory");
	f->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (f->handle) {
		f->export = dlsym(f->handle, "compactlab_policy");
		r = examine(f, path, err);
	} else {
		r = cl_error(err, -EINVAL, "the policy cannot be loaded: %s", dlerror());
		if (!strchr(path, '/'))
			cl_error_hint(err, r, "a file in this directory is ./%s", path);
	}
	if (r) {
		cl_policy_file_close(f);
		return r;
	}
	*out = f;
	return 0;
}

const char *cl_policy_file_name(const struct cl_policy_file *f)
{
	return f->export->policy->name;
}

const struct policy *policy_file_get(const struct cl_policy_file *f)
{
	return f ? f->export->policy : NULL;
}

void cl_policy_file_close(struct cl_policy_file *f)
{
	if (f && f->handle)
		dlclose(f->handle);
	free(f);
}
