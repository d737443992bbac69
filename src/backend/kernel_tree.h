/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_KERNEL_TREE_H
#define BACKEND_KERNEL_TREE_H
/*
 * The sources that a kernel is built from: what makes them the same as another time, and a
 * copy of them with the policies in it. A user's own tree is only read.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TREE_ID 65 /* a SHA-256 in hex, and its end */

/* A running sum over what goes into a kernel. */
struct digest;
struct digest *digest_new(void);
void digest_text(struct digest *d, const char *text);
/* Name and content of a file; name and content, in a fixed order, of all in a folder. */
int digest_content(struct digest *d, const char *path);
/* Path, size and time of every source file of a tree: fast, and enough to see a change. */
int digest_listing(struct digest *d, const char *tree);
void digest_end(struct digest *d, char id[TREE_ID]); /* frees it; NULL is fine */

/* The folder kernel/ of this project, beside the program or installed. */
int tree_scripts(char *path, size_t size, struct cl_error *err);

/*
 * Make `tree` a copy of `source`, a folder or a tar archive. A folder's copy becomes as the
 * folder is now; an archive's stays with the changes made to it, unless it was for another
 * `purpose`.
 */
int tree_copy(const char *source, const char *tree, const char *purpose, FILE *log,
	      struct cl_error *err);
/* Put the policies into it; what the version lacks goes to `log`. */
int tree_apply(const char *scripts, const char *tree, FILE *log, struct cl_error *err);
#endif
