# Help for everything, and advice on what is misspelt. Wrong usage is exit status 2.
t
t --version | sed 's/[0-9.]\{5,\}$/VERSION/'
t --help | sed '/^Commands:/,/^$/d'
t rnu
t complet
t frobnicate
t --verbose run
for command in run compare list kernel help; do
	t $command --help
	cmp <("$PROGRAM" help $command) <("$PROGRAM" $command --help)
done
t help rum
t run --repaet 3 x
t run --frobnicate x
t run --repeat
t run --quiet=yes x
t run --help=yes x
t compare -x
t compare --all -xyz
t list
t list polices
t list everything
t list steps policies
t kernel
t kernel fetsh 7.3
t kernel fetch
t kernel list 7.3
t kernel path a b
t kernel list --debug
t kernel build 7.3 --source linux
t kernel build latest
t kernel build --jobs 0
t kernel build --name 'a b'
t kernel build --source nowhere
mkdir home
t kernel build --source home
t kernel build 7.3 7.4
t compare
t run
t run a b
