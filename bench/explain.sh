#!/bin/bash
# Seconds and peak memory of explain for 100 MB of each kind of input. The target is 3 s and 64 MiB.
set -euo pipefail
build=$1
program=$(realpath "$build")/compactlab
ninja -C "$build" --quiet bench/bench-explain
measure=$(realpath "$build")/bench/bench-explain
cases=$(dirname "$0")/../tests/explain
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# many NAME HEADING FILE: the file over and over up to 100 MB, each time under its heading with another
# number in place of %d, and with that number as the seconds of kernel times.
many() {
	awk -v heading="$2" '
		{line[NR] = $0}
		END {
			for (n = 1; size < 100000000; n++) {
				text = ""
				if (heading != "")
					text = sprintf(heading "\n", n)
				for (i = 1; i <= NR; i++) {
					l = line[i]
					if (l ~ /^\[ *[0-9]+\./)
						sub(/[0-9]+\./, n ".", l)
					text = text l "\n"
				}
				size += length(text)
				printf "%s", text
			}
		}' "$3" >"$scratch/input"
	printf '%-32s ' "$1"
	"$measure" "$program" "$scratch/input"
}

many "page allocation failures" "" "$cases/c1-sysctl-read/evidence/order5.log"
many "OOM reports" "" "$cases/c5-fork-oom/evidence/dmesg.txt"
many "the same from journalctl" "" <(sed 's/^\[ *\([0-9.]*\)\]/Jan 02 03:04:05 box kernel:/' \
	"$cases/c5-fork-oom/evidence/dmesg.txt")
many "CMA messages" "" "$cases/c10-pinned/evidence/log.txt"
many "other kernel messages" "[%d.000] usb 1-1: new high-speed device" \
	<(for i in 1 2 3 4 5 6 7 8; do echo "[12.00$i] audit: type=1400 audit(1.$i:2): apparmor=\"STATUS\" name=\"x\""; done)
many "vmstat" "### %d" "$cases/c8-guest-pinned/evidence/vmstat-1"
many "buddyinfo" "### %d" "$cases/c8-guest-pinned/evidence/buddyinfo"
many "pagetypeinfo" "### %d" "$cases/c8-guest-pinned/evidence/pagetypeinfo"
many "zoneinfo" "### %d" "$cases/c8-guest-pinned/evidence/zoneinfo"
many "meminfo" "### %d" "$cases/c8-guest-cma/evidence/meminfo"
many "compaction tracepoints" "" "$cases/c6-trace/evidence/trace.txt"
many "perf report" "" "$cases/c12-perf/evidence/input.txt"
many "sar -B" "" "$cases/c16-sar/evidence/input.txt"
many "stacks" "" "$cases/c16-stacks/evidence/input.txt"
