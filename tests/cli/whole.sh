#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/whole.sh SOFTFAULT: what all mechanisms at once must show on simulated machines, all of it in virtual
# time, the same on every computer: the conflict gate, how far the default scales, and what the mechanisms cost
# each other. Prints "ok NAME" or "not ok NAME" for each check, and at the end "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

# Faults, each CPU in regions of its own, meet on no line, whatever else goes on.
check faults_meet_nowhere whole --variant default --cpus 64 --conflicts --faults 6 <<'PYTHON'
met = [one for one in row["default", 64]["conflicts"] if "fault" in (one["operation"], one["with"])]
assert not met, met
PYTHON

# On 256 CPUs as on one.
check default_scales whole --variant default --cpus 1,256 --faults 6 <<'PYTHON'
one, many = row["default", 1]["ns_per_op"], row["default", 256]["ns_per_op"]
assert many <= 1.35 * one, many / one
PYTHON

# What a step takes with all others at work, against alone.
check mechanisms_cost_each_other_little whole --cpus 64 --faults 6 <<'PYTHON'
for mechanism in "anonymous", "shared", "file", "pfn", "map", "fork", "limit":
    alone, together = (measured(variant, 64, mechanism + ":") for variant in (mechanism, "default"))
    assert together <= 1.25 * alone, (mechanism, alone, together)
PYTHON

accepts one_mechanism "^pfn: 4 faults \(ns\) " run whole --variant default --only pfn --cpus 2 --faults 2
refuses linux "whole cannot run on engine linux: a user process cannot insert PFNs; use --engine vsmp or host" \
	run whole --engine linux
accepts host "^default +2 " run whole --engine host --variant default --cpus 2 --faults 64 --reps 1

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
