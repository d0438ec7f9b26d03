/* SPDX-License-Identifier: MIT */
/*
 * What-if on the virtual machine: exact where nobody waits, the same each time, and nothing at 0 %.
 */
#include "tests/lab/fixture.h"

#include <math.h>

#include "lab/study.h"
#include "lab/what_if.h"

struct bench {
	struct experiment *experiment;
	struct machine *machine;
	struct study_case what;
	struct study_plan plan;
};

static void open_case(struct bench *bench, const char *experiment, const char *variant, const char *machine,
		      unsigned cpus)
{
	struct message why = {""};

	unsetenv("SOFTFAULT_PATH");
	if (experiment_load(&bench->experiment, experiment, NULL, &why) ||
	    machine_load(&bench->machine, machine, &why))
		fail_msg("%s", why.text);
	bench->what =
	    study_case(bench->experiment, experiment_variant(bench->experiment, variant, &why), cpus);
	bench->plan = (struct study_plan){.experiment = bench->experiment,
					  .engine = &engine_vsmp,
					  .machine = bench->machine,
					  .cases = &bench->what,
					  .case_count = 1,
					  .seed = 1,
					  .repetitions = 1,
					  .operations = 200,
					  .profile = true,
					  .locks = true};
}

static void open_bench(struct bench *bench, const char *variant, unsigned cpus)
{
	open_case(bench, "pfn-insert", variant, "nehalem-8", cpus);
}

static void close_bench(struct bench *bench)
{
	experiment_free(bench->experiment);
	machine_free(bench->machine);
}

/* Returns the time of an operation when the functions of `text`, up to two, cost that much less. */
static double time_if(struct bench *bench, const char *text, const char *other)
{
	struct what_if what_if = {0};
	struct message why = {""};
	struct study study;
	double time;

	if ((text && what_if_add_speedup(&what_if, text, &why)) ||
	    (other && what_if_add_speedup(&what_if, other, &why)))
		fail_msg("%s", why.text);
	bench->plan.what_if = &what_if;
	if (study_run(&study, &bench->plan, NULL, &why))
		fail_msg("%s", why.text);
	if (text)
		assert_int_equal(study.rows[0].observed->report.speedups_entered, other ? 3 : 1);
	time = study.rows[0].ns_per_operation;
	study_free(&study);
	return time;
}

/* One CPU waits for nobody: all its time is in the function, but for rounding at 200 times in and out. */
static void is_exact_where_nobody_waits(void **state)
{
	static const struct {
		const char *text, *other;
		double factor;
	} cases[] = {{"engine_memory_touch=50", NULL, 0.5},
		     {"engine_memory_touch=-100", NULL, 2},
		     {"engine_memory_touch=12.5", NULL, 0.875},
		     {"engine_memory_touch=-5", NULL, 1.05},
		     {"engine_memory_touch=50", "sf_touch=50", 0.25}};
	struct bench bench;
	double as_is;

	(void)state;
	open_bench(&bench, "cmpxchg", 1);
	as_is = time_if(&bench, NULL, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double time = time_if(&bench, cases[i].text, cases[i].other);

		if (fabs(time / as_is - cases[i].factor) > 0.005)
			fail_msg("%s: %g times the time, and not %g", cases[i].text, time / as_is,
				 cases[i].factor);
	}
	close_bench(&bench);
}

/* On eight CPUs with a lock: 0 % is the same to the last bit, and any other twice the same. */
static void changes_nothing_at_0_percent(void **state)
{
	struct bench bench;
	double as_is;

	(void)state;
	open_bench(&bench, "lock", 8);
	as_is = time_if(&bench, NULL, NULL);
	assert_true(time_if(&bench, "engine_memory_touch=0", NULL) == as_is);
	assert_true(time_if(&bench, "spin_lock=0", "engine_memory_touch=0") == as_is);
	assert_true(time_if(&bench, "spin_unlock=30", NULL) == time_if(&bench, "spin_unlock=30", NULL));
	close_bench(&bench);
}

/* Under contention it is not the percentage, but the way is clear. */
static void goes_the_right_way(void **state)
{
	struct bench bench;
	double as_is;

	(void)state;
	open_bench(&bench, "lock", 8);
	as_is = time_if(&bench, NULL, NULL);
	assert_true(time_if(&bench, "engine_memory_touch=90", NULL) < 0.5 * as_is);
	assert_true(time_if(&bench, "engine_memory_touch=99", NULL) < 0.2 * as_is);
	assert_true(time_if(&bench, "engine_memory_touch=-300", NULL) > 2 * as_is);
	assert_true(time_if(&bench, "engine_memory_touch=-900", NULL) > 4 * as_is);
	close_bench(&bench);
}

static void sets_a_figure_of_the_machine(void **state)
{
	struct what_if what_if = {0};
	struct bench bench;
	struct message why = {""};
	double as_is;

	(void)state;
	open_bench(&bench, "cmpxchg", 1);
	as_is = time_if(&bench, NULL, NULL);
	assert_int_equal(what_if_add_set(&what_if, "fault_exception=1", &why), 0);
	assert_int_equal(what_if_apply(&what_if, bench.machine, &why), 0);
	assert_true(what_if.sets[0].was > 1);
	assert_true(time_if(&bench, NULL, NULL) < as_is);
	close_bench(&bench);
}

static bool is_the_same(const struct run_result *one, const struct run_result *other)
{
	return !memcmp(&one->outcome.timing, &other->outcome.timing, sizeof(one->outcome.timing)) &&
	       one->report.accesses == other->report.accesses &&
	       one->report.transfers == other->report.transfers &&
	       one->report.parameters_asked == other->report.parameters_asked;
}

/* Runs a case as the machine's file says, and with each parameter moved by itself: results[] in that order.
 */
static void run_with_each_moved(const struct bench *bench, struct run_result *results)
{
	struct run_request requests[VSMP_PARAMETER_COUNT + 1];
	struct machine_point points[VSMP_PARAMETER_COUNT + 1];
	struct message why = {""};

	for (unsigned i = 0; i <= VSMP_PARAMETER_COUNT; i++) {
		machine_point_of_file(bench->machine, &points[i]);
		requests[i] = study_request(&bench->plan, &points[i], 0);
		requests[i].small = true;
		if (i == VSMP_SMT_SHARE + 1)
			points[i].value[i - 1] = 3 - points[i].value[i - 1]; /* a ratio of 1 to 2 */
		else if (i)
			points[i].value[i - 1] = 3 * points[i].value[i - 1] + 50;
	}
	if (run_all(requests, VSMP_PARAMETER_COUNT + 1, results, NULL, &why))
		fail_msg("%s", why.text);
}

/* Where a parameter differs that a run has not asked for, the run is the same. Of those that it has asked
 * for, some count. */
static void what_was_not_asked_for_counts_for_nothing(void **state)
{
	static const struct {
		const char *experiment, *variant, *machine;
		unsigned cpus;
	} cases[] = {{"pfn-insert", "lock", "nehalem-8", 8},       {"pfn-insert", "cmpxchg", "uv", 20},
		     {"anon-fault", "rwsem_spin", "nehalem-8", 4}, {"group-release", "pagevec", "uv", 3},
		     {"shared-fault", "before", "nehalem-8", 5},   {"reclaim-copy", "wait", "xeon-2004", 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run_result results[VSMP_PARAMETER_COUNT + 1] = {0};
		unsigned unasked = 0, changing = 0;
		struct bench bench;

		open_case(&bench, cases[i].experiment, cases[i].variant, cases[i].machine, cases[i].cpus);
		bench.plan.operations = 16;
		run_with_each_moved(&bench, results);
		for (unsigned parameter = 0; parameter < VSMP_PARAMETER_COUNT; parameter++) {
			bool asked = results[0].report.parameters_asked >> parameter & 1;
			bool same = is_the_same(&results[0], &results[parameter + 1]);

			if (!asked && !same)
				fail_msg("%s, %s: %s was not asked for and counts", cases[i].experiment,
					 cases[i].variant, machine_figure_name(parameter));
			unasked += !asked;
			changing += !same;
		}
		if (unasked < 5 || changing < 8)
			fail_msg("%s, %s: %u parameters not asked for, %u that change something",
				 cases[i].experiment, cases[i].variant, unasked, changing);
		run_results_free(results, VSMP_PARAMETER_COUNT + 1);
		close_bench(&bench);
	}
}

static void expect(int error, const struct message *why, const char *text)
{
	assert_true(error < 0);
	assert_string_equal(why->text, text);
}

static void refuses_what_cannot_be(void **state)
{
	struct what_if what_if = {0};
	struct bench bench;
	struct message why = {""};

	(void)state;
	expect(what_if_add_speedup(&what_if, "spin_lock", &why), &why,
	       "--speedup: \"spin_lock\" must be SYMBOL=PERCENT, such as spin_lock=10");
	expect(what_if_add_speedup(&what_if, "spin_lock=x", &why), &why,
	       "--speedup: \"spin_lock=x\" must be SYMBOL=PERCENT, such as spin_lock=10");
	expect(what_if_add_speedup(&what_if, "=5", &why), &why,
	       "--speedup: \"=5\" must be SYMBOL=PERCENT, such as spin_lock=10");
	expect(what_if_add_speedup(&what_if, "spin_lock=100", &why), &why,
	       "--speedup: 100 % cannot be; it must be -900 to 99, below 0 for a slowdown");
	assert_int_equal(what_if_add_speedup(&what_if, "spin_lock=5", &why), 0);
	expect(what_if_add_speedup(&what_if, "spin_lock=6", &why), &why,
	       "--speedup: spin_lock is there twice");
	expect(what_if_add_set(&what_if, "memory", &why), &why,
	       "--machine-set: \"memory\" must be KEY=VALUE, such as memory=150");
	expect(what_if_add_set(&what_if, "memry=5", &why), &why,
	       "--machine-set: a machine has no figure \"memry\"; did you mean \"memory\"?");
	open_bench(&bench, "cmpxchg", 1);
	assert_int_equal(what_if_add_set(&what_if, "smt_share=3", &why), 0);
	expect(what_if_apply(&what_if, bench.machine, &why), &why,
	       "--machine-set: smt_share is 3 ratio; it must be 1 to 2");
	what_if.set_count = 0;
	assert_int_equal(what_if_add_set(&what_if, "blade_read_latency=3", &why), 0);
	expect(what_if_apply(&what_if, bench.machine, &why), &why,
	       "--machine-set: machine nehalem-8 has no blade_read_latency");
	close_bench(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(is_exact_where_nobody_waits),
	    cmocka_unit_test(changes_nothing_at_0_percent),
	    cmocka_unit_test(goes_the_right_way),
	    cmocka_unit_test(sets_a_figure_of_the_machine),
	    cmocka_unit_test(what_was_not_asked_for_counts_for_nothing),
	    cmocka_unit_test(refuses_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
