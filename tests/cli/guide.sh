#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/guide.sh SOFTFAULT: follows docs/EXPERIMENTS.md to the letter, in a copy of the tree: an own variant, an
# own machine, an own workload with its experiment, and what is done with its results.
# Prints "ok NAME" or "not ok NAME" for each step, and at the end "N passed, N failed".
set -u
softfault=$(realpath "${1:?the path of the command}")
built=$(dirname "$softfault")
cd "$(dirname "$0")/../.." || exit 1

passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset SOFTFAULT_PATH MAKEFLAGS MFLAGS MAKELEVEL BUILD

try() { # try NAME COMMAND...: passes when the command does
	local name=$1
	shift
	if "$@" >"$work/log.new" 2>&1; then
		[ "$1" = shows ] || mv "$work/log.new" "$work/log"
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		echo "not ok $name"
		sed 's/^/    /' "$work/log.new"
	fi
}

shows() { # shows PATTERN: the output of the step before has such a line
	grep -Eq -- "$1" "$work/log"
}

# The text of a file that the guide gives, after "<!-- file: PATH -->".
given() {
	awk -v mark="<!-- file: $1 -->" '$0 == mark { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next }
		inside { print }' docs/EXPERIMENTS.md
}

tree=$work/tree
mkdir -p "$tree/build"
for part in * .clang-format; do
	[ "$(realpath "$part")" = "$built" ] || [ "$part" = build ] || cp -a "$part" "$tree" || exit 1
done
# What is built already need not be built again.
for part in "$built"/{plain,page,host-home,vsmp-home,flags,prefix} "$built"/*.o; do
	[ -e "$part" ] && cp -a "$part" "$tree/build"
done
cd "$tree" || exit 1
find build -name '*.d' -delete

# --- A variant -------------------------------------------------------------------------------------------
awk '{ print } /^variants:/ { print "  - name: mine\n    base: base_2010\n    set:\n" \
	"      - {field: memtype, choice: rwlock}\n    what: memtype_lock as a reader/writer lock" }' \
	experiments/pfn-insert.yaml >"$work/new.yaml"
cp "$work/new.yaml" experiments/pfn-insert.yaml
try own_variant "$softfault" run pfn-insert --variant mine --machine nehalem-8 --cpus 2 --faults 16
try own_variant_runs shows '^mine +2 '

# A new mechanism: here it does what spin does. The last of its enumeration: what is built holds for it, too.
sed -i 's/^\tPOLICY_MEMTYPE_RWLOCK\(.*\)/\tPOLICY_MEMTYPE_RWLOCK,\1\n\tPOLICY_MEMTYPE_SEQCOUNT/' mm/policy/policy.h
sed -i 's/^.*"rwlock", POLICY_MEMTYPE_RWLOCK},/&\n    {FIELD(memtype), "seqcount", POLICY_MEMTYPE_SEQCOUNT},/' \
	mm/policy/policy.c
sed -E 's/\bspin_(reserve|free|lookup)\b/seqcount_\1/; s/memtype_spin_ops/memtype_seqcount_ops/' \
	mm/memtype/memtype_spin.c >mm/memtype/memtype_seqcount.c
sed -i 's/^extern const struct memtype_ram_ops /&memtype_seqcount_ops, /' mm/memtype/internal.h
sed -i 's/^.*POLICY_MEMTYPE_RWLOCK\] = .*/&\n    [POLICY_MEMTYPE_SEQCOUNT] = \&memtype_seqcount_ops,/' mm/memtype/memtype.c
awk '{ print } /^variants:/ { print "  - name: seqcount\n    base: base_2010\n    set:\n" \
	"      - {field: memtype, choice: seqcount}\n    what: memtype_lock as a sequence counter" }' \
	experiments/pfn-insert.yaml >"$work/new.yaml"

# --- A machine -------------------------------------------------------------------------------------------
sed 's/^name: .*/name: mine/' machines/nehalem-8.yaml >machines/mine.yaml
try own_machine "$softfault" run anon-fault --machine mine --cpus 1-8 --faults 16
try own_machine_runs shows 'machine mine '
sed -e 's/^name: .*/name: measured/' -e 's/^calibration: .*/calibration: measured/' machines/westmere-ex-80.yaml \
	>machines/measured.yaml
sed -n 's/^intel,/measured,/p' machines/calibration/line-sharing.csv >"$work/curve"
cat "$work/curve" >>machines/calibration/line-sharing.csv
try own_calibration "$softfault" calibrate measured --points 3
try own_calibration_is_close shows ': calibrated$'

# --- A workload ------------------------------------------------------------------------------------------
given lab/workloads/map_unmap.c >lab/workloads/map_unmap.c
given experiments/map-unmap.yaml >experiments/map-unmap.yaml
try guide_has_the_files test -s lab/workloads/map_unmap.c -a -s experiments/map-unmap.yaml
if command -v clang-format >"$work/ignored"; then
	try workload_is_formatted clang-format --dry-run -Werror lab/workloads/map_unmap.c
fi
sed -i 's/^extern const struct workload workload_pfn_insert;/&\nextern const struct workload workload_map_unmap;/' \
	lab/workload.h
sed -i 's/&workload_pfn_insert/&, \&workload_map_unmap/' lab/workload.c
try builds make -j2 build/softfault CC="${CC:-gcc}"
cp "$work/new.yaml" experiments/pfn-insert.yaml
try own_mechanism build/softfault run pfn-insert --cpus 1,8,32 --faults 32 --variant cmpxchg,seqcount --lines
try own_mechanism_runs shows '^seqcount +32 '
try own_experiment build/softfault run map-unmap
try own_experiment_runs shows '^default +8 '
try own_experiment_on_real_cpus build/softfault run map-unmap --engine host,linux --cpus 1,2 --faults 200 --reps 2
try own_experiment_observed build/softfault run map-unmap --cpus 1-8 --profile --locks --lines --conflicts \
	--json map-unmap.json
try own_experiment_is_limited_by shows 'rwsem_spin: limited on 8 CPUs by '
try own_report build/softfault report map-unmap.json -o map-unmap.html
try own_report_is_there grep -q '"workload":"map_unmap"' map-unmap.html

# --- Is it faster, what would it gain --------------------------------------------------------------------
try before build/softfault run pfn-insert --cpus 32 --reps 10 --json before.json
try after build/softfault run pfn-insert --cpus 32 --reps 10 --json after.json
try compared build/softfault compare before.json after.json
try compared_within_noise shows '^lock +32 .* within noise'
try compared_variants build/softfault compare before.json --variant lock,cmpxchg
try compared_variants_faster shows '^lock -> cmpxchg +32 .* faster by'
try gain build/softfault run pfn-insert --cpus 4 --faults 16 --speedup spin_lock=20
try gain_is_shown shows '^lock +4 .*[0-9]'
try cheaper build/softfault run pfn-insert --cpus 4 --faults 16 --machine-set memory=100

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
