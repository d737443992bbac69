/* SPDX-License-Identifier: MIT */
#include "explain/rule.h"

/* Only what is known from the kernel's sources or from reports that were resolved. */
const struct known known_table[] = {
	{"proc_sys_call_handler*", NULL, "a read or write of a file below /proc/sys",
	 "read with a small buffer (dd bs=4k, or a tool that reads 4 KiB): the kernel takes a "
	 "buffer as "
	 "large as the read; newer kernels use kvzalloc"},
	{"nf_ct_alloc_hashtable", NULL,
	 "the hash table of connection tracking, made for each network "
	 "namespace",
	 "kernel 4.7 and later use vmalloc; a smaller nf_conntrack hashsize"},
	{"seq_buf_alloc", NULL, "a read of a large /proc file",
	 "kernel 3.16 and later fall back to "
	 "vmalloc; read with small buffers"},
	{"seq_read*", NULL, "a read of a large /proc file",
	 "kernel 3.16 and later fall back to vmalloc"},
	{"copy_process*", NULL, "fork: the new task's kernel stack",
	 "CONFIG_VMAP_STACK (4.9 and later) needs no contiguous stack"},
	{"dup_task_struct", NULL, "fork: the new task's kernel stack",
	 "CONFIG_VMAP_STACK (4.9 and later) needs no contiguous stack"},
	{"alloc_thread_stack_node*", NULL, "fork: the new task's kernel stack",
	 "CONFIG_VMAP_STACK (4.9 and later) needs no contiguous stack"},
	{"veth_*", NULL, "a virtual network device with many queues",
	 "fewer queues; newer kernels use kvcalloc"},
	{"devlink_*", NULL, "a devlink request", "newer kernels use kvmalloc"},
	{"proc_do_submiturb*", NULL, "a USB transfer of a user program",
	 "smaller transfers in the program, or usbfs memory mapped once (mmap of the device)"},
	{"usbdev_*", NULL, "a USB transfer of a user program", "smaller transfers in the program"},
	{"xt_alloc_table_info", NULL, "a large iptables rule set", "load rules in smaller tables"},
	{"st_open*", NULL, "buffer of a tape drive", "keep the device open; smaller block size"},
	{"enlarge_buffer", NULL, "buffer of a tape drive",
	 "keep the device open; smaller block size"},
	{"sg_build_indirect", NULL, "buffer of a SCSI generic device",
	 "a smaller reserved buffer (def_reserved_size)"},
	{"snd_*", NULL, "buffer of a sound device",
	 "preallocate (prealloc in /proc/asound), open early"},
};

const unsigned known_count = sizeof(known_table) / sizeof(known_table[0]);
