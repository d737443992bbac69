# What there is to choose from.
t list backends
t list policies
t list counters | sed -n '1,12p'
t list counters | grep -c .
t list steps | head -n 3
mkdir scenarios
printf '[experiment]\ntitle = B\n[step s]\nkind = sleep\ntime = 1s\n' >scenarios/b.ini
printf '[experiment]\ntitel = A\n' >scenarios/a.ini
t list scenarios | grep -v "^[^ab]"
