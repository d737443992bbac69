/* SPDX-License-Identifier: MIT */
#include "test_backend.h"
#include "backend/kernel_apt.h"

static void deb822_gives_both_archives(void **state)
{
	struct apt_sources s = {0};

	(void)state;
	apt_parse_deb822("# a comment\n"
			 "Types: deb deb-src\n"
			 "# http://old.example.org/debian\n"
			 "URIs: http://mirror.example.org/debian\n"
			 "Suites: bookworm bookworm-updates\n"
			 "Components: main\n"
			 "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
			 "\n"
			 "Types: deb\n"
			 "URIs: http://mirror.example.org/debian-security/\n"
			 "Suites: bookworm-security\n"
			 "Components: main contrib\n"
			 "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
			 &s);
	assert_string_equal(s.main.uri, "http://mirror.example.org/debian");
	assert_string_equal(s.main.keyring, "/usr/share/keyrings/debian-archive-keyring.gpg");
	assert_string_equal(s.security.uri, "http://mirror.example.org/debian-security/");
}

static void deb822_takes_continuation_lines_and_any_case(void **state)
{
	struct apt_sources s = {0};

	(void)state;
	apt_parse_deb822("TYPES: deb\r\n"
			 "uris:\r\n"
			 " mirror+file:///etc/apt/mirrors/debian.list\r\n"
			 "Suites:\r\n"
			 " trixie\r\n"
			 "# between\r\n"
			 " trixie-backports\r\n"
			 "Components:\r\n"
			 " contrib\r\n"
			 "\tmain\r\n",
			 &s);
	assert_string_equal(s.main.uri, "mirror+file:///etc/apt/mirrors/debian.list");
	assert_string_equal(s.main.keyring, "");
	assert_string_equal(s.security.uri, "");
}

static void one_line_format_gives_both_archives(void **state)
{
	struct apt_sources s = {0};

	(void)state;
	apt_parse_list("deb cdrom:[Debian GNU/Linux 12]/ bookworm main\n"
		       "# deb http://off.example.org/debian bookworm main\n"
		       "deb-src http://src.example.org/debian bookworm main\n"
		       "  deb [ arch=amd64 signed-by=/k/debian-archive-keyring.pgp ] "
		       "https://mirror.example.org/pub/debian/ bookworm main # ours\n"
		       "deb http://sec.example.org/debian-security bookworm-security main\n",
		       &s);
	assert_string_equal(s.main.uri, "https://mirror.example.org/pub/debian/");
	assert_string_equal(s.main.keyring, "/k/debian-archive-keyring.pgp");
	assert_string_equal(s.security.uri, "http://sec.example.org/debian-security");
}

static void other_archives_are_never_taken(void **state)
{
	static const char *const others[] = {
		/* by component, by key, by path, switched off */
		"Types: deb\nURIs: http://x.example.org/debian\nSuites: bookworm\n"
		"Components: stable\n",
		"Types: deb\nURIs: http://x.example.org/node\nSuites: nodistro\nComponents: main\n"
		"Signed-By: /usr/share/keyrings/node.gpg\n",
		"Types: deb\nURIs: http://x.example.org/ubuntu\nSuites: noble\nComponents: main\n",
		"Enabled: no\nTypes: deb\nURIs: http://x.example.org/debian\nSuites: bookworm\n"
		"Components: main\n",
		"Types: deb-src\nURIs: http://x.example.org/debian\nSuites: bookworm\n"
		"Components: main\n",
		"Types: deb\nURIs: http://x.example.org/notdebian\nSuites: bookworm\n"
		"Components: main\n",
		"Types: deb\nURIs: debian\nSuites: bookworm\nComponents: main\n",
		"",
		"\n\n",
		"Types",
		":",
		" deb\n",
		"Suites: a\nURIs",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct apt_sources s = {0};

		apt_parse_deb822(others[i], &s);
		if (s.main.uri[0] || s.security.uri[0])
			fail_msg("took source %u: %s", i, s.main.uri);
		apt_parse_list(others[i], &s);
		assert_string_equal(s.main.uri, "");
	}
}

static void archive_with_debians_key_wins(void **state)
{
	struct apt_sources s = {0};

	(void)state;
	apt_parse_list("deb http://first.example.org/debian bookworm main\n", &s);
	apt_parse_deb822("Types: deb\nURIs: http://third.example.org/debian\nSuites: bookworm\n"
			 "Components: main\nSigned-By: /usr/share/keyrings/third.gpg\n",
			 &s);
	assert_string_equal(s.main.uri, "http://first.example.org/debian");
	apt_parse_list("deb [signed-by=/k/debian-archive-keyring.gpg] "
		       "http://own.example.org/mirror bookworm main\n",
		       &s);
	assert_string_equal(s.main.uri, "http://own.example.org/mirror");
}

static void source_line_names_archive_and_key(void **state)
{
	struct apt_sources s = {
		.main = {"http://m.example.org/debian", "/k/debian-archive-keyring.gpg", 6},
		.security = {"http://s.example.org/debian-security", "/k/other.gpg", 6},
	};
	char line[1024];

	(void)state;
	assert_int_equal(apt_source_line(&s, "trixie-backports", line, sizeof(line)), 0);
	assert_string_equal(line, "deb [signed-by=/k/debian-archive-keyring.gpg] "
				  "http://m.example.org/debian trixie-backports main");
	assert_int_equal(apt_source_line(&s, "bookworm-security", line, sizeof(line)), 0);
	assert_string_equal(line, "deb [signed-by=/k/other.gpg] "
				  "http://s.example.org/debian-security bookworm-security main");
}

static void security_archive_is_looked_for_beside_the_main_one(void **state)
{
	struct apt_sources s = {.main = {"http://m.example.org/debian/", "/k", 6}}, none = {0};
	char line[1024];

	(void)state;
	assert_int_equal(apt_source_line(&s, "bookworm-security", line, sizeof(line)), 0);
	assert_string_equal(
		line,
		"deb [signed-by=/k] http://m.example.org/debian-security bookworm-security main");
	assert_int_equal(apt_source_line(&none, "bookworm-security", line, sizeof(line)), -ENOENT);
	assert_int_equal(apt_source_line(&none, "trixie-backports", line, sizeof(line)), -ENOENT);
}

static const char names[] = "linux-base-7.3.4+deb13-cloud-amd64\n"
			    "linux-binary-7.3.4+deb13-cloud-amd64\n"
			    "linux-binary-7.3.10+deb13-cloud-amd64\n"
			    "linux-binary-7.3.9+deb13-cloud-amd64\n"
			    "linux-binary-7.3.11+deb13-amd64\n"
			    "linux-binary-7.30.1+deb13-cloud-amd64\n"
			    "linux-image-7.3.12+deb13-cloud-amd64\n"
			    "linux-image-7.3.12+deb13-cloud-amd64-dbg\n"
			    "linux-image-6.12-cloud-amd64\n"
			    "linux-image-6.12.99+deb12-cloud-amd64\n"
			    "linux-image-6.12.117+deb12-cloud-amd64\n"
			    "linux-image-6.12.117+deb12-cloud-amd64-unsigned\n"
			    "linux-image-6.1.0-9-cloud-amd64\n"
			    "linux-image-6.1.0-57-cloud-amd64\n"
			    "linux-image-cloud-amd64\n";

static void choice_is_the_preferred_release_else_the_newest(void **state)
{
	static const struct {
		const char *version, *preferred, *package;
	} cases[] = {
		{"7.3", NULL, "linux-binary-7.3.10+deb13-cloud-amd64"},
		{"7.3", "7.3.4+deb13-cloud-amd64", "linux-binary-7.3.4+deb13-cloud-amd64"},
		{"7.3", "7.3.5+deb13-cloud-amd64", "linux-binary-7.3.10+deb13-cloud-amd64"},
		{"7.3.9", "7.3.4+deb13-cloud-amd64", "linux-binary-7.3.9+deb13-cloud-amd64"},
		{"7.3.1", NULL, NULL},
		/* The image may still lie in linux-image, but linux-binary comes first. */
		{"7.3.12", NULL, "linux-image-7.3.12+deb13-cloud-amd64"},
		{"7.30", NULL, "linux-binary-7.30.1+deb13-cloud-amd64"},
		{"7.3.4+deb13-cloud-amd64", NULL, "linux-binary-7.3.4+deb13-cloud-amd64"},
		{"6.12", NULL, "linux-image-6.12.117+deb12-cloud-amd64"},
		{"6.1", NULL, "linux-image-6.1.0-57-cloud-amd64"},
		{"6.13", NULL, NULL},
		{"5", NULL, NULL},
	};
	char package[200];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = apt_choose(names, cases[i].version, cases[i].preferred, package,
				   sizeof(package));

		assert_int_equal(r, cases[i].package ? 0 : -ENOENT);
		assert_string_equal(package, cases[i].package ? cases[i].package : "");
	}
}

static void version_matches_whole_numbers_only(void **state)
{
	(void)state;
	assert_true(release_matches("7.3.4+deb13-cloud-amd64", "7.3"));
	assert_true(release_matches("7.3.4+deb13-cloud-amd64", "7.3.4"));
	assert_true(release_matches("7.3.4", "7.3.4"));
	assert_false(release_matches("7.30.1", "7.3"));
	assert_false(release_matches("7.3.40", "7.3.4"));
	assert_false(release_matches("7.3", "7.3.4"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deb822_gives_both_archives),
		cmocka_unit_test(deb822_takes_continuation_lines_and_any_case),
		cmocka_unit_test(one_line_format_gives_both_archives),
		cmocka_unit_test(other_archives_are_never_taken),
		cmocka_unit_test(archive_with_debians_key_wins),
		cmocka_unit_test(source_line_names_archive_and_key),
		cmocka_unit_test(security_archive_is_looked_for_beside_the_main_one),
		cmocka_unit_test(choice_is_the_preferred_release_else_the_newest),
		cmocka_unit_test(version_matches_whole_numbers_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
