/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as evidence: an explanation in all three forms, or "no evidence". What is
 * said must be whole: a class, a sentence without a hole, JSON that can be read back.
 */
#include <compactlab/explain.h>
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void print_all(const struct cl_explanation *x)
{
	static const enum cl_explain_format formats[] = {CL_EXPLAIN_TEXT, CL_EXPLAIN_MARKDOWN,
							 CL_EXPLAIN_JSON};

	for (unsigned f = 0; f < 3; f++) {
		char *text = NULL;
		size_t length;
		FILE *to = open_memstream(&text, &length);

		must(to != NULL);
		must(cl_explain_print(to, x, formats[f], 80, f == 0) == 0);
		fclose(to);
		if (formats[f] == CL_EXPLAIN_JSON) {
			json_t *j = json_loads(text, 0, NULL);

			must(j != NULL);
			must(json_is_string(json_object_get(j, "class")));
			json_decref(j);
		}
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cl_explanation *x;
	struct cl_error err = {0};
	int r;

	must(cl_explain_new(size % 2, &x) == 0);
	/* Two files, cut anywhere, so that states, windows and borrowing meet. */
	must(cl_explain_add_text(x, (const char *)data, size / 3, "first-1", &err) == 0);
	must(cl_explain_add_text(x, (const char *)data + size / 3, size - size / 3, "second-2",
				 &err) == 0);
	r = cl_explain_finish(x, &err);
	if (r) {
		must(r == -EINVAL && err.what[0]);
	} else {
		must(cl_explain_incidents(x) >= 1);
		for (unsigned i = 0; i < cl_explain_incidents(x); i++) {
			must(cl_explain_class(x, i)[0] == 'C');
			must(strlen(cl_explain_summary(x, i)) > 10);
		}
		print_all(x);
	}
	cl_explain_free(x);
	return 0;
}
