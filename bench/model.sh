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
# stay below the target, at about half of it on an idle machine: each waits for the word, the list and the
# buddy of a page that no cache holds, and fetching them ahead, sixteen chunks of a flush at a time, gained
# nothing that could be measured.
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
