# Canned records; - is standard input.
cp "$SOURCE"/tests/result/*.jsonl .
t compare before.jsonl after.jsonl
t compare three.jsonl | tail -n 4
"$PROGRAM" compare - <one.jsonl | sed -n 2,3p
t compare --json before.jsonl after.jsonl | head -n 4
mkdir other && cp after.jsonl other/before.jsonl
t compare before.jsonl other/before.jsonl | grep '^populate'
{ cat one.jsonl; head -c 100 one.jsonl; } >cut.jsonl
t compare cut.jsonl | tail -n 3
# Does the second file agree with the first?
t compare --within 10 before.jsonl after.jsonl | tail -n 12
t compare --within 1000 before.jsonl after.jsonl | tail -n 2
t compare --within 10 before.jsonl
t compare --within 0 before.jsonl after.jsonl
# Wrong files.
t compare nowhere.jsonl
echo '{' >bad.jsonl
cat one.jsonl >>bad.jsonl
t compare bad.jsonl
sed 's/"schema":1/"schema":7/' one.jsonl >new.jsonl
t compare one.jsonl new.jsonl
: >empty.jsonl
t compare empty.jsonl
# A full disk is not silent.
"$PROGRAM" compare one.jsonl 2>&1 >/dev/full
echo "-> $?"
