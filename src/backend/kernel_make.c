/* SPDX-License-Identifier: MIT */
#include "backend/kernel_make.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_S 15

/* ---- what is needed ------------------------------------------------------------------ */

static bool runs(const char *program)
{
	const char *const argv[] = {program, "--version", NULL};

	return child_run(argv, NULL, NULL) >= 0;
}

static bool has_header(const char *header)
{
	char *include = format("-include%s", header);
	const char *const argv[] = {"gcc", "-E", include, "-x", "c", "/dev/null", NULL};
	bool has = include && child_run(argv, NULL, NULL) == 0;

	free(include);
	return has;
}

int make_probe(bool policies, struct cl_error *err)
{
	static const struct {
		const char *program, *package;
	} tools[] = {{"make", "make"},   {"gcc", "gcc"},          {"ld", "binutils"},
		     {"flex", "flex"},   {"bison", "bison"},      {"bc", "bc"},
		     {"perl", "perl"},   {"awk", "mawk"},         {"tar", "tar"},
		     {"xz", "xz-utils"}, {"spatch", "coccinelle"}};
	size_t count = sizeof(tools) / sizeof(tools[0]) - !policies;
	char missing[256] = "";
	size_t used = 0;

	for (unsigned i = 0; i < count; i++)
		if (!runs(tools[i].program))
			used += (size_t)snprintf(missing + used, sizeof(missing) - used, " %s",
						 tools[i].package);
	if (!has_header("gelf.h"))
		snprintf(missing + used, sizeof(missing) - used, " libelf-dev");
	if (!missing[0])
		return 0;
	cl_error(err, -EOPNOTSUPP, "building a kernel needs tools that are not here:%s", missing);
	return cl_error_hint(err, -EOPNOTSUPP, "apt install%s", missing);
}

/* ---- make ---------------------------------------------------------------------------- */

/* Every line in which the compiler is at work. */
static void count_lines(int fd, unsigned *compiled)
{
	static const char *const marks[] = {"  CC ", "  AS ", "  HOSTCC "};
	char buf[65536];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf) - 1)) > 0) {
		buf[n] = '\0';
		for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			for (const char *p = buf; (p = strstr(p, marks[i])); p++)
				(*compiled)++;
	}
}

static void say_progress(FILE *log, unsigned compiled, time_t start)
{
	long s = (long)(time(NULL) - start);

	if (log) {
		fprintf(log, "  %u files compiled in %ld:%02ld\n", compiled, s / 60, s % 60);
		fflush(log);
	}
}

/* Compiling goes on where it was when it is started again, so an interrupt loses nothing. */
static void child(const char *const argv[], int output, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(126);
	dup2(null, 0);
	dup2(output, 1);
	dup2(output, 2);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

static int follow(const struct make *m, pid_t pid)
{
	int reader = open(m->output, O_RDONLY | O_CLOEXEC), status = 0;
	time_t start = time(NULL), said = start;
	unsigned compiled = 0, told = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
		usleep(100000);
		count_lines(reader, &compiled);
		if (time(NULL) - said < PROGRESS_S)
			continue;
		said = time(NULL);
		if (compiled != told)
			say_progress(m->log, compiled, start);
		told = compiled;
	}
	count_lines(reader, &compiled);
	if (reader >= 0)
		close(reader);
	if (compiled)
		say_progress(m->log, compiled, start);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What went wrong is on the first such line; the later ones are make's, folder by folder. */
static void first_error(const char *path, char *line, size_t size)
{
	static const char *const marks[] = {": error: ", ": fatal error: ", "undefined reference",
					    "*** ", "Error "};
	char *text;

	snprintf(line, size, "no reason given");
	if (file_read(path, &text, NULL) < 0)
		return;
	for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		char *p = strstr(text, marks[i]);

		if (!p)
			continue;
		while (p > text && p[-1] != '\n')
			p--;
		snprintf(line, size, "%.*s", (int)strcspn(p, "\n"), p);
		break;
	}
	free(text);
}

/*
 * Nothing of the day, the machine, the folder or the name goes in, so that ccache knows again what
 * it has compiled, in another tree too. It tells by the files that went in, which saves
 * preprocessing each twice. The name is not in the configuration, of which every file depends on
 * the whole.
 */
int make_target(const struct make *m, const char *target, struct cl_error *err)
{
	char *tree = format("-C%s", m->tree), *objects = format("O=%s", m->objects);
	char *jobs = format("-j%u", m->jobs), *base = format("CCACHE_BASEDIR=%s", m->base);
	char *release = format("LOCALVERSION=-%s", m->release);
	const char *cc = runs("ccache") ? "CC=ccache gcc" : "CC=gcc";
	const char *const argv[] = {"env",
				    base,
				    "CCACHE_NOHASHDIR=1",
				    "CCACHE_DEPEND=1",
				    "make",
				    tree,
				    objects,
				    jobs,
				    cc,
				    "KBUILD_BUILD_TIMESTAMP=1970-01-01",
				    "KBUILD_BUILD_USER=compactlab",
				    "KBUILD_BUILD_HOST=localhost",
				    "KBUILD_BUILD_VERSION=1",
				    release,
				    target,
				    NULL};
	int output = open(m->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), r = 0;
	pid_t parent = getpid(), pid;
	char why[400];

	if (output < 0)
		r = cl_error(err, -errno, "cannot write %s: %s", m->output, strerror(errno));
	else if (!tree || !objects || !jobs || !base || !release)
		r = cl_error(err, -ENOMEM, "out of memory");
	if (!r) {
		pid = fork();
		if (pid == 0)
			child(argv, output, parent);
		if (pid < 0)
			r = cl_error(err, -errno, "cannot start make: %s", strerror(errno));
		else if (follow(m, pid)) {
			first_error(m->output, why, sizeof(why));
			cl_error(err, -EIO, "make %s failed: %s", target, why);
			r = cl_error_hint(err, -EIO, "all that it said is in %s", m->output);
		}
	}
	if (output >= 0)
		close(output);
	free(release);
	free(base);
	free(jobs);
	free(objects);
	free(tree);
	return r;
}

/* ---- configuration ------------------------------------------------------------------- */

/* "CONFIG_X=y" must be there as it stands, "CONFIG_X=n" must not be set. */
static bool line_holds(const char *line, size_t length, const char *config)
{
	bool off = length > 2 && !memcmp(line + length - 2, "=n", 2);
	size_t compared = off ? length - 1 : length;

	for (const char *p = config; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, line, compared))
			continue;
		if (off || p[compared] == '\n')
			return !off;
	}
	return off;
}

static void tell_not_taken(const struct make *m, const char *fragment, const char *config)
{
	for (const char *p = fragment; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		size_t length = strcspn(p, "\n");

		if (!strncmp(p, "CONFIG_", 7) && !line_holds(p, length, config) && m->log)
			fprintf(m->log, "this version does not take %.*s\n", (int)length, p);
	}
}

/* All fragments behind each other; of two lines about one symbol the last counts. */
static char *join(char *const texts[])
{
	char *all = strdup("");

	for (unsigned i = 0; texts[i] && all; i++) {
		char *longer = format("%s%s\n", all, texts[i]);

		free(all);
		all = longer;
	}
	return all;
}

static int write_config(const char *path, const char *fragments, struct cl_error *err)
{
	char *base, *all = NULL;
	int r = file_read(path, &base, NULL);

	if (!r) {
		all = format("%s\n%s", base, fragments);
		r = all ? file_replace(path, all, strlen(all)) : -ENOMEM;
		free(base);
	}
	free(all);
	return r ? cl_error(err, r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

int make_configure(const struct make *m, const char *const fragments[], struct cl_error *err)
{
	char *path = format("%s/.config", m->objects), *texts[8] = {NULL}, *all, *config = NULL;
	struct make quiet = *m;
	int r = path ? 0 : -ENOMEM;

	quiet.log = NULL;
	for (unsigned i = 0; fragments[i] && i < 7 && !r; i++)
		r = file_read(fragments[i], &texts[i], NULL)
			    ? cl_error(err, -EINVAL, "cannot read %s", fragments[i])
			    : 0;
	all = join(texts);
	if (!r && !all)
		r = cl_error(err, -ENOMEM, "out of memory");
	if (!r)
		r = make_target(&quiet, "tinyconfig", err);
	if (!r)
		r = write_config(path, all, err);
	if (!r)
		r = make_target(&quiet, "olddefconfig", err);
	if (!r && file_read(path, &config, NULL) == 0)
		for (unsigned i = 0; texts[i]; i++)
			tell_not_taken(m, texts[i], config);
	for (unsigned i = 0; texts[i]; i++)
		free(texts[i]);
	free(config);
	free(all);
	free(path);
	return r;
}
