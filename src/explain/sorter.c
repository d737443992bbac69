/* SPDX-License-Identifier: MIT */
#include "explain/evidence.h"
#include "explain/keyword.h"
#include "explain/section.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line longer than this is cut; none that is evidence comes near. */
#define LINE_MOST (64 * 1024)
/* Blank lines inside a table. */
#define BLANKS_MOST 2

struct sorter {
	struct evidence *e;
	int file;
	int line;
	const struct keywords *keywords;
	struct klog_reader *log;
	int log_until; /* lines up to here may belong to an open report */
	/* the table that is open */
	enum section section;
	char *text;
	size_t used, room;
	int first_line;
	unsigned blanks;
	char first_key[64];
	struct section_hints hints;
	char heading[160]; /* the last comment: it may say what the table is */
	int heading_line;
	int pool_next;      /* this line answers "cat .../nr_hugepages" */
	int numastat_until; /* rows of numastat up to here */
	bool saw_less;      /* "< name value": the output of diff */
	/* bytes of a line that has not ended */
	char *part;
	size_t part_used;
	size_t bytes, odd_bytes;
};

static void log_event(void *arg, struct klog_event *event)
{
	struct sorter *s = arg;

	s->e->file[s->file].kernel_log = true;
	evidence_event(s->e, s->file, event);
}

struct sorter *sorter_new(struct evidence *e, int file)
{
	struct sorter *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->e = e;
	s->file = file;
	if (!e->keywords)
		e->keywords = keywords_new();
	s->keywords = e->keywords;
	s->log = klog_reader_new(log_event, s);
	s->part = malloc(LINE_MOST);
	if (!s->keywords || !s->log || !s->part) {
		sorter_free(s);
		return NULL;
	}
	return s;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	klog_reader_free(s->log);
	free(s->part);
	free(s->text);
	free(s);
}

/* ---- tables ------------------------------------------------------------------------- */

static void close_section(struct sorter *s)
{
	if (s->section != SECTION_NONE)
		section_parse(s->e, s->section, &s->hints, s->text, s->used, s->file,
			      s->first_line);
	s->section = SECTION_NONE;
	s->used = 0;
	s->blanks = 0;
	memset(&s->hints, 0, sizeof(s->hints));
}

static void append(struct sorter *s, struct span line)
{
	size_t need = s->used + line.length + 1;

	if (need > SECTION_BYTES)
		return;
	if (need > s->room) {
		size_t room = s->room ? s->room * 2 : 16384;
		char *more;

		while (room < need)
			room *= 2;
		more = realloc(s->text, room);
		if (!more)
			return;
		s->text = more;
		s->room = room;
	}
	memcpy(s->text + s->used, line.at, line.length);
	s->text[s->used + line.length] = '\n';
	s->used = need;
}

static void open_section(struct sorter *s, enum section section, struct span line)
{
	close_section(s);
	s->section = section;
	s->first_line = s->line;
	section_key(section, line, s->first_key, sizeof(s->first_key));
	s->hints.changes = strstr(s->e->file[s->file].name, "diff") != NULL ||
			   strstr(s->e->file[s->file].name, "delta") != NULL;
	s->hints.clock = section_clock(span_text(s->e->file[s->file].name), true);
	if (s->heading_line && s->line - s->heading_line <= 3) {
		section_heading(&s->hints, span_text(s->heading));
		if (section == SECTION_VMSTAT) {
			s->first_line = s->heading_line;
			append(s, span_text(s->heading));
			for (int i = s->heading_line + 1; i < s->line; i++)
				append(s, span_text(""));
		}
	}
	s->heading_line = 0;
}

/* True when the line is of a table, which is opened, continued or begun anew. */
static bool table_line(struct sorter *s, struct span line, unsigned keywords)
{
	enum section section = section_of(line, s->section, keywords);
	char key[64];

	if (section == SECTION_NONE)
		return false;
	section_key(section, line, key, sizeof(key));
	if (section != s->section)
		open_section(s, section, line);
	else if (s->used && key[0] && !strcmp(key, s->first_key) && !s->hints.marks)
		open_section(s, section, line);
	if (!s->first_key[0])
		memcpy(s->first_key, key, sizeof(key));
	/* Blank lines count, so that line numbers stay true. */
	for (unsigned i = 0; i < s->blanks; i++)
		append(s, span_text(""));
	s->blanks = 0;
	section_hint(&s->hints, section, line);
	append(s, line);
	return true;
}

/* ---- lines -------------------------------------------------------------------------- */

static bool log_line(struct sorter *s, struct span line, unsigned keywords)
{
	if (!(keywords & KEYWORD_LOG) && s->line > s->log_until)
		return false;
	if (!klog_reader_line(s->log, line, s->line, (keywords & KEYWORD_BEGIN) != 0))
		return false;
	s->log_until = s->line + 80;
	return true;
}

static bool profile_line(struct sorter *s, struct span line, unsigned keywords)
{
	struct evidence *e = s->e;
	struct graph_row g;
	struct daemon_row d;
	struct klog_frame f;

	if ((keywords & KEYWORD_TRACE) && evidence_trace(e, s->file, s->line, line))
		return true;
	if ((keywords & KEYWORD_GRAPH) && graph_row_parse(line, &g)) {
		if (!evidence_stack(e, s->file, s->line, g.function))
			return false;
		if (function_parts(g.function) & 1u << SEEN_COMPACTION &&
		    g.ns > e->graph_longest_ns) {
			e->graph_longest_ns = g.ns;
			e->graph_file = s->file;
			e->graph_line = s->line;
		}
		return true;
	}
	if ((keywords & KEYWORD_PERCENT) && evidence_perf(e, s->file, s->line, line))
		return true;
	if ((keywords & KEYWORD_DAEMON) && daemon_row_parse(line, &d)) {
		evidence_daemon(e, s->file, s->line, &d);
		return true;
	}
	if ((keywords & KEYWORD_STACK) && klog_frame(line, &f))
		return evidence_stack(e, s->file, s->line, f.function);
	if (keywords & KEYWORD_FUNCTION)
		return stack_words(e, s->file, s->line, line);
	return false;
}

/* "Linux version 6.18.35-amd64 (...": /proc/version, and the first line of a log. */
static void kernel_line(struct sorter *s, struct span line)
{
	struct evidence *e = s->e;
	struct span rest, word;
	uint32_t version;

	if (!span_after(line, "Linux version ", &rest) || !span_word(&rest, &word) ||
	    word.length >= sizeof(e->kernel.release) || !kernel_version_parse(word, &version))
		return;
	span_put(word, e->kernel.release, sizeof(e->kernel.release));
	e->kernel.version = version;
	e->kernel.file = s->file;
	e->kernel.line = s->line;
}

static bool setting_line(struct sorter *s, struct span line, unsigned keywords)
{
	struct setting_line setting;
	struct pressure pressure;

	if (!(keywords & KEYWORD_SETTING))
		return false;
	if (!pressure_parse(line.at, line.length, &pressure, NULL) && pressure.some.present) {
		s->e->pressure.avg60 = pressure.some.avg60;
		s->e->pressure.file = s->file;
		s->e->pressure.line = s->line;
		return true;
	}
	kernel_line(s, line); /* says which kernel, and by itself nothing of memory */
	if (!setting_parse(line, &setting))
		return false;
	evidence_setting(s->e, s->file, s->line, &setting);
	return true;
}

static bool blank(struct span line)
{
	span_trim(&line);
	return !line.length || span_starts(line, "```") || span_is(line, ">");
}

static struct span unquote(const struct sorter *s, struct span line)
{
	struct span t = line;

	span_blanks(&t);
	if (!span_starts(t, ">") || s->saw_less)
		return line;
	while (span_skip(&t, ">"))
		span_skip(&t, " ");
	return t;
}

/*
 * What stands beside tables: numastat, whose rows look like vmstat's with two columns, and
 * the size of the pool of huge pages, which is of meminfo too. True: nothing else.
 */
static bool extra_line(struct sorter *s, struct span line, unsigned keywords)
{
	if ((keywords & KEYWORD_NODE) && span_find(line, "node0") && !span_find(line, ":") &&
	    !span_find(line, "/"))
		s->numastat_until = s->line + 8;
	if (s->line <= s->numastat_until && evidence_numastat(s->e, s->file, s->line, line))
		return true;
	if (!(keywords & KEYWORD_POOL))
		return false;
	if (span_find(line, "cat ") && span_find(line, "nr_hugepages"))
		s->pool_next = s->line + 1;
	if (keywords & KEYWORD_MEMINFO)
		evidence_pool(s->e, s->file, s->line, line);
	return false;
}

/* What grep puts in front when it reads several files. */
static struct span ungrep(struct span line)
{
	static const char *const files[] = {"/proc/vmstat:",       "/proc/buddyinfo:",
					    "/proc/meminfo:",      "/proc/zoneinfo:",
					    "/proc/pagetypeinfo:", "/proc/slabinfo:"};

	if (line.length && *line.at == '/')
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			span_skip(&line, files[i]);
	return line;
}

static void one_line(struct sorter *s, struct span line)
{
	unsigned keywords;
	bool found;

	s->line++;
	while (line.length && (line.at[line.length - 1] == '\r' || line.at[line.length - 1] == ' '))
		line.length--;
	if (blank(line)) {
		if (s->section != SECTION_NONE && ++s->blanks > BLANKS_MOST)
			close_section(s);
		return;
	}
	keywords = keywords_in(s->keywords, line.at, line.length);
	if (s->line == s->pool_next && evidence_pool_number(s->e, s->file, s->line, line)) {
		s->e->file[s->file].found++;
		return;
	}
	if (!keywords && s->section == SECTION_NONE && s->line > s->log_until &&
	    s->line > s->numastat_until) {
		if (*line.at == '#' || line.at[line.length - 1] == ':')
			goto heading;
		return;
	}
	if (span_starts(line, "< "))
		s->saw_less = true;
	line = ungrep(unquote(s, line));
	if (!line.length)
		return;
	if (extra_line(s, line, keywords)) {
		s->e->file[s->file].found++;
		return;
	}
	if (s->section != SECTION_NONE && table_line(s, line, keywords)) {
		s->e->file[s->file].found++;
		return;
	}
	found = log_line(s, line, keywords);
	if (found && (keywords & KEYWORD_LOG))
		evidence_raw(s->e, s->file, s->line, line);
	if (!found) {
		found = table_line(s, line, keywords);
		if (found) {
			s->e->file[s->file].found++;
			return;
		}
	}
	if (*line.at == '#' && s->section != SECTION_NONE)
		return; /* a comment inside of a table */
	close_section(s);
	if (!found)
		found = (keywords & KEYWORD_POOL) && evidence_pool(s->e, s->file, s->line, line);
	/* A line may be a setting as well as the size of the pool. */
	found |= setting_line(s, line, keywords) || profile_line(s, line, keywords);
	s->e->file[s->file].found += found;
	if (found)
		return;
heading:
	if (line.length < sizeof(s->heading)) {
		span_put(line, s->heading, sizeof(s->heading));
		s->heading_line = s->line;
	}
}

/* Does a file look like a kernel log, even when it says nothing about memory? */
static void note_log(struct sorter *s, struct span line)
{
	struct klog_prefix p;

	if (s->line > 200 || s->e->file[s->file].kernel_log)
		return;
	klog_strip(line, &p);
	if (p.kernel_log && p.has_time)
		s->e->file[s->file].kernel_log = true;
}

/* ---- bytes -------------------------------------------------------------------------- */

static bool binary(struct sorter *s, const char *bytes, size_t length)
{
	size_t looked = length < 65536 ? length : 65536;

	if (s->bytes > 1024 * 1024)
		return false;
	for (size_t i = 0; i < looked; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (!c)
			s->odd_bytes += 8;
		else if (c < ' ' && !strchr("\t\n\r\f\b\033", c))
			s->odd_bytes++;
	}
	s->bytes += length;
	return s->odd_bytes > 64 && s->odd_bytes > s->bytes / 100;
}

int sorter_bytes(struct sorter *s, const char *bytes, size_t length)
{
	if (binary(s, bytes, length))
		return -EINVAL;
	while (length) {
		const char *end = memchr(bytes, '\n', length);
		size_t n = end ? (size_t)(end - bytes) : length;

		if (!s->part_used && end) {
			note_log(s, span_of(bytes, n < LINE_MOST ? n : LINE_MOST));
			one_line(s, span_of(bytes, n < LINE_MOST ? n : LINE_MOST));
		} else {
			size_t room = LINE_MOST - s->part_used;
			size_t take = n < room ? n : room;

			memcpy(s->part + s->part_used, bytes, take);
			s->part_used += take;
			if (end) {
				note_log(s, span_of(s->part, s->part_used));
				one_line(s, span_of(s->part, s->part_used));
				s->part_used = 0;
			}
		}
		if (end)
			n++;
		bytes += n;
		length -= n;
	}
	return 0;
}

void sorter_end(struct sorter *s)
{
	if (s->part_used) {
		note_log(s, span_of(s->part, s->part_used));
		one_line(s, span_of(s->part, s->part_used));
	}
	s->part_used = 0;
	close_section(s);
	klog_reader_end(s->log);
	s->e->file[s->file].lines = (unsigned)s->line;
}
