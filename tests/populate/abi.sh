#!/bin/sh
# SPDX-License-Identifier: MIT
# The library's binary interface is that of the description in git. Programs linked against
# an older library must go on working, so a difference that abidiff calls incompatible fails;
# an addition fails too, until the description has it: UPDATE=1 writes it.
# abi.sh LIBRARY DESCRIPTION
set -eu
command -v abidw >/dev/null && command -v abidiff >/dev/null || exit 77
[ "$(uname -m)" = x86_64 ] || exit 77 # what the description is of

if [ -n "${UPDATE:-}" ]; then
	abidw --exported-interfaces-only --no-show-locs \
		--no-corpus-path --no-comp-dir-path --no-elf-needed "$1" >"$2"
	exit
fi
abidiff --exported-interfaces-only "$2" "$1" || {
	echo "if that is meant: UPDATE=1 $0 $*" >&2
	exit 1
}
