#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/tools/vsmp_objects.sh SOFTFAULT: clang copies and clears structures by calls of memcpy and its kind, which
# the virtual machine must see. So no object that clang made for it calls the C library's.
set -u
objects=$(dirname "$(realpath "${1:?the path of the command}")")/clang/vsmp-home
passed=0
failed=0

# $1: what is wanted; the rest: the test
expect() {
	if "${@:2}"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1"
	fi
}

# $1: a pattern of names; prints the objects that refer to one of them
referring() {
	find "$objects" -name '*.o' -exec nm -A -u {} + | grep -E " U ($1)\$"
}

calls=$(referring 'memcpy|memmove|memset|memcmp')
expect "no object calls the C library: $calls" [ -z "$calls" ]
# Else there was nothing to look at.
expect "objects call the machine's functions" [ -n "$(referring 'vsmp_mem(cpy|set)')" ]

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
