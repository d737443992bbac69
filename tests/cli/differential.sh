# Differential testing without a guest: what the generator makes can be run, and what differs is cut
# down to what it takes.
scenario=$SOURCE/scripts/differential-scenario

# Every seed's text parses, whole machines fit what is asked of them, and a seed says always the same.
for seed in $(seq 200); do
	"$scenario" "$seed" >"$seed.ini"
	"$PROGRAM" run "$seed.ini" --dry-run >/dev/null || echo "seed $seed cannot be run"
done
"$scenario" 77 | cmp - 77.ini && ! cmp -s 77.ini 78.ini && echo "a seed is a scenario"
for kind in fault compact files; do
	grep -q "^kind = $kind" ./*.ini || echo "no seed has a step of kind $kind"
done
for seed in $(seq 15); do
	"$PROGRAM" run "$seed.ini" --quiet >/dev/null || echo "the model cannot run seed $seed"
done

# A planted difference: it takes pinned memory on a machine with one setting. Both must stay, and
# what has nothing to do with it must go.
cat >planted <<'END'
#!/bin/sh
grep -q '^kind = pin' "$1" && grep -q '^thp.defrag' "$1" || exit 0
echo "measured compact_fail 1 9"
END
cat >agree <<'END'
#!/bin/sh
END
chmod +x planted agree
differential()
{
	echo "\$ scripts/differential $*"
	"$SOURCE/scripts/differential" "$(dirname "$PROGRAM")" "$@"
	echo "-> $?"
}
differential --seed 3 --count 1 --tries 60 --with "$PWD/planted"
differential --seed 3 --count 1 --tries 0 --with "$PWD/planted"
differential --seed 1 --count 3 --with "$PWD/agree"
