/* SPDX-License-Identifier: MIT */
/*
 * The first process of a guest: the parser, the steps and the measuring of the program,
 * linked static, without the rest. What is small here is free memory in the guest's node.
 */
#include "backend/guest_init.h"

int main(void)
{
	guest_init_main();
}
