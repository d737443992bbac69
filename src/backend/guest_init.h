/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_GUEST_INIT_H
#define BACKEND_GUEST_INIT_H

/*
 * What guest/init.c does as the first process of a guest: mount the
 * kernel's filesystems, run the plan that /run and /scenario.ini describe, send the
 * record and switch the machine off. Does not return in a guest.
 */
_Noreturn void guest_init_main(void);

/*
 * The two ends of that, for other programs that are the first process of a guest:
 * mount the kernel's filesystems and /tmp, open the console, say hello. Returns the
 * wire. What goes wrong is told over it, and the machine is switched off.
 */
int guest_init_begin(void);
/* Say that nothing follows, and switch the machine off. */
_Noreturn void guest_init_end(int wire);
#endif
