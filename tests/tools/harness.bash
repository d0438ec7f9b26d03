# SPDX-License-Identifier: MIT
# What the scripts beside this file share that run a tool for a time and look at the turns it gives, which source it.
# Sets passed, failed and scratch (a folder that goes at the end), and goes to the root of the tree.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

verdict() { # verdict STATUS NAME: 0 is good
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $2"
		head -n 50 "$scratch/stdout" "$scratch/stderr" "$scratch/turns" | sed 's/^/    /'
	fi
}
