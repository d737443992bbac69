/* SPDX-License-Identifier: MIT */
#ifndef OS_BTF_H
#define OS_BTF_H
/*
 * Where the members of the running kernel's structures are, by the type information it carries
 * (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf {
	char *data;
	size_t size;
	uint32_t types;
	uint32_t *at; /* of each type in data; [0] unused */
	const char *names;
	size_t names_size;
};

/* -errno; -EINVAL: no sound type information. */
int btf_load(struct btf *b, const char *path);
int btf_parse(struct btf *b, char *data, size_t size); /* takes data */
void btf_free(struct btf *b);

/* Bytes of a structure. -ENOENT. */
int btf_size(const struct btf *b, const char *structure, uint64_t *bytes);
/* Bytes from its start to a member, also of an unnamed structure inside. -ENOENT. */
int btf_offset(const struct btf *b, const char *structure, const char *member, uint64_t *bytes);
/* The value of a name of any enum. -ENOENT. */
int btf_enum(const struct btf *b, const char *name, uint64_t *value);
#endif
