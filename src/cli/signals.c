/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <signal.h>
#include <stddef.h>

void cli_catch_signals(void (*handler)(int signal))
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_RESETHAND};
	struct sigaction before;

	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* nohup; a shell, however, has its background commands ignore SIGINT for good. */
		if (signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
}
