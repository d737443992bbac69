# Wrong input is exit status 2, with file, line and advice.
mkdir scenarios
cat >scenarios/small.ini <<'EOF'
[experiment]
title = Small
[step nap]
kind = sleep
time = 1ms
[check]
short = mainline.nap.time_ns < 1e9
EOF
t run small --dry-run --repeat 0
t run small --dry-run --repeat 1001
t run small --dry-run --repeat -1
t run small --dry-run --repeat 3x
t run small --dry-run --seed 9007199254740001
t run small --dry-run --seeds 3..1
t run small --dry-run --seeds 1,,2
t run small --dry-run --seeds 1..1001
t run small --dry-run --seeds 1,2 --repeat 3
t run small --dry-run --jobs ''
t run small --dry-run --scale 2
t run small --dry-run --scale 1/0
t run smal --dry-run
t run something-else --dry-run
t run ./nowhere.ini --dry-run
t run small --dry-run --on geust
t run small --dry-run --on moon
t run small --dry-run --variant mainlin
t run small --dry-run --set nap.tmie=2ms
t run small --dry-run --set nap.time
t run small --dry-run --on host --kernel 7.3
sed 's/nap.time_ns/nap.tiem_ns/' scenarios/small.ini >wrong.ini
t run wrong.ini --dry-run
sed 's/< 1e9/< 1e9 < 2/' scenarios/small.ini >wrong.ini
t run wrong.ini --dry-run
printf '{"schema":1' >cut.jsonl
t run small --json cut.jsonl
t run small --json nowhere/x.jsonl
t run small --json .
t run small --on guest --keep-logs nowhere
t run small --on guest --keep-logs cut.jsonl
# Two images whose records could not be told apart.
head -c 2048 /dev/zero >one
put() { printf "$1" | dd of=one bs=1 seek=$(($2)) conv=notrunc status=none; }
put 'HdrS\017\002' 0x202
put '\0\2' 0x20e
put '\1' 0x211
put '7.3.4-mine (me) #1' 0x400
cp one two
t run small --on guest --kernel ./one,./two --dry-run
# With standard error closed, nothing but records goes to the file.
"$PROGRAM" run small --on guest --json closed.jsonl 2>&-
echo "-> $?"
[ ! -e closed.jsonl ] || cat closed.jsonl
