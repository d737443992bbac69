/* SPDX-License-Identifier: MIT */
#ifndef OS_SETTINGS_H
#define OS_SETTINGS_H
/*
 * Kernel settings: vm.NAME is /proc/sys/vm/NAME, thp.NAME is
 * /sys/kernel/mm/transparent_hugepage/NAME (dots of NAME are slashes there), lru_gen.NAME
 * is /sys/kernel/mm/lru_gen/NAME.
 */
#include <compactlab/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include "os/watchdog.h"
#include "scenario/plan.h"

/* The file of a setting. -EINVAL when the name is neither vm.* nor thp.*. */
int setting_path(const char *name, char *path, size_t size);

/*
 * What to write to a file to restore what it shows: the bracketed word of
 * "always [madvise] never", else the text with its blanks made single. Returns buf.
 */
char *setting_word(const char *text, char *buf, size_t size);
/* Does a file that shows `text` have the value `value`? */
bool setting_is(const char *text, const char *value);

/* Do all of them exist here? `file` is the scenario, for messages. */
int settings_probe(const struct settings *s, const char *file, struct cl_error *err);

/*
 * Change each, after telling the watchdog the old value, and read it back. What was
 * set is added to `into` (may be NULL) as {"vm.x": {"from": s, "to": s}}.
 */
int settings_apply(struct watchdog *w, const struct settings *s, const char *file, json_t *into,
		   struct cl_error *err);
/* Write each as above, unless the kernel says that it is no value of it: then *refused is true. */
int settings_try(struct watchdog *w, const struct settings *s, const char *file, bool *refused,
		 struct cl_error *err);
/* The same for one file by path. */
int settings_write(struct watchdog *w, const char *path, const char *value, struct cl_error *err);
#endif
