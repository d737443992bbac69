/* SPDX-License-Identifier: MIT */
#include "backend/guest_init.h"
#include "backend/guest_image.h"
#include "backend/guest_wire.h"
#include "os/os.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define WIRE_DEVICE "/dev/ttyS1"
#define DISK_DEVICE "/dev/nvme0n1"

static const struct {
	const char *type, *where, *options;
	bool needed;
} mounts[] = {
	{"proc", "/proc", "", true},          {"sysfs", "/sys", "", true},
	{"devtmpfs", "/dev", "", true},       {"tracefs", "/sys/kernel/tracing", "", false},
	{"tmpfs", "/tmp", "mode=1777", true},
};

static int mount_all(struct cl_error *err)
{
	for (unsigned i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].where, 0755);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, MS_NOSUID,
			  mounts[i].options) == 0 ||
		    errno == EBUSY || !mounts[i].needed)
			continue;
		return cl_error(err, -errno, "cannot mount %s in the guest: %s", mounts[i].where,
				strerror(errno));
	}
	return 0;
}

static int mount_scratch(const struct plan *plan, struct cl_error *err)
{
	if (!plan->machine.disk_bytes)
		return 0;
	mkdir("/scratch", 0755);
	/* noinit_itable: no thread of the filesystem writes while steps run. */
	if (mount(DISK_DEVICE, "/scratch", "ext4", MS_NOSUID | MS_NOATIME, "noinit_itable") == 0)
		return 0;
	cl_error(err, -errno, "cannot mount the guest's scratch disk: %s", strerror(errno));
	return cl_error_hint(err, -EIO,
			     "the kernel needs nvme and ext4 built in (CONFIG_BLK_DEV_NVME=y, "
			     "CONFIG_EXT4_FS=y)");
}

/* The port is a terminal; without this it would turn a newline into two bytes. */
static int wire_open(void)
{
	int fd = open(WIRE_DEVICE, O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	if (fd >= 0 && tcgetattr(fd, &t) == 0) {
		cfmakeraw(&t);
		cfsetspeed(&t, B115200);
		t.c_cflag |= CLOCAL;
		tcsetattr(fd, TCSANOW, &t);
	}
	return fd;
}

static void console_open(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		if (fd != i)
			dup2(fd, i);
	if (fd > 2)
		close(fd);
}

/* A kernel that sees another machine than the scenario describes must not give a record. */
static int check_machine(const struct plan *plan, struct cl_error *err)
{
	unsigned nodes = 0;

	for (unsigned i = 0; i < PLAN_MAX_NODES; i++) {
		char *path = format("/sys/devices/system/node/node%u", i);

		nodes += path && access(path, F_OK) == 0;
		free(path);
	}
	if (!nodes)
		nodes = 1;
	if (nodes != plan->machine.nodes) {
		cl_error(err, -EIO, "the guest's kernel sees %u memory nodes where there are %u",
			 nodes, plan->machine.nodes);
		return cl_error_hint(err, -EIO, "it needs CONFIG_NUMA=y and CONFIG_ACPI_NUMA=y");
	}
	if (sysconf(_SC_NPROCESSORS_ONLN) != (long)plan->machine.cpus)
		return cl_error(err, -EIO, "the guest's kernel runs %ld CPUs where there are %u",
				sysconf(_SC_NPROCESSORS_ONLN), plan->machine.cpus);
	return 0;
}

static int load_plan(struct plan **plan, struct cl_error *err)
{
	char *order_text = NULL, *text = NULL;
	struct cl_scenario *scenario = NULL;
	struct guest_order order;
	size_t length;
	int r;

	r = file_read("/run", &order_text, NULL);
	if (!r)
		r = file_read("/scenario.ini", &text, &length);
	if (!r)
		r = guest_order_parse(order_text, &order);
	if (r)
		cl_error(err, r, "the initramfs lacks the scenario: %s", strerror(-r));
	else
		r = cl_scenario_parse(text, length, order.file, &scenario, err);
	if (!r) {
		r = plan_resolve(scenario, "guest", order.variant, order.repeat, order.seed, plan,
				 err);
		cl_scenario_free(scenario);
	}
	free(order_text);
	free(text);
	return r;
}

static void tell_step(void *arg, const char *step)
{
	wire_send(*(int *)arg, WIRE_STEP, step);
}

static int run_plan(int wire, struct cl_error *err)
{
	struct os_run run = {.step = tell_step, .arg = &wire};
	struct plan *plan = NULL;
	json_t *record = NULL;
	char *text = NULL;
	int r = load_plan(&plan, err);

	if (r)
		return r;
	r = check_machine(plan, err);
	if (!r)
		r = mount_scratch(plan, err);
	run.plan = plan;
	if (!r)
		r = os_probe(&run, err);
	if (!r)
		r = os_run(&run, &record, err);
	if (!r) {
		text = json_dumps(record, JSON_COMPACT);
		r = text ? wire_send(wire, WIRE_RECORD, text)
			 : cl_error(err, -ENOMEM, "the record is not JSON");
	}
	free(text);
	json_decref(record);
	plan_free(plan);
	return r;
}

/*
 * Lockdep checks nothing behind its first report or the first taint. A run that it did not watch to
 * the end is not a clean one, whatever the console says.
 */
static void tell_lock_checking(void)
{
	static const char key[] = "debug_locks:";
	char *text = NULL, *at = NULL;

	if (file_read("/proc/lockdep_stats", &text, NULL) == 0)
		at = strstr(text, key);
	if (at && strtol(at + strlen(key), NULL, 10) == 0)
		file_write("/dev/kmsg", "WARNING: the kernel has ended its lock checking");
	free(text);
}

/* Runs the steps, in a process of its own so that the first one is free to reap. */
static int worker(int wire)
{
	struct cl_error err = {0};
	int r;

	/* Its workers raise theirs: they are to be killed, not the one who reports it. */
	file_write("/proc/self/oom_score_adj", "-1000");
	r = run_plan(wire, &err);
	if (r)
		wire_send_error(wire, r, &err);
	return 0;
}

/* Wait for the worker and bury everything else that ends meanwhile. */
static int reap_until(pid_t wanted)
{
	int status = 0;
	pid_t pid;

	do {
		pid = waitpid(-1, &status, 0);
	} while (pid != wanted && !(pid < 0 && errno == ECHILD));
	return status;
}

static void work(int wire)
{
	struct cl_error err = {0};
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(worker(wire));
	status = pid > 0 ? reap_until(pid) : -1;
	if (pid < 0)
		cl_error(&err, -EAGAIN, "the guest cannot start a process");
	else if (WIFSIGNALED(status))
		cl_error(&err, -EIO, "the program in the guest was ended by signal %d",
			 WTERMSIG(status));
	else
		return;
	wire_send_error(wire, -EIO, &err);
}

int guest_init_begin(void)
{
	struct cl_error err = {0};
	struct utsname u;
	int r = mount_all(&err), wire = wire_open();

	console_open();
	if (wire < 0) {
		dprintf(2, "compactlab: the guest's kernel has no second serial port\n");
		guest_init_end(wire);
	}
	if (r) {
		wire_send_error(wire, r, &err);
		guest_init_end(wire);
	}
	uname(&u);
	wire_send(wire, WIRE_HELLO, u.release);
	/* Booted; from now on the console carries all that the kernel says. */
	klogctl(8, NULL, 7);
	return wire;
}

void guest_init_end(int wire)
{
	if (wire >= 0) {
		wire_send(wire, WIRE_END, "");
		tcdrain(wire);
	}
	reboot(RB_POWER_OFF);
	_exit(1);
}

void guest_init_main(void)
{
	int wire = guest_init_begin();

	work(wire);
	tell_lock_checking();
	guest_init_end(wire);
}
