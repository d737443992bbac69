/* SPDX-License-Identifier: MIT */
#include "test_backend.h"
#include "backend/cpio.h"
#include "backend/guest_image.h"
#include "backend/guest_qemu.h"
#include "backend/guest_wire.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the initramfs archive ---------------------------------------------------------- */

struct entry {
	char name[64];
	unsigned mode, inode;
	size_t length;
	const char *data;
};

static unsigned long field(const char *header, int i)
{
	char digits[9];

	memcpy(digits, header + 6 + 8 * i, 8);
	digits[8] = '\0';
	return strtoul(digits, NULL, 16);
}

/* A reader of the format that shares nothing with the writer. Returns bytes taken. */
static size_t read_entry(const char *p, struct entry *e)
{
	size_t name_length;

	assert_memory_equal(p, "070701", 6);
	e->inode = (unsigned)field(p, 0);
	e->mode = (unsigned)field(p, 1);
	e->length = field(p, 6);
	name_length = field(p, 11);
	assert_int_equal(field(p, 12), 0);
	assert_true(name_length <= sizeof(e->name));
	memcpy(e->name, p + 110, name_length);
	assert_int_equal(strlen(e->name), name_length - 1);
	e->data = p + (110 + name_length + 3) / 4 * 4;
	return (size_t)(e->data - p) + (e->length + 3) / 4 * 4;
}

static void archive_holds_every_entry_at_a_multiple_of_four(void **state)
{
	char *bytes, data[11];
	struct entry e;
	struct cpio c = {.fd = memfd_create("test", 0)};
	size_t at = 0;

	(void)state;
	memset(data, 'd', sizeof(data));
	cpio_directory(&c, "dev", 0755);
	for (size_t n = 0; n <= sizeof(data); n++) {
		char name[16];

		snprintf(name, sizeof(name), "f%.*s", (int)(n % 4), "abcd");
		cpio_file(&c, name, 0644, data, n);
	}
	assert_int_equal(cpio_end(&c), 0);
	assert_int_equal(lseek(c.fd, 0, SEEK_CUR), (off_t)c.bytes);
	assert_int_equal(c.bytes % 4, 0);
	bytes = mmap(NULL, c.bytes, PROT_READ, MAP_PRIVATE, c.fd, 0);
	assert_true(bytes != MAP_FAILED);

	at += read_entry(bytes + at, &e);
	assert_string_equal(e.name, "dev");
	assert_int_equal(e.mode, S_IFDIR | 0755);
	for (size_t n = 0; n <= sizeof(data); n++) {
		at += read_entry(bytes + at, &e);
		assert_int_equal(e.mode, S_IFREG | 0644);
		assert_int_equal(e.length, n);
		assert_int_equal(e.inode, n + 2);
		assert_memory_equal(e.data, data, n);
	}
	at += read_entry(bytes + at, &e);
	assert_string_equal(e.name, "TRAILER!!!");
	assert_int_equal(at, c.bytes);
	munmap(bytes, c.bytes);
	close(c.fd);
}

static void archive_keeps_its_first_error(void **state)
{
	struct cpio c = {.fd = open("/dev/full", O_WRONLY)};

	(void)state;
	cpio_directory(&c, "dev", 0755);
	cpio_file(&c, "init", 0755, "x", 1);
	assert_int_equal(cpio_end(&c), -ENOSPC);
	close(c.fd);
}

static void order_survives_the_way_into_the_guest(void **state)
{
	struct plan plan = {.file = (char[]){"dir/a b=c.ini"},
			    .variant = (char[]){"defer-async"},
			    .seed = 18446744073709551615u,
			    .repeat = 7};
	char *text = guest_order_print(&plan);
	struct guest_order order;

	(void)state;
	assert_int_equal(guest_order_parse(text, &order), 0);
	assert_string_equal(order.file, "dir/a b=c.ini");
	assert_string_equal(order.variant, "defer-async");
	assert_int_equal(order.repeat, 7);
	/* plan_resolve() adds the repeat. */
	assert_true(order.seed + order.repeat == 18446744073709551615u);
	free(text);
	assert_int_equal(guest_order_parse((char[]){"file=x\n"}, &order), -EINVAL);
	assert_int_equal(guest_order_parse((char[]){"what=x\n"}, &order), -EINVAL);
	assert_int_equal(guest_order_parse((char[]){"x"}, &order), -EINVAL);
}

/* ---- the wire ----------------------------------------------------------------------- */

static void messages_arrive_whole_however_the_bytes_are_cut(void **state)
{
	(void)state;
	for (size_t step = 1; step < 40; step++) {
		int from = memfd_create("from", 0), to[2];
		struct wire_message m;
		struct wire w = {0};
		unsigned got = 0;
		char buf[64];
		ssize_t n;

		assert_int_equal(wire_send(from, WIRE_HELLO, "7.3.4"), 0);
		assert_int_equal(wire_send(from, WIRE_STEP, "one two"), 0);
		assert_int_equal(wire_send(from, WIRE_RECORD, "{\"a\": 1}"), 0);
		assert_int_equal(wire_send(from, WIRE_END, ""), 0);
		lseek(from, 0, SEEK_SET);
		assert_int_equal(pipe(to), 0);
		while ((n = read(from, buf, step)) > 0) {
			assert_int_equal(write(to[1], buf, (size_t)n), n);
			assert_int_equal(wire_read(&w, to[0]), n);
			while (wire_next(&w, &m)) {
				static const char *const texts[] = {"7.3.4", "one two",
								    "{\"a\": 1}", ""};
				static const enum wire_kind kinds[] = {WIRE_HELLO, WIRE_STEP,
								       WIRE_RECORD, WIRE_END};

				assert_true(got < 4);
				assert_int_equal(m.kind, kinds[got]);
				assert_string_equal(m.text, texts[got]);
				got++;
			}
		}
		assert_int_equal(got, 4);
		assert_int_equal(w.damaged, 0);
		wire_free(&w);
		close(to[0]);
		close(to[1]);
		close(from);
	}
}

static void line_that_lost_a_byte_is_no_message(void **state)
{
	static const char text[] = "hello 5 7.3.4\n"
				   "record 8 {\"a\" 1}\n"
				   "record {\"a\": 1}\n"
				   "recod 8 {\"a\": 1}\n"
				   "record 9 {\"a\": 1}\n"
				   "record 8{\"a\": 1}\n"
				   "\n"
				   "end 0 \n";
	int fd = memfd_create("wire", 0);
	struct wire_message m;
	struct wire w = {0};

	(void)state;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	lseek(fd, 0, SEEK_SET);
	assert_true(wire_read(&w, fd) > 0);
	assert_true(wire_next(&w, &m));
	assert_int_equal(m.kind, WIRE_HELLO);
	assert_true(wire_next(&w, &m));
	assert_int_equal(m.kind, WIRE_END);
	assert_false(wire_next(&w, &m));
	assert_int_equal(w.damaged, 6);
	wire_free(&w);
	close(fd);
}

static void text_with_a_newline_is_not_sent(void **state)
{
	int fd = memfd_create("wire", 0);

	(void)state;
	assert_int_equal(wire_send(fd, WIRE_STEP, "a\nb"), -EINVAL);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
}

static void error_keeps_code_place_and_advice(void **state)
{
	int fd = memfd_create("wire", 0);
	struct cl_error err, back;
	struct wire_message m;
	struct wire w = {0};

	(void)state;
	cl_error_at(&err, -EOPNOTSUPP, "x.ini", 12, "no \"such\" thing\nhere");
	cl_error_hint(&err, -EOPNOTSUPP, "do \\ that");
	assert_int_equal(wire_send_error(fd, -EOPNOTSUPP, &err), 0);
	lseek(fd, 0, SEEK_SET);
	assert_true(wire_read(&w, fd) > 0);
	assert_true(wire_next(&w, &m));
	assert_int_equal(m.kind, WIRE_ERROR);
	assert_int_equal(wire_error(m.text, &back), -EOPNOTSUPP);
	assert_string_equal(back.file, err.file);
	assert_int_equal(back.line, err.line);
	assert_string_equal(back.what, err.what);
	assert_string_equal(back.hint, err.hint);
	wire_free(&w);
	close(fd);
	/* A text that is no error still gives one. */
	assert_int_equal(wire_error("{}", &back), -EIO);
	assert_int_equal(wire_error("nonsense", &back), -EIO);
	assert_int_equal(wire_error("{\"code\": 5}", &back), -EIO);
}

/* ---- QEMU's command line ------------------------------------------------------------ */

static struct machine machine(unsigned nodes, unsigned cpus)
{
	struct machine m = {.nodes = nodes, .cpus = cpus};

	for (unsigned i = 0; i < nodes; i++)
		m.node_bytes[i] = (256ull + i) << 20;
	return m;
}

/* The words of the command, joined by blanks. */
static char *command(const struct machine *m, bool kvm, int disk)
{
	struct qemu q = {.machine = m,
			 .program = "/bin/qemu",
			 .image = "/boot/my image,1",
			 .kvm = kvm,
			 .initramfs = 3,
			 .console = 4,
			 .disk = disk};
	char **argv = qemu_command(&q, 5), *text = calloc(1, 8192);

	for (char **p = argv; *p; p++) {
		strcat(text, *p);
		strcat(text, " ");
	}
	qemu_command_free(argv);
	return text;
}

static void expect(char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text);
}

static void cpus_are_dealt_to_the_nodes_in_equal_runs(void **state)
{
	static const struct {
		unsigned nodes, cpus;
		const char *smp, *numa[3];
	} cases[] = {
		{1, 1, "cpus=1,sockets=1,cores=1,threads=1", {"memdev=memory0,cpus=0-0 "}},
		{2,
		 2,
		 "cpus=2,sockets=2,cores=1,threads=1",
		 {"memdev=memory0,cpus=0-0 ", "memdev=memory1,cpus=1-1 "}},
		{2,
		 8,
		 "cpus=8,sockets=2,cores=4,threads=1",
		 {"memdev=memory0,cpus=0-3 ", "memdev=memory1,cpus=4-7 "}},
		{2,
		 3,
		 "cpus=3,sockets=3,cores=1,threads=1",
		 {"memdev=memory0,cpus=0-1 ", "memdev=memory1,cpus=2-2 "}},
		/* Too few CPUs: node 0 has one, as the first CPU is there. */
		{3,
		 1,
		 "cpus=1,sockets=1,cores=1,threads=1",
		 {"memdev=memory0,cpus=0-0 ", "nodeid=1,memdev=memory1 ",
		  "nodeid=2,memdev=memory2 "}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine m = machine(cases[i].nodes, cases[i].cpus);
		char *text = command(&m, false, -1);

		expect(text, cases[i].smp);
		for (unsigned n = 0; n < cases[i].nodes; n++)
			expect(text, cases[i].numa[n]);
		free(text);
	}
}

static void memory_is_that_of_the_nodes(void **state)
{
	struct machine m = machine(2, 2);
	char *text = command(&m, false, -1);

	(void)state;
	expect(text, "-m 537919488B ");
	expect(text, "memory-backend-ram,id=memory0,size=268435456,");
	expect(text, "memory-backend-ram,id=memory1,size=269484032,");
	free(text);
}

static void boot_parameters_of_the_scenario_come_last(void **state)
{
	struct machine m = machine(1, 1);
	char *text;

	(void)state;
	m.boot = (char[]){"cma=64M numa_balancing=enable"};
	text = command(&m, false, -1);
	expect(text, "-append console=ttyS0 ");
	expect(text, "rdinit=/init");
	expect(text, " numa_balancing=disable cma=64M numa_balancing=enable ");
	free(text);
}

static void accelerator_and_disk_are_as_asked(void **state)
{
	struct machine m = machine(1, 1);
	char *text = command(&m, true, 9);

	(void)state;
	expect(text, "-accel kvm -cpu host ");
	expect(text, "file=/proc/self/fd/9 -device nvme,");
	free(text);
	text = command(&m, false, -1);
	expect(text, "-accel tcg,thread=single,tb-size=256 -cpu qemu64");
	assert_null(strstr(text, "nvme"));
	free(text);
}

static void missing_qemu_says_how_to_get_it(void **state)
{
	char *saved = strdup(getenv("PATH") ? getenv("PATH") : ""), path[200];
	struct cl_error err;

	(void)state;
	setenv("PATH", "/nowhere::/proc", 1);
	assert_int_equal(qemu_find(path, sizeof(path), &err), -EOPNOTSUPP);
	setenv("PATH", saved, 1);
	free(saved);
	assert_string_equal(err.hint, "apt install qemu-system-x86");
}

/* A stand-in for QEMU: what the runner makes of a child that ends in its own ways. */
static int run_script(const char *script, uint64_t timeout_ns, struct qemu_outcome *out)
{
	char path[] = "/tmp/compactlab-test-XXXXXX";
	struct machine m = machine(1, 1);
	struct qemu q = {.machine = &m, .program = path, .image = "x", .disk = -1};
	int fd = mkstemp(path), r;

	m.timeout_ns = timeout_ns;
	q.initramfs = memfd_create("initramfs", MFD_CLOEXEC);
	q.console = memfd_create("console", MFD_CLOEXEC);
	/* The port is a chardev of the command line: file,id=wire,path=... */
	dprintf(fd,
		"#!/bin/sh\n"
		"for a; do case $a in file,id=wire,*) wire=${a#*path=};; esac; done\n"
		"%s\n",
		script);
	fchmod(fd, 0700);
	close(fd);
	r = qemu_run(&q, out, NULL);
	unlink(path);
	close(q.initramfs);
	close(q.console);
	return r;
}

static void everything_said_before_the_end_is_taken(void **state)
{
	struct qemu_outcome out;

	(void)state;
	assert_int_equal(
		run_script("exec >$wire; echo hello 5 7.3.4; echo step 3 one;"
			   "sleep 0.05; echo step 3 two; echo 'record 2 {}'; echo 'end 0 '",
			   10000000000, &out),
		0);
	assert_int_equal(out.end, QEMU_ENDED);
	assert_true(out.finished);
	assert_string_equal(out.hello, "7.3.4");
	assert_string_equal(out.last_step, "two");
	assert_string_equal(out.record, "{}");
	assert_null(out.error);
	assert_int_equal(out.status, 0);
	qemu_outcome_free(&out);
}

static void child_that_fails_gives_its_words_and_status(void **state)
{
	struct qemu_outcome out;

	(void)state;
	assert_int_equal(run_script("echo no such machine >&2; exit 7", 10000000000, &out), 0);
	assert_int_equal(out.end, QEMU_ENDED);
	assert_int_equal(out.status, 7 << 8);
	assert_string_equal(out.errors, "no such machine\n");
	assert_false(out.finished);
	qemu_outcome_free(&out);
}

static void child_that_takes_too_long_is_ended(void **state)
{
	struct qemu_outcome out;

	(void)state;
	assert_int_equal(run_script("echo 'step 1 x' >$wire; exec sleep 1000", 300000000, &out), 0);
	assert_int_equal(out.end, QEMU_TIMEOUT);
	assert_string_equal(out.last_step, "x");
	assert_int_equal(out.status, 9);
	qemu_outcome_free(&out);
}

static void child_whose_kvm_gives_up_is_ended_at_once(void **state)
{
	struct qemu_outcome out;

	(void)state;
	assert_int_equal(run_script("echo KVM internal error. Suberror: 1 >&2; exec sleep 1000",
				    60000000000, &out),
			 0);
	assert_int_equal(out.end, QEMU_BROKEN);
	qemu_outcome_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(archive_holds_every_entry_at_a_multiple_of_four),
		cmocka_unit_test(archive_keeps_its_first_error),
		cmocka_unit_test(order_survives_the_way_into_the_guest),
		cmocka_unit_test(messages_arrive_whole_however_the_bytes_are_cut),
		cmocka_unit_test(line_that_lost_a_byte_is_no_message),
		cmocka_unit_test(text_with_a_newline_is_not_sent),
		cmocka_unit_test(error_keeps_code_place_and_advice),
		cmocka_unit_test(cpus_are_dealt_to_the_nodes_in_equal_runs),
		cmocka_unit_test(memory_is_that_of_the_nodes),
		cmocka_unit_test(boot_parameters_of_the_scenario_come_last),
		cmocka_unit_test(accelerator_and_disk_are_as_asked),
		cmocka_unit_test(missing_qemu_says_how_to_get_it),
		cmocka_unit_test(everything_said_before_the_end_is_taken),
		cmocka_unit_test(child_that_fails_gives_its_words_and_status),
		cmocka_unit_test(child_that_takes_too_long_is_ended),
		cmocka_unit_test(child_whose_kvm_gives_up_is_ended_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
