#!/bin/sh
# SPDX-License-Identifier: MIT
# A real program that cannot be changed: QEMU with the library preloaded has its guest's
# memory filled before it starts. qemu.sh PRELOAD
set -eu
fail() { echo "$*" >&2; exit 1; }
qemu=$(command -v qemu-system-x86_64) || exit 77
[ -z "$(readelf -d "$1" | grep 'lib[at]san')" ] || exit 77
work=$(mktemp -d)
trap 'kill $pid 2>/dev/null || true; rm -rf "$work"' EXIT

# It may not run: -S. What is resident is what was filled, looked at when
# the log says so, or without a log after two seconds.
resident() {
	env "$@" "$qemu" -machine q35 -accel tcg -m 192M -nodefaults -display none -S \
		-qmp "unix:$work/qmp,server=on,wait=off" 2>"$work/errors" &
	pid=$!
	for i in $(seq 200); do
		[ -S "$work/qmp" ] && grep -qs 'done_bytes":201326592' "$work/log" && break
		kill -0 $pid 2>/dev/null || fail "QEMU ended: $(cat "$work/errors")"
		[ $# -lt 2 ] && [ "$i" -gt 20 ] && break
		sleep 0.1
	done
	rss=$(sed -n 's/^Rss: *\([0-9]*\) kB/\1/p' "/proc/$pid/smaps_rollup")
	kill $pid
	wait $pid 2>/dev/null || true
}
pid=
resident COMPACTLAB_POPULATE_MIN=64M
without=$rss
resident LD_PRELOAD="$1" COMPACTLAB_POPULATE_LOG="$work/log"
with=$rss
grep -q '"result":0,.*"done_bytes":201326592,' "$work/log" || fail "log: $(cat "$work/log")"
[ $((with - without)) -gt $((180 * 1024)) ] || fail "resident: $without kB without, $with kB with"
