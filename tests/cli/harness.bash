# SPDX-License-Identifier: MIT
# What the scripts beside this file share, which source it: the command is run, and what it prints is looked at.
# Sets softfault (the command, from $1), passed, failed and work (a folder that goes at the end), and goes to the
# root of the tree.
softfault=$(realpath "${1:?the path of the command}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset SOFTFAULT_PATH COLUMNS

report() { # report NAME STATUS: 0 is good
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
		echo "ok $1"
	else
		failed=$((failed + 1))
		echo "not ok $1"
		sed 's/^/    stdout: /' "$work/stdout"
		sed 's/^/    stderr: /' "$work/stderr"
	fi
}

run() { # run ARGUMENT...: fills stdout, stderr and status
	arguments="$*"
	"$softfault" "$@" >"$work/stdout" 2>"$work/stderr"
	status=$?
}

# refuses NAME EXPECTED ARGUMENT...: exit 2, nothing on stdout, and on stderr exactly "softfault: EXPECTED"
refuses() {
	local name=$1 expected=$2
	shift 2
	run "$@"
	[ "$status" = 2 ] && [ ! -s "$work/stdout" ] && [ "$(cat "$work/stderr")" = "softfault: $expected" ]
	report "$name" $?
}

# Nothing on stderr; of an engine on real CPUs it may say, once, that there are fewer processors.
quiet() {
	[ ! -s "$work/stderr" ] || { [[ $arguments == *" --engine "* ]] && [ "$(wc -l <"$work/stderr")" = 1 ] &&
		grep -Eqx "softfault: warning: [0-9]+ CPUs are more than the $(nproc) processors of this computer; they take turns, so neither times nor rates say how it scales" "$work/stderr"; }
}

# accepts NAME PATTERN ARGUMENT...: exit 0, nothing on stderr, and a line on stdout that matches
accepts() {
	local name=$1 pattern=$2
	shift 2
	run "$@"
	[ "$status" = 0 ] && quiet && grep -Eq -- "$pattern" "$work/stdout"
	report "$name" $?
}

# check NAME EXPERIMENT ARGUMENT... <<PYTHON: runs the experiment and then the lines of Python. They find the
# results in `results`, and by variant and CPUs in `row`; ours for a published share of the profile in `share`, of
# `variant` if that is given; in `rate` operations a second; in `lock` how often a lock was taken in an operation;
# and in `measured` the first figure of a case whose name begins so
check() {
	local name=$1
	shift
	{
		cat <<'PYTHON'
import json, sys
results = json.load(open(sys.argv[1]))["results"]
row = {(one["variant"], one["cpus"]): one for one in results}
def share(symbol, caller=None, variant=None):
    return next(figure["ours"] for one in results if variant in (None, one["variant"])
                for figure in one["published"] if figure["symbol"] == symbol and figure["caller"] == caller)
def rate(variant, cpus):
    return row[variant, cpus]["ops_per_second"]
def lock(variant, cpus, name):
    one = row[variant, cpus]
    return sum(lock["acquisitions"] for lock in one["locks"] if lock["name"] == name) / one["operations"]
def measured(variant, cpus, start):
    return next(one["value"] for one in row[variant, cpus]["measured"] if one["name"].startswith(start))
PYTHON
		cat
	} >"$work/check.py"
	"$softfault" run "$@" --json "$work/json" >"$work/stdout" 2>"$work/stderr" &&
		python3 "$work/check.py" "$work/json" >"$work/stdout" 2>"$work/stderr"
	report "$name" $?
}
