# The completion, as bash would call it.
. "$SOURCE/completions/compactlab.bash"
complete -p compactlab
mkdir scenarios
for name in pinned-node pinned-node-movable unpin-recovery; do
	printf '[experiment]\ntitle = B\n[step s]\nkind = sleep\ntime = 1s\n' >scenarios/$name.ini
done
touch old.jsonl
# c WORD...: what completes the last word.
c()
{
	COMP_WORDS=(compactlab "$@") COMP_CWORD=$# COMPREPLY=()
	local previous=${COMP_WORDS[COMP_CWORD - 1]}
	_compactlab "$PROGRAM" "${COMP_WORDS[COMP_CWORD]}" "$previous"
	echo "compactlab $*: $(printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' ')"
}
c r
c k
c --
c run p
c run --
c run --re
c run --on ''
c run --on = h
c run --on =
c run --json o
c run --repeat ''
c run --json out.jsonl pinned-node-
c compare ''
c compare --
c list ''
c list s
c kernel ''
c kernel build --n
c help k
c nonsense ''
