/* SPDX-License-Identifier: MIT */
#include "explain/fact.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Recursive descent over the text. Unknown facts are NaN, which no comparison holds for. */
struct reader {
	const char *at;
	const struct facts *facts;
	enum fact_id first;
	bool bad;
	unsigned depth;
};

static double any(struct reader *r);

static void blanks(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t')
		r->at++;
}

static bool take(struct reader *r, const char *token)
{
	size_t n = strlen(token);

	blanks(r);
	/* Most tokens differ in the first character, and a dozen are tried at each place. */
	if (*r->at != *token || strncmp(r->at, token, n))
		return false;
	r->at += n;
	return true;
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_';
}

static enum fact_id name(struct reader *r)
{
	const char *begin;
	enum fact_id id;

	blanks(r);
	begin = r->at;
	while (letter(*r->at) || (r->at > begin && *r->at >= '0' && *r->at <= '9'))
		r->at++;
	id = fact_find(begin, (size_t)(r->at - begin));
	if (id == FACT_IDS)
		r->bad = true;
	else if (r->first == FACT_IDS)
		r->first = id;
	return id;
}

static double factor(struct reader *r)
{
	enum fact_id id;
	double v;

	blanks(r);
	if (++r->depth > 64)
		r->bad = true;
	if (r->bad)
		return NAN;
	if (take(r, "(")) {
		v = any(r);
		r->bad |= !take(r, ")");
	} else if (take(r, "has(")) {
		id = name(r);
		r->bad |= !take(r, ")");
		v = !r->bad && r->facts->fact[id].known;
	} else if (*r->at >= '0' && *r->at <= '9') {
		char *end;

		v = strtod(r->at, &end);
		r->at = end;
	} else if (letter(*r->at)) {
		id = name(r);
		v = r->bad || !r->facts->fact[id].known ? NAN : r->facts->fact[id].number;
	} else {
		r->bad = true;
		v = NAN;
	}
	r->depth--;
	return v;
}

static double product(struct reader *r)
{
	double v = factor(r);

	for (;;) {
		if (take(r, "*"))
			v *= factor(r);
		else if (take(r, "/"))
			v /= factor(r);
		else
			return v;
	}
}

static double sum(struct reader *r)
{
	double v = product(r);

	for (;;) {
		if (take(r, "+"))
			v += product(r);
		else if (take(r, "-"))
			v -= product(r);
		else
			return v;
	}
}

static bool truth(double v)
{
	return !isnan(v) && v != 0;
}

static double comparison(struct reader *r)
{
	double v = sum(r);

	if (take(r, "<="))
		return v <= sum(r);
	if (take(r, ">="))
		return v >= sum(r);
	if (take(r, "=="))
		return v == sum(r);
	if (take(r, "!=")) {
		double w = sum(r);

		return !isnan(v) && !isnan(w) && v != w;
	}
	if (take(r, "<"))
		return v < sum(r);
	if (take(r, ">"))
		return v > sum(r);
	return v;
}

static double negation(struct reader *r)
{
	blanks(r);
	if (r->at[0] == '!' && r->at[1] != '=') {
		double v;

		r->at++;
		if (++r->depth > 64) {
			r->bad = true;
			return NAN;
		}
		v = !truth(negation(r));
		r->depth--;
		return v;
	}
	return comparison(r);
}

static double all(struct reader *r)
{
	double v = negation(r);

	while (take(r, "&&")) {
		double w = negation(r);

		v = truth(v) && truth(w);
	}
	return v;
}

static double any(struct reader *r)
{
	double v = all(r);

	while (take(r, "||")) {
		double w = all(r);

		v = truth(v) || truth(w);
	}
	return v;
}

bool condition_holds(const char *text, const struct facts *f, enum fact_id *first, bool *bad)
{
	struct reader r = {.at = text, .facts = f, .first = FACT_IDS};
	double v = any(&r);

	blanks(&r);
	r.bad |= *r.at != '\0';
	if (first)
		*first = r.first;
	if (bad)
		*bad = r.bad;
	return !r.bad && truth(v);
}
