/* SPDX-License-Identifier: MIT */
#include "test_backend.h"
#include "backend/guest_console.h"

static void quiet_console_has_nothing_to_tell(void **state)
{
	struct console c;

	(void)state;
	console_read("", &c);
	assert_string_equal(c.panic, "");
	console_read("SeaBIOS (version 1.16)\r\nBooting from ROM..\r\n"
		     "[    0.000000] Command line: console=ttyS0 panic=-1 oops=panic\r\n"
		     "[    0.313902] Kernel command line: console=ttyS0 panic=-1 oops=panic\r\n"
		     "[    1.722767] mtrr: your CPUs had inconsistent fixed MTRR settings\r\n"
		     "[    2.330000] debug: unmapping init memory\r\n",
		     &c);
	assert_string_equal(c.panic, "");
	assert_string_equal(c.bug, "");
	assert_string_equal(c.stall, "");
	assert_string_equal(c.warning, "");
	assert_string_equal(c.oom, "");
	assert_int_equal(c.oom_kills, 0);
}

static void programs_cannot_pass_for_the_kernel(void **state)
{
	struct console c;

	(void)state;
	console_read("Kernel panic - not syncing: said a program\n"
		     "Out of memory: Killed process 1 (x)\nBUG: not a kernel line\n",
		     &c);
	assert_string_equal(c.panic, "");
	assert_string_equal(c.oom, "");
	assert_string_equal(c.bug, "");
}

static void oom_kills_are_counted_and_the_first_is_kept(void **state)
{
	struct console c;

	(void)state;
	console_read("[   11.2] worker invoked oom-killer: gfp_mask=0x140dca, order=0\r\n"
		     "[   11.3] oom-kill:constraint=CONSTRAINT_MEMORY_POLICY,nodemask=0\r\n"
		     "[   11.3] Out of memory: Killed process 108 (worker) total-vm:4195872kB\r\n"
		     "[   12.3] Memory cgroup out of memory: Killed process 109 (other)\r\n"
		     "[   13.3] Out of memory (oom_kill_allocating_task): Killed process 7 (x)\r\n",
		     &c);
	assert_string_equal(c.oom, "Out of memory: Killed process 108 (worker) total-vm:4195872kB");
	assert_int_equal(c.oom_kills, 3);
	assert_string_equal(c.panic, "");
}

static void panics_are_told_without_their_stamp(void **state)
{
	struct console c;

	(void)state;
	console_read("[    5.026368] Kernel panic - not syncing: sysrq triggered crash\n"
		     "[    5.028913] ---[ end Kernel panic - not syncing: sysrq triggered ]---\n",
		     &c);
	assert_string_equal(c.panic, "Kernel panic - not syncing: sysrq triggered crash");
	console_read("[    5.026368][    T1] Kernel panic - not syncing: x\n", &c);
	assert_string_equal(c.panic, "Kernel panic - not syncing: x");
	console_read("[  123.456789] [   C1] Kernel panic - not syncing: y", &c);
	assert_string_equal(c.panic, "Kernel panic - not syncing: y");
}

static void each_kind_of_complaint_is_told_apart(void **state)
{
	static const struct {
		const char *line;
		size_t at;
	} cases[] = {
#define KIND(f) offsetof(struct console, f)
		{"[ 1.0] Oops: int3: 0000 [#1] SMP NOPTI", KIND(bug)},
		{"[ 1.0] BUG: kernel NULL pointer dereference, address: 0", KIND(bug)},
		{"[ 1.0] BUG: unable to handle page fault for address: ff", KIND(bug)},
		{"[ 1.0] kernel BUG at mm/compaction.c:1234!", KIND(bug)},
		{"[ 1.0] general protection fault, probably for non-canonical", KIND(bug)},
		{"[ 1.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s!", KIND(stall)},
		{"[ 1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks", KIND(stall)},
		{"[ 1.0] rcu: INFO: rcu_sched self-detected stall on CPU", KIND(stall)},
		{"[ 1.0] INFO: task x:1 blocked for more than 120 seconds.", KIND(stall)},
		{"[ 1.0] WARNING: CPU: 1 PID: 0 at arch/x86/x.c:329 f+0x1/0x2", KIND(warning)},
		{"[ 1.0] WARNING: possible circular locking dependency detected", KIND(warning)},
		{"[ 1.0] WARNING: suspicious RCU usage", KIND(warning)},
		{"[ 1.0] INFO: trying to register non-static key.", KIND(warning)},
		{"[ 1.0] turning off the locking correctness validator.", KIND(warning)},
		{"[ 1.0] [ BUG: Invalid wait context ]", KIND(bug)},
		{"[ 1.0] BUG: sleeping function called from invalid context at mm/x.c:1",
		 KIND(bug)},
		{"[ 1.0] WARNING: arch/x86/kernel/smpboot.c:329 at f+0x1, CPU#1", KIND(warning)},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t all[] = {KIND(panic), KIND(bug), KIND(stall), KIND(warning),
				      KIND(oom)};
		struct console c;

		console_read(cases[i].line, &c);
		for (unsigned k = 0; k < 5; k++)
			assert_string_equal((char *)&c + all[k],
					    all[k] == cases[i].at ? cases[i].line + 7 : "");
	}
}

static void tail_is_the_last_lines_on_one(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(console_tail("", 3, buf, sizeof(buf)), "");
	assert_string_equal(console_tail("\r\n\r\n", 3, buf, sizeof(buf)), "");
	assert_string_equal(console_tail("one", 3, buf, sizeof(buf)), "one");
	assert_string_equal(console_tail("one\r\ntwo\r\n\r\nthree\r\n", 2, buf, sizeof(buf)),
			    "two | three");
	assert_string_equal(console_tail("a\tb\033[0m\nc\n", 5, buf, sizeof(buf)), "a b [0m | c");
	assert_string_equal(console_tail("abcdefgh\n", 1, buf, 5), "abcd");
	assert_string_equal(console_tail("ab\ncd\nef\n", 3, buf, 8), "ab | cd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_console_has_nothing_to_tell),
		cmocka_unit_test(programs_cannot_pass_for_the_kernel),
		cmocka_unit_test(oom_kills_are_counted_and_the_first_is_kept),
		cmocka_unit_test(panics_are_told_without_their_stamp),
		cmocka_unit_test(each_kind_of_complaint_is_told_apart),
		cmocka_unit_test(tail_is_the_last_lines_on_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
