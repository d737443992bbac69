/* SPDX-License-Identifier: MIT */
#include "scenario/option.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include "util/util.h"

#define KIB        ((uint64_t)1024)
#define MIB        (KIB * 1024)
#define TIB        (MIB * 1024 * 1024)
#define PAGE       (4 * KIB)
#define SIZE_LIMIT (64 * TIB)
/* Seeds travel through JSON, where whole numbers are safe up to this. */
#define SEED_LIMIT 9007199254740000ull
#define MINUTE_NS  60000000000ull
#define MEMORY     (1u << STEP_FILL | 1u << STEP_FAULT)
#define HOLDERS    (MEMORY | 1u << STEP_REQUEST)

/* A table reads best with its lines as they are. clang-format would split sentences oddly. */
/* clang-format off */
#define EXPERIMENT(k, f)                                                                           \
	.section = SECTION_EXPERIMENT, .key = k, .offset = offsetof(struct experiment, f)
#define MACHINE(k, f) .section = SECTION_MACHINE, .key = k, .offset = offsetof(struct machine, f)
#define STEP(K, k, f)                                                                              \
	.section = SECTION_STEP, .kind = STEP_##K, .key = k, .offset = offsetof(struct step, f)
#define SETTING(k) .section = SECTION_SETTING, .key = k, .type = OPT_SETTING

const struct option option_table[] = {
	{EXPERIMENT("title", title), .type = OPT_TEXT, .flags = OPTION_FIXED,
	 .help = "What the experiment shows, in one line. Without it the file's name is used."},
	{EXPERIMENT("about", about), .type = OPT_TEXT, .flags = OPTION_FIXED,
	 .help = "One paragraph for the reader of a result: what is set up and what to look for. "
		 "Indented lines continue it."},
	{EXPERIMENT("cite", cite), .type = OPT_TEXT, .flags = OPTION_FIXED,
	 .help = "Where the experiment was published: a mailing list thread by subject and year."},
	{EXPERIMENT("seed", seed), .type = OPT_UINT64, .max = SEED_LIMIT, .fallback = "1",
	 .help = "Start of all random choices. Repeat N, counted from 0, uses seed + N. The same "
		 "file, seed and version give the same choices."},
	{EXPERIMENT("repeat", repeat), .type = OPT_UINT, .min = 1, .max = 1000, .fallback = "1",
	 .unit = "runs",
	 .help = "How often each variant is run. With more than one, tables give the median and "
		 "the range."},
	{EXPERIMENT("show", show), .type = OPT_MEASURES,
	 .count_offset = offsetof(struct experiment, shows),
	 .help = "The rows of the table, as STEP.MEASURE, in this order. Without it every step "
		 "shows its main measures."},

	{MACHINE("nodes", node_bytes), .type = OPT_SIZES,
	 .count_offset = offsetof(struct machine, nodes), .flags = OPTION_SCALES, .min = 16 * MIB,
	 .max = SIZE_LIMIT, .align = MIB, .fallback = "1G",
	 .help = "Memory of each NUMA node, one size for each, node 0 first. The host backend runs on the nodes that "
		 "are there and ignores this.",
	 .mirrors = "/sys/devices/system/node/nodeN"},
	{MACHINE("cpus", cpus), .type = OPT_UINT, .min = 1, .max = 4096, .fallback = "2",
	 .unit = "CPUs",
	 .help = "CPUs of the whole machine, dealt to the nodes in equal runs, at least one a "
		 "node. Ignored by the host backend."},
	{MACHINE("cma", cma_bytes), .type = OPT_SIZES, .count_offset = offsetof(struct machine, cmas),
	 .flags = OPTION_SCALES, .min = 2 * MIB, .max = SIZE_LIMIT, .align = 2 * MIB,
	 .help = "Memory of each node that is set aside for contiguous allocation (CMA), node 0 "
		 "first; nodes that are not listed have none. Only movable pages go there, and "
		 "none that is pinned for long. A kernel without CMA cannot run it.",
	 .mirrors = "the kernel parameter numa_cma"},
	{MACHINE("kernel", kernel), .type = OPT_NAME,
	 .help = "Guest: the kernel to boot, as a short name such as 7.3 that `compactlab kernel "
		 "list` shows, or the path of a bzImage. Without it the newest in the cache. Model: "
		 "the kernel to imitate, by version."},
	{MACHINE("boot", boot), .type = OPT_TEXT, .help = "Guest: further kernel parameters.",
	 .mirrors = "the kernel command line"},
	{MACHINE("disk", disk_bytes), .type = OPT_SIZE, .max = SIZE_LIMIT, .align = MIB,
	 .fallback = "0", .help = "Guest: size of a scratch disk for the write steps; 0 for none."},
	{MACHINE("snapshot", snapshot), .type = OPT_NAME,
	 .help = "Model: start from this snapshot of a real machine, which takes the place of `nodes` "
		 "and `cpus`; its settings hold unless others are given. A relative name is looked for "
		 "in the working directory, then beside the scenario. When it was taken right before a "
		 "step of the scenario with this name, the steps before that one are left out."},
	{MACHINE("timeout", timeout_ns), .type = OPT_DURATION, .min = 1000000000ull,
	 .max = 1440 * MINUTE_NS, .fallback = "10min",
	 .help = "Guest: a run that takes longer, booting included, is stopped and counts as "
		 "failed."},
	{MACHINE("costs", costs), .type = OPT_NAME,
	 .help = "Model: what work costs is in this file, as compactlab-calibrate(1) measures and "
		 "writes it. A relative name is looked for in the working directory, then beside the "
		 "scenario. Costs move the clock; without it the built-in ones are used."},
	{MACHINE("slowdown", slowdown), .type = OPT_UINT, .min = 1, .max = 1000, .fallback = "1",
	 .unit = "times",
	 .help = "Model: everything takes so many times as long. An emulated guest is some 30 times "
		 "slower than a machine, and what the kernel does by the clock falls between other "
		 "work there."},

	{.section = SECTION_VARIANT,
	 .key = "policy",
	 .type = OPT_NAME,
	 .fallback = "mainline",
	 .flags = OPTION_FIXED,
	 .offset = offsetof(struct plan, policy),
	 .help = "The kernel change under test; `compactlab list policies` shows the names. "
		 "Several are joined by a plus sign."},
	{.section = SECTION_VARIANT,
	 .key = "kernel",
	 .type = OPT_OVERRIDE,
	 .help = "Short for machine.kernel: the variant runs on this kernel."},
	{.section = SECTION_VARIANT,
	 .key = "vm.NAME, thp.NAME, lru_gen.NAME",
	 .type = OPT_OVERRIDE,
	 .help = "A setting for this variant only."},
	{.section = SECTION_VARIANT,
	 .key = "machine.KEY",
	 .type = OPT_OVERRIDE,
	 .help = "Any key of [machine] for this variant only."},
	{.section = SECTION_VARIANT,
	 .key = "STEP.KEY",
	 .type = OPT_OVERRIDE,
	 .help = "Any key but `kind` of the step with that name, for this variant only. With "
		 "STEP.skip = yes the variant leaves the step out."},

	{.section = SECTION_STEP,
	 .kind = STEP_KINDS,
	 .key = "kind",
	 .type = OPT_ENUM,
	 .flags = OPTION_FIXED | OPTION_REQUIRED,
	 .offset = offsetof(struct step, kind),
	 .words = "fill|punch|pin|unpin|fault|release|files|write|request|set|compact|drop|sleep|read",
	 .help = "What the step does. It decides which other keys the step may have."},
	{.section = SECTION_STEP,
	 .kind = STEP_KINDS,
	 .key = "skip",
	 .type = OPT_BOOL,
	 .words = "no|yes",
	 .fallback = "no",
	 .help = "Leave the step out. Made for overrides: `[on host]` with `STEP.skip = yes`. No "
		 "other step may refer to one that is left out."},

	{.section = SECTION_STEP,
	 .kind = STEP_KINDS,
	 .key = "snapshot",
	 .type = OPT_ENUM,
	 .words = "no|yes",
	 .fallback = "no",
	 .offset = offsetof(struct step, snapshot),
	 .help = "Guest and host: keep the physical layout of the machine as it is right before "
		 "the step, in a file that the model can start from. See compactlab-snapshot(1).",
	 .mirrors = "/proc/kpageflags, /proc/kpagecount"},

	{STEP(FILL, "memory", fill.memory), .type = OPT_ENUM, .words = "anon|shmem|file|mlocked",
	 .fallback = "anon",
	 .help = "What kind of memory: anonymous, shared, the page cache of a file, or anonymous "
		 "and locked.",
	 .mirrors = "mmap(2) with MAP_ANONYMOUS, memfd_create(2), a file, mlock(2)"},
	{STEP(FILL, "pages", fill.pages), .type = OPT_ENUM, .words = "base|huge",
	 .fallback = "base",
	 .help = "Fill with base pages of 4 KiB or with transparent huge pages.",
	 .mirrors = "madvise(2) with MADV_NOHUGEPAGE or MADV_HUGEPAGE"},
	{STEP(FILL, "node", fill.node), .type = OPT_NODE, .words = "any", .fallback = "any",
	 .help = "Bind the memory to this node.", .mirrors = "mbind(2) with MPOL_BIND"},
	{STEP(FILL, "size", fill.size), .type = OPT_AMOUNT, .flags = OPTION_SCALES, .min = PAGE,
	 .max = SIZE_LIMIT, .align = PAGE,
	 .help = "Fill this much. A fill has either size or leave; an override by one replaces "
		 "the other."},
	{STEP(FILL, "leave", fill.leave), .type = OPT_AMOUNT, .flags = OPTION_SCALES, .min = PAGE,
	 .max = SIZE_LIMIT, .align = PAGE,
	 .help = "Fill until this much is free on the node, or on all nodes when none is given. A "
		 "small guest needs about 110M of a 768M node for itself.",
	 .mirrors = "MemFree in /sys/devices/system/node/nodeN/meminfo"},

	{STEP(PUNCH, "of", punch.of), .type = OPT_STEP, .kinds = 1u << STEP_FILL,
	 .flags = OPTION_REQUIRED, .help = "The fill step whose memory gets holes."},
	{STEP(PUNCH, "action", punch.action), .type = OPT_ENUM, .words = "free|keep",
	 .fallback = "free", .help = "Free the selected pages, or keep them and free all others.",
	 .mirrors = "madvise(2) with MADV_DONTNEED, one page at a time"},
	{STEP(PUNCH, "select", punch.select), .type = OPT_ENUM,
	 .words = "position|pfn|pageblock|random", .fallback = "position",
	 .help = "Which pages are selected. position: index in the mapping modulo `modulo` is "
		 "`residue`. pfn: the same for the physical frame number. pageblock: one page in "
		 "each pageblock, the first at offset `residue` or above. random: each page by "
		 "itself with probability `share`.",
	 .mirrors = "/proc/PID/pagemap for frame numbers"},
	{STEP(PUNCH, "modulo", punch.modulo), .type = OPT_UINT, .min = 2, .max = 1 << 20,
	 .unit = "pages",
	 .help = "One page in so many; needed for select = position and select = pfn."},
	{STEP(PUNCH, "residue", punch.residue), .type = OPT_UINT, .max = (1 << 20) - 1,
	 .fallback = "0", .unit = "pages",
	 .help = "Which one of them: smaller than modulo, or than 512 for select = pageblock."},
	{STEP(PUNCH, "share", punch.share_ppm), .type = OPT_SHARE, .min = 1, .max = 1000000,
	 .help = "Probability of select = random, drawn by the run's seed."},
	{STEP(PUNCH, "order", punch.order), .type = OPT_ENUM,
	 .words = "ascending|descending|shuffled", .fallback = "ascending",
	 .help = "The order in which pages are freed, by frame number, or by position for select "
		 "= position. It decides the order of the free lists."},

	{STEP(PIN, "of", pin.of), .type = OPT_STEP, .kinds = MEMORY, .flags = OPTION_REQUIRED,
	 .help = "The fill or fault step whose present pages are pinned for long, so that they "
		 "cannot be moved.",
	 .mirrors = "io_uring fixed buffers (IORING_REGISTER_BUFFERS, FOLL_LONGTERM)"},
	{STEP(UNPIN, "of", unpin.of), .type = OPT_STEP, .kinds = 1u << STEP_PIN,
	 .flags = OPTION_REQUIRED,
	 .help = "The pin step whose pins are dropped. The pages stay mapped.",
	 .mirrors = "IORING_UNREGISTER_BUFFERS"},
	{STEP(UNPIN, "during", unpin.during), .type = OPT_STEP, .kinds = 1u << STEP_FAULT,
	 .help = "The fault step right before this one: the pins go while it still fills, in the last of its "
		 "runs, and it must have one thread. The record then has at_blocks, blocks of 2 MiB that were "
		 "there when the pins had gone, and blocks_until_huge, how many more came before the first huge "
		 "page. On guest and host."},
	{STEP(UNPIN, "at", unpin.at_ppm), .type = OPT_SHARE, .min = 10000, .max = 990000, .fallback = "50%",
	 .help = "With `during`: how much of the memory is there when the pins go."},

	{STEP(FAULT, "size", fault.size), .type = OPT_AMOUNT,
	 .flags = OPTION_SCALES | OPTION_REQUIRED, .min = PAGE, .max = SIZE_LIMIT, .align = PAGE,
	 .help = "How much anonymous memory is mapped and faulted in, rounded up to 2 MiB."},
	{STEP(FAULT, "advice", fault.advice), .type = OPT_ENUM, .words = "none|hugepage|nohugepage",
	 .fallback = "none", .help = "Advice given for the mapping.",
	 .mirrors = "madvise(2) with MADV_HUGEPAGE or MADV_NOHUGEPAGE"},
	{STEP(FAULT, "policy", fault.policy), .type = OPT_ENUM,
	 .words = "local|bind|preferred|interleave|weighted", .fallback = "local",
	 .help = "Memory policy of the mapping. All but local need `nodes`, and weighted needs "
		 "`weights`.",
	 .mirrors = "mbind(2) with MPOL_LOCAL, MPOL_BIND, MPOL_PREFERRED_MANY, MPOL_INTERLEAVE or "
		 "MPOL_WEIGHTED_INTERLEAVE"},
	{STEP(FAULT, "nodes", fault.nodes), .type = OPT_NODES, .help = "The nodes of the policy.",
	 .mirrors = "the node mask of mbind(2)"},
	{STEP(FAULT, "weights", fault.weights), .type = OPT_UINTS, .min = 1, .max = 255,
	 .unit = "pages",
	 .help = "Pages in a row on each node of policy = weighted; one weight for each of "
		 "`nodes`.",
	 .mirrors = "/sys/kernel/mm/mempolicy/weighted_interleave/nodeN"},
	{STEP(FAULT, "method", fault.method), .type = OPT_ENUM, .words = "touch|populate-write|map-populate|base-then-collapse|compactlab|pin",
	 .fallback = "touch",
	 .help = "Write to each page in turn, have the kernel do it in one call, map the memory "
		 "filled (advice = none only), make base pages and turn them into huge ones (Linux "
		 "6.1), leave it to libcompactlab-populate, a program, which the model does not run, or "
		 "pin what is not there yet, as a driver that is handed a virtual machine's memory "
		 "does; the pins stay until release.",
	 .mirrors = "a page fault; madvise(2) with MADV_POPULATE_WRITE; mmap(2) with MAP_POPULATE; "
		 "madvise(2) with MADV_COLLAPSE; cl_populate(3); IORING_REGISTER_MEM_REGION, before "
		 "Linux 6.13 IORING_REGISTER_BUFFERS"},
	{STEP(FAULT, "cpu_node", fault.cpu_node), .type = OPT_NODE, .words = "any",
	 .fallback = "any", .help = "Threads run on the CPUs of this node, on one each in turn.",
	 .mirrors = "sched_setaffinity(2)"},
	{STEP(FAULT, "threads", fault.threads), .type = OPT_UINT, .min = 1, .max = 1024,
	 .fallback = "1", .unit = "threads",
	 .help = "Threads that fault, each its own equal part of the mapping."},
	{STEP(FAULT, "latency", fault.latency), .type = OPT_ENUM, .words = "no|yes",
	 .fallback = "no",
	 .help = "Measure how long each fault takes, for method = touch. The record then has "
		 "base_faults, base_mean_ns, base_p50_ns, base_p99_ns and base_max_ns; the same "
		 "as huge_; and as range_ for the whole of each 2 MiB."},
	{STEP(FAULT, "io_threads", fault.io_threads), .type = OPT_UINT, .max = 1024,
	 .fallback = "0", .unit = "threads",
	 .help = "Further threads that write to a file each while the memory is touched, for "
		 "method = touch. The step's time is that of touching; its counters are of both."},
	{STEP(FAULT, "io_size", fault.io_size), .type = OPT_AMOUNT, .flags = OPTION_SCALES,
	 .min = PAGE, .max = SIZE_LIMIT, .align = PAGE,
	 .help = "How much io_threads write in total. A guest needs machine.disk for it."},
	{STEP(FAULT, "io_chunk", fault.io_chunk_bytes), .type = OPT_SIZE, .min = PAGE,
	 .max = 1024 * MIB, .align = PAGE, .fallback = "1M",
	 .help = "Size of one of their write calls. The page cache makes folios of up to this "
		 "size where it can, so 4K is how a kernel without large folios behaves."},
	{STEP(FAULT, "io_pause", fault.io_pause_ns), .type = OPT_DURATION, .max = MINUTE_NS,
	 .fallback = "0ns", .help = "Pause of such a thread after each call."},
	{STEP(FAULT, "repeat", fault.repeat), .type = OPT_UINT, .min = 1, .max = 100000,
	 .fallback = "1", .unit = "times",
	 .help = "Do it so many times; the memory of all but the last is released in between. "
		 "Measures are of the last one."},
	{STEP(FAULT, "until_defer_shift", fault.until_defer_shift), .type = OPT_UINT, .max = 6,
	 .fallback = "0",
	 .help = "When not 0: repeat, at most `repeat` times, until the compaction deferral of "
		 "some zone has reached this shift; it is an error when it does not.",
	 .mirrors = "compact_defer_shift, seen in the tracepoint "
		 "compaction:mm_compaction_defer_compaction"},

	{STEP(RELEASE, "of", release.of), .type = OPT_STEP, .kinds = HOLDERS,
	 .flags = OPTION_REQUIRED,
	 .help = "The fill, fault or request step whose memory is given back, pins included.",
	 .mirrors = "munmap(2), close(2)"},

	{STEP(FILES, "count", files.count), .type = OPT_UINT64,
	 .flags = OPTION_SCALES | OPTION_REQUIRED, .min = 1, .max = 1000000000, .unit = "files",
	 .help = "How many files are created, on a tmpfs of their own."},
	{STEP(FILES, "size", files.size_bytes), .type = OPT_SIZE, .max = TIB, .fallback = "0",
	 .help = "Size of each file; it is written in full."},
	{STEP(FILES, "threads", files.threads), .type = OPT_UINT, .min = 1, .max = 1024,
	 .fallback = "1", .unit = "threads", .help = "Threads that create files."},

	{STEP(WRITE, "size", write.size), .type = OPT_AMOUNT,
	 .flags = OPTION_SCALES | OPTION_REQUIRED, .min = PAGE, .max = SIZE_LIMIT, .align = PAGE,
	 .help = "How much is written in total, through the page cache. A guest needs "
		 "machine.disk for it."},
	{STEP(WRITE, "chunk", write.chunk_bytes), .type = OPT_SIZE, .min = 1, .max = 1024 * MIB,
	 .fallback = "1M", .help = "Size of one write call.", .mirrors = "write(2)"},
	{STEP(WRITE, "think", write.think_ns), .type = OPT_DURATION, .max = MINUTE_NS,
	 .fallback = "0ns",
	 .help = "Pause of a thread after each of its write calls, as a transaction has work of "
		 "its own. The record has `writes` and `writes_per_s`."},
	{STEP(WRITE, "threads", write.threads), .type = OPT_UINT, .min = 1, .max = 1024,
	 .fallback = "1", .unit = "threads",
	 .help = "Threads that write, each to a file of its own."},

	{STEP(REQUEST, "order", request.order), .type = OPT_UINT, .flags = OPTION_REQUIRED, .min = 2,
	 .max = 10,
	 .help = "Each request is for 2^order pages in one piece that cannot be moved. Up to order 3 "
		 "the kernel tries until it has them; above, it may refuse.",
	 .mirrors = "fcntl(2) with F_SETPIPE_SZ: the kernel's array of a pipe's slots, of GFP_KERNEL"},
	{STEP(REQUEST, "count", request.count), .type = OPT_UINT64,
	 .flags = OPTION_SCALES | OPTION_REQUIRED, .min = 1, .max = 1000000, .unit = "requests",
	 .help = "How many are asked for, one after the other. They stay until release. The record "
		 "has `requests`, and `failed`: those that the kernel refused."},
	{STEP(REQUEST, "cpu_node", request.cpu_node), .type = OPT_NODE, .words = "any",
	 .fallback = "any", .help = "The program runs on the CPUs of this node.",
	 .mirrors = "sched_setaffinity(2)"},

	{STEP(SET, "vm.NAME, thp.NAME, lru_gen.NAME", set.settings), .type = OPT_OVERRIDE,
	 .help = "At least one setting; see the settings. They stay until the run ends."},
	{STEP(SET, "try", set.try_text), .type = OPT_NAME,
	 .help = "A setting as NAME=VALUE that the kernel may refuse as no value of it. The record then has "
		 "`refused`: 1 when it did, or 0 when it took the value, which stays until the run ends."},
	{STEP(COMPACT, "node", compact.node), .type = OPT_NODE, .words = "all", .fallback = "all",
	 .help = "Compact this node, by one of its CPUs, or all of them.",
	 .mirrors = "/sys/devices/system/node/nodeN/compact, vm.compact_memory"},
	{STEP(DROP, "what", drop.what), .type = OPT_ENUM, .words = "pagecache|slab|all",
	 .word_base = DROP_PAGECACHE, .fallback = "all", .help = "Which caches are dropped.",
	 .mirrors = "vm.drop_caches = 1, 2 or 3"},
	{STEP(SLEEP, "time", sleep.time_ns), .type = OPT_DURATION, .flags = OPTION_REQUIRED,
	 .min = 1, .max = 1440 * MINUTE_NS,
	 .help = "How long nothing is done, so that background work can go on."},
	{STEP(READ, "file", read.file), .type = OPT_PATH, .flags = OPTION_REQUIRED,
	 .help = "A kernel file whose text is kept in the result, such as /proc/pagetypeinfo."},

	{SETTING("vm.compaction_proactiveness"), .max = 100,
	 .help = "How eagerly kcompactd compacts in the background; 0 is off. The kernel starts "
		 "with 20.",
	 .mirrors = "/proc/sys/vm/compaction_proactiveness"},
	{SETTING("vm.extfrag_threshold"), .max = 1000,
	 .help = "Compaction is not tried below this fragmentation index. The kernel starts with "
		 "500.",
	 .mirrors = "/proc/sys/vm/extfrag_threshold"},
	{SETTING("vm.compact_unevictable_allowed"), .max = 1,
	 .help = "Whether compaction may move locked pages. The kernel starts with 1.",
	 .mirrors = "/proc/sys/vm/compact_unevictable_allowed"},
	{SETTING("vm.defrag_mode"), .max = 1,
	 .help = "Defend pageblocks against mixing, at the cost of reclaim and compaction. The "
		 "kernel starts with 0; kernels before 6.15 do not have it.",
	 .mirrors = "/proc/sys/vm/defrag_mode"},
	{SETTING("vm.min_free_kbytes"), .min = 1, .max = 1 << 30, .unit = "KiB",
	 .help = "Memory kept free for those who cannot wait; the watermarks follow from it. Among the "
		 "settings of one step, and of [machine], it is written last: the kernel may raise "
		 "it when thp.enabled is written.",
	 .mirrors = "/proc/sys/vm/min_free_kbytes"},
	{SETTING("vm.watermark_scale_factor"), .min = 1, .max = 3000,
	 .help = "Distance between watermarks in 1/10000 of a zone. The kernel starts with 10.",
	 .mirrors = "/proc/sys/vm/watermark_scale_factor"},
	{SETTING("vm.watermark_boost_factor"), .max = 1 << 30,
	 .help = "How much reclaim is boosted after pageblocks were mixed, in 1/10000 of the high "
		 "watermark. The kernel starts with 15000.",
	 .mirrors = "/proc/sys/vm/watermark_boost_factor"},
	{SETTING("vm.zone_reclaim_mode"), .max = 7,
	 .help = "Reclaim on the local node before memory of others is used. The kernel starts "
		 "with 0.",
	 .mirrors = "/proc/sys/vm/zone_reclaim_mode"},
	{SETTING("vm.swappiness"), .max = 200,
	 .help = "Balance of reclaim between anonymous memory and the page cache. The kernel "
		 "starts with 60.",
	 .mirrors = "/proc/sys/vm/swappiness"},
	{SETTING("vm.NAME"),
	 .help = "Any other file of that folder that holds a value. Use steps of kind compact and "
		 "drop instead of vm.compact_memory and vm.drop_caches.",
	 .mirrors = "/proc/sys/vm/NAME"},
	{SETTING("thp.enabled"), .words = "always|madvise|never",
	 .help = "Which memory gets transparent huge pages.",
	 .mirrors = "/sys/kernel/mm/transparent_hugepage/enabled"},
	{SETTING("thp.defrag"), .words = "always|defer|defer+madvise|madvise|never",
	 .help = "Who may stall in compaction for a huge page.",
	 .mirrors = "/sys/kernel/mm/transparent_hugepage/defrag"},
	{SETTING("thp.shmem_enabled"), .words = "always|within_size|advise|never|deny|force",
	 .help = "The same as thp.enabled, for shared memory.",
	 .mirrors = "/sys/kernel/mm/transparent_hugepage/shmem_enabled"},
	{SETTING("thp.khugepaged/defrag"), .max = 1,
	 .help = "Whether khugepaged may compact. The kernel starts with 1.",
	 .mirrors = "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag"},
	{SETTING("thp.NAME"),
	 .help = "Any other file of that folder or of one below it, such as "
		 "thp.hugepages-64kB/enabled.",
	 .mirrors = "/sys/kernel/mm/transparent_hugepage/NAME"},
	{SETTING("lru_gen.enabled"), .max = 7,
	 .help = "Parts of the multi-generational LRU that run; 0 is the classic LRU, the only one "
		 "that the model has. Debian's kernels start with 7.",
	 .mirrors = "/sys/kernel/mm/lru_gen/enabled"},
	{SETTING("lru_gen.NAME"),
	 .help = "Any other file of that folder.",
	 .mirrors = "/sys/kernel/mm/lru_gen/NAME"},

	{.section = SECTION_PUBLISHED,
	 .key = "STEP.MEASURE",
	 .type = OPT_NUMBERS,
	 .help = "The author's figures for one row of the table: one number, or up to eight from "
		 "several runs. A time may carry its unit (118.6ms)."},
	{.section = SECTION_CHECK,
	 .key = "NAME",
	 .type = OPT_RELATION,
	 .help = "A relation between measures that must hold, or off. See CHECKS."},

	{.section = SECTION_ON,
	 .key = "vm.NAME, thp.NAME, lru_gen.NAME",
	 .type = OPT_OVERRIDE,
	 .help = "A setting on this backend only."},
	{.section = SECTION_ON,
	 .key = "machine.KEY",
	 .type = OPT_OVERRIDE,
	 .help = "Any key of [machine] on this backend only."},
	{.section = SECTION_ON,
	 .key = "STEP.KEY",
	 .type = OPT_OVERRIDE,
	 .help = "Any key but `kind` of the step with that name, on this backend only."},
	{.section = SECTION_ON,
	 .key = "experiment.KEY",
	 .type = OPT_OVERRIDE,
	 .help = "seed, repeat or show of [experiment] on this backend only."},
	{.section = SECTION_ON,
	 .key = "check.NAME",
	 .type = OPT_OVERRIDE,
	 .help = "Another relation for the check with that name, or off."},
};
const unsigned option_count = sizeof(option_table) / sizeof(option_table[0]);
/* clang-format on */

static const struct {
	const char *name, *help;
} kinds[STEP_KINDS] = {
	[STEP_FILL] = {"fill", "Fill memory with pages of one kind and keep them."},
	[STEP_PUNCH] = {"punch", "Free a selection of the pages of a fill, one page at a time."},
	[STEP_PIN] = {"pin", "Pin every present page of a fill or fault for long."},
	[STEP_UNPIN] = {"unpin", "Drop the pins of a pin step."},
	[STEP_FAULT] = {"fault", "Map anonymous memory, fault it in and keep it."},
	[STEP_RELEASE] = {"release", "Give back the memory of a fill, fault or request."},
	[STEP_FILES] = {"files", "Create many files on a tmpfs of their own."},
	[STEP_WRITE] = {"write", "Write to files on the scratch file system."},
	[STEP_REQUEST] = {"request", "Have the kernel allocate unmovable contiguous memory."},
	[STEP_SET] = {"set", "Change settings between steps."},
	[STEP_COMPACT] = {"compact", "Ask for compaction of a node, from its first CPU, or of all."},
	[STEP_DROP] = {"drop", "Drop clean caches."},
	[STEP_SLEEP] = {"sleep", "Wait."},
	[STEP_READ] = {"read", "Keep the text of a kernel file in the result."},
};

static const char *const sections[SECTIONS] = {
	[SECTION_EXPERIMENT] = "What the file is about, and how often it is run.",
	[SECTION_MACHINE] = "The machine, and its settings before the first step.",
	[SECTION_VARIANT] =
		"One column of the table: what differs from the rest of the file. Without any "
		"there is one, mainline.",
	[SECTION_STEP] = "What is done, in the order of the file. Every step is measured.",
	[SECTION_SETTING] =
		"Files of the running kernel, as keys of [machine], [variant NAME], [on "
		"BACKEND] and of steps of kind set.",
	[SECTION_PUBLISHED] = "Figures from the literature, printed in a column beside ours.",
	[SECTION_CHECK] = "What must hold for the experiment to count as reproduced.",
	[SECTION_ON] = "What differs on one backend: model, guest or host.",
};

const char *step_kind_name(enum step_kind kind)
{
	return kind < STEP_KINDS ? kinds[kind].name : "?";
}

const char *option_kind_help(enum step_kind kind)
{
	return kinds[kind].help;
}

const char *option_section_help(enum option_section section)
{
	return sections[section];
}

static bool is_component(const char *p, const char *end)
{
	if (p == end)
		return false;
	for (; p < end; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			return false;
	return true;
}

/* Dots are not in the alphabet, so no path can climb out of its folder. */
bool option_is_setting(const char *key)
{
	const char *p, *slash;

	if (!strncmp(key, "vm.", 3))
		return is_component(key + 3, key + strlen(key));
	if (!strncmp(key, "lru_gen.", 8))
		return is_component(key + 8, key + strlen(key));
	if (strncmp(key, "thp.", 4))
		return false;
	for (p = key + 4; (slash = strchr(p, '/')); p = slash + 1)
		if (!is_component(p, slash))
			return false;
	return is_component(p, p + strlen(p));
}

const struct option *option_find(enum option_section section, enum step_kind kind, const char *key)
{
	const struct option *wildcard = NULL;

	if (section == SECTION_SETTING && !option_is_setting(key))
		return NULL;
	for (unsigned i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (o->section != section ||
		    (section == SECTION_STEP && o->kind != kind && o->kind != STEP_KINDS))
			continue;
		if (section == SECTION_SETTING && !strcmp(strchr(o->key, '.'), ".NAME")) {
			if (!strncmp(o->key, key, (size_t)(strchr(key, '.') - key)))
				wildcard = o;
			continue;
		}
		if (!strcmp(o->key, key) &&
		    (o->type != OPT_OVERRIDE || islower((unsigned char)*key)))
			return o;
	}
	return wildcard;
}

int option_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	int i = 0;

	for (const char *p = words; p; i++) {
		const char *end = strchrnul(p, '|');

		if ((size_t)(end - p) == length && !memcmp(p, word, length))
			return i;
		p = *end ? end + 1 : NULL;
	}
	return -1;
}

char *option_limit(const struct option *o, uint64_t limit, char *buf, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {
		{MINUTE_NS, "min"}, {1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"},
	};
	unsigned u = 0;

	switch (o->type) {
	case OPT_AMOUNT:
	case OPT_SIZE:
	case OPT_SIZES:
		return size_print(limit, buf, size);
	case OPT_DURATION:
		while (limit % units[u].ns)
			u++;
		snprintf(buf, size, "%" PRIu64 "%s", limit / units[u].ns, units[u].name);
		return buf;
	default:
		snprintf(buf, size, "%" PRIu64, limit);
		return buf;
	}
}

const char *option_type_help(const struct option *o)
{
	switch (o->type) {
	case OPT_AMOUNT:
		return "a size such as 300M or 24G, or a share of free memory such as 25%";
	case OPT_SIZE:
		return "a size such as 300M or 24G";
	case OPT_SIZES:
		return "a list of sizes such as 24G, 8G";
	case OPT_UINT:
	case OPT_UINT64:
		return "a whole number";
	case OPT_UINTS:
		return "a list of whole numbers such as 3, 1";
	case OPT_DURATION:
		return "a time such as 250ms, 2s or 10min";
	case OPT_SHARE:
		return "a share such as 12.5%";
	case OPT_NODE:
		return "a node number";
	case OPT_NODES:
		return "a list of nodes such as 0, 1";
	case OPT_STEP:
		return "the name of an earlier step";
	case OPT_NAME:
		return "one word";
	case OPT_PATH:
		return "a file below /proc or /sys";
	case OPT_MEASURES:
		return "a list of measures such as populate.compact_stall";
	case OPT_NUMBERS:
		return "a list of up to eight numbers";
	case OPT_RELATION:
		return "a relation";
	case OPT_BOOL:
	case OPT_ENUM:
		return "one of these words";
	case OPT_SETTING:
	case OPT_TEXT:
	case OPT_OVERRIDE:
		break;
	}
	return "text";
}

void suggestion_consider(struct suggestion *s, const char *candidate)
{
	unsigned allowed = strlen(s->word) >= 6 ? 2 : 1;
	unsigned distance = edit_distance(s->word, candidate);

	if (distance > allowed || (s->best && distance >= s->distance))
		return;
	s->best = candidate;
	s->distance = distance;
}

void suggestion_consider_words(struct suggestion *s, const char *words, char copy[64])
{
	for (const char *p = words; p;) {
		const char *end = strchrnul(p, '|'), *before = s->best;
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)(end - p), p);
		suggestion_consider(s, word);
		if (s->best != before) {
			strcpy(copy, word);
			s->best = copy;
		}
		p = *end ? end + 1 : NULL;
	}
}
