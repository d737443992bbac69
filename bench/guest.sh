#!/bin/bash
# Seconds from the call to the table: an empty scenario (boot and power-off) and pinned-node, three
# times each, on every kernel in the cache. The target is 30 s for pinned-node under emulation.
set -euo pipefail
program=$1/compactlab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/boot.ini" <<'INI'
[experiment]
title = Boot and power-off
[machine]
nodes = 768M, 768M
cpus = 2
[step nothing]
kind = sleep
time = 1ms
INI

seconds() {
	local times=() begin end
	for _ in 1 2 3; do
		begin=$(date +%s%N)
		"$program" run "$@" --on guest --quiet >"$work/out" || { cat "$work/out"; return 1; }
		end=$(date +%s%N)
		times+=($(((end - begin) / 1000000)))
	done
	printf '%s\n' "${times[@]}" | sort -n |
		awk '{t[NR] = $1} END {printf "%.1f s [%.1f..%.1f]\n", t[2] / 1000, t[1] / 1000, t[3] / 1000}'
}

"$program" kernel fetch 7.3 >/dev/null
"$program" kernel fetch 6.12 >/dev/null
for kernel in 7.3 6.12; do
	printf '%-6s boot         ' "$kernel"
	seconds "$work/boot.ini" --kernel "$kernel"
	printf '%-6s pinned-node  ' "$kernel"
	seconds scenarios/pinned-node.ini --kernel "$kernel"
done
