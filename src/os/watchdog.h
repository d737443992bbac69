/* SPDX-License-Identifier: MIT */
#ifndef OS_WATCHDOG_H
#define OS_WATCHDOG_H
/*
 * The process that puts things back.
 *
 * It is told of every change before the change is made, and undoes all of them in
 * reverse order when it is asked to or when the runner's end of the socket closes,
 * which also happens when the runner is killed. There is no other way back, so the
 * one that matters after SIGKILL is the one that is used every time.
 *
 * It runs in a session of its own, keeps no file of the caller open, ends nothing,
 * and lives as long as the runner.
 */
#include <compactlab/error.h>
#include <jansson.h>

struct watchdog;

/* `trace_root`: a descriptor of a tracefs root for watchdog_instance(), or -1. */
int watchdog_start(int trace_root, struct watchdog **out, struct cl_error *err);
/*
 * `path` is about to be changed: write `value` to restore it. Told twice, the first
 * value counts. 0, or why the watchdog cannot do it; then do not change it.
 */
int watchdog_setting(struct watchdog *w, const char *path, const char *value);
/* A trace instance of this name is about to be made. */
int watchdog_instance(struct watchdog *w, const char *name);
/*
 * Undo everything now and end the watchdog. `restored` (may be NULL) receives
 * {path: value} of the settings that were not as before; an error names the first that
 * could not be put back. The watchdog is freed in any case.
 */
int watchdog_finish(struct watchdog *w, json_t *restored, struct cl_error *err);
#endif
