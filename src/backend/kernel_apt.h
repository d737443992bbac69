/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_KERNEL_APT_H
#define BACKEND_KERNEL_APT_H
/*
 * Where this machine gets Debian from, read from its own apt configuration, so that
 * images come from the mirror its owner chose and no host name is built in.
 */
#include <stdbool.h>
#include <stddef.h>

/* One archive: what follows "deb" in a one-line source, without suite and components. */
struct apt_archive {
	char uri[512];     /* "" : none found */
	char keyring[256]; /* file given as Signed-By, or "" */
	int score;         /* how surely this is the Debian archive; higher is surer */
};

struct apt_sources {
	struct apt_archive main;     /* suites such as "trixie", "trixie-backports" */
	struct apt_archive security; /* suites such as "bookworm-security" */
};

/*
 * Take what a sources file says into *sources, keeping the surest archive of each
 * kind. Never fails: a line that is not understood is passed over, as third-party
 * sources are none of our business.
 */
void apt_parse_list(const char *text, struct apt_sources *sources);   /* one-line format */
void apt_parse_deb822(const char *text, struct apt_sources *sources); /* *.sources */

/* All files of the apt configuration directory (usually "/etc/apt"). */
void apt_read(const char *directory, struct apt_sources *sources);

/*
 * Line for a sources.list that offers `suite`. A security archive that is not
 * configured is taken to lie beside the main one, as it does on Debian's mirrors.
 * -ENOENT when no Debian archive is configured.
 */
int apt_source_line(const struct apt_sources *sources, const char *suite, char *line, size_t size);

/*
 * Of the package names in `names` (one a line) the one that carries the image for
 * `version` ("7.3", "7.3.4" or a full release): the preferred release when it is
 * there, else the newest. -ENOENT when none does.
 */
int apt_choose(const char *names, const char *version, const char *preferred, char *package,
	       size_t size);

/* Does a release belong to what the user typed? "7.3" takes "7.3.4+deb13-cloud-amd64". */
bool release_matches(const char *release, const char *version);
#endif
