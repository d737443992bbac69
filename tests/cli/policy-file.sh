# A policy in a shared object: the worked example of docs/write-a-policy.md.
cp "$(dirname "$PROGRAM")/tests/policy/defer-shared.so" . || exit 77
cat >small.ini <<'INI'
[experiment]
title = Pinned
show = populate.compact_stall, populate.huge_remote
[machine]
nodes = 4G, 1G
cpus = 2
vm.compaction_proactiveness = 0
thp.enabled = madvise
[variant defer]
thp.defrag = defer
[variant madvise]
thp.defrag = madvise
[variant v2]
policy = defer-async-v2
[step hog]
kind = fill
node = 0
leave = 200M
[step holes]
kind = punch
of = hog
select = position
modulo = 2
residue = 1
[step pins]
kind = pin
of = hog
[step populate]
kind = fault
size = 640M
advice = hugepage
cpu_node = 0
INI
cat small.ini - >checked.ini <<'INI'
[check]
fewer = madvise+defer-shared.populate.compact_stall <= 0.1 * madvise.populate.compact_stall
INI
# What ran and whether the check holds; the numbers are the model's and may change.
t2() { t "$@" | sed -n -E '/^(\$|policy|HOLDS|FAILS|->)/s/ \([^()]*\)$//p; /^(\$|policy|->)/p' | uniq; }
t2 run checked.ini --policy-file ./defer-shared.so
sed 's/defer-async-v2/sample-random+defer-shared/' small.ini >named.ini
t2 run named.ini --variant v2 --policy-file ./defer-shared.so
t run named.ini --variant v2
t run small.ini --policy-file ./defer-shared.so --on guest
t run small.ini --policy-file nosuch.so
cp "$(dirname "$PROGRAM")"/src/populate/libcompactlab-populate-preload.so other.so
t run small.ini --policy-file ./other.so
