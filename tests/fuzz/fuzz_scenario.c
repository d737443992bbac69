/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a scenario file: an error or plans, and what is accepted survives being
 * sent to another process. With clang and -Dfuzz=true libFuzzer drives it; otherwise
 * replay.c runs it over files.
 */
#include <compactlab/scenario.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void check_error(const struct cl_error *err)
{
	char text[2048];

	must(err->what[0] != '\0');
	cl_error_text(err, text, sizeof(text));
}

static void check_plans(const struct cl_scenario *s)
{
	static const char *const backends[] = {"model", "guest", "host"};

	for (unsigned b = 0; b < 3; b++) {
		struct cl_error err = {0};
		struct check_line *checks;
		struct experiment e;
		unsigned count;

		must(experiment_resolve(s, backends[b], &e, &err) == 0);
		experiment_free(&e);
		must(scenario_checks(s, backends[b], &checks, &count, &err) == 0);
		free(checks);
		for (unsigned v = 0; v < scenario_variants(s); v++) {
			struct plan *p;

			/* Loading has resolved all of them already. */
			must(plan_resolve(s, backends[b], scenario_variant(s, v), 1, 2, &p, &err) ==
			     0);
			must(p->steps > 0 && p->seed == 3);
			plan_free(p);
		}
	}
}

static void check_serialized(const struct cl_scenario *s)
{
	struct cl_error err = {0};
	struct cl_scenario *again;
	unsigned long length, twice_length;
	char *text = scenario_serialize(s, &length), *twice;

	must(text != NULL);
	must(cl_scenario_parse(text, length, "elsewhere", &again, &err) == 0);
	must(!strcmp(cl_scenario_sha256(s), cl_scenario_sha256(again)));
	twice = scenario_serialize(again, &twice_length);
	must(twice && twice_length == length && !memcmp(text, twice, length));
	free(text);
	free(twice);
	cl_scenario_free(again);
}

/* The last line as an override; one that is refused must change nothing. */
static void check_set(struct cl_scenario *s, const uint8_t *data, size_t size)
{
	size_t start = size;
	struct cl_error err = {0};
	char *line;

	while (start && data[start - 1] != '\n')
		start--;
	line = strndup((const char *)data + start, size - start);
	must(line != NULL);
	if (cl_scenario_set(s, line, &err))
		check_error(&err);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cl_scenario *s;
	struct cl_error err = {0};

	if (cl_scenario_parse((const char *)data, size, "fuzz.ini", &s, &err)) {
		must(s == NULL);
		check_error(&err);
		return 0;
	}
	check_plans(s);
	check_serialized(s);
	check_set(s, data, size);
	cl_scenario_free(s);
	return 0;
}
