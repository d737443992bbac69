#!/bin/bash
# Real guests: tests/guest/guest.sh PROGRAM CASE. Exit 77 where guests cannot run.
set -u
program=$1 case=$2
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
trap 'rm -rf "$work"' EXIT

say() { echo "guest.sh: $*" >&2; }
fail() {
	say "$*"
	[ ! -s "$work/err" ] || cat "$work/err" >&2
	[ ! -s "$work/out" ] || cat "$work/out" >&2
	exit 1
}

command -v qemu-system-x86_64 >/dev/null || { say "no qemu-system-x86_64"; exit 77; }
"$program" kernel path 7.3 >/dev/null 2>"$work/err"
case $? in
0) ;;
77) say "no kernel image 7.3"; exit 77 ;;
*) fail "$program cannot look for a kernel" ;;
esac

# scenario NAME: the text on standard input, under a machine that all cases share.
scenario() {
	{
		printf '[experiment]\ntitle = %s\n' "$1"
		printf '[machine]\nnodes = 256M, 128M\ncpus = 2\n'
		cat
	} >"$work/$1.ini"
}

# run WANTED-STATUS ARGUMENTS...
run() {
	local wanted=$1 status
	shift
	"$program" run "$@" --on guest --quiet >"$work/out" 2>"$work/err"
	status=$?
	[ "$status" -eq "$wanted" ] || fail "exit status $status where $wanted was due"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind in TMPDIR: $(ls -A "$TMPDIR")"
}

# says FILE TEXT
says() { grep -qF -- "$2" "$work/$1" || fail "\"$2\" is not in the $1 text"; }

case $case in
record)
	scenario tiny <<-'END'
		disk = 64M
		thp.enabled = madvise
		[step hog]
		kind = fill
		node = 1
		size = 16M
		[step pins]
		kind = pin
		of = hog
		[step nap]
		kind = sleep
		time = 1ms
		snapshot = yes
		[step mounts]
		kind = read
		file = /proc/mounts
		[step start]
		kind = fault
		size = 16M
		advice = hugepage
		method = pin
		cpu_node = 0
	END
	run 0 "$work/tiny.ini" --json "$work/record" --kernel 7.3 --snapshots "$work"
	[ "$(wc -l <"$work/record")" -eq 1 ] || fail "not one record"
	says record '"machine":"virtual"'
	says record '"hypervisor":"qemu"'
	grep -qE '"release":"7\.3\.[0-9]' "$work/record" || fail "not the kernel asked for"
	grep -qE '"accelerator":"(tcg|kvm)"' "$work/record" || fail "no accelerator"
	grep -q '"kswapd_ns":[0-9]' "$work/record" || fail "no time of kswapd"
	says record '/dev/nvme0n1 /scratch ext4'
	grep -o '"name":"start".*' "$work/record" >"$work/start"
	says start '"huge":8'
	grep -q '"nr_foll_pin_acquired":4[0-9]*,' "$work/start" || fail "not a pin for each page"
	! grep -q nr_foll_pin_released "$work/start" || fail "pins of a huge page were merged"
	# The layout before the nap, and the model from there.
	layout=$(echo "$work"/tiny-mainline-7.3*-0-nap.snapshot.gz)
	says record "\"snapshots\":{\"nap\":\"$layout\"}"
	"$program" snapshot --show "$layout" >"$work/layout" || fail "no sound snapshot"
	says layout 'right before step nap of tiny'
	says layout "/proc and the kernel's memory"
	says layout 'step hog holds 4096 of its 4096 pages'
	"$program" snapshot --show --json "$layout" >"$work/layout"
	says layout '"pinned": 4096'
	"$program" run "$work/tiny.ini" --set "machine.snapshot=$layout" --set nap.snapshot=no \
		--set mounts.skip=yes --set start.skip=yes --quiet --json "$work/model" 2>"$work/err" || fail "no run on the model"
	says model '"inside":true'
	[ "$(grep -o '"kind"' "$work/model" | wc -l)" -eq 1 ] || fail "more than the nap on the model"
	;;
out-of-memory)
	# Fits the node on paper; what the kernel itself takes does not leave it.
	scenario oom <<-'END'
		[step hog]
		kind = fill
		node = 1
		size = 127M
	END
	run 3 "$work/oom.ini" --keep-logs "$work"
	says err 'step hog'
	says err 'the guest ran out of memory'
	says err 'Killed process'
	grep -q 'Out of memory: Killed process' "$work"/mainline-*-0.log || fail "no console log"
	;;
timeout)
	scenario late <<-'END'
		timeout = 45s
		[step nap]
		kind = sleep
		time = 20min
	END
	run 3 "$work/late.ini"
	says err 'the guest did not finish in 45'
	says err 'in step "nap"'
	;;
panic)
	scenario panic <<-'END'
		boot = "rdinit=/nowhere"
		[step nap]
		kind = sleep
		time = 1ms
	END
	run 3 "$work/panic.ini"
	says err "the guest's kernel panicked while it booted"
	says err 'Unable to mount root fs'
	;;
no-kernel)
	scenario none <<-'END'
		[step nap]
		kind = sleep
		time = 1ms
	END
	run 2 "$work/none.ini" --kernel "$work/none.ini"
	says err "$work/none.ini is not a Linux bzImage but something else"
	run 77 "$work/none.ini" --kernel 0.99
	says err 'compactlab kernel fetch 0.99'
	;;
killed)
	scenario killed <<-'END'
		disk = 64M
		[step nap]
		kind = sleep
		time = 20min
	END
	"$program" run "$work/killed.ini" --on guest --quiet >"$work/out" 2>"$work/err" &
	runner=$!
	guest=
	for _ in $(seq 600); do
		guest=$(pgrep -P "$runner" -f qemu-system) && break
		sleep 0.1
	done
	[ -n "$guest" ] || fail "no guest was started"
	kill -KILL "$runner"
	wait "$runner" 2>/dev/null
	for _ in $(seq 600); do
		[ -d "/proc/$guest" ] || break
		sleep 0.1
	done
	[ ! -d "/proc/$guest" ] || fail "QEMU outlived its runner"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind in TMPDIR: $(ls -A "$TMPDIR")"
	;;
stopped)
	# The signal goes to this program alone, not to its process group.
	scenario stopped <<-'END'
		disk = 64M
		[step nap]
		kind = sleep
		time = 20min
	END
	"$program" run "$work/stopped.ini" --on guest --quiet --json "$work/records" \
		>"$work/out" 2>"$work/err" &
	runner=$!
	guest=
	for _ in $(seq 600); do
		guest=$(pgrep -P "$runner" -f qemu-system) && break
		sleep 0.1
	done
	[ -n "$guest" ] || fail "no guest was started"
	sleep 1
	before=$(date +%s%N)
	kill -INT "$runner"
	wait "$runner"
	status=$?
	took=$((($(date +%s%N) - before) / 1000000))
	[ "$status" -eq 3 ] || fail "exit status $status where 3 was due"
	says err 'stopped after 0 of 1 runs'
	[ "$took" -lt 10000 ] || fail "it took $took ms to stop"
	[ ! -d "/proc/$guest" ] || fail "QEMU outlived its runner"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind in TMPDIR: $(ls -A "$TMPDIR")"
	[ ! -s "$work/records" ] || fail "a record of a run that was stopped"
	;;
*)
	fail "no case $case"
	;;
esac
