#!/bin/bash
# SPDX-License-Identifier: MIT
# Ways to fill a huge-page buffer on this machine's memory as it is: the library must cost
# nothing where huge pages are free. Usage: bench/populate.sh [BUILD_DIR]
#
# UPDATE_DOCS=1 puts the output into docs/populate.md. REPEAT and METHODS are passed on, SIZE
# may be several sizes, in turn.
set -euo pipefail
build=${1:-build}
here=$(cd "$(dirname "$0")" && pwd)
ninja -C "$build" bench/bench-populate > /dev/null
for size in ${SIZE:-1G}; do
	"$build/bench/bench-populate" --size "$size" --repeat "${REPEAT:-5}" \
		${METHODS:+--methods "$METHODS"} ${VERBOSE:+--verbose}
done |
	if [ -n "${UPDATE_DOCS:-}" ]; then
		tee /dev/stderr | "$here/into-docs" populate-clean "$here/../docs/populate.md"
	else
		cat
	fi
