/* SPDX-License-Identifier: MIT */
#include "result/relation.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NESTED_MOST 64
#define NODES_MOST  1024 /* a chain of operators is as deep as it is long */

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_WORD, TOKEN_COMPARE, TOKEN_SIGN };

struct parser {
	const char *text, *p; /* p: behind the current token */
	struct cl_error *err;
	unsigned nested, nodes;
	enum token_kind kind;
	const char *start; /* of the current token */
	size_t length;
	double number;
	enum relation_compare compare;
};

static int column(const struct parser *p)
{
	return (int)(p->start - p->text) + 1;
}

/* "expected X, found 'Y' at column N" */
static int unexpected(struct parser *p, const char *expected)
{
	if (p->kind == TOKEN_END)
		return cl_error(p->err, -EINVAL, "expected %s, but the relation ends at column %d",
				expected, column(p));
	return cl_error(p->err, -EINVAL, "expected %s, found '%.*s' at column %d", expected,
			(int)p->length, p->start, column(p));
}

static const char *const signs[] = {"<", "<=", "==", "!=", ">=", ">"};

const char *relation_sign(enum relation_compare c)
{
	return signs[c];
}

bool relation_holds(enum relation_compare c, double left, double right)
{
	switch (c) {
	case LESS:
		return left < right;
	case LESS_EQUAL:
		return left <= right;
	case EQUAL:
		return left == right;
	case NOT_EQUAL:
		return left != right;
	case GREATER_EQUAL:
		return left >= right;
	case GREATER:
		return left > right;
	}
	return false;
}

/* --- tokens --- */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.+-", c));
}

/* A number, unless the word goes on: "6.12.fault.huge" begins like one. */
static bool take_number(struct parser *p)
{
	size_t length = strspn(p->start, "0123456789.");
	char *end;

	if (p->start[length] == 'e' || p->start[length] == 'E') {
		size_t sign = p->start[length + 1] == '-' || p->start[length + 1] == '+';
		size_t digits = strspn(p->start + length + 1 + sign, "0123456789");

		if (digits)
			length += 1 + sign + digits;
	}
	p->number = strtod(p->start, &end);
	if (end != p->start + length || is_word_char(p->start[length]))
		return false;
	p->kind = TOKEN_NUMBER;
	p->length = length;
	return true;
}

static bool take_compare(struct parser *p)
{
	for (unsigned two = 2; two; two--) /* "<=" before "<" */
		for (unsigned i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
			if (strlen(signs[i]) == two && !strncmp(p->start, signs[i], two)) {
				p->kind = TOKEN_COMPARE;
				p->length = two;
				p->compare = (enum relation_compare)i;
				return true;
			}
	return false;
}

static int next(struct parser *p)
{
	p->start = p->p + strspn(p->p, " \t");
	p->length = 1;
	if (!*p->start) {
		p->kind = TOKEN_END;
		p->length = 0;
	} else if (strchr("+-*/()", *p->start)) {
		p->kind = TOKEN_SIGN;
	} else if (isalnum((unsigned char)*p->start) || *p->start == '_') {
		if (!take_number(p)) {
			p->kind = TOKEN_WORD;
			while (is_word_char(p->start[p->length]))
				p->length++;
		}
	} else if (!take_compare(p)) {
		cl_error(p->err, -EINVAL, "'%c' at column %d has no meaning here", *p->start,
			 column(p));
		return cl_error_hint(p->err, -EINVAL, "%s",
				     *p->start == '=' ? "equality is written =="
						      : "a relation looks like a.step.huge < "
							"0.5 * b.step.huge");
	}
	p->p = p->start + p->length;
	return 0;
}

static bool is_sign(const struct parser *p, char sign)
{
	return p->kind == TOKEN_SIGN && *p->start == sign;
}

/* --- the tree --- */

static void node_free(struct node *n)
{
	if (!n)
		return;
	node_free(n->left);
	node_free(n->right);
	free(n->variant);
	free(n->step);
	free(n->name);
	free(n);
}

void relation_free(struct relation *r)
{
	if (!r)
		return;
	node_free(r->left);
	node_free(r->right);
	free(r);
}

static int no_memory(struct parser *p)
{
	return cl_error(p->err, -ENOMEM, "no memory for the relation");
}

static int node_new(struct parser *p, enum node_kind kind, struct node **out)
{
	*out = NULL;
	if (p->nodes++ == NODES_MOST)
		return cl_error(p->err, -EINVAL,
				"the relation has more than %d numbers, measures and operators",
				NODES_MOST);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return no_memory(p);
	(*out)->kind = kind;
	(*out)->column = column(p);
	return 0;
}

static int parse_sum(struct parser *p, struct node **out);

static int parse_parentheses(struct parser *p, struct node **out)
{
	int r = next(p);

	if (!r)
		r = parse_sum(p, out);
	if (r)
		return r;
	return is_sign(p, ')') ? next(p) : unexpected(p, "')'");
}

static int word_error(struct parser *p)
{
	size_t i;

	cl_error(p->err, -EINVAL, "'%.*s' at column %d is no measure", (int)p->length, p->start,
		 column(p));
	for (i = 1; i < p->length; i++)
		if (strchr("+-", p->start[i]))
			return cl_error_hint(p->err, -EINVAL,
					     "write VARIANT.STEP.NAME, and a blank before and "
					     "after an operator %c",
					     p->start[i]);
	return cl_error_hint(p->err, -EINVAL, "write VARIANT.STEP.NAME");
}

/* The last two parts are step and name; what is before them, dots and all, the variant. */
static int parse_measure(struct parser *p, struct node **out)
{
	const char *end = p->start + p->length, *name, *step;
	int r;

	name = memrchr(p->start, '.', p->length);
	step = name ? memrchr(p->start, '.', (size_t)(name - p->start)) : NULL;
	if (!step || step == p->start || step + 1 == name || name + 1 == end ||
	    name + 1 + strcspn(name + 1, "+-") < end)
		return word_error(p);
	r = node_new(p, NODE_MEASURE, out);
	if (r)
		return r;
	(*out)->variant = strndup(p->start, (size_t)(step - p->start));
	(*out)->step = strndup(step + 1, (size_t)(name - step) - 1);
	(*out)->name = strndup(name + 1, (size_t)(end - name) - 1);
	if (!(*out)->variant || !(*out)->step || !(*out)->name)
		return no_memory(p);
	return next(p);
}

static int same_variant(const struct node *n, void *arg)
{
	const char **first = arg;

	if (!*first)
		*first = n->variant;
	return strcmp(*first, n->variant) != 0;
}

static int is_function(const struct node *n)
{
	return n && (n->kind >= NODE_MIN || is_function(n->left) || is_function(n->right));
}

/* min(...), when the word is followed by a parenthesis; else a measure. */
static int parse_word(struct parser *p, struct node **out)
{
	static const char *const names[] = {"min", "max", "median"};
	const char *variant = NULL;
	int r, at = column(p);

	if (p->p[strspn(p->p, " \t")] != '(')
		return parse_measure(p, out);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) != p->length || strncmp(p->start, names[i], p->length))
			continue;
		r = node_new(p, NODE_MIN + i, out);
		if (!r)
			r = next(p);
		if (!r)
			r = parse_parentheses(p, &(*out)->left);
		if (!r && is_function((*out)->left))
			return cl_error(p->err, -EINVAL,
					"%s() at column %d has another function inside", names[i],
					at);
		if (!r && node_measures((*out)->left, same_variant, &variant))
			return cl_error(p->err, -EINVAL,
					"%s() at column %d is over the repeats of one variant, "
					"but names several",
					names[i], at);
		return r;
	}
	cl_error(p->err, -EINVAL, "there is no function '%.*s' (column %d)", (int)p->length,
		 p->start, at);
	return cl_error_hint(p->err, -EINVAL, "there are min, max and median");
}

static int parse_factor(struct parser *p, struct node **out)
{
	int r;

	if (++p->nested > NESTED_MOST)
		return cl_error(p->err, -EINVAL, "nested too deeply at column %d", column(p));
	if (is_sign(p, '-')) {
		r = node_new(p, NODE_NEGATE, out);
		if (!r)
			r = next(p);
		if (!r)
			r = parse_factor(p, &(*out)->left);
	} else if (is_sign(p, '(')) {
		r = parse_parentheses(p, out);
	} else if (p->kind == TOKEN_NUMBER) {
		r = node_new(p, NODE_NUMBER, out);
		if (!r) {
			(*out)->number = p->number;
			r = next(p);
		}
	} else if (p->kind == TOKEN_WORD) {
		r = parse_word(p, out);
	} else {
		r = unexpected(p, "a measure or a number");
	}
	p->nested--;
	return r;
}

/* What both levels of operators have in common: one operand, then pairs of sign and operand. */
static int parse_chain(struct parser *p, const char *operators, const enum node_kind *kinds,
		       int (*operand)(struct parser *p, struct node **out), struct node **out)
{
	int r = operand(p, out);

	while (!r && p->kind == TOKEN_SIGN && strchr(operators, *p->start)) {
		struct node *n;

		r = node_new(p, kinds[strchr(operators, *p->start) - operators], &n);
		if (r)
			break;
		n->left = *out;
		*out = n;
		r = next(p);
		if (!r)
			r = operand(p, &n->right);
	}
	return r;
}

static int parse_product(struct parser *p, struct node **out)
{
	static const enum node_kind kinds[] = {NODE_MULTIPLY, NODE_DIVIDE};

	return parse_chain(p, "*/", kinds, parse_factor, out);
}

static int parse_sum(struct parser *p, struct node **out)
{
	static const enum node_kind kinds[] = {NODE_ADD, NODE_SUBTRACT};

	return parse_chain(p, "+-", kinds, parse_product, out);
}

static int measure_seen(const struct node *n, void *arg)
{
	(void)n;
	(void)arg;
	return 1;
}

static int parse_relation(struct parser *p, struct relation *out)
{
	int r = next(p);

	if (!r)
		r = parse_sum(p, &out->left);
	if (r)
		return r;
	if (p->kind != TOKEN_COMPARE)
		return unexpected(p, "one of < <= == != >= >");
	out->compare = p->compare;
	r = next(p);
	if (!r)
		r = parse_sum(p, &out->right);
	if (r)
		return r;
	if (p->kind == TOKEN_COMPARE)
		return cl_error(p->err, -EINVAL,
				"a relation has one comparison, '%.*s' at column %d is the second",
				(int)p->length, p->start, column(p));
	if (p->kind != TOKEN_END)
		return unexpected(p, "an operator");
	if (!relation_measures(out, measure_seen, NULL))
		return cl_error(p->err, -EINVAL, "the relation has no measure in it");
	return 0;
}

int relation_parse(const char *text, struct relation **out, struct cl_error *err)
{
	struct parser p = {.text = text, .p = text, .start = text, .err = err};
	struct relation *r = calloc(1, sizeof(*r));
	int e = r ? parse_relation(&p, r) : no_memory(&p);

	if (e) {
		relation_free(r);
		r = NULL;
	}
	*out = r;
	return e;
}

int relation_parse_check(const struct check_line *check, struct relation **out,
			 struct cl_error *err)
{
	struct cl_error inner = {0};
	int r = relation_parse(check->relation, out, &inner);

	if (!r)
		return 0;
	cl_error_at(err, r, check->file, check->line, "check '%s': %s", check->name, inner.what);
	return *inner.hint ? cl_error_hint(err, r, "%s", inner.hint) : r;
}

int node_measures(const struct node *n, int (*visit)(const struct node *n, void *arg), void *arg)
{
	int r;

	if (!n)
		return 0;
	if (n->kind == NODE_MEASURE)
		return visit(n, arg);
	r = node_measures(n->left, visit, arg);
	return r ? r : node_measures(n->right, visit, arg);
}

int relation_measures(const struct relation *r, int (*visit)(const struct node *n, void *arg),
		      void *arg)
{
	int e = node_measures(r->left, visit, arg);

	return e ? e : node_measures(r->right, visit, arg);
}
