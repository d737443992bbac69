/* SPDX-License-Identifier: MIT */
#include "util/util.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * "12.5" into whole + numerator/denominator without floating point, so that a size means
 * the same on every machine. Leaves *text behind the number.
 */
static int decimal_parse(const char **text, uint64_t *whole, uint64_t *numerator,
			 uint64_t *denominator)
{
	const char *p = *text;

	*whole = *numerator = 0;
	*denominator = 1;
	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(*whole, 10, whole) ||
		    __builtin_add_overflow(*whole, (uint64_t)(*p - '0'), whole))
			return -ERANGE;
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return -EINVAL;
		for (; isdigit((unsigned char)*p); p++) {
			if (*denominator >= 1000000000)
				return -ERANGE;
			*numerator = *numerator * 10 + (uint64_t)(*p - '0');
			*denominator *= 10;
		}
	}
	*text = p;
	return 0;
}

/* (whole + numerator/denominator) * unit; -EINVAL when that is not an integer. */
static int decimal_scale(uint64_t whole, uint64_t numerator, uint64_t denominator, uint64_t unit,
			 uint64_t *out)
{
	unsigned __int128 part = (unsigned __int128)numerator * unit;

	if (part % denominator)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit, out) ||
	    __builtin_add_overflow(*out, (uint64_t)(part / denominator), out))
		return -ERANGE;
	return 0;
}

int size_parse(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	uint64_t whole, numerator, denominator, unit = 1;
	int r = decimal_parse(&text, &whole, &numerator, &denominator);

	if (r)
		return r;
	if (*text) {
		const char *u = strchr(units, toupper((unsigned char)*text));

		if (u) {
			unit = 1024ull << (10 * (u - units));
			text++;
			if (*text == 'i' && text[1] != 'B')
				return -EINVAL;
			if (*text == 'i')
				text++;
		}
		if (*text == 'B')
			text++;
		if (*text)
			return -EINVAL;
	}
	return decimal_scale(whole, numerator, denominator, unit, bytes);
}

char *size_print(uint64_t bytes, char *buf, size_t size)
{
	static const char units[] = "KMGT";
	int unit = -1;

	while (unit < 3 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(buf, size, "%" PRIu64, bytes);
	else
		snprintf(buf, size, "%" PRIu64 "%c", bytes, units[unit]);
	return buf;
}

static const struct {
	const char *name;
	uint64_t ns;
} duration_units[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000},
};

int duration_parse(const char *text, uint64_t *ns)
{
	uint64_t whole, numerator, denominator;
	int r = decimal_parse(&text, &whole, &numerator, &denominator);

	if (r)
		return r;
	for (unsigned i = 0; i < sizeof(duration_units) / sizeof(duration_units[0]); i++)
		if (!strcmp(text, duration_units[i].name))
			return decimal_scale(whole, numerator, denominator, duration_units[i].ns,
					     ns);
	return -EINVAL;
}

char *duration_print(double ns, char *buf, size_t size)
{
	unsigned i = 0;
	double value;

	while (i < 3 && ns >= (double)duration_units[i + 1].ns * 0.9995)
		i++;
	value = ns / (double)duration_units[i].ns;
	snprintf(buf, size, "%.*f %s", value < 9.995 && i ? 2 : value < 99.95 && i ? 1 : 0, value,
		 duration_units[i].name);
	return buf;
}
