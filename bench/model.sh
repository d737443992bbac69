#!/bin/bash
# The model: what its scanners, its allocator and its faults cost, and the main scenario at its published
# size. Times are CPU time of this process. Usage: bench/model.sh [BUILD_DIR]
#
# Targets: scanners at most 10 ns a page, without the moves; 20 M order-0 allocations and frees a second;
# pinned-node at 24 + 8 GiB in at most 1 s a variant; 10 bytes of metadata a page and 19 a pageblock; an empty
# machine of 1 TiB in 0.1 s, a full one in 2.6 GiB (FULL=1 shows that in about a minute; with every second page
# punched out, each of the others pinned and each hole on a free list, it needs 3 GiB).
#
# Two figures say more than a page's cost. An asynchronous scan that leaves each block at its first page or its
# second has the visit of the block in what it calls a page. Frees in random order alone (`random`, order 0)
# stay below the target at 4 GiB: 13 M a second on a shared two-core virtual machine with 2 MiB of second-level
# cache. They reach it where the page arrays fit that cache: 22 M in up to 512 MiB (bench-model-alloc 512), 19 M
# in 1 GiB, 17 M in 2 GiB. What is lost is waiting for a page's word and for its buddy's cell of a free list.
# Three remedies were measured there and gained nothing: to take pages off the CPU's list eight or sixteen steps
# before they are freed and fetch that cell meanwhile (12.8 M against 13.0 M), huge pages of the host for all
# arrays (13.1 M against 13.2 M; in pinned-node they cost 0.35 s of system time instead of 0.07 s), and a CPU's
# list so short that the caches hold it (12.8 M with vm.percpu_pagelist_high_fraction=4096).
set -euo pipefail
build=${1:-build}
ninja -C "$build" bench/bench-model-scan bench/bench-model-alloc bench/bench-model-fault >/dev/null
"$build/bench/bench-model-scan"
echo
"$build/bench/bench-model-alloc"
echo
"$build/bench/bench-model-fault" 8
[ -z "${FULL:-}" ] || { echo; "$build/bench/bench-model-fault" 1024; }
echo
echo "pinned-node at 24 + 8 GiB, mainline, three runs:"
for _ in 1 2 3; do
	TIMEFORMAT='%U s user, %S s system'
	time "$build/compactlab" run scenarios/pinned-node.ini --variant mainline --quiet
done
