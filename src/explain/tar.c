/* SPDX-License-Identifier: MIT */
#include "explain/tar.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 512

/* The header of a file; all fields are text. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type;
	char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], pad[12];
};

struct tar_reader {
	struct tar_calls calls;
	void *arg;
	char block[BLOCK];
	size_t used;        /* bytes of the block */
	uint64_t left;      /* bytes of the file still to come */
	uint64_t padding;   /* bytes behind it to skip */
	bool in_file, give; /* a file is open; its bytes are wanted */
};

static unsigned sum_of(const char *block)
{
	unsigned sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= offsetof(struct header, sum) && i < offsetof(struct header, type)
			       ? ' '
			       : (unsigned char)block[i];
	return sum;
}

static bool octal(const char *text, size_t size, uint64_t *value)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < size && text[i] == ' ')
		i++;
	for (; i < size && text[i] >= '0' && text[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(text[i] - '0');
	*value = v;
	return i == size || text[i] == ' ' || text[i] == '\0';
}

bool tar_is(const char *bytes, size_t length)
{
	struct header h;
	uint64_t sum;

	if (length < BLOCK)
		return false;
	memcpy(&h, bytes, sizeof(h));
	return !memcmp(h.magic, "ustar", 5) && octal(h.sum, sizeof(h.sum), &sum) &&
	       sum == sum_of(bytes);
}

struct tar_reader *tar_reader_new(const struct tar_calls *calls, void *arg)
{
	struct tar_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->calls = *calls;
	r->arg = arg;
	return r;
}

static void finish_file(struct tar_reader *r)
{
	if (r->in_file && r->give)
		r->calls.end(r->arg);
	r->in_file = r->give = false;
}

static int read_header(struct tar_reader *r)
{
	struct header h;
	char name[260];
	uint64_t size;
	int code;

	memcpy(&h, r->block, sizeof(h));
	if (!h.name[0])
		return 0; /* the two blocks at the end */
	if (!tar_is(r->block, BLOCK) || !octal(h.size, sizeof(h.size), &size))
		return -EINVAL;
	snprintf(name, sizeof(name), "%.*s%s%.*s", (int)strnlen(h.prefix, sizeof(h.prefix)),
		 h.prefix, h.prefix[0] ? "/" : "", (int)strnlen(h.name, sizeof(h.name)), h.name);
	r->left = size;
	r->padding = (BLOCK - size % BLOCK) % BLOCK;
	r->in_file = true;
	r->give = h.type == '0' || h.type == '\0';
	if (r->give) {
		code = r->calls.file(r->arg, name);
		if (code) {
			r->give = false;
			return code;
		}
	}
	if (!r->left)
		finish_file(r);
	return 0;
}

int tar_reader_bytes(struct tar_reader *r, const char *bytes, size_t length)
{
	while (length) {
		size_t n;
		int code = 0;

		if (r->left) {
			n = r->left < length ? (size_t)r->left : length;
			if (r->give)
				code = r->calls.bytes(r->arg, bytes, n);
			r->left -= n;
			if (!r->left)
				finish_file(r);
		} else if (r->padding) {
			n = r->padding < length ? (size_t)r->padding : length;
			r->padding -= n;
		} else {
			n = BLOCK - r->used < length ? BLOCK - r->used : length;
			memcpy(r->block + r->used, bytes, n);
			r->used += n;
			if (r->used == BLOCK) {
				r->used = 0;
				code = read_header(r);
			}
		}
		if (code)
			return code;
		bytes += n;
		length -= n;
	}
	return 0;
}

void tar_reader_end(struct tar_reader *r)
{
	finish_file(r);
}

/* ---- writing ------------------------------------------------------------------------ */

static int put(int fd, const void *data, size_t length)
{
	const char *at = data;

	while (length) {
		ssize_t n = write(fd, at, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

int tar_write(int fd, const char *name, const char *bytes, size_t length, int64_t time)
{
	static const char zeros[BLOCK];
	struct header h;
	char block[BLOCK];
	int code;

	if (strlen(name) >= sizeof(h.name) || length > 0x1ffffffff)
		return -ENAMETOOLONG;
	memset(&h, 0, sizeof(h));
	memcpy(h.name, name, strlen(name));
	memcpy(h.mode, "0000644", 8);
	memcpy(h.uid, "0000000", 8);
	memcpy(h.gid, "0000000", 8);
	snprintf(h.size, sizeof(h.size), "%011llo", (unsigned long long)length);
	snprintf(h.mtime, sizeof(h.mtime), "%011llo",
		 (unsigned long long)time & 0777777777777ULL >> 3);
	h.type = '0';
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	memcpy(block, &h, sizeof(block));
	snprintf(h.sum, sizeof(h.sum), "%06o", sum_of(block));
	h.sum[7] = ' ';
	memcpy(block, &h, sizeof(block));
	code = put(fd, block, sizeof(block));
	if (!code)
		code = put(fd, bytes, length);
	if (!code)
		code = put(fd, zeros, (BLOCK - length % BLOCK) % BLOCK);
	return code;
}

int tar_finish(int fd)
{
	static const char zeros[2 * BLOCK];

	return put(fd, zeros, sizeof(zeros));
}
