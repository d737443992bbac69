# A case in all three forms, in part; input that is none; the archive.
export CASES=$SOURCE/tests/explain
t explain "$CASES/c4-header-behind-lists/evidence" | head -n 28
t explain "$CASES/c1-sysctl-read/evidence" | grep -A 8 '^Incident\|^What helps'
t explain --markdown "$CASES/c9-no-dma32/evidence" | head -n 14
t explain --json "$CASES/c0-desktop/evidence" | grep -v '"version"' | sed -n '1,10p'
"$PROGRAM" explain - <"$CASES/c11-htlb/evidence/input.txt" | head -n 3
t explain
t explain nowhere
: >empty && t explain empty
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\0\0\0\0\0\0' >photo.png && t explain photo.png
echo "dear all, memory is full" >letter && t explain letter
t explain letter empty
t explain --seconds 0 --live
t explain --jsn letter
t explain --what-if "$CASES/c8-guest-pinned/evidence" | sed -n '/^What if/,/^  nothing/p'
t explain --what-if "$CASES/c9-pool/evidence" | grep -A 4 '^What if'
t explain --rules | sed -n 1,6p
t collect
: >there.tar && t collect there.tar
"$PROGRAM" collect --seconds 1 new.tar 2>/dev/null
tar tf new.tar | grep -c '^compactlab/proc/vmstat'
ls -l new.tar | cut -c 1-10
