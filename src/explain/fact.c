/* SPDX-License-Identifier: MIT */
#include "explain/fact.h"
#include "util/util.h"
#include <string.h>

const struct fact_definition fact_definitions[FACT_IDS] = {
#define FACT(id, name, unit, label) [FACT_##id] = {name, sizeof(name) - 1, UNIT_##unit, label},
#include "explain/fact_table.h"
#undef FACT
};

void fact_clear(struct facts *f)
{
	memset(f, 0, sizeof(*f));
}

void fact_number(struct facts *f, enum fact_id id, double value, int file, int line)
{
	struct fact *to = &f->fact[id];

	to->known = true;
	to->number = value;
	to->file = file;
	to->line = line;
}

void fact_flag(struct facts *f, enum fact_id id, bool value, int file, int line)
{
	fact_number(f, id, value, file, line);
}

void fact_text(struct facts *f, enum fact_id id, const char *text, int file, int line)
{
	struct fact *to = &f->fact[id];

	if (!text || !*text)
		return;
	fact_number(f, id, 1, file, line);
	snprintf(to->text, sizeof(to->text), "%s", text);
	for (char *c = to->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

double fact_value(const struct facts *f, enum fact_id id, double otherwise)
{
	return f->fact[id].known ? f->fact[id].number : otherwise;
}

enum fact_id fact_find(const char *name, size_t length)
{
	for (unsigned i = 0; i < FACT_IDS; i++)
		if (fact_definitions[i].length == length && fact_definitions[i].name[0] == *name &&
		    !memcmp(fact_definitions[i].name, name, length))
			return (enum fact_id)i;
	return FACT_IDS;
}

static char *print_bytes(double bytes, char *buf, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	unsigned u = 0;

	while (bytes >= 1024 && u < 4) {
		bytes /= 1024;
		u++;
	}
	if (bytes >= 100 || bytes == (double)(long long)bytes)
		snprintf(buf, size, "%.0f %s", bytes, units[u]);
	else
		snprintf(buf, size, "%.1f %s", bytes, units[u]);
	return buf;
}

/* Digits in groups of three from five digits on. */
static char *print_count(double v, char *buf, size_t size)
{
	char digits[40];
	size_t n, used = 0;

	if (!(v < 1e15 && v > -1e15))
		return snprintf(buf, size, "%g", v), buf;
	snprintf(digits, sizeof(digits), "%.0f", v);
	n = strlen(digits);
	if (n < 5)
		return snprintf(buf, size, "%s", digits), buf;
	for (size_t i = 0; i < n && used + 2 < size; i++) {
		if (i && digits[i - 1] != '-' && (n - i) % 3 == 0)
			buf[used++] = ',';
		if (used + 1 < size)
			buf[used++] = digits[i];
	}
	buf[used] = '\0';
	return buf;
}

char *fact_print(const struct facts *f, enum fact_id id, char *buf, size_t size)
{
	double v = f->fact[id].number;

	if (!f->fact[id].known)
		return snprintf(buf, size, "not known"), buf;
	switch (fact_definitions[id].unit) {
	case UNIT_TEXT:
		snprintf(buf, size, "%s", f->fact[id].text);
		break;
	case UNIT_FLAG:
	case UNIT_HIDDEN:
		snprintf(buf, size, "%s", v != 0 ? "yes" : "no");
		break;
	case UNIT_BYTES:
		print_bytes(v, buf, size);
		break;
	case UNIT_RATIO:
		if (v > 0 && v < 0.0005)
			snprintf(buf, size, "under 0.1 %%");
		else
			snprintf(buf, size, v != 0 && v < 0.1 ? "%.1f %%" : "%.0f %%", v * 100);
		break;
	case UNIT_TIMES:
		if (v > 1e30)
			snprintf(buf, size, "infinite");
		else
			snprintf(buf, size, v < 10 ? "%.2f" : "%.0f", v);
		break;
	case UNIT_NS:
		duration_print(v, buf, size);
		break;
	default:
		print_count(v, buf, size);
	}
	return buf;
}

char *template_fill(const char *text, const struct facts *f, char *buf, size_t size, bool *missing,
		    bool *bad)
{
	size_t used = 0;

	*missing = *bad = false;
	while (*text && used + 1 < size) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;
		enum fact_id id;

		if (!end) {
			buf[used++] = *text++;
			continue;
		}
		id = fact_find(text + 1, (size_t)(end - text - 1));
		if (id == FACT_IDS) {
			*bad = true;
			buf[used] = '\0';
			return buf;
		}
		*missing |= !f->fact[id].known;
		fact_print(f, id, buf + used, size - used);
		used += strlen(buf + used);
		text = end + 1;
	}
	buf[used] = '\0';
	return buf;
}
