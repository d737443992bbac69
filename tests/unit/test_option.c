/* SPDX-License-Identifier: MIT */
/* The option table says something true and complete about every key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/option.h"
#include "scenario/value.h"

static char *printed(enum cl_option_format form)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cl_option_print(f, form);
	fclose(f);
	return text;
}

static void every_row_is_explained_in_whole_sentences(void **state)
{
	(void)state;
	for (unsigned i = 0; i < option_count; i++) {
		const char *help = option_table[i].help;

		assert_non_null(help);
		assert_true(strlen(help) > 10 && help[strlen(help) - 1] == '.');
		assert_true(isupper((unsigned char)help[0]) || !strncmp(help, "seed, ", 6));
	}
}

static void every_default_is_a_value_of_its_key(void **state)
{
	(void)state;
	for (unsigned i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (o->fallback)
			assert_int_equal(value_convert(o, o->fallback, 1, NULL, NULL), 0);
		assert_false(o->fallback && (o->flags & OPTION_REQUIRED));
	}
}

static void every_key_is_found_and_only_in_its_section(void **state)
{
	(void)state;
	for (unsigned i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (o->type == OPT_OVERRIDE)
			continue;
		assert_ptr_equal(option_find(o->section, o->kind, o->key), o);
	}
	assert_null(option_find(SECTION_STEP, STEP_PIN, "leave"));
	assert_null(option_find(SECTION_MACHINE, 0, "STEP.KEY"));
	assert_string_equal(option_find(SECTION_SETTING, 0, "vm.new_thing")->key, "vm.NAME");
	assert_string_equal(option_find(SECTION_SETTING, 0, "thp.a/b")->key, "thp.NAME");
}

static void settings_cannot_leave_their_folder(void **state)
{
	(void)state;
	assert_true(option_is_setting("vm.page-cluster"));
	assert_true(option_is_setting("thp.khugepaged/defrag"));
	assert_false(option_is_setting("vm.a/b"));
	assert_false(option_is_setting("thp.../enabled"));
	assert_false(option_is_setting("thp./enabled"));
	assert_false(option_is_setting("thp.a/"));
	assert_false(option_is_setting("thp."));
	assert_false(option_is_setting("kernel.panic"));
}

static void the_text_fits_80_columns_and_names_every_key(void **state)
{
	char *text = printed(CL_OPTIONS_TEXT);

	(void)state;
	for (const char *p = text; *p;) {
		size_t length = strcspn(p, "\n");

		assert_true(length <= 80);
		assert_true(!length || p[length - 1] != ' ');
		p += length + (p[length] == '\n');
	}
	for (unsigned i = 0; i < option_count; i++) {
		char line[128];

		snprintf(line, sizeof(line), "\n  %s", option_table[i].key);
		assert_non_null(strstr(text, line));
	}
	for (unsigned k = 0; k < STEP_KINDS; k++) {
		char line[128];

		snprintf(line, sizeof(line), "\n[step NAME] kind = %s\n", step_kind_name(k));
		assert_non_null(strstr(text, line));
	}
	free(text);
}

static void the_manual_has_an_item_for_every_row(void **state)
{
	char *text = printed(CL_OPTIONS_MAN);
	unsigned items = 0;

	(void)state;
	for (const char *p = text; (p = strstr(p, "\n.It Cm ")); p++)
		items++;
	assert_int_equal(items, option_count);
	free(text);
}

static const char *suggested(const char *word, const char *words)
{
	static char copy[64];
	struct suggestion s = {.word = word};

	suggestion_consider_words(&s, words, copy);
	return s.best ? s.best : "";
}

static void near_misses_are_suggested_and_others_are_not(void **state)
{
	(void)state;
	assert_string_equal(suggested("leav", "size|leave|node"), "leave");
	assert_string_equal(suggested("nodes", "mode|node"), "node");
	assert_string_equal(suggested("nide", "side|node"), "side"); /* the first of two */
	assert_string_equal(suggested("experimnet", "experiment"), "experiment");
	assert_string_equal(suggested("banana", "size|leave|node"), "");
	assert_string_equal(suggested("lxxve", "leave"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_explained_in_whole_sentences),
		cmocka_unit_test(every_default_is_a_value_of_its_key),
		cmocka_unit_test(every_key_is_found_and_only_in_its_section),
		cmocka_unit_test(settings_cannot_leave_their_folder),
		cmocka_unit_test(the_text_fits_80_columns_and_names_every_key),
		cmocka_unit_test(the_manual_has_an_item_for_every_row),
		cmocka_unit_test(near_misses_are_suggested_and_others_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
