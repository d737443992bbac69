# Short runs on this machine: exit statuses 0, 1 and 3, records, tables.
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
cat >nap.ini <<'EOF'
[experiment]
title = A nap
show = nap.time_ns, nap.compaction_daemon_ns
[variant mainline]
[variant long]
nap.time = 60ms
[step nap]
kind = sleep
time = 20ms
[check]
long-enough = all.nap.time_ns >= 20e6
EOF
# One run at a time on a machine: wait for another's end.
host()
{
	for i in $(seq 60); do
		"$PROGRAM" run --on host "$@" >out 2>err </dev/null
		status=$?
		grep -q "another run on this machine" err || break
		sleep 1
	done
	return $status
}
# Leave out what is of this machine.
steady()
{
	sed -E -e '/^(kernel|machine|note:)/d' -e 's/[0-9.]+ (ms|s|us|ns)/TIME/g' \
		-e 's/ +(TIME|-)( |$)/ TIME\2/g' -e 's/\([+-]?[0-9.]+%\)/(CHANGE)/' -e 's/ +/ /g' "$@"
}
host nap.ini --json out.jsonl
status=$?
[ $status = 77 ] && { cat err; exit 77; }
echo "-> $status"
steady out err
echo "records: $(wc -l <out.jsonl)"
echo "$ a check that fails"
host nap.ini --variant mainline --set check.long-enough='all.nap.time_ns > 1e12' --json out.jsonl
echo "-> $?"
steady out err
echo "records: $(wc -l <out.jsonl)"
echo "$ quiet"
host nap.ini --variant mainline --quiet
echo "-> $?"
steady out err
echo "$ quiet, a check that fails"
host nap.ini --variant mainline --quiet --set check.long-enough='all.nap.time_ns > 1e12'
echo "-> $?"
steady out err
echo "$ records on standard output"
host nap.ini --variant mainline --json -
echo "-> $?"
cut -c 1-50 out
steady err
echo "$ a disk that is full"
host nap.ini --variant mainline --json /dev/full
echo "-> $?"
steady out err | tail -n 1
echo "$ the last record of a file is whole"
tail -c 1 out.jsonl | od -An -c
"$PROGRAM" compare out.jsonl >/dev/null
echo "-> $?"
echo "$ standard streams that are closed"
for i in $(seq 20); do
	"$PROGRAM" run --on host nap.ini --variant mainline --quiet --json closed.jsonl <&- >&- 2>&-
	status=$?
	[ $status = 3 ] || break # another run may be under way
	sleep 1
done
echo "-> $status"
echo "records: $(wc -l <closed.jsonl)"
# send SIGNAL FILE OPTIONS...: start a run, and send it the signal once it has written a record to FILE.
# Tried again while another run is under way on this machine.
send() {
	local signal=$1 file=$2
	shift 2
	for _ in $(seq 60); do
		rm -f "$file"
		(
			[ "$signal" != HUP ] || trap '' HUP
			exec "$PROGRAM" run --on host nap.ini --json "$file" "$@"
		) >out 2>err </dev/null &
		pid=$!
		until [ -s "$file" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
		kill "-$signal" $pid 2>/dev/null
		wait $pid
		status=$?
		grep -q "another run on this machine" err || break
		sleep 1
	done
	echo "-> $status"
}
echo "$ a hang-up under nohup"
send HUP hup.jsonl --repeat 5 --quiet
echo "records: $(wc -l <hup.jsonl)"
echo "$ a signal: completed records are kept, nothing is half-written"
send TERM signal.jsonl --repeat 500
sed 's/after [0-9]* of/after N of/' err
"$PROGRAM" compare signal.jsonl >/dev/null
echo "-> $?"
