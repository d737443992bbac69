#!/bin/bash
# Milliseconds to read, check and plan each scenario of the project (every backend and variant).
set -euo pipefail
program=$1/compactlab
for scenario in scenarios/*.ini; do
	begin=$(date +%s%N)
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$program" run "$scenario" --on guest --dry-run >/dev/null
	done
	end=$(date +%s%N)
	awk -v ns=$((end - begin)) -v name="$(basename "$scenario")" \
		'BEGIN {printf "%-28s %6.1f ms\n", name, ns / 10 / 1000000}'
done
