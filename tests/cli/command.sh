#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/command.sh SOFTFAULT: what the command does with right and wrong command lines and files.
# Prints "ok NAME" or "not ok NAME" for each check, and at the end "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

# --- Wrong command lines ---------------------------------------------------------------------------------
commands="there are: list, run, reproduce, compare, report, calibrate, explore"
refuses no_command "a command must follow; $commands"
refuses unknown_command "there is no command \"rnu\"; did you mean \"run\"? $commands" rnu
refuses no_experiment "an experiment must be named; softfault list shows which there are" run
refuses unknown_experiment "there is no experiment called \"pfn-inset\"; did you mean \"pfn-insert\"? there are: $(
	cd experiments && ls -- *.yaml | sed 's/\.yaml$//' | paste -sd, | sed 's/,/, /g')" run pfn-inset
refuses unknown_variant "experiment pfn-insert has no variant \"lok\"; did you mean \"lock\"? there are: lock, rwlock, cmpxchg, default" \
	run pfn-insert --variant cmpxchg,lok
refuses empty_variant "experiment pfn-insert has no variant \"\"; there are: lock, rwlock, cmpxchg, default" \
	run pfn-insert --variant lock,
refuses unknown_engine "there is no engine \"vmsp\"; did you mean \"vsmp\"? there are: vsmp, host, linux" \
	run pfn-insert --engine vmsp
refuses engine_that_cannot "pfn-insert cannot run on engine linux: a user process cannot insert PFNs into its own page tables; use --engine vsmp or host" \
	run pfn-insert --engine linux
refuses no_cpus "\"0\" is no list of CPU counts; give counts and ranges of 1 to 1024, such as 1,2,4-64" \
	run pfn-insert --cpus 0
refuses too_many_cpus "\"5000\" is no list of CPU counts; give counts and ranges of 1 to 1024, such as 1,2,4-64" \
	run pfn-insert --cpus 5000
refuses more_cpus_than_the_machine "--cpus: 64 is more than the 8 CPUs that machine nehalem-8 has" \
	run pfn-insert --machine nehalem-8 --cpus 4,64
refuses more_cpus_than_so_placed "--cpus: 8 is more than the 4 CPUs that machine nehalem-8, so placed, has" \
	run pfn-insert --machine nehalem-8 --placement fill:2 --cpus 8
refuses bad_placement "\"fil\" is no placement; give fill, spread or compact, and after a colon the most CPUs of a socket if there is a bound, such as fill:4" \
	run pfn-insert --placement fil
refuses bad_reps "--reps: \"0\" must be a whole number from 1 to 1000" run pfn-insert --reps 0
refuses bad_seed "--seed: \"-1\" must be a whole number from 0 to 4611686018427387904" run pfn-insert --seed -1
refuses bad_faults "--faults: \"many\" must be a whole number from 1 to 1000000000" run pfn-insert --faults many
refuses too_many_arguments "\"more\" is one argument too many" run pfn-insert more
refuses unknown_option "unknown option \"--profil2\"; softfault run --help lists the options" run pfn-insert --profil2
refuses unknown_option_before_argument "unknown option \"--bogus\"; softfault run --help lists the options" \
	run --bogus pfn-insert
refuses unknown_short_option "unknown option \"-x\"; softfault run --help lists the options" run pfn-insert -x
refuses ambiguous_option "\"--l\" could be several options; softfault run --help lists them" run pfn-insert --l
refuses missing_value "--cpus needs a value: --cpus LIST" run pfn-insert --cpus
refuses value_too_many "--profile takes no value" run pfn-insert --profile=yes
refuses bad_top_level_option "unknown option \"--bogus\"; softfault --help lists the options" --bogus
refuses observing_real_cpus "engine host cannot show a profile; use --engine vsmp" \
	run pfn-insert --engine host --profile
refuses observing_the_kernel "engine linux cannot show locks; use --engine vsmp" run anon-fault --engine linux --locks
PATH=$work "$softfault" run anon-fault --engine linux --profile >"$work/stdout" 2>"$work/stderr"
[ $? = 2 ] && [ "$(cat "$work/stderr")" = "softfault: engine linux cannot show a profile: perf is not installed; Debian has it in the package linux-perf" ]
report profile_without_perf $?
refuses unknown_engine_in_a_list "there is no engine \"lunix\"; did you mean \"linux\"? there are: vsmp, host, linux" \
	run anon-fault --engine host,lunix
refuses engine_twice "--engine: host is there twice" run anon-fault --engine host,host
refuses simulated_beside_real "--engine: vsmp cannot stand beside another: its time is not this computer's" \
	run anon-fault --engine host,vsmp
refuses bad_layout "layout cannot be \"twice\"; there are: one, each" run anon-fault --layout twice
refuses bad_touch "touch cannot be \"wirte\"; did you mean \"write\"? there are: write, read" run anon-fault --touch wirte
refuses bad_backing "backing cannot be \"tmpfs\"; there are: anon, file" run shared-fault --backing tmpfs
refuses another_layout "layout cannot be \"one\"; there are: slices, same" run shared-fault --layout one
refuses layout_of_another_workload "workload pfn_insert has no options, so no \"layout\"" run pfn-insert --layout one
refuses machine_of_real_cpus "engine host runs on this computer; --machine is for --engine vsmp" \
	run pfn-insert --engine host --machine uv
refuses bad_list "\"machine\" cannot be listed; did you mean \"machines\"? there are: experiments, machines, checks, variants" \
	list machine
refuses list_variants_of_nothing "list variants needs an experiment: list variants EXPERIMENT" list variants
refuses list_too_many "\"uv\" is one argument too many" list machines uv
refuses calibrate_nothing "a machine must be named, such as westmere-ex-80" calibrate
refuses calibrate_unmeasured "machines/uv.yaml: the machine was not measured; one that was has a key \"calibration\", such as westmere-ex-80 and opteron-48" \
	calibrate uv
refuses calibrate_no_points "--points: \"0\" must be a whole number from 1 to 1000" calibrate westmere-ex-80 --points 0
refuses reproduce_unknown "there is no experiment called \"nothing\"; there are: $(
	cd experiments && ls -- *.yaml | sed 's/\.yaml$//' | paste -sd, | sed 's/,/, /g')" reproduce nothing

# --- Wrong files -----------------------------------------------------------------------------------------
own=$work/share
mkdir "$own"
cp -r experiments machines "$own"
export SOFTFAULT_PATH=$own

sed -i 's/^placement: .*/&\nplacment: fill/' "$own/machines/nehalem-8.yaml"
line=$(grep -n '^placment' "$own/machines/nehalem-8.yaml" | cut -d: -f1)
refuses machine_with_a_wrong_key "$own/machines/nehalem-8.yaml:$line: unknown key \"placment\"; did you mean \"placement\"? there are: name, title, gigahertz, topology, protocol, placement, cpus_per_socket, home, home_assumed, calibration, parameters" \
	run pfn-insert --machine nehalem-8
refuses wrong_machine_in_a_list "$(sed 's/^softfault: //' "$work/stderr")" list machines
cp machines/nehalem-8.yaml "$own/machines"

sed -i 's/simulated: .*/simulated: lots/' "$own/experiments/pfn-insert.yaml"
line=$(grep -n 'simulated:' "$own/experiments/pfn-insert.yaml" | head -1 | cut -d: -f1)
refuses experiment_with_a_wrong_type "$own/experiments/pfn-insert.yaml:$line: \"simulated\" is \"lots\"; it must be a whole number, 0 or more" \
	run pfn-insert
printf 'name: "open\n' >"$own/experiments/pfn-insert.yaml"
run reproduce pfn-insert
[ "$status" = 2 ] && [ "$(wc -l <"$work/stderr")" = 1 ] &&
	grep -q "^softfault: $own/experiments/pfn-insert.yaml:[0-9]*: not YAML: " "$work/stderr"
report experiment_that_is_no_yaml $?
grep -q "see docs/EXPERIMENTS.md for how such a file looks" "$work/stderr"
report it_names_the_page_of_experiments $?

# From here on small experiments, so that whole reproductions are quick.
sed -e 's/simulated: [0-9]*/simulated: 320/' -e 's/^  warm_up: [0-9]*/  warm_up: 320/' \
	-e 's/sweep: [0-9]*/sweep: 32/' -e 's/sweep_warm_up: [0-9]*/sweep_warm_up: 8/' \
	experiments/anon-fault.yaml >"$own/experiments/anon-fault.yaml"
sed -e 's/cpus: \[32, 256\]/cpus: [2, 4]/' -e 's/cpus: 32$/cpus: 2/' -e 's/cpus: 256$/cpus: 4/' \
	-e 's/simulated: .*/simulated: 32/' experiments/pfn-insert.yaml >"$own/experiments/pfn-insert.yaml"
sed -e 's/cpus: \[64\]/cpus: [4]/' -e 's/cpus: 64$/cpus: 4/' -e 's/published: 65536/published: 4096/' \
	-e 's/simulated: [0-9]*/simulated: 32/' experiments/shared-fault.yaml >"$own/experiments/shared-fault.yaml"
sed -e 's/cpus: \[160\]/cpus: [4]/' -e 's/cpus: 160$/cpus: 4/' -e 's/simulated: [0-9]*/simulated: 32/' \
	-e 's/warm_up: [0-9]*/warm_up: 32/' -e 's/sweep: [0-9]*/sweep: 32/' experiments/group-release.yaml \
	>"$own/experiments/group-release.yaml"
sed -e 's/simulated: [0-9]*/simulated: 32/' -e 's/warm_up: [0-9]*/warm_up: 8/' -e 's/sweep: [0-9]*/sweep: 16/' \
	-e 's/repetitions: [0-9]*/repetitions: 2/' experiments/reclaim-copy.yaml >"$own/experiments/reclaim-copy.yaml"
sed -e 's/simulated: [0-9]*/simulated: 128/' -e 's/warm_up: [0-9]*/warm_up: 128/' experiments/over-commit.yaml \
	>"$own/experiments/over-commit.yaml"
sed -e 's/simulated: [0-9]*/simulated: 1/' -e 's/warm_up: [0-9]*/warm_up: 1/' -e 's/1, 4, 16, 64, 256/1, 2, 4/' \
	-e 's/\[64\]/[4]/' experiments/whole.yaml >"$own/experiments/whole.yaml"

SOFTFAULT_PATH=$work/nowhere run list
[ "$status" = 2 ] && [ "$(wc -l <"$work/stderr")" = 1 ] &&
	grep -q "^softfault: SOFTFAULT_PATH names .* is no folder" "$work/stderr"
report no_files_at_all $?
mkdir "$work/empty"
SOFTFAULT_PATH=$work/empty run list
[ "$status" = 2 ] && [ "$(wc -l <"$work/stderr")" = 1 ] && grep -q "there is no folder experiments" "$work/stderr"
report no_experiments $?
mkfifo "$work/pipe.yaml"
refuses a_pipe_for_an_experiment "$work/pipe.yaml is a pipe; it must be a file" run "$work/pipe.yaml"
refuses a_pipe_for_a_machine "$work/pipe.yaml is a pipe; it must be a file" run pfn-insert --machine "$work/pipe.yaml"

# --- What it prints --------------------------------------------------------------------------------------
accepts version "^softfault [0-9]" --version
accepts help "^Usage: softfault" --help
for command in list run reproduce compare report calibrate; do
	accepts "help_of_$command" "^Usage: softfault $command" "$command" --help
	accepts "version_of_$command" "^softfault [0-9]" "$command" --version
done
accepts help_of_cpu_lists "a range doubles" run --help
accepts list "^pfn-insert " list
accepts list_machines "^westmere-ex-80 " list machines
accepts list_variants "^cmpxchg " list variants pfn-insert
accepts run "^lock +2 " run pfn-insert
accepts says_that_times_are_extrapolated "times are" run pfn-insert
accepts run_of_one_variant "^cmpxchg +3 " run pfn-insert --variant cmpxchg --cpus 3
! grep -q "^lock" "$work/stdout"
report only_that_variant $?
accepts run_on_another_machine "machine opteron-48" run pfn-insert --machine opteron-48 --cpus 1-8
accepts run_with_ranges_of_cpus "^lock +16 " run pfn-insert --cpus 4-16 --variant lock
[ "$(grep -Ec '^lock +(4|8|16) +[0-9]+ +[0-9]+ ' "$work/stdout")" = 3 ]
report a_range_doubles $?
accepts profile "^ *[0-9.]+ +[0-9.]+  [a-z_]+" run pfn-insert --variant lock --profile
accepts locks "^memtype_lock +[0-9]" run pfn-insert --variant lock --locks
accepts lines "memtype_lock" run pfn-insert --variant lock --lines --cpus 4
accepts lines_of_no_lock "^Contended lines: none" run pfn-insert --variant cmpxchg --lines --cpus 4
accepts conflicts "^fault +fault +true" run pfn-insert --variant lock --conflicts --cpus 4
accepts conflicts_of_no_lock "^Conflicts between operations: none" run pfn-insert --variant cmpxchg --conflicts --cpus 4
accepts host "^cmpxchg +2 " run pfn-insert --engine host --faults 100 --reps 3 --cpus 2
accepts layouts "^default " run anon-fault --layout each --touch read --give-back unmap --pace apart --cpus 2
accepts options_in_the_heading "layout by variant, touch write, give_back dontneed, pace together" run anon-fault --cpus 2
accepts overridden_options "layout one, touch read, give_back never, pace apart" \
	run anon-fault --cpus 2 --layout one --touch read --give-back never --pace apart
accepts kernel "^running kernel +1 .*(perf_event_open|getrusage)$" \
	run anon-fault --engine linux --faults 100 --reps 1 --cpus 1,3 --variant default
run run anon-fault --engine host,linux --faults 100 --reps 1 --cpus 1,2
[ "$status" = 0 ] && quiet && [ "$(grep -c '^linux .*layout one .* yes$' "$work/stdout")" = 2 ] &&
	[ "$(grep -c '^linux .*layout each .* yes$' "$work/stdout")" = 2 ] && [ "$(grep -c '^host .* no$' "$work/stdout")" = 14 ] &&
	grep -q "a touch crosses a real MMU" "$work/stdout"
report engines_beside_each_other $?
run run shared-fault --engine host,linux --faults 100 --reps 1 --cpus 1,2 --variant ramfs,default
[ "$status" = 0 ] && [ "$(grep -c '^linux .*backing anon .* yes$' "$work/stdout")" = 2 ] &&
	[ "$(grep -c '^linux .*backing file .* yes$' "$work/stdout")" = 2 ] && [ "$(grep -c '^host .* no$' "$work/stdout")" = 4 ]
report shared_memory_and_a_file_of_tmpfs $?
accepts all_touch_every_page "layout same, backing file" \
	run shared-fault --engine linux --faults 100 --reps 1 --cpus 3 --layout same --backing file --variant default
run run anon-fault --engine linux --faults 20000 --reps 1 --cpus 1 --variant default --profile
if [ "$status" = 0 ]; then
	grep -q "^Profile, of the time of all CPUs" "$work/stdout" && grep -q "fault" "$work/stdout"
else
	[ "$status" = 2 ] && grep -q "^softfault: engine linux cannot show a profile: perf " "$work/stderr"
fi
report profile_of_the_kernel $?
accepts reproduce_shares "^refcount .*  for free_pcppages_bulk +85\.07 " reproduce anon-fault --report "$work/r.html"
processors=$(nproc)
run run pfn-insert --engine host --faults 10 --reps 1 --variant lock,cmpxchg --cpus 1,$((processors + 1))
[ "$status" = 0 ] && [ "$(cat "$work/stderr")" = "softfault: warning: $((processors + 1)) CPUs are more than the $processors processors of this computer; they take turns, so neither times nor rates say how it scales" ]
report host_warns_once_of_too_few_processors $?
accepts reproduce "^lock +2 to 4 +13\.1x" reproduce pfn-insert --report "$work/r.html"
accepts reproduce_says_what_is_assumed "assumed: " reproduce pfn-insert --report "$work/r.html"
accepts calibrate "16 points|8 points" calibrate westmere-ex-80 --points 4

# --- The same command and seed, the same output ----------------------------------------------------------
for arguments in "run pfn-insert --reps 3 --profile --locks --lines --conflicts" "reproduce pfn-insert --report $work/r.html" "calibrate opteron-48 --points 4"; do
	"$softfault" $arguments --json "$work/one.json" >"$work/one" 2>&1 &&
		"$softfault" $arguments --json "$work/two.json" >"$work/two" 2>&1 &&
		cmp "$work/one" "$work/two" && cmp "$work/one.json" "$work/two.json"
	report "identical_${arguments%% *}" $?
done
run run pfn-insert --variant lock --cpus 32 --seed 2
cp "$work/stdout" "$work/one"
run run pfn-insert --variant lock --cpus 32 --seed 3
! cmp -s <(grep ^lock "$work/one") <(grep ^lock "$work/stdout")
report another_seed_differs $?

# --- JSON ------------------------------------------------------------------------------------------------
run run pfn-insert --json - --reps 2 --locks --profile
python3 - "$work/stdout" >"$work/stderr" 2>&1 <<'PYTHON'
import json, sys
it = json.load(open(sys.argv[1]))
assert list(it)[:6] == ["schema", "experiment", "engine", "machine", "seed", "results"], list(it)
assert (it["schema"], it["experiment"], it["engine"], it["machine"], it["seed"]) == (1, "pfn-insert", "vsmp", "uv", 1)
assert [(row["variant"], row["cpus"]) for row in it["results"]] == [
    (variant, cpus) for variant in ("lock", "rwlock", "cmpxchg", "default") for cpus in (2, 4)]
for row in it["results"]:
    assert {"variant", "cpus", "operations", "seconds", "ns_per_op", "ops_per_second", "samples", "transfers_per_op",
            "conflicts_per_op", "locks", "profile", "published"} <= set(row), set(row)
    assert len(row["samples"]) == 2
    assert row["operations"] == 32 * row["cpus"]
    assert abs(row["ns_per_op"] * row["ops_per_second"] / 1e9 / row["cpus"] - 1) < 1e-9
    assert set(row["profile"][0]) == {"symbol", "self", "total"}
    assert row["options"] == {}
    for lock in row["locks"]:
        assert set(lock) >= {"name", "acquisitions", "contended", "wait_ns", "hold_ns"}
assert it["results"][0]["published"][0]["value"] == 68
assert set(it["results"][0]["published"][0]) == {"quantity", "symbol", "caller", "value", "unit", "source", "kind", "ours",
                                                "ticks", "our_ticks"}
assert it["results"][2]["published"] == []
PYTHON
report json_has_the_schema $?

run run anon-fault --engine host,linux --faults 100 --reps 2 --cpus 2 --json -
python3 - "$work/stdout" >"$work/stderr" 2>&1 <<'PYTHON'
import json, sys
it = json.load(open(sys.argv[1]))
assert list(it) == ["schema", "engines", "command"] and it["schema"] == 1
assert [one["engine"] for one in it["engines"]] == ["host", "linux"]
assert len(it["engines"][0]["results"]) == 7
kernel = it["engines"][1]["results"]
assert [row["variant"] for row in kernel] == ["running kernel, layout one", "running kernel, layout each"]
assert kernel[1]["options"] == {"layout": "each", "touch": "write", "give_back": "dontneed", "pace": "together"}
assert kernel[0]["extrapolated_seconds"] is None and kernel[0]["peak_retired_bytes"] is None
assert kernel[0]["operations"] == 200
PYTHON
report json_of_engines $?
run reproduce anon-fault --json - --report "$work/r.html"
python3 - "$work/stdout" >"$work/stderr" 2>&1 <<'PYTHON'
import json, sys
results = json.load(open(sys.argv[1]))["experiments"][0]["results"]
assert [row["variant"] for row in results] == ["rwsem_spin", "refcount", "refcount_each"]
figures = [figure for row in results for figure in row["published"]]
assert len(figures) == 11
for figure in figures:
    assert (figure["quantity"], figure["unit"], figure["kind"]) == ("profile share", "%", "predicted")
    assert 0 < figure["ours"] < 100
    assert figure["range"]["low"] <= figure["ours"] <= figure["range"]["high"]
assert [figure["caller"] for figure in figures[:3]] == [None, "__down_read_trylock", "__up_read"]
assert results[0]["range"] is None
PYTHON
report json_of_shares $?

"$softfault" run pfn-insert --variant lock --json /dev/stdout >"$work/both" 2>"$work/stderr" && grep -q '"schema": 1' "$work/both"
report json_into_a_pipe $?
accepts json_into_nothing "^lock" run pfn-insert --variant lock --json /dev/null
[ -c /dev/null ]
report nothing_is_still_there $?
accepts json_of_a_list "\"pfn-insert\"" list --json -

mkdir "$work/out"
run run pfn-insert --variant lock --json "$work/out/a.json"
[ "$status" = 0 ] && [ "$(ls -A "$work/out")" = a.json ] && [ "$(stat -c %a "$work/out/a.json")" = "$(
	touch "$work/touched" && stat -c %a "$work/touched")" ]
report json_is_all_that_is_made $?
chmod 640 "$work/out/a.json"
ln -s a.json "$work/out/link.json"
run run pfn-insert --variant lock --json "$work/out/link.json"
[ -L "$work/out/link.json" ] && [ "$(stat -c %a "$work/out/a.json")" = 640 ]
report json_goes_through_links_and_keeps_rights $?
cp "$work/out/a.json" "$work/before.json"

refuses json_path_without_folder "--json: $work/none/a.json cannot be written: No such file or directory" \
	run pfn-insert --json "$work/none/a.json"
refuses json_path_is_a_folder "--json: $work/out cannot be written: Is a directory" run pfn-insert --json "$work/out"
refuses json_path_is_empty "--json: the path is empty; give a file, or - for the output" run pfn-insert --json ""
refuses json_path_below_a_file "--json: $work/out/a.json/b cannot be written: Not a directory" \
	reproduce --json "$work/out/a.json/b"
refuses json_path_of_a_list "--json: $work/none/a cannot be written: No such file or directory" list --json "$work/none/a"
refuses bad_cpus_leave_no_json "\"0\" is no list of CPU counts; give counts and ranges of 1 to 1024, such as 1,2,4-64" \
	run pfn-insert --cpus 0 --json "$work/out/new.json"
[ "$(ls -A "$work/out" | paste -sd' ')" = "a.json link.json" ]
report nothing_is_left_behind $?

"$softfault" run pfn-insert --variant lock >/dev/full 2>"$work/stderr"
[ $? = 1 ] && [ "$(cat "$work/stderr")" = "softfault: the output cannot be written: No space left on device" ]
report full_output $?
run run pfn-insert --variant lock --json /dev/full
[ "$status" = 1 ] && [ "$(cat "$work/stderr")" = "softfault: --json: /dev/full cannot be written: No space left on device" ]
report full_json $?

# --- Interrupted and crashed runs ------------------------------------------------------------------------
long() { # starts a run that would take very long, and waits until it has a child
	"$softfault" run pfn-insert --variant lock --cpus 4 --faults 500000000 --json "$work/out/a.json" \
		>"$work/stdout" 2>"$work/stderr" &
	parent=$!
	until child=$(cat "/proc/$parent/task/$parent/children" 2>"$work/ignored") && [ -n "$child" ]; do sleep 0.01; done
	child=${child%% *}
}

long
kill -TERM "$parent"
wait "$parent"
[ $? = 143 ] && [ ! -e "/proc/$child" ] && cmp "$work/out/a.json" "$work/before.json"
report a_signal_ends_all_and_leaves_the_old_json $?

long
kill -SEGV "$child"
wait "$parent"
[ $? = 1 ] && [ "$(cat "$work/stderr")" = "softfault: pfn-insert, variant lock, 4 CPUs, engine vsmp, seed 1: the process that ran it was ended by signal 11 (Segmentation fault)" ] &&
	cmp "$work/out/a.json" "$work/before.json"
report a_crash_is_told $?

long
kill -KILL "$parent"
wait "$parent" 2>"$work/ignored"
while [ -e "/proc/$child" ] && ! grep -q '^State:.Z' "/proc/$child/status" 2>"$work/ignored"; do sleep 0.01; done
[ "$(ls -A "$work/out" | paste -sd' ')" = "a.json link.json" ]
report killing_it_leaves_nothing $?

# --- Terminals -------------------------------------------------------------------------------------------
for width in 60 80; do
	COLUMNS=$width run run pfn-insert --variant lock --profile --locks --lines --conflicts
	[ "$status" = 0 ] && [ "$(awk '{ print length }' "$work/stdout" | sort -n | tail -1)" -le "$width" ] &&
		! grep -q ' $' "$work/stdout"
	report "fits_into_$width" $?
done
COLUMNS=60 run reproduce --report "$work/r.html"
[ "$(awk '{ print length }' "$work/stdout" | sort -n | tail -1)" -le 60 ]
report reproduce_fits_into_60 $?
run reproduce pfn-insert --report "$work/r.html"
! grep -q "$(printf '\033')" "$work/stdout" && [ ! -s "$work/stderr" ]
report no_codes_into_pipes $?
if python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	python3 - "$softfault" >"$work/stderr" 2>&1 <<'PYTHON'
import os, pty, sys
seen = b""
def read(fd):
    global seen
    data = os.read(fd, 4096)
    seen += data
    return data
status = pty.spawn([sys.argv[1], "run", "pfn-insert"], read, lambda fd: b"")
assert status == 0, status
assert b"\rsoftfault" not in seen
assert b"pfn-insert: 8 of 8 runs" in seen, seen
assert seen.index(b"8 of 8 runs") < seen.index(b"variant")
PYTHON
	report progress_on_a_terminal $?
else
	echo "skipped progress_on_a_terminal: no pseudo-terminal to be had; is /dev/pts mounted?"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
