/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_GUEST_INIT_H
#define BACKEND_GUEST_INIT_H

/*
 * What the program does as the first process of a guest (getpid() == 1): mount the
 * kernel's filesystems, run the plan that /run and /scenario.ini describe, send the
 * record and switch the machine off. Does not return in a guest.
 */
int guest_init_main(void);
#endif
