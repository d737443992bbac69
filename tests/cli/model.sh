# Without --on a scenario runs on the model: nothing is looked for on PATH, no file is left.
cat >small.ini <<'EOF'
[experiment]
title = Small
show = touch.huge
[machine]
nodes = 64M
cpus = 1
thp.enabled = always
[step touch]
kind = fault
size = 8M
[check]
some-huge = mainline.touch.huge > 0
EOF
PATH=/nowhere "$PROGRAM" run small.ini --seed 7 --json - 2>/dev/null |
	grep -o '"backend":"[a-z]*"\|"simulated":[a-z]*\|"release":"[^"]*"\|"seed":[0-9]*'
t run small.ini --kernel 6.12,7.3
t run small.ini --kernel 5.4
ls
# The trace of one run; what a script for the kernel's file would find in it.
cat >>small.ini <<'EOF'
[variant mainline]
[step whole]
kind = compact
EOF
t run small.ini --quiet --trace trace.txt
sed -n 1p trace.txt
grep -c 'mm_compaction_begin: zone_start=0x' trace.txt
t run small.ini --quiet --trace trace.txt --repeat 2
t run small.ini --quiet --trace nowhere/trace.txt
t run small.ini --quiet --trace /dev/full
