/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "config.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct command *const all[] = {
	&command_run,       &command_compare, &command_list,     &command_kernel,
	&command_populate,  &command_explain, &command_collect,  &command_snapshot,
	&command_calibrate, &command_help,    &command_complete,
};

const struct command *command_get(unsigned i)
{
	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

const struct command *command_find(const char *name)
{
	const struct command *c;

	for (unsigned i = 0; (c = command_get(i)); i++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int command_unknown(const char *name)
{
	const char *names[sizeof(all) / sizeof(all[0])], *nearest;
	unsigned count = 0;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->summary)
			names[count++] = all[i]->name;
	nearest = cli_nearest(name, names, count);
	if (nearest)
		return cli_usage_error(NULL, "there is no command '%s' (did you mean '%s'?)", name,
				       nearest);
	return cli_usage_error(NULL, "there is no command '%s'", name);
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2)
		return cli_usage_error(NULL, "no command was given");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		cli_overview(stdout);
		return EXIT_HOLDS;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("compactlab %s\n", CL_VERSION);
		return EXIT_HOLDS;
	}
	if (argv[1][0] == '-')
		return cli_usage_error(NULL, "there is no option '%s' before the command", argv[1]);
	c = command_find(argv[1]);
	return c ? c->run(c, argc - 1, argv + 1) : command_unknown(argv[1]);
}

/* Output that could not be written is a failure, whatever else went well. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "compactlab: cannot write to standard output\n");
	return status ? status : EXIT_RUN;
}

/*
 * A caller may have closed the standard streams. What is opened then must not take their
 * numbers: messages would end up in it, and children put their own streams there. The other
 * direction, so that using one still fails.
 */
static void occupy_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	occupy_streams();
	return finish(dispatch(argc, argv));
}
