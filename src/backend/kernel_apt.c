/* SPDX-License-Identifier: MIT */
#include "backend/kernel_apt.h"
#include "util/util.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEFAULT_KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"

/* What one source offers, in words as both formats write them. */
struct stanza {
	bool binary;  /* has type "deb" */
	bool enabled; /* no "Enabled: no" */
	bool main;    /* has component "main" */
	bool plain;   /* has a suite of the main archive */
	bool security;
	char uri[512];
	char keyring[256];
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* The last part of the URI tells a Debian mirror from most third-party archives. */
static bool uri_names(const char *uri, const char *name)
{
	char part[512];
	size_t n = strlen(uri), m = strlen(name);

	while (n && uri[n - 1] == '/')
		n--;
	snprintf(part, sizeof(part), "%.*s", (int)n, uri);
	/* mirror+file:///etc/apt/mirrors/debian.list */
	if (ends_with(part, ".list"))
		part[strlen(part) - 5] = '\0';
	n = strlen(part);
	return n > m && ends_with(part, name) && part[n - m - 1] == '/';
}

static void archive_offer(struct apt_archive *best, const struct stanza *s, const char *name)
{
	int score = 0;

	if (strstr(s->keyring, "debian-archive"))
		score += 4;
	else if (s->keyring[0])
		score -= 2;
	if (uri_names(s->uri, name))
		score += 2;
	if (score <= 0 || score <= best->score)
		return;
	snprintf(best->uri, sizeof(best->uri), "%s", s->uri);
	snprintf(best->keyring, sizeof(best->keyring), "%s", s->keyring);
	best->score = score;
}

static void stanza_end(struct stanza *s, struct apt_sources *sources)
{
	if (s->binary && s->enabled && s->main && s->uri[0] && strncmp(s->uri, "cdrom:", 6)) {
		if (s->plain)
			archive_offer(&sources->main, s, "debian");
		if (s->security)
			archive_offer(&sources->security, s, "debian-security");
	}
	*s = (struct stanza){.enabled = true};
}

static void stanza_suite(struct stanza *s, const char *suite)
{
	if (ends_with(suite, "-security") || ends_with(suite, "/updates"))
		s->security = true;
	else
		s->plain = true;
}

/* Only a file counts: an inline key or a fingerprint cannot be handed on in one line. */
static void stanza_keyring(struct stanza *s, const char *value)
{
	if (value[0] == '/')
		snprintf(s->keyring, sizeof(s->keyring), "%s", value);
}

/* Options of a one-line source, "[a=b signed-by=/file]"; returns what follows them. */
static char *list_options(char *p, struct stanza *s)
{
	char *end, *save, *word;

	p += strspn(p, " \t");
	if (*p != '[')
		return p;
	end = strchr(p, ']');
	if (!end)
		return p + strlen(p);
	*end = '\0';
	for (word = strtok_r(p + 1, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
		if (!strncasecmp(word, "signed-by=", 10))
			stanza_keyring(s, word + 10);
	return end + 1;
}

static void list_line(char *line, struct apt_sources *sources)
{
	struct stanza s = {.enabled = true};
	char *save, *word;

	line[strcspn(line, "#\r")] = '\0';
	line += strspn(line, " \t");
	if (strncmp(line, "deb", 3) || !isspace((unsigned char)line[3]))
		return;
	s.binary = true;
	line = list_options(line + 3, &s);
	word = strtok_r(line, " \t", &save);
	if (!word)
		return;
	snprintf(s.uri, sizeof(s.uri), "%s", word);
	word = strtok_r(NULL, " \t", &save);
	if (!word)
		return;
	stanza_suite(&s, word);
	while ((word = strtok_r(NULL, " \t", &save)))
		if (!strcmp(word, "main"))
			s.main = true;
	stanza_end(&s, sources);
}

/* Call `each` for every line of a copy of the text. */
static void for_lines(const char *text, void (*each)(char *line, void *arg), void *arg)
{
	char *copy = strdup(text), *next;

	for (char *line = copy; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		each(line, arg);
	}
	free(copy);
}

static void list_each(char *line, void *arg)
{
	list_line(line, arg);
}

void apt_parse_list(const char *text, struct apt_sources *sources)
{
	for_lines(text, list_each, sources);
}

struct deb822 {
	struct apt_sources *sources;
	struct stanza stanza;
	char field[32]; /* that a continuation line belongs to */
};

static void deb822_words(struct deb822 *d, char *value)
{
	struct stanza *s = &d->stanza;
	char *save, *word;

	for (word = strtok_r(value, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save)) {
		if (!strcasecmp(d->field, "Types"))
			s->binary |= !strcmp(word, "deb");
		else if (!strcasecmp(d->field, "URIs") && !s->uri[0])
			snprintf(s->uri, sizeof(s->uri), "%s", word);
		else if (!strcasecmp(d->field, "Suites"))
			stanza_suite(s, word);
		else if (!strcasecmp(d->field, "Components"))
			s->main |= !strcmp(word, "main");
		else if (!strcasecmp(d->field, "Enabled"))
			s->enabled = !strcasecmp(word, "yes") || !strcasecmp(word, "true");
		else if (!strcasecmp(d->field, "Signed-By"))
			stanza_keyring(s, word);
	}
}

static void deb822_line(char *line, void *arg)
{
	struct deb822 *d = arg;
	char *colon;

	if (line[0] == '#')
		return;
	if (line[strspn(line, " \t\r")] == '\0') {
		stanza_end(&d->stanza, d->sources);
		d->field[0] = '\0';
		return;
	}
	if (line[0] == ' ' || line[0] == '\t') {
		deb822_words(d, line);
		return;
	}
	colon = strchr(line, ':');
	if (!colon)
		return;
	*colon = '\0';
	snprintf(d->field, sizeof(d->field), "%s", line);
	deb822_words(d, colon + 1);
}

void apt_parse_deb822(const char *text, struct apt_sources *sources)
{
	struct deb822 d = {.sources = sources, .stanza = {.enabled = true}};

	for_lines(text, deb822_line, &d);
	stanza_end(&d.stanza, sources);
}

static void apt_read_file(const char *directory, const char *name, struct apt_sources *sources)
{
	char *path = format("%s/%s", directory, name), *text;

	if (path && file_read(path, &text, NULL) == 0) {
		if (ends_with(name, ".sources"))
			apt_parse_deb822(text, sources);
		else if (ends_with(name, ".list"))
			apt_parse_list(text, sources);
		free(text);
	}
	free(path);
}

void apt_read(const char *directory, struct apt_sources *sources)
{
	char *parts = format("%s/sources.list.d", directory);
	struct dirent **entry;
	int n = parts ? scandir(parts, &entry, NULL, alphasort) : -1;

	*sources = (struct apt_sources){0};
	apt_read_file(directory, "sources.list", sources);
	for (int i = 0; i < n; i++) {
		apt_read_file(parts, entry[i]->d_name, sources);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	free(parts);
}

int apt_source_line(const struct apt_sources *sources, const char *suite, char *line, size_t size)
{
	bool security = ends_with(suite, "-security");
	const struct apt_archive *a = security ? &sources->security : &sources->main;
	const char *beside = "", *keyring;
	int length;

	if (!a->uri[0] && security) {
		a = &sources->main;
		beside = "-security";
	}
	if (!a->uri[0])
		return -ENOENT;
	length = (int)strlen(a->uri);
	while (*beside && length && a->uri[length - 1] == '/')
		length--;
	keyring = a->keyring;
	if (!keyring[0] && access(DEFAULT_KEYRING, R_OK) == 0)
		keyring = DEFAULT_KEYRING;
	snprintf(line, size, "deb %s%s%s%.*s%s %s main", keyring[0] ? "[signed-by=" : "", keyring,
		 keyring[0] ? "] " : "", length, a->uri, beside, suite);
	return 0;
}

bool release_matches(const char *release, const char *version)
{
	size_t n = strlen(version);

	return !strncmp(release, version, n) && !isdigit((unsigned char)release[n]);
}

/* Where an image lies, best first: newer Debian kernels keep it in a package of its own. */
static const char *const package_prefix[] = {"linux-binary-", "linux-image-"};

/* The release a package carries an image of, or NULL when it is no such package. */
static const char *package_release(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(name, prefix, n) || !isdigit((unsigned char)name[n]))
		return NULL;
	/* Excludes -dbg, -unsigned (the same image) and the meta-packages ("6.12-cloud"). */
	if (!ends_with(name, "-cloud-amd64") || strchr(name + n, '.') == strrchr(name + n, '.'))
		return NULL;
	return name + n;
}

struct choice {
	const char *version, *preferred, *prefix;
	char *package;
	size_t size;
};

static void choice_line(char *line, void *arg)
{
	struct choice *c = arg;
	const char *release = package_release(line, c->prefix);
	size_t n = strlen(c->prefix);

	if (!release || !release_matches(release, c->version))
		return;
	if (c->package[0]) {
		const char *best = c->package + n;

		if (c->preferred && !strcmp(best, c->preferred))
			return;
		if (!(c->preferred && !strcmp(release, c->preferred)) &&
		    strverscmp(release, best) <= 0)
			return;
	}
	snprintf(c->package, c->size, "%s", line);
}

int apt_choose(const char *names, const char *version, const char *preferred, char *package,
	       size_t size)
{
	struct choice c = {.version = version,
			   .preferred = preferred,
			   .package = package,
			   .size = size};

	package[0] = '\0';
	for (unsigned i = 0; i < sizeof(package_prefix) / sizeof(package_prefix[0]); i++) {
		c.prefix = package_prefix[i];
		for_lines(names, choice_line, &c);
		if (package[0])
			return 0;
	}
	return -ENOENT;
}
