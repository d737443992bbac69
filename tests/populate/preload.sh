#!/bin/sh
# SPDX-License-Identifier: MIT
# With the library preloaded, MADV_HUGEPAGE on a large range fills it; a small one stays.
# preload.sh PRELOAD VICTIM
set -eu
fail() { echo "$*" >&2; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# A sanitizer in the library has to come first in the process.
first=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(lib[at]san.*\)\]/\1/p')
[ -z "$first" ] || exit 77

out=$("$2" 128)
[ "$out" = "0 of 128 MiB present" ] || fail "without the library: $out"
out=$(LD_PRELOAD=$1 COMPACTLAB_POPULATE_LOG=$log "$2" 128)
[ "$out" = "128 of 128 MiB present" ] || fail "with the library: $out"
grep -q '"result":0,.*"done_bytes":134217728,' "$log" || fail "log: $(cat "$log")"
out=$(LD_PRELOAD=$1 "$2" 32)
[ "$out" = "0 of 32 MiB present" ] || fail "below the threshold: $out"
out=$(LD_PRELOAD=$1 COMPACTLAB_POPULATE_MIN=16M "$2" 32)
[ "$out" = "32 of 32 MiB present" ] || fail "threshold from the environment: $out"
out=$(LD_PRELOAD=$1 COMPACTLAB_POPULATE_MAX=64M "$2" 128)
[ "$out" = "0 of 128 MiB present" ] || fail "above the largest size: $out"
out=$(LD_PRELOAD=$1 COMPACTLAB_POPULATE_LOG=$log COMPACTLAB_POPULATE_THREADS=3 COMPACTLAB_POPULATE_NODE=0 \
	COMPACTLAB_POPULATE_FALLBACK=base COMPACTLAB_POPULATE_TIMEOUT=60 "$2" 128)
[ "$out" = "128 of 128 MiB present" ] || fail "with everything from the environment: $out"
tail -n 1 "$log" | grep -q '"result":0,.*"threads":3,' || fail "three threads: $(tail -n 1 "$log")"
out=$(LD_PRELOAD=$1 COMPACTLAB_POPULATE_LOG=$log COMPACTLAB_POPULATE_NODE=255 "$2" 128)
[ "$out" = "0 of 128 MiB present" ] || fail "on a node that is not there: $out"
tail -n 1 "$log" | grep -q '"result":-22,' || fail "a node that is not there: $(tail -n 1 "$log")"
out=$(LD_PRELOAD=$1 COMPACTLAB_POPULATE_LOG=$log COMPACTLAB_POPULATE_TIMEOUT=0ms "$2" 128)
[ "$out" = "128 of 128 MiB present" ] || fail "no timeout: $out"
# A millisecond is over before a gibibyte is filled, on whatever machine.
out=$(LD_PRELOAD=$1 COMPACTLAB_POPULATE_LOG=$log COMPACTLAB_POPULATE_TIMEOUT=1ms "$2" 1024)
tail -n 1 "$log" | grep -q '"result":-110,.*"limit":"deadline"' || fail "out of time: $(tail -n 1 "$log")"
[ "${out%% *}" -lt 1024 ] || fail "filled after the time was over: $out"

# What makes no sense: nothing is filled, and the log says what it is.
for bad in FALLBACK=bass TIMEOUT=soon TIMEOUT=99999999999s THREADS=2x NODE=-1 MIN=many MAX=1KB; do
	out=$(env "LD_PRELOAD=$1" "COMPACTLAB_POPULATE_LOG=$log" "COMPACTLAB_POPULATE_$bad" "$2" 128)
	[ "$out" = "0 of 128 MiB present" ] || fail "$bad: $out"
	tail -n 1 "$log" | grep -q "\"result\":-22,.*COMPACTLAB_POPULATE_${bad%=*} makes no sense: ${bad#*=}" ||
		fail "$bad: $(tail -n 1 "$log")"
done
