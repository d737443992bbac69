/* SPDX-License-Identifier: MIT */
#include "os/btf.h"
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

/* Unnamed structures inside each other; the kernel has three or four. */
#define DEPTH_MOST 16

static const struct btf_type *type_of(const struct btf *b, uint32_t id)
{
	return (const struct btf_type *)(const void *)(b->data + b->at[id]);
}

static const char *name_of(const struct btf *b, uint32_t offset)
{
	return offset < b->names_size ? b->names + offset : "";
}

/* Bytes that follow a type's three words; -EINVAL for a kind of a time to come. */
static int64_t behind(const struct btf_type *t)
{
	int64_t count = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return count * (int64_t)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return count * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * (int64_t)sizeof(struct btf_var_secinfo);
	default:
		return BTF_INFO_KIND(t->info) <= BTF_KIND_ENUM64 ? 0 : -EINVAL;
	}
}

static int index_types(struct btf *b, size_t start, size_t end)
{
	uint32_t room = 1024;

	b->at = malloc(room * sizeof(*b->at));
	b->types = 1;
	for (size_t at = start; b->at && at < end; b->types++) {
		int64_t more;

		if (end - at < sizeof(struct btf_type))
			return -EINVAL;
		if (b->types == room) {
			uint32_t *wider = realloc(b->at, (room *= 2) * sizeof(*wider));

			if (!wider)
				return -ENOMEM;
			b->at = wider;
		}
		b->at[b->types] = (uint32_t)at;
		more = behind(type_of(b, b->types));
		if (more < 0 || (size_t)more > end - at - sizeof(struct btf_type))
			return -EINVAL;
		at += sizeof(struct btf_type) + (size_t)more;
	}
	return b->at ? 0 : -ENOMEM;
}

int btf_parse(struct btf *b, char *data, size_t size)
{
	struct btf_header h;
	uint64_t types, names;
	int r = -EINVAL;

	memset(b, 0, sizeof(*b));
	b->data = data;
	b->size = size;
	if (size >= sizeof(h)) {
		memcpy(&h, data, sizeof(h));
		types = (uint64_t)h.hdr_len + h.type_off;
		names = (uint64_t)h.hdr_len + h.str_off;
		if (h.magic == BTF_MAGIC && types % 4 == 0 && types + h.type_len <= size &&
		    h.str_len && names + h.str_len <= size && data[names + h.str_len - 1] == '\0') {
			b->names = data + names;
			b->names_size = h.str_len;
			r = index_types(b, types, types + h.type_len);
		}
	}
	if (r)
		btf_free(b);
	return r;
}

int btf_load(struct btf *b, const char *path)
{
	size_t size;
	char *data;
	int r = file_read(path, &data, &size);

	memset(b, 0, sizeof(*b));
	return r ? r : btf_parse(b, data, size);
}

void btf_free(struct btf *b)
{
	free(b->data);
	free(b->at);
	memset(b, 0, sizeof(*b));
}

/* ---- looking up ------------------------------------------------------------------------------ */

static bool is_structure(const struct btf_type *t)
{
	uint32_t kind = BTF_INFO_KIND(t->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

static const struct btf_type *structure(const struct btf *b, const char *name)
{
	for (uint32_t id = 1; id < b->types; id++) {
		const struct btf_type *t = type_of(b, id);

		if (is_structure(t) && BTF_INFO_VLEN(t->info) &&
		    !strcmp(name_of(b, t->name_off), name))
			return t;
	}
	return NULL;
}

/* Through names of types and qualifiers to the type itself; NULL when it does not end. */
static const struct btf_type *plain(const struct btf *b, uint32_t id)
{
	for (int i = 0; i < DEPTH_MOST && id && id < b->types; i++) {
		const struct btf_type *t = type_of(b, id);

		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_TYPE_TAG:
			id = t->type;
			break;
		default:
			return t;
		}
	}
	return NULL;
}

static int member_offset(const struct btf *b, const struct btf_type *t, const char *name,
			 unsigned depth, uint64_t *bits)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);

	for (unsigned i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		uint64_t at =
			BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;
		const char *own = name_of(b, m[i].name_off);
		const struct btf_type *inner;

		if (!strcmp(own, name)) {
			*bits = at;
			return 0;
		}
		inner = *own || depth == DEPTH_MOST ? NULL : plain(b, m[i].type);
		if (inner && is_structure(inner) &&
		    member_offset(b, inner, name, depth + 1, bits) == 0) {
			*bits += at;
			return 0;
		}
	}
	return -ENOENT;
}

int btf_size(const struct btf *b, const char *name, uint64_t *bytes)
{
	const struct btf_type *t = structure(b, name);

	if (!t)
		return -ENOENT;
	*bytes = t->size;
	return 0;
}

int btf_offset(const struct btf *b, const char *name, const char *member, uint64_t *bytes)
{
	const struct btf_type *t = structure(b, name);
	uint64_t bits;

	if (!t || member_offset(b, t, member, 0, &bits))
		return -ENOENT;
	*bytes = bits / 8;
	return 0;
}

int btf_enum(const struct btf *b, const char *name, uint64_t *value)
{
	for (uint32_t id = 1; id < b->types; id++) {
		const struct btf_type *t = type_of(b, id);
		const struct btf_enum *e = (const struct btf_enum *)(t + 1);

		if (BTF_INFO_KIND(t->info) != BTF_KIND_ENUM)
			continue;
		for (unsigned i = 0; i < BTF_INFO_VLEN(t->info); i++) {
			if (!strcmp(name_of(b, e[i].name_off), name)) {
				*value = (uint64_t)(int64_t)e[i].val;
				return 0;
			}
		}
	}
	return -ENOENT;
}
