# Costs of the model from a file, and what is wrong with some.
cat >run.ini <<'END'
[experiment]
title = costs
show = populate.time_ns
[machine]
nodes = 64M
costs = mine
[step populate]
kind = fault
size = 2M
END
t run run.ini
echo hello >mine
t run run.ini
printf 'compactlab-costs 1\nzero_pages = 3\n' >mine
t run run.ini
printf 'compactlab-costs 1\n# slow\nzero_page = 1000001\n' >mine
t run run.ini --set machine.slowdown=999
t run run.ini --set machine.slowdown=1000
mkdir elsewhere
cp run.ini mine elsewhere
rm mine
t run elsewhere/run.ini
# Measuring them: what is wrong with a command line.
t calibrate guest
t calibrate --on gest
t calibrate --kernel 7.3,6.12
t calibrate --repeat 0
t calibrate --output /nowhere/costs --on model --repeat 1 --quiet
"$PROGRAM" calibrate --on model --repeat 1 --quiet --output measured
t run run.ini --set machine.costs=measured --set populate.size=4M --quiet
"$PROGRAM" calibrate --on model --repeat 1 --json | grep -o '"backend":"model"\|"zero_page":{"ns":[0-9]*'
