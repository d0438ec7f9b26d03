#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/results.sh SOFTFAULT: what is made of results: comparisons, curves, what-if, the report and the other
# formats. Prints "ok NAME" or "not ok NAME" for each check, and at the end "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"
skipped=0

make_result() { # make_result FILE ARGUMENT...: a run whose result goes to that file
	local file=$1
	shift
	"$softfault" run "$@" --json "$work/$file" >"$work/ignored" 2>"$work/stderr"
	report "makes_$file" $?
}

small="--machine nehalem-8 --faults 32"
# shellcheck disable=SC2086 # several words
{
	make_result a.json pfn-insert $small --cpus 2,4 --reps 6
	make_result b.json pfn-insert $small --cpus 2,4 --reps 6 --seed 50
	make_result slow.json pfn-insert $small --cpus 2,4 --reps 6 --seed 50 --speedup engine_memory_touch=-20
	make_result cpus.json pfn-insert $small --cpus 8 --reps 6
	make_result machine.json pfn-insert --machine uv --faults 32 --cpus 2,4 --reps 6
	make_result faults.json pfn-insert --machine nehalem-8 --faults 48 --cpus 2,4 --reps 6
	make_result few.json pfn-insert $small --cpus 2,4 --reps 2
	make_result placed.json pfn-insert $small --cpus 2,4 --reps 6 --placement spread
	make_result figure.json pfn-insert $small --cpus 2,4 --reps 6 --machine-set memory=200
	make_result other.json anon-fault --faults 32 --cpus 2,4 --reps 6
	make_result host.json pfn-insert --engine host --faults 500 --cpus 1 --reps 5
	make_result full.json anon-fault --faults 64 --cpus 1-8 --variant rwsem_spin,default --reps 2 --profile --locks \
		--lines --conflicts
	make_result engines.json anon-fault --engine host,linux --faults 100 --cpus 1,2 --reps 2
}
# Reproduced in small, so that it is quick.
mkdir "$work/share"
cp -r experiments machines "$work/share"
sed -i -e 's/simulated: [0-9]*/simulated: 64/' -e 's/sweep: [0-9]*/sweep: 4/' "$work/share/experiments/pfn-insert.yaml"
SOFTFAULT_PATH=$work/share "$softfault" reproduce pfn-insert --report "$work/reproduce.html" --json "$work/reproduce.json" >"$work/reproduced" \
	2>"$work/stderr"
report makes_reproduce.json $?
sed -i -e 's/simulated: [0-9]*/simulated: 64/' -e 's/repetitions: [0-9]*/repetitions: 2/' "$work/share/experiments/reclaim-copy.yaml"
sed -i -e 's/simulated: [0-9]*/simulated: 128/' -e 's/warm_up: [0-9]*/warm_up: 128/' "$work/share/experiments/over-commit.yaml"
sed -i -e 's/simulated: [0-9]*/simulated: 1/' -e 's/warm_up: [0-9]*/warm_up: 1/' -e 's/1, 4, 16, 64, 256/1, 2, 4, 8, 16/' \
	-e 's/\[64\]/[16]/' "$work/share/experiments/whole.yaml"
SOFTFAULT_PATH=$work/share "$softfault" reproduce over-commit reclaim-copy whole --report "$work/shown.html" \
	--json "$work/shown.json" >"$work/stdout" 2>"$work/stderr"
report makes_shown.json $?

# --- compare ---------------------------------------------------------------------------------------------
cannot="these runs cannot be compared"
accepts compare "^lock +2 .* within noise \([0-9.]+ % would have shown\)$" compare "$work/a.json" "$work/b.json"
[ "$(grep -c 'within noise' "$work/stdout")" = 8 ]
report the_same_is_within_noise $?
accepts compare_variants "^lock -> cmpxchg +4 .* faster by [0-9.]+ %$" compare "$work/a.json" --variant lock,cmpxchg --cpus 4
[ "$(grep -c -- '->' "$work/stdout")" = 1 ]
report only_those_cpus $?
accepts compare_one_variant "^lock +4 " compare "$work/a.json" "$work/b.json" --variant lock --cpus 4
! grep -q "^cmpxchg" "$work/stdout"
report only_that_variant $?
refuses a_what_if_run "$cannot: what-if: none and {\"speedups\":[{\"symbol\":\"engine_memory_touch\",\"percent\":-20.0}],\"machine_set\":[]}; --what-if compares them nevertheless" \
	compare "$work/a.json" "$work/slow.json"
accepts a_planted_slowdown "^cmpxchg +2 .* slower by 20\.[0-9]+ %$" compare "$work/a.json" "$work/slow.json" --what-if
[ "$(grep -c 'slower by' "$work/stdout")" = 8 ]
report it_is_found_everywhere $?
accepts the_same_seeds "^Where A and B took exactly as long a simulation has repeated itself, with the same " \
	compare "$work/a.json" "$work/a.json"
run compare "$work/a.json" --variant lock,cmpxchg
! grep -q "repeated itself" "$work/stdout"
report what_differs_is_no_repetition $?
accepts too_few "within noise \(too few repetitions to show anything\)$" compare "$work/few.json" "$work/few.json"
refuses other_cpus "$cannot: no variant and number of CPUs that were asked for are in both; $work/a.json has lock on 2, lock on 4, rwlock on 2, rwlock on 4, cmpxchg on 2, cmpxchg on 4, default on 2, default on 4; $work/cpus.json has lock on 8, rwlock on 8, cmpxchg on 8, default on 8" \
	compare "$work/a.json" "$work/cpus.json"
refuses another_machine "$cannot: machine: nehalem-8 and uv" compare "$work/a.json" "$work/machine.json"
refuses other_operations "$cannot: operations of each CPU: 32 and 48" compare "$work/a.json" "$work/faults.json"
refuses another_placement "$cannot: placement of the CPUs: {\"kind\":\"fill\",\"cpus_per_socket\":0} and {\"kind\":\"spread\",\"cpus_per_socket\":0}" \
	compare "$work/a.json" "$work/placed.json"
refuses another_experiment "$cannot: experiment: pfn-insert and anon-fault" compare "$work/a.json" "$work/other.json"
refuses another_engine "$cannot: engine: vsmp and host" compare "$work/a.json" "$work/host.json"
refuses other_options "$cannot: options of the workload: {\"layout\":\"one\",\"touch\":\"write\",\"give_back\":\"dontneed\",\"pace\":\"together\"} and {\"layout\":\"each\",\"touch\":\"write\",\"give_back\":\"dontneed\",\"pace\":\"together\"}" \
	compare "$work/other.json" --variant refcount,refcount_each
sed 's/"processors": [0-9]*/"processors": 4711/' "$work/host.json" >"$work/elsewhere.json"
run compare "$work/host.json" "$work/elsewhere.json"
[ "$status" = 2 ] && grep -q "^softfault: $cannot: the computer's number of processors: [0-9]* and 4711$" "$work/stderr"
report another_computer $?
sed 's/"value": 3.3,/"value": 3.4,/;0,/"low"/s/"value": [0-9.]*/"value": 7.77/' "$work/a.json" >"$work/changed.json"
run compare "$work/a.json" "$work/changed.json"
[ "$status" = 2 ] && grep -q "^softfault: $cannot: the machine's [a-z_]*: " "$work/stderr"
report another_figure_of_the_machine $?
refuses compare_nothing "a result must be named, as softfault run --json writes it" compare
refuses compare_one "one result is compared in itself: name two of its variants, --variant A,B" compare "$work/a.json"
refuses compare_three "\"c\" is one argument too many" compare a b c
refuses compare_no_file "$work/none.json cannot be read: No such file or directory" compare "$work/none.json" "$work/a.json"
echo '{"schema": 1' >"$work/broken.json"
run compare "$work/broken.json" "$work/a.json"
[ "$status" = 2 ] && grep -q "^softfault: $work/broken.json:[0-9]*: this is no JSON: " "$work/stderr"
report compare_no_json $?
echo '{"schema": 1, "name": "x"}' >"$work/alien.json"
refuses compare_no_result "$work/alien.json: this is no result; give a file that softfault run --json or softfault reproduce --json wrote" \
	compare "$work/alien.json" "$work/a.json"
sed 's/"samples"/"simples"/' "$work/a.json" >"$work/old.json"
refuses compare_no_samples "$work/old.json: study 1 has no \"samples\" as this version writes it; run it again" \
	compare "$work/old.json" "$work/a.json"
run compare "$work/a.json" "$work/b.json" --json -
python3 - "$work/stdout" >"$work/stderr" 2>&1 <<'PYTHON'
import json, sys
rows = json.load(open(sys.argv[1]))["comparisons"]
assert len(rows) == 8
for row in rows:
    assert row["verdict"] == "within noise" and row["low"] <= row["ratio"] <= row["high"] and 0 < row["p"] <= 1
    assert abs(row["b_ns_per_op"] / row["a_ns_per_op"] - row["ratio"]) < 1e-9 and row["smallest_percent"] > 0
PYTHON
report compare_json $?

# --- Curves ----------------------------------------------------------------------------------------------
accepts curve "^rwsem_spin +[0-9]+ CPUs +[0-9.]+ % " run anon-fault --faults 64 --cpus 1-8 --variant rwsem_spin,default
grep -q "^ *A rwsem_spin$" "$work/stdout" && grep -q "efficiency (%)" "$work/stdout" &&
	grep -A1 "rwsem_spin: limited on 8 CPUs by the lock rwsem_wait_lock" "$work/stdout" | grep -q "time" &&
	grep -q "wait_lock.ticket" "$work/stdout"
report it_says_what_limits $?
accepts no_curve "^lock +2 " run pfn-insert --machine nehalem-8 --faults 16 --cpus 1,2
! grep -q "law" "$work/stdout"
report two_points_are_no_curve $?
for width in 60 80; do
	COLUMNS=$width run run pfn-insert --machine nehalem-8 --faults 16 --cpus 1-8
	[ "$status" = 0 ] && [ "$(awk '{ print length }' "$work/stdout" | sort -n | tail -1)" -le "$width" ]
	report "curve_fits_into_$width" $?
done

# --- What-if ---------------------------------------------------------------------------------------------
accepts what_if "^cmpxchg +1 .* 50\.0[0-9] +(99|100)\.[0-9]+$" \
	run pfn-insert --machine nehalem-8 --faults 64 --cpus 1 --variant cmpxchg --speedup engine_memory_touch=50
grep -q "WHAT IF: engine_memory_touch, with all that it calls, cost 50 % less" "$work/stdout"
report it_is_told $?
accepts machine_set "WHAT IF: memory of machine nehalem-8 were 200 " \
	run pfn-insert --machine nehalem-8 --faults 64 --cpus 1 --machine-set memory=200
accepts never_called "^symbols_open was never called, in no case\.$" \
	run pfn-insert --machine nehalem-8 --faults 16 --cpus 1 --speedup symbols_open=5
accepts never_asked_for "^wake counted for nothing, in no case\.$" \
	run pfn-insert --machine nehalem-8 --faults 16 --cpus 1 --machine-set wake=9000
run run pfn-insert --machine nehalem-8 --faults 16 --cpus 1 --machine-set memory=200
[ "$status" = 0 ] && ! grep -q "counted for nothing" "$work/stdout"
report asked_for $?
run run pfn-insert --cpus 32 --faults 16 --variant lock --machine-set memory=200
! grep -q " 68.0 " "$work/stdout"
report nothing_published_stands_beside_it $?
refuses unknown_function "--speedup: there is no function \"spin_lok\"; --profile lists those that run" \
	run pfn-insert --speedup spin_lok=5
refuses bad_percent "--speedup: 100 % cannot be; it must be -900 to 99, below 0 for a slowdown" run pfn-insert --speedup spin_lock=100
refuses unknown_figure "--machine-set: a machine has no figure \"memry\"; did you mean \"memory\"?" \
	run pfn-insert --machine-set memry=5
refuses figure_out_of_range "--machine-set: smt_share is 3 ratio; it must be 1 to 2" run pfn-insert --machine-set smt_share=3
refuses what_if_on_real_cpus "engine host runs on this computer; --speedup is for --engine vsmp" \
	run pfn-insert --engine host --speedup spin_lock=5
refuses figure_of_real_cpus "engine host runs on this computer; --machine-set is for --engine vsmp" \
	run pfn-insert --engine host --machine-set memory=5

# --- JSON obeys its schema -------------------------------------------------------------------------------
if python3 -c 'import jsonschema' 2>"$work/ignored"; then
	for file in a slow figure full host engines reproduce shown; do
		python3 - "$work/$file.json" >"$work/stderr" 2>&1 <<'PYTHON'
import json, sys
import jsonschema
schema = json.load(open("docs/result.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(json.load(open(sys.argv[1])))
PYTHON
		report "schema_of_$file" $?
	done
	python3 - "$work/a.json" "$work/shown.json" >"$work/stderr" 2>&1 <<'PYTHON'
import copy, json, sys
import jsonschema
check = jsonschema.Draft7Validator(json.load(open("docs/result.schema.json")))
good, shown = (json.load(open(path)) for path in sys.argv[1:])
def spoil(change, good=good):
    bad = copy.deepcopy(good)
    change(bad)
    assert not check.is_valid(bad), change
spoil(lambda it: it.pop("engine"))
spoil(lambda it: it.update(surplus=1))
spoil(lambda it: it.update(schema=2))
spoil(lambda it: it["results"][0].update(samples=[]))
spoil(lambda it: it["results"][0].update(ns_per_op="2"))
spoil(lambda it: it["machine_details"]["figures"][0].update(provenance="guessed"))
def figure(it):
    return it["experiments"][1]["results"][0]["published"][0]
assert figure(shown)["ticks"] == 109964 and figure(shown)["our_ticks"] > 0
spoil(lambda it: figure(it).update(ticks="109964"), shown)
spoil(lambda it: figure(it).update(our_ticks="2"), shown)
PYTHON
	report schema_refuses_what_is_wrong $?
else
	skipped=$((skipped + 1))
	echo "skipped schema: python3 has no jsonschema"
fi

# --- The other formats -----------------------------------------------------------------------------------
accepts collapsed "^rwsem_spin, 8 CPUs;([a-z_]+;)*[a-z_]+ [0-9]+$" report "$work/full.json" --format collapsed
! grep -Evq '^[^;]+(;[^;]+)* [0-9]+$' "$work/stdout"
report collapsed_has_such_lines_only $?
accepts collapsed_of_one_case "^engine_memory_touch;" report "$work/full.json" --format collapsed --variant default --cpus 8
python3 - "$work/stdout" "$work/full.json" >"$work/stderr" 2>&1 <<'PYTHON'
import json, sys
total = sum(int(line.rsplit(" ", 1)[1]) for line in open(sys.argv[1]))
row = [row for row in json.load(open(sys.argv[2]))["results"] if row["variant"] == "default" and row["cpus"] == 8][0]
assert abs(total / sum(stack["ns"] for stack in row["stacks"]) - 1) < 1e-3
PYTHON
report collapsed_has_all_the_time $?
accepts perf "^ +[0-9]+\.[0-9]+%  ticket_wait$" report "$work/full.json" --format perf --variant rwsem_spin --cpus 8
grep -Eq '^ +\|--[0-9.]+%--[a-z_]+$' "$work/stdout"
report perf_has_callers $?
accepts csv "^anon-fault,vsmp,nehalem-8,,rwsem_spin,layout=one touch=write give_back=dontneed pace=together,8,2,[0-9.]+,[0-9.]+,,$" \
	report "$work/full.json" --format csv
python3 - "$work/stdout" >"$work/stderr" 2>&1 <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) == 16 and all(len(row) == 12 and None not in row for row in rows)
for row in rows:
    assert abs(float(row["ns_per_op"]) * float(row["ops_per_second"]) / 1e9 / int(row["cpus"]) - 1) < 1e-9
PYTHON
report csv_can_be_read $?
"$softfault" report "$work/slow.json" --format csv 2>"$work/stderr" | python3 -c '
import csv, json, sys
for row in csv.DictReader(sys.stdin): assert json.loads(row["what_if"])["speedups"][0]["percent"] == -20' 2>>"$work/stderr"
report csv_quotes $?
refuses no_profile_to_show "there is no profile in these results; run with --profile --json FILE" \
	report "$work/a.json" --format collapsed
refuses unknown_format "--format: there is no \"htlm\"; did you mean \"html\"? there are: html, collapsed, perf, csv, svg" \
	report "$work/a.json" --format htlm
refuses no_such_case "no case of these results is on so many CPUs, or of that variant" \
	report "$work/a.json" --format csv --variant nothing
refuses page_of_one_variant "--variant: the page has all there is; it is for the other formats" \
	report "$work/a.json" --variant lock
refuses no_folder_for_the_page "--output: $work/none/x.html cannot be written: No such file or directory" \
	report "$work/a.json" -o "$work/none/x.html"
mkdir "$work/bin"
PATH=$work/bin "$softfault" report "$work/full.json" --format svg >"$work/stdout" 2>"$work/stderr"
[ $? = 2 ] && [ "$(cat "$work/stderr")" = "softfault: gnuplot is not installed; Debian has it in the package gnuplot-nox" ]
report svg_without_gnuplot $?
if command -v gnuplot >"$work/ignored"; then
	run report "$work/full.json" --format svg -o "$work/plot.svg"
	[ "$status" = 0 ] && python3 - "$work/plot.svg" >"$work/stderr" 2>&1 <<'PYTHON'
import sys, xml.dom.minidom
plot = xml.dom.minidom.parse(sys.argv[1])
assert plot.documentElement.tagName == "svg"
text = open(sys.argv[1]).read()
assert ">rwsem_spin<" in text and ">default<" in text and "fault" in text
PYTHON
	report svg $?
else
	skipped=$((skipped + 1))
	echo "skipped svg: gnuplot is not installed"
fi

# --- The page --------------------------------------------------------------------------------------------
(cd "$work" && "$softfault" report full.json) >"$work/stdout" 2>"$work/stderr"
[ $? = 0 ] && [ -s "$work/report.html" ] && [ ! -s "$work/stdout" ]
report page_by_default $?
! grep -Eo '(src|href)="[^"#]+"|url\([^)]*\)|@import' "$work/report.html" | grep -Evq '^href="data:,"$|url\(#'
report page_names_nothing_outside $?
sed 's/"title": "Anonymous/"title": "<\/script><b id=broken>/' "$work/full.json" >"$work/evil.json"
run report "$work/evil.json" -o -
! grep -q "<b id=broken>" "$work/stdout"
report page_cannot_be_broken_by_a_text $?
grep -qx "  $work/reproduce.html" "$work/reproduced" && grep -q "^Predictions: 3 times and rates are off by a factor of" "$work/reproduced" &&
	[ "$(grep -c '^pfn-insert  *\(lock\|cmpxchg\) .* \(fitted\|predicted\)$' "$work/reproduced")" = 4 ]
report reproduce_sums_up $?
"$softfault" report "$work/full.json" "$work/reproduce.json" "$work/engines.json" "$work/slow.json" -o "$work/all.html" \
	>"$work/stdout" 2>"$work/stderr"
report page_of_several $?
# What a page has of each experiment, beside what all have.
observed=scalability,flame,locks,lines,conflicts
published=$observed,published
shown="over-commit:$observed,shown,measured reclaim-copy:$published,ticks,shown,measured,verdicts whole:$observed,shown,measured"
for page in "report 390 anon-fault:$published" "report 1280 anon-fault:$published --dark" \
	"all 390 anon-fault:$published pfn-insert:$published --dark" "all 1280 anon-fault:$published pfn-insert:$published" \
	"reproduce 768 pfn-insert:$published" "shown 390 $shown" "shown 1280 $shown --dark"; do
	name=${page%%:*}
	name=page_${name% *}
	# shellcheck disable=SC2086 # several words
	python3 tests/cli/browser.py "$work/${page%% *}.html" ${page#* } >"$work/stdout" 2>"$work/stderr"
	status=$?
	if [ "$status" = 77 ]; then
		skipped=$((skipped + 1))
		echo "skipped $name: $(cat "$work/stdout")"
		continue
	fi
	experiments=$(grep -o : <<<"$page" | wc -l)
	[ "$status" = 0 ] && [ "$(grep -c '^ok ' "$work/stdout")" = $((13 + 2 * experiments)) ]
	report "${name// /_}" $?
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
