#!/bin/bash
# SPDX-License-Identifier: MIT
# Ways to fill a huge-page buffer on this machine's memory as it is: the library must cost
# nothing where huge pages are free. Usage: bench/populate.sh [BUILD_DIR]
#
# UPDATE_DOCS=1 puts the output into docs/populate.md. SIZE and REPEAT are passed on.
set -euo pipefail
build=${1:-build}
here=$(cd "$(dirname "$0")" && pwd)
ninja -C "$build" bench/bench-populate > /dev/null
"$build/bench/bench-populate" --size "${SIZE:-1G}" --repeat "${REPEAT:-5}" |
	if [ -n "${UPDATE_DOCS:-}" ]; then
		tee /dev/stderr | "$here/into-docs" populate-clean "$here/../docs/populate.md"
	else
		cat
	fi
