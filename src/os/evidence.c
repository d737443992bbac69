/* SPDX-License-Identifier: MIT */
#include "os/evidence.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "os/numa.h"
#include "os/settings.h"
#include "scenario/plan.h"
#include "util/util.h"
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

json_t *evidence_kernel(void)
{
	struct utsname u;

	if (uname(&u) < 0)
		return json_null();
	return json_pack("{s:s, s:s}", "release", u.release, "version", u.version);
}

/* The twelve letters a hypervisor leaves in CPUID, or "" on bare metal and other processors. */
static void hypervisor_signature(char signature[13])
{
	memset(signature, 0, 13);
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 31)))
		return;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	if (!signature[0])
		strcpy(signature, "unknown");
#endif
}

/* One line of a file, or "" */
static void first_line(const char *path, char *buf, size_t size)
{
	char *text;

	*buf = '\0';
	if (file_read(path, &text, NULL))
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(buf, size, "%s", text);
	free(text);
}

static const struct {
	const char *signature, *name, *accelerator;
} signatures[] = {
	{"KVMKVMKVM", "kvm", "kvm"},       {"TCGTCGTCGTCG", "qemu", "tcg"},
	{"Microsoft Hv", "hyper-v", NULL}, {"VMwareVMware", "vmware", NULL},
	{"XenVMMXenVMM", "xen", NULL},     {"VBoxVBoxVBox", "virtualbox", NULL},
	{"ACRNACRNACRN", "acrn", NULL},    {"bhyve bhyve ", "bhyve", NULL},
};

/* Where the processor says nothing: names of products that are virtual machines. */
static const char *const products[] = {
	"KVM",        "QEMU",     "Virtual Machine",       "VMware",
	"VirtualBox", "HVM domU", "Google Compute Engine", "Standard PC"};

static const char *virtual_name(char *buf, size_t size, const char **accelerator)
{
	char signature[13], product[128];

	*accelerator = NULL;
	hypervisor_signature(signature);
	for (unsigned i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
		if (!strncmp(signature, signatures[i].signature, 12)) {
			*accelerator = signatures[i].accelerator;
			return signatures[i].name;
		}
	if (signature[0]) {
		snprintf(buf, size, "%s", signature);
		return buf;
	}
	first_line("/sys/hypervisor/type", buf, size);
	if (*buf)
		return buf;
	first_line("/sys/class/dmi/id/product_name", product, sizeof(product));
	for (unsigned i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		if (strstr(product, products[i])) {
			snprintf(buf, size, "%s", product);
			return buf;
		}
	return NULL;
}

static json_t *nodes(void)
{
	int id[PLAN_MAX_NODES];
	unsigned count = numa_nodes(id, PLAN_MAX_NODES);
	json_t *all = json_array();

	for (unsigned i = 0; i < count; i++) {
		uint64_t bytes = 0;

		numa_total_bytes(id[i], &bytes);
		json_array_append_new(all, json_pack("{s:i, s:I}", "node", id[i], "bytes",
						     (json_int_t)bytes));
	}
	return all;
}

static json_t *thp_word(const char *name)
{
	char path[256], word[64], *text;

	if (setting_path(name, path, sizeof(path)) || file_read(path, &text, NULL))
		return json_null();
	setting_word(text, word, sizeof(word));
	free(text);
	return json_string(word);
}

json_t *evidence_machine(void)
{
	char buf[160];
	const char *accelerator, *hypervisor = virtual_name(buf, sizeof(buf), &accelerator);

	return json_pack("{s:s, s:s?, s:I, s:o, s:s?, s:{s:o, s:o}}", "machine",
			 hypervisor ? "virtual" : "bare", "hypervisor", hypervisor, "cpus",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "nodes", nodes(), "accelerator",
			 accelerator, "thp", "enabled", thp_word("thp.enabled"), "defrag",
			 thp_word("thp.defrag"));
}
