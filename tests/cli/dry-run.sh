# What would be done, in words: all kinds of steps, overrides, scale and variants.
cat >all.ini <<'EOF'
[experiment]
title = Every kind of step
repeat = 3
seed = 7
[machine]
nodes = 2G, 1G
cpus = 4
kernel = none-such
boot = nosmt
disk = 64M
vm.compaction_proactiveness = 0
thp.enabled = madvise
[variant mainline]
[variant always]
thp.enabled = always
populate.threads = 2
[step hog]
kind = fill
node = 0
leave = 10%
[step shared]
kind = fill
memory = shmem
size = 64M
[step holes]
kind = punch
of = hog
select = pfn
modulo = 8
residue = 4
order = shuffled
[step some]
kind = punch
of = shared
action = keep
select = random
share = 12.5%
[step pins]
kind = pin
of = hog
[step populate]
kind = fault
size = 128M
advice = hugepage
policy = interleave
nodes = 0, 1
cpu_node = 0
repeat = 40
until_defer_shift = 6
[step wider]
kind = set
thp.enabled = always
[step unpinned]
kind = unpin
of = pins
[step gone]
kind = release
of = populate
[step small-files]
kind = files
count = 100
size = 16K
[step stream]
kind = write
size = 32M
[step compact-all]
kind = compact
[step drop]
kind = drop
[step nap]
kind = sleep
time = 20ms
[step zones]
kind = read
file = /proc/pagetypeinfo
[check]
fewer = always.populate.compact_stall <= mainline.populate.compact_stall
EOF
t run all.ini --dry-run | sed '/^cannot run here now/d'
t run all.ini --dry-run --variant always --repeat 1 --seed 3 --scale 1/4 \
	--set populate.advice=none --set vm.swappiness=1 | sed '/^cannot run here now/d'
t run all.ini --dry-run --kernel a,b --repeat 1 | sed -n 3p
