#!/bin/bash
# Seconds, seconds of CPU and peak memory of explain for 100 MB of each kind of input. The target is
# 3 s and 64 MiB.
set -euo pipefail
build=$1
program=$(realpath "$build")/compactlab
ninja -C "$build" --quiet bench/bench-explain
measure=$(realpath "$build")/bench/bench-explain
cases=$(dirname "$0")/../tests/explain
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# many NAME FILE [HEADING]: 100 MB of the file, each time under its heading with a number.
many() {
	printf '%-32s ' "$1"
	"$measure" "$program" "$2" "$scratch/input" "${@:3}"
}

many "page allocation failures" "$cases/c1-sysctl-read/evidence/order5.log"
many "OOM reports" "$cases/c5-fork-oom/evidence/dmesg.txt"
sed 's/^\[ *\([0-9.]*\)\]/Jan 02 03:04:05 box kernel:/' "$cases/c5-fork-oom/evidence/dmesg.txt" >"$scratch/journal"
many "OOM reports, journalctl" "$scratch/journal"
many "CMA messages" "$cases/c10-pinned/evidence/log.txt"
for i in 1 2 3 4 5 6 7 8; do
	echo "[12.00$i] audit: type=1400 audit(1.$i:2): apparmor=\"STATUS\" operation=\"profile_load\" name=\"x\""
	echo "[12.01$i] usb 1-$i: new high-speed USB device number $i using xhci_hcd"
done >"$scratch/other"
many "other kernel messages" "$scratch/other"
many "vmstat" "$cases/c8-guest-pinned/evidence/vmstat-1" "###"
many "buddyinfo" "$cases/c8-guest-pinned/evidence/buddyinfo" "###"
many "pagetypeinfo" "$cases/c8-guest-pinned/evidence/pagetypeinfo" "###"
many "zoneinfo" "$cases/c8-guest-pinned/evidence/zoneinfo" "###"
many "meminfo" "$cases/c8-guest-cma/evidence/meminfo" "###"
many "compaction tracepoints" "$cases/c6-trace/evidence/trace.txt"
many "perf report" "$cases/c12-perf/evidence/input.txt"
many "sar -B" "$cases/c16-sar/evidence/input.txt"
many "stacks" "$cases/c16-stacks/evidence/input.txt"
