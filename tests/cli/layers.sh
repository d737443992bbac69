# The program sees public headers only; what else it includes is listed here, with the reason
# in src/cli/cli.h.
grep -ho '#include ["<][a-z_]*/[a-z_]*\.h[">]' "$SOURCE"/src/cli/*.[ch] | sort -u |
	grep -v -e '<compactlab/' -e '"cli/' -e '<sys/'
echo "what the library prints:"
grep -nE '\b(printf|puts|putchar|perror)\(|std(out|err)\b' "$SOURCE"/src/{backend,result,scenario,os,procfs,util}/*.c |
	grep -v -e ':[0-9]*:[ \t]*\*'
echo "done"
