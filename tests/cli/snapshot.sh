# Looking at snapshots, and what is wrong with some.
cp "$SOURCE"/tests/snapshot/pinned-node.snapshot.gz pinned.gz
head -c 2000 pinned.gz >cut.gz
zcat pinned.gz | sed 's/^compactlab-snapshot 1/compactlab-snapshot 9/' >newer
zcat pinned.gz | sed 's/^cpus 2/cpus many/' >changed
echo hello >letter
t snapshot
t snapshot one two
t snapshot --json pinned.gz
t snapshot --show nothing
t snapshot --show letter
t snapshot --show cut.gz
t snapshot --show newer
t snapshot --show changed
t snapshot --show pinned.gz
cat >start.ini <<'END'
[experiment]
title = start
[machine]
snapshot = pinned.gz
[step populate]
kind = fault
size = 2M
END
t run start.ini --on guest
t run start.ini --set machine.snapshot=cut.gz
t run start.ini --set populate.snapshot=yes
t run start.ini --set machine.snapshot=pinned.gz --set populate.size=256M --quiet
