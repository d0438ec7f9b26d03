/* SPDX-License-Identifier: MIT */
/*
 * Experiment files: a right one is read as it stands, published figures apart from the rest, and each mistake
 * is told with its line.
 */
#include "tests/lab/fixture.h"

#include <errno.h>

#include "lab/experiment.h"
#include "lab/published.h"

static int load(struct experiment **experiment, struct published_list **published, struct message *why)
{
	struct document *document;
	int error = experiment_load(experiment, "e", &document, why);

	if (error)
		return error;
	error = published_load(published, document, *experiment, why);
	document_close(document);
	if (error)
		experiment_free(*experiment);
	return error;
}

static void reads_what_stands_there(void **state)
{
	char *text = fixture_experiment();
	struct experiment *experiment;
	struct published_list *published;
	struct message why = {""};
	struct policy policy;

	(void)state;
	fixture_write("experiments/e.yaml", text);
	free(text);
	if (load(&experiment, &published, &why))
		fail_msg("%s", why.text);
	assert_string_equal(experiment->name, "e");
	assert_string_equal(experiment->machine, "m");
	assert_int_equal(experiment->cpus_count, 2);
	assert_int_equal(experiment->cpus[1], 8);
	assert_int_equal(experiment->operations.published, 1000);
	assert_int_equal(experiment->operations.simulated, 10);
	assert_int_equal(experiment->operations.warm_up, 2);
	assert_int_equal(experiment->operations.sweep, 5);
	assert_int_equal(experiment->operations.sweep_warm_up, 1);
	assert_int_equal(experiment->variants_count, 2);
	experiment_policy(experiment_variant(experiment, "before", NULL), &policy);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_SPIN);
	experiment_policy(experiment_variant(experiment, "after", NULL), &policy);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_CMPXCHG);

	assert_int_equal(published->published_count, 2);
	assert_true(published_find(published, PUBLISHED_SECONDS, "before", 2)->value == 4);
	assert_int_equal(published_find(published, PUBLISHED_SECONDS, "before", 2)->kind, PUBLISHED_FITTED);
	assert_true(published_find(published, PUBLISHED_SECONDS, "before", 8)->value == 8);
	assert_null(published_find(published, PUBLISHED_SECONDS, "before", 4));
	assert_null(published_find(published, PUBLISHED_SECONDS, "after", 2));
	assert_null(published_find(NULL, PUBLISHED_SECONDS, "before", 2));
	assert_true(published_has(published, PUBLISHED_SECONDS));
	assert_false(published_has(published, PUBLISHED_PROFILE_SHARE));
	assert_false(published_has(NULL, PUBLISHED_SECONDS));
	published_free(published);
	experiment_free(experiment);
}

/* An experiment with a workload that has options, and with published shares of a profile. */
static char *experiment_of_shares(void)
{
	char *text = fixture_replace(fixture_experiment(), "workload: pfn_insert", "workload: anon_fault");

	text = fixture_replace(text, "  published: 1000\n", "");
	text = fixture_replace(text, "    what: w\npublished:",
			       "    what: w\n"
			       "    options:\n"
			       "      - {option: layout, choice: each}\n"
			       "      - {option: touch, choice: read}\n"
			       "published:");
	*strstr(text, "  - variant: before\n") = '\0';
	return fixture_replace(text, "published:\n",
			       "published:\n"
			       "  - variant: before\n"
			       "    cpus: 2\n"
			       "    quantity: profile share\n"
			       "    symbol: _raw_spin_lock\n"
			       "    value: 75.5\n"
			       "    unit: '%'\n"
			       "    kind: predicted\n"
			       "    ours: [spin_lock, rwsem_*]\n"
			       "    source: s\n"
			       "  - variant: before\n"
			       "    cpus: 2\n"
			       "    quantity: profile share\n"
			       "    symbol: _raw_spin_lock\n"
			       "    caller: up_read\n"
			       "    value: 40\n"
			       "    unit: '%'\n"
			       "    kind: predicted\n"
			       "    ours: [spin_lock, up_read]\n"
			       "    of: [spin_lock]\n"
			       "    source: s\n");
}

static void reads_rates(void **state)
{
	char *text = experiment_of_shares();
	struct experiment *experiment;
	struct published_list *published;
	struct message why = {""};

	(void)state;
	text = fixture_replace(text, "published:\n",
			       "published:\n"
			       "  - {variant: before, cpus: 2, quantity: operations a second, value: 11.5e6, "
			       "unit: 1/s, kind: predicted, source: s}\n");
	text =
	    fixture_replace(text, "  sweep_warm_up: 1\n", "  sweep_warm_up: 1\n  sweep_corners_only: true\n");
	fixture_write("experiments/e.yaml", text);
	if (load(&experiment, &published, &why))
		fail_msg("%s", why.text);
	assert_true(experiment->operations.sweep_corners_only);
	assert_true(published_has(published, PUBLISHED_RATE));
	assert_true(published->published[0].value == 11.5e6);
	published_free(published);
	experiment_free(experiment);

	text = fixture_replace(text, "unit: 1/s", "unit: s");
	fixture_write("experiments/e.yaml", text);
	free(text);
	assert_int_equal(load(&experiment, &published, &why), -EINVAL);
	assert_non_null(strstr(why.text, "\"unit\" is \"s\"; operations a second must be in 1/s"));
}

static void reads_options_and_shares(void **state)
{
	char *text = experiment_of_shares();
	struct experiment *experiment;
	struct published_list *published;
	struct workload_settings settings;
	struct message why = {""};

	(void)state;
	fixture_write("experiments/e.yaml", text);
	free(text);
	if (load(&experiment, &published, &why))
		fail_msg("%s", why.text);
	assert_int_equal(experiment->operations.published, 0);
	experiment_settings(experiment, experiment_variant(experiment, "before", NULL), &settings);
	assert_string_equal(workload_choice(&workload_anon_fault, &settings, 0), "one");
	experiment_settings(experiment, experiment_variant(experiment, "after", NULL), &settings);
	assert_string_equal(workload_choice(&workload_anon_fault, &settings, 0), "each");
	assert_string_equal(workload_choice(&workload_anon_fault, &settings, 1), "read");
	assert_int_equal(published->published_count, 2);
	assert_null(published_find(published, PUBLISHED_SECONDS, "before", 2));
	assert_true(published_has(published, PUBLISHED_PROFILE_SHARE));
	assert_string_equal(published->published[0].symbol, "_raw_spin_lock");
	assert_null(published->published[0].caller);
	assert_int_equal(published->published[0].ours_count, 2);
	assert_string_equal(published->published[0].ours[1], "rwsem_*");
	assert_int_equal(published->published[0].of_count, 0);
	assert_string_equal(published->published[1].caller, "up_read");
	assert_string_equal(published->published[1].of[0], "spin_lock");
	published_free(published);
	experiment_free(experiment);
}

static void can_do_without_published_figures(void **state)
{
	char *text = fixture_experiment();
	struct experiment *experiment;
	struct published_list *published;
	struct message why = {""};

	(void)state;
	*strstr(text, "published:\n  - variant") = '\0';
	fixture_write("experiments/e.yaml", text);
	free(text);
	if (load(&experiment, &published, &why))
		fail_msg("%s", why.text);
	assert_int_equal(published->published_count, 0);
	published_free(published);
	experiment_free(experiment);
}

static void lists_the_variants_there_are(void **state)
{
	char *text = fixture_experiment();
	struct experiment *experiment;
	struct message why = {""};

	(void)state;
	fixture_write("experiments/e.yaml", text);
	free(text);
	assert_int_equal(experiment_load(&experiment, "e", NULL, &why), 0);
	assert_null(experiment_variant(experiment, "befor", &why));
	assert_string_equal(
	    why.text,
	    "experiment e has no variant \"befor\"; did you mean \"before\"? there are: before, after");
	experiment_free(experiment);
}

static const struct {
	const char *from, *to, *expected;
} mistakes[] = {
    {"workload: pfn_insert", "workload: pfn_inset",
     "4: there is no workload \"pfn_inset\"; did you mean \"pfn_insert\"? there are: anon_fault, "
     "group_release, over_commit, pfn_insert, reclaim_copy, shared_fault, whole"},
    {"name: e", "name: f", "1: the experiment is called \"f\"; its file must be called f.yaml"},
    {"machine: m\n", "", "1: the file lacks the key \"machine\""},
    {"cpus: [2, 8]", "cpus: []", "6: \"cpus\" has 0 items; it must have 1 to 64"},
    {"cpus: [2, 8]", "cpus: 8", "6: \"cpus\" is \"8\"; it must be a list"},
    {"cpus: [2, 8]", "cpus: [0, 8]", "6: \"cpus\" has 0; it must be 1 to 1024"},
    {"cpus: [2, 8]", "cpus:\n  - 2\n  - 5000", "8: \"cpus\" has 5000; it must be 1 to 1024"},
    {"cpus: [2, 8]", "cpus: [8, 2]", "6: \"cpus\" has 2 after 8; they must grow"},
    {"  simulated: 10", "  simulated: 0", "9: \"simulated\" is 0; it must be 1 to 4294967296"},
    {"  simulated: 10\n", "", "7: \"operations\" lacks the key \"simulated\""},
    {"  simulated: 10", "  simulate: 10",
     "9: unknown key \"simulate\" in operations; did you mean \"simulated\"? there are: published, "
     "simulated, warm_up, "
     "sweep, sweep_warm_up, sweep_corners_only"},
    {"base: base_2010", "base: base_1970", NULL},
    {"field: memtype", "field: memtip", NULL},
    {"choice: spin", "choice: spun", NULL},
    {"name: after", "name: before", "19: a second variant is called \"before\"; each needs its own name"},
    {"    what: w\n    set", "    set", "14: \"variants\" lacks the key \"what\""},
    {"variant: before", "variant: befor",
     "23: experiment e has no variant \"befor\"; did you mean \"before\"? there are: before, after"},
    {"    cpus: 2", "    cpus: 0", "24: \"cpus\" is 0; it must be 1 to 1024"},
    {"quantity: seconds", "quantity: minutes",
     "25: \"quantity\" cannot be \"minutes\"; there are: seconds, operations a second, profile share"},
    {"value: 4", "value: -4", "26: \"value\" is -4; it must be more than 0"},
    {"  published: 1000\n", "",
     "24: seconds are for a number of operations; \"operations\" lacks the key \"published\""},
    {"    value: 4\n", "    value: 4\n    symbol: f\n",
     "27: a figure of seconds cannot have the key \"symbol\""},
    {"unit: s", "unit: ms", "27: \"unit\" is \"ms\"; seconds must be in s"},
    {"kind: fitted", "kind: guessed", "28: \"kind\" cannot be \"guessed\"; there are: predicted, fitted"},
    {"cpus: 8, q", "cpus: 2, q", "30: a second figure for \"before\" on 2 CPUs; one of the two must go"},
};

static const struct {
	const char *from, *to, *expected;
} share_mistakes[] = {
    {"choice: each", "choice: eech",
     "22: variant \"after\": layout cannot be \"eech\"; did you mean \"each\"? there are: one, each"},
    {"option: touch", "option: tough",
     "23: variant \"after\": workload anon_fault has no option \"tough\"; did you mean \"touch\"? there "
     "are: layout, touch, give_back, pace"},
    {"quantity: profile share", "quantity: seconds", "30: \"unit\" is \"%\"; seconds must be in s"},
    {"value: 75.5", "value: 175", "29: \"value\" is 175; a share is 100 % at the most"},
    {"    symbol: _raw_spin_lock\n    value", "    value",
     "25: a figure of profile share needs the key \"symbol\""},
    {"    ours: [spin_lock, rwsem_*]\n", "", "25: a figure of profile share needs the key \"ours\""},
    {"ours: [spin_lock, rwsem_*]", "ours: []", "32: \"ours\" has 0 items; it must have 1 to 16"},
    {"    of: [spin_lock]\n", "", "38: a figure of profile share of a caller cannot have the key \"caller\""},
    {"published:\n",
     "published:\n"
     "  - {variant: before, cpus: 2, quantity: profile share, symbol: g, value: 50, unit: '%', kind: "
     "predicted, "
     "ours: [g], source: s, ticks: 500}\n"
     "  - {variant: before, cpus: 2, quantity: profile share, symbol: h, value: 10, unit: '%', kind: "
     "predicted, "
     "ours: [h], source: s, ticks: 200}\n",
     "26: 200 ticks are 10 % of 2000; those of \"g\" are of 1000"},
    {"    caller: up_read\n", "", "34: a second figure for \"before\" on 2 CPUs; one of the two must go"},
};

/* What reproduce shows, and a verdict on it. */
#define SHOWN                                     \
	"shown:\n"                                \
	"  repetitions: 6\n"                      \
	"  cases:\n"                              \
	"    - {variant: before, cpus: [2, 8]}\n" \
	"    - {variant: after, cpus: [8]}\n"     \
	"verdicts:\n"                             \
	"  - {variant: after, against: before, cpus: 8, verdict: faster, source: v}\n"

static char *experiment_with_shown(void)
{
	return fixture_replace(fixture_experiment(), "published:\n  -", SHOWN "published:\n  -");
}

static void reads_what_is_shown(void **state)
{
	struct experiment *experiment;
	struct published_list *published;
	struct message why = {""};
	char *text = experiment_with_shown();

	(void)state;
	fixture_write("experiments/e.yaml", text);
	free(text);
	if (load(&experiment, &published, &why))
		fail_msg("%s", why.text);
	assert_int_equal(experiment->shown.repetitions, 6);
	assert_int_equal(experiment->shown.cases_count, 2);
	assert_string_equal(experiment->shown.cases[1].variant, "after");
	assert_int_equal(experiment->shown.cases[0].cpus_count, 2);
	assert_int_equal(experiment->shown.cases[0].cpus[1], 8);
	assert_int_equal(published->published_count, 2);
	assert_int_equal(published->verdicts_count, 1);
	assert_string_equal(published->verdicts[0].variant, "after");
	assert_string_equal(published->verdicts[0].against, "before");
	assert_int_equal(published->verdicts[0].verdict, VERDICT_FASTER);
	published_free(published);
	experiment_free(experiment);
}

static const struct {
	const char *from, *to, *expected;
} shown_mistakes[] = {
    {"repetitions: 6", "repetitions: 6000", "23: \"repetitions\" is 6000; it must be 1 to 1000"},
    {"- {variant: after, cpus: [8]}", "- {variant: afer, cpus: [8]}",
     "26: experiment e has no variant \"afer\"; did you mean \"after\"? there are: before, after"},
    {"cpus: [2, 8]}", "cpus: [2, 0]}", "25: \"cpus\" has 0; it must be 1 to 1024"},
    {"verdict: faster", "verdict: better",
     "28: \"verdict\" cannot be \"better\"; there are: within noise, faster, slower"},
    {"against: before, cpus: 8", "against: before, cpus: 2",
     "28: \"after\" on 2 CPUs is not among the cases of \"shown\""},
};

static void expect_mistake(char *text, const char *from, const char *to, const char *expected)
{
	struct experiment *experiment;
	struct published_list *published;
	struct message why = {""};
	char start[256];

	text = fixture_replace(text, from, to);
	fixture_write("experiments/e.yaml", text);
	free(text);
	if (load(&experiment, &published, &why) != -EINVAL)
		fail_msg("no mistake was seen in: %s", to);
	if (expected) {
		fixture_expect(&why, "experiments/e.yaml", expected);
		return;
	}
	/* What mm/policy says about it is its own; the line is ours. */
	snprintf(start, sizeof(start), "%s/experiments/e.yaml:%s: variant \"before\": ", fixture_folder,
		 strstr(to, "base") ? "15" : "18");
	if (strncmp(why.text, start, strlen(start)) || strlen(why.text) <= strlen(start))
		fail_msg("%s", why.text);
}

static void tells_each_mistake_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++)
		expect_mistake(fixture_experiment(), mistakes[i].from, mistakes[i].to, mistakes[i].expected);
	for (size_t i = 0; i < ARRAY_SIZE(share_mistakes); i++)
		expect_mistake(experiment_of_shares(), share_mistakes[i].from, share_mistakes[i].to,
			       share_mistakes[i].expected);
	for (size_t i = 0; i < ARRAY_SIZE(shown_mistakes); i++)
		expect_mistake(experiment_with_shown(), shown_mistakes[i].from, shown_mistakes[i].to,
			       shown_mistakes[i].expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(reads_what_stands_there, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(reads_rates, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(reads_what_is_shown, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(reads_options_and_shares, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(can_do_without_published_figures, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(lists_the_variants_there_are, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(tells_each_mistake_with_its_line, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
