# compactlab populate: every option, on this machine's memory. Times and counts are taken out.
sum() { sed -E 's/[0-9]+\.[0-9]+ s/N s/; s/, [0-9]+ MiB in huge.*/, .../; /^  /d'; }
t populate --size 16M --quiet | sum
t populate --size 16M --node 0 --bind --fallback base --threads 2 --timeout 30s --min-huge 0 --collapse --quiet | sum
t populate --size 16M --json | sed -E 's/.*("result":0).*("bytes":16777216,"done_bytes":16777216).*/\1 ... \2/'
# It is held until a signal comes.
: >err # for who looks before it is opened
"$PROGRAM" populate --size 16M --hold >out 2>err &
pid=$!
for _ in $(seq 600); do grep -q holding err && break; sleep 0.1; done
sed "s/$pid/PID/" err
kill -INT $pid; wait $pid; echo "-> $?"
# Not so.
t populate
t populate --size
t populate --size many
t populate --size 16M --node x
t populate --size 16M --node 200 | sed -E "s/[0-9]+\.[0-9]+ s/N s/"
t populate --size 16M --bind
t populate --size 16M --fallback some
t populate --size 16M --timeout soon
t populate --size 16M --min-huge 101
t populate --size 16M more
t populate --size 100000T
