/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as evidence: its texts are files of /proc, its settings lines of sysctl, and what-if
 * starts from its pages instead of sums.
 */
#include "explain/explanation.h"
#include "snapshot/snapshot.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The envelope of a snapshot is gzip's: any other file is not read to its end for nothing. */
static bool gzip(const char *path)
{
	unsigned char magic[2] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return n == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

static int add_settings(struct cl_explanation *x, const struct snapshot *s, struct cl_error *err)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int r;

	if (!to)
		return cl_error(err, -ENOMEM, "no memory");
	for (unsigned i = 0; i < s->settings; i++) {
		const char *name = s->setting[i].name, *value = s->setting[i].value;

		if (strncmp(name, "thp.", 4))
			fprintf(to, "%s = %s\n", name, value);
		else
			fprintf(to, "/sys/kernel/mm/transparent_hugepage/%s:%s\n", name + 4, value);
	}
	r = fclose(to) ? -ENOMEM : 0;
	if (!r && size)
		r = cl_explain_add_text(x, text, size, "snapshot/settings", err);
	free(text);
	return r;
}

int cl_explain_add_snapshot(struct cl_explanation *x, const char *path, struct cl_error *err)
{
	struct snapshot *s;
	int r;

	if (!gzip(path))
		return cl_error(err, -EINVAL, "%s is not a snapshot", path);
	r = snapshot_load(path, &s, err);
	if (r)
		return r;
	for (unsigned i = 0; i < SNAPSHOT_TEXTS && !r; i++) {
		char *name = format("snapshot/%s", snapshot_text_name((enum snapshot_text)i));

		r = name ? cl_explain_add_text(x, s->text[i], strlen(s->text[i]), name, err)
			 : cl_error(err, -ENOMEM, "no memory");
		free(name);
	}
	if (!r)
		r = add_settings(x, s, err);
	snapshot_free(s);
	free(x->snapshot);
	x->snapshot = strdup(path);
	return r || x->snapshot ? r : cl_error(err, -ENOMEM, "no memory");
}
