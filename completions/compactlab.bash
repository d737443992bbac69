# bash completion for compactlab                             -*- shell-script -*-
# The program itself knows the words: see compactlab complete. Needs bash only.

_compactlab()
{
	local program=$1 current=$2 previous=$3 line
	local -a words=() candidates=()

	# --option=value comes in three words: --option, "=", value.
	if [[ $previous == = ]]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $current == = ]]; then
		previous=${COMP_WORDS[COMP_CWORD - 1]} current=
	fi
	if ((COMP_CWORD > 1)); then
		candidates=("${COMP_WORDS[1]}" "$previous")
	fi
	while IFS= read -r line; do
		words+=("$line")
	done < <("$program" complete "${candidates[@]}" 2>/dev/null)

	COMPREPLY=()
	for line in "${words[@]}"; do
		if [[ $line == @file ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r line; do
				COMPREPLY+=("$line")
			done < <(compgen -f -- "$current")
		elif [[ $line == "$current"* ]]; then
			# Options only once somebody begins one, or when there is nothing else.
			if [[ $line != -* || $current == -* ]]; then
				COMPREPLY+=("$line")
			fi
		fi
	done
}

complete -F _compactlab compactlab
