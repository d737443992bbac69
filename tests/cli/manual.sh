# Every command has a page, every option stands in it, and the pages are clean.
for command in $("$PROGRAM" complete | grep -v -e "^-" -e "^help$"); do
	page=$SOURCE/man/compactlab-$command.1
	for option in $("$PROGRAM" complete $command | sed -n 's/^--//p'); do
		[ "$option" = help ] || grep -q "^\.It Fl -$option\b" "$page" ||
			echo "$page does not explain --$option"
	done
	grep -q "^\.Xr compactlab-$command 1" "$SOURCE/man/compactlab.1" ||
		echo "compactlab.1 does not refer to compactlab-$command"
done
for field in $(sed -n 's/^ \*   \([a-z_, ]*\)  .*/\1/p' "$SOURCE/src/result/record.h" | tr -d ,); do
	grep -q "\b$field\b" "$SOURCE/man/compactlab-record.5" ||
		echo "compactlab-record.5 does not explain $field"
done
if command -v mandoc >/dev/null; then
	for page in "$SOURCE"/man/*.[15]; do
		mandoc -T lint -W warning "$page" | grep -v 'outdated mandoc.db'
	done
fi
echo done
