# What is missing here is exit status 77, and the message says how to get it.
t kernel path
t kernel path 7.3
printf '[experiment]\ntitle = B\n[step s]\nkind = sleep\ntime = 1s\n' >b.ini
t run b.ini --on guest --kernel 7.3 | sed 's/compactlab: .*/compactlab: REASON/'
"$PROGRAM" run b.ini --on guest --kernel 7.3 --json none.jsonl 2>/dev/null
echo "-> $?, $(ls *.jsonl 2>/dev/null | wc -l) files"
printf 'kept\n' >kept.jsonl
"$PROGRAM" run b.ini --on guest --kernel 7.3 --json kept.jsonl 2>/dev/null
echo "-> $?, $(cat kept.jsonl)"
printf '[variant x]\npolicy = sample-random\n' >>b.ini
t run b.ini --on host --variant x
