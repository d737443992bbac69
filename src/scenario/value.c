/* SPDX-License-Identifier: MIT */
#include "scenario/value.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

_Static_assert(sizeof(enum fill_memory) == sizeof(unsigned), "OPT_ENUM stores an unsigned");
_Static_assert(sizeof(uint32_t) == sizeof(unsigned), "OPT_UINT serves both");

#define PPM       1000000u
#define ITEM_SIZE 192

bool value_continues(enum option_type type)
{
	switch (type) {
	case OPT_TEXT:
	case OPT_SIZES:
	case OPT_NODES:
	case OPT_UINTS:
	case OPT_MEASURES:
	case OPT_NUMBERS:
	case OPT_RELATION:
		return true;
	default:
		return false;
	}
}

static int wrong(const struct option *o, const char *text, struct cl_error *err)
{
	bool comment = strstr(text, " #") != NULL;

	if (!*text)
		cl_error(err, -EINVAL, "has no value");
	else
		cl_error(err, -EINVAL, "'%s' is not %s", text, option_type_help(o));
	if (comment)
		cl_error_hint(err, -EINVAL, "a comment behind a value starts with ';'");
	return -EINVAL;
}

static int outside(const struct option *o, const char *text, struct cl_error *err)
{
	char min[32], max[32];

	option_limit(o, o->min, min, sizeof(min));
	option_limit(o, o->max, max, sizeof(max));
	return cl_error(err, -EINVAL, "'%s' is outside %s to %s", text, min, max);
}

int value_item(const char **text, char *item, size_t size)
{
	const char *p = *text;
	size_t length = 0;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p)
		return 0;
	for (; *p && *p != ',' && !isspace((unsigned char)*p); p++) {
		if (length + 1 >= size)
			return -EINVAL;
		item[length++] = *p;
	}
	item[length] = '\0';
	while (isspace((unsigned char)*p))
		p++;
	if (*p == ',') {
		p++;
		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			return -EINVAL; /* nothing behind the last comma */
	}
	*text = p;
	return length ? 1 : -EINVAL;
}

static int number_parse(const char *text, uint64_t *out)
{
	uint64_t n = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++)
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		else if (__builtin_mul_overflow(n, 10, &n) ||
			 __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return -ERANGE;
	*out = n;
	return 0;
}

/* "12.5%" into parts per million; up to four decimals are whole. */
static int share_parse(const char *text, uint32_t *ppm)
{
	uint64_t n = 0, unit = PPM / 100;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*text); text++)
		if ((n = n * 10 + (uint64_t)(*text - '0')) > 100)
			return -ERANGE;
	n *= unit;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return -EINVAL;
		for (; isdigit((unsigned char)*text); text++) {
			unit /= 10;
			if (!unit)
				return -EINVAL;
			n += (uint64_t)(*text - '0') * unit;
		}
	}
	if (strcmp(text, "%"))
		return -EINVAL;
	*ppm = (uint32_t)n;
	return n > PPM ? -ERANGE : 0;
}

static int size_value(const struct option *o, const char *text, unsigned divisor, uint64_t *out,
		      struct cl_error *err)
{
	char buf[32], limit[32];
	int r = size_parse(text, out);

	if (r == -EINVAL)
		return wrong(o, text, err);
	if (r || *out < o->min || *out > o->max)
		return outside(o, text, err);
	if (o->align && *out % o->align)
		return cl_error(err, -EINVAL, "'%s' is not a multiple of %s", text,
				size_print(o->align, buf, sizeof(buf)));
	if (divisor > 1 && (o->flags & OPTION_SCALES)) {
		*out /= divisor;
		if (o->align)
			*out -= *out % o->align;
		if (*out < o->min)
			return cl_error(err, -EINVAL, "'%s' scaled by 1/%u is %s, below %s", text,
					divisor, size_print(*out, buf, sizeof(buf)),
					size_print(o->min, limit, sizeof(limit)));
	}
	return 0;
}

static int amount_value(const struct option *o, const char *text, unsigned divisor,
			struct amount *out, struct cl_error *err)
{
	out->set = true;
	if (!strchr(text, '%'))
		return size_value(o, text, divisor, &out->bytes, err);
	switch (share_parse(text, &out->ppm_of_free)) {
	case -EINVAL:
		return wrong(o, text, err);
	case -ERANGE:
		return cl_error(err, -EINVAL, "'%s' is more than 100%%", text);
	}
	if (!out->ppm_of_free)
		return cl_error(err, -EINVAL, "'%s' is nothing", text);
	return 0;
}

static int number_value(const struct option *o, const char *text, unsigned divisor, uint64_t *out,
			struct cl_error *err)
{
	int r = number_parse(text, out);

	if (r == -EINVAL)
		return wrong(o, text, err);
	if (r || *out < o->min || *out > o->max)
		return outside(o, text, err);
	if (divisor > 1 && (o->flags & OPTION_SCALES)) {
		*out /= divisor;
		if (*out < o->min)
			return cl_error(err, -EINVAL, "'%s' scaled by 1/%u is below %" PRIu64, text,
					divisor, o->min);
	}
	return 0;
}

/* "any", "all" or a number. */
static int node_value(const struct option *o, const char *text, int *out, struct cl_error *err)
{
	uint64_t n = 0;
	int r;

	if (o->words && !strcmp(text, o->words)) {
		*out = PLAN_NODE_ANY;
		return 0;
	}
	r = number_parse(text, &n);
	if (r == -EINVAL) {
		wrong(o, text, err);
		if (o->words)
			cl_error_hint(err, -EINVAL, "or the word '%s'", o->words);
		return -EINVAL;
	}
	if (r || n >= PLAN_MAX_NODES)
		return cl_error(err, -EINVAL, "'%s' is outside 0 to %d", text, PLAN_MAX_NODES - 1);
	*out = (int)n;
	return 0;
}

static int word_value(const struct option *o, const char *text, unsigned *out, struct cl_error *err)
{
	struct suggestion s = {.word = text};
	char copy[64], list[256] = "";
	int n = option_word(o->words, text);

	if (n >= 0) {
		*out = (unsigned)n + o->word_base;
		return 0;
	}
	for (const char *p = o->words; *p;) {
		size_t used = strlen(list), length = strcspn(p, "|");

		snprintf(list + used, sizeof(list) - used, "%s%.*s", used ? ", " : "", (int)length,
			 p);
		p += length + (p[length] == '|');
	}
	if (!*text)
		cl_error(err, -EINVAL, "has no value");
	else
		cl_error(err, -EINVAL, "'%s' is not one of %s", text, list);
	suggestion_consider_words(&s, o->words, copy);
	if (s.best)
		cl_error_hint(err, -EINVAL, "did you mean '%s'?", s.best);
	else if (strstr(text, " #"))
		cl_error_hint(err, -EINVAL, "a comment behind a value starts with ';'");
	else if (!*text)
		cl_error_hint(err, -EINVAL, "one of %s", list);
	return -EINVAL;
}

/* Settings are kept as text, but those with a row of their own are known well enough to check. */
static int setting_value(const struct option *o, const char *text, struct cl_error *err)
{
	unsigned word;
	uint64_t number;

	if (!*text)
		return cl_error(err, -EINVAL, "has no value");
	if (o->words)
		return word_value(o, text, &word, err);
	if (o->max) {
		struct option plain = *o;

		plain.type = OPT_UINT64;
		return number_value(&plain, text, 1, &number, err);
	}
	return 0;
}

/* Lists of sizes, nodes and weights: up to PLAN_MAX_NODES items, each by `one`. */
static int list_value(const struct option *o, const char *text, unsigned divisor, char *base,
		      struct cl_error *err)
{
	struct node_list nodes = {0};
	uint64_t sizes[PLAN_MAX_NODES] = {0}, number;
	uint32_t weights[PLAN_MAX_NODES] = {0};
	const char *p = text;
	char item[ITEM_SIZE];
	unsigned n = 0;
	int r;

	for (; (r = value_item(&p, item, sizeof(item))) > 0; n++) {
		if (n == PLAN_MAX_NODES)
			return cl_error(err, -EINVAL, "has more than %d items", PLAN_MAX_NODES);
		if (o->type == OPT_SIZES) {
			r = size_value(o, item, divisor, &sizes[n], err);
		} else if (o->type == OPT_UINTS) {
			r = number_value(o, item, 1, &number, err);
			weights[n] = r ? 0 : (uint32_t)number;
		} else {
			r = node_value(o, item, &nodes.node[n], err);
			for (unsigned i = 0; !r && i < n; i++)
				if (nodes.node[i] == nodes.node[n])
					return cl_error(err, -EINVAL, "names node %s twice", item);
		}
		if (r)
			return r;
	}
	if (r || !n)
		return wrong(o, text, err);
	if (!base)
		return 0;
	nodes.count = n;
	if (o->type == OPT_SIZES) {
		memcpy(base + o->offset, sizes, sizeof(sizes));
		*(unsigned *)(void *)(base + o->count_offset) = n;
	} else if (o->type == OPT_UINTS) {
		memcpy(base + o->offset, weights, sizeof(weights));
	} else {
		memcpy(base + o->offset, &nodes, sizeof(nodes));
	}
	return 0;
}

static int measures_value(const struct option *o, const char *text, char *base,
			  struct cl_error *err)
{
	const char *p = text;
	char item[ITEM_SIZE], **list = NULL;
	unsigned n = 0;
	int r;

	while ((r = value_item(&p, item, sizeof(item))) > 0) {
		char **more;

		if (!base)
			continue;
		more = realloc(list, (n + 1) * sizeof(*list));
		if (more)
			list = more;
		if (!more || !(list[n] = strdup(item))) {
			r = -ENOMEM;
			break;
		}
		n++;
	}
	if (!r && base) {
		*(char ***)(void *)(base + o->offset) = list;
		*(unsigned *)(void *)(base + o->count_offset) = n;
		return 0;
	}
	while (n)
		free(list[--n]);
	free(list);
	if (r == -ENOMEM)
		return cl_error(err, r, "out of memory");
	return r ? wrong(o, text, err) : 0;
}

static int text_value(const struct option *o, const char *text, char *base, struct cl_error *err)
{
	char *copy;

	if (!*text || (o->type == OPT_NAME && strpbrk(text, " \t")))
		return wrong(o, text, err);
	if (o->type == OPT_PATH) {
		if ((strncmp(text, "/proc/", 6) && strncmp(text, "/sys/", 5)) ||
		    strpbrk(text, " \t") || strstr(text, "/../") ||
		    !strcmp(text + strlen(text) - 3, "/.."))
			return wrong(o, text, err);
	}
	if (!base)
		return 0;
	copy = strdup(text);
	if (!copy)
		return cl_error(err, -ENOMEM, "out of memory");
	*(char **)(void *)(base + o->offset) = copy;
	return 0;
}

int value_numbers(const char *text, double *out, unsigned room, unsigned *count,
		  struct cl_error *err)
{
	const char *p = text;
	char item[ITEM_SIZE];
	int r;

	*count = 0;
	while ((r = value_item(&p, item, sizeof(item))) > 0) {
		uint64_t ns;
		char *end;

		if (*count == room)
			return cl_error(err, -EINVAL, "has more than %u numbers", room);
		/* strtod() alone would take hexadecimals, infinities and NaN. */
		if (strspn(item, "0123456789.-") == strlen(item)) {
			out[*count] = strtod(item, &end);
			if (*end || end == item)
				break;
		} else if (!duration_parse(item, &ns)) {
			out[*count] = (double)ns;
		} else {
			break;
		}
		++*count;
	}
	if (r || !*count)
		return cl_error(err, -EINVAL,
				"'%s' is not a list of numbers such as 649, 1473 or 118.6ms", text);
	return 0;
}

int value_convert(const struct option *o, const char *text, unsigned divisor, void *base,
		  struct cl_error *err)
{
	union {
		struct amount amount;
		uint64_t u64;
		uint32_t u32;
		int node;
	} v = {0};
	size_t size = 0;
	int r = 0;

	switch (o->type) {
	case OPT_AMOUNT:
		v.amount = (struct amount){0};
		r = amount_value(o, text, divisor, &v.amount, err);
		size = sizeof(v.amount);
		break;
	case OPT_SIZE:
		r = size_value(o, text, divisor, &v.u64, err);
		size = sizeof(v.u64);
		break;
	case OPT_UINT64:
		r = number_value(o, text, divisor, &v.u64, err);
		size = sizeof(v.u64);
		break;
	case OPT_UINT:
		r = number_value(o, text, divisor, &v.u64, err);
		v.u32 = (uint32_t)v.u64;
		size = sizeof(v.u32);
		break;
	case OPT_BOOL:
		return word_value(o, text, base ? base : &v.u32, err);
	case OPT_ENUM:
		r = word_value(o, text, &v.u32, err);
		size = sizeof(v.u32);
		break;
	case OPT_DURATION:
		r = duration_parse(text, &v.u64);
		if (r == -EINVAL)
			return wrong(o, text, err);
		if (r || v.u64 < o->min || v.u64 > o->max)
			return outside(o, text, err);
		size = sizeof(v.u64);
		break;
	case OPT_SHARE:
		r = share_parse(text, &v.u32);
		if (r == -EINVAL)
			return wrong(o, text, err);
		if (r || v.u32 < o->min)
			return cl_error(err, -EINVAL, "'%s' is outside 0.0001%% to 100%%", text);
		size = sizeof(v.u32);
		break;
	case OPT_NODE:
		r = node_value(o, text, &v.node, err);
		size = sizeof(v.node);
		break;
	case OPT_SIZES:
	case OPT_UINTS:
	case OPT_NODES:
		return list_value(o, text, divisor, base, err);
	case OPT_MEASURES:
		return measures_value(o, text, base, err);
	case OPT_TEXT:
	case OPT_NAME:
	case OPT_PATH:
		return text_value(o, text, base, err);
	case OPT_SETTING:
		return setting_value(o, text, err);
	case OPT_STEP:
	case OPT_RELATION:
	case OPT_NUMBERS:
		return *text ? 0 : wrong(o, text, err);
	case OPT_OVERRIDE:
		return -EINVAL;
	}
	if (!r && base)
		memcpy((char *)base + o->offset, &v, size);
	return r;
}
