/* SPDX-License-Identifier: MIT */
/*
 * Whether verdicts can be believed, on the engines themselves: what is the same is told to be the same, and
 * what was made slower to be slower.
 */
#include "tests/lab/fixture.h"

#include <string.h>
#include <time.h>

#include "lab/comparison.h"
#include "lab/study.h"
#include "lab/what_if.h"

#define REPETITIONS     5u
#define SIMULATED_PAIRS 200u
#define REAL_PAIRS      50u
/* "In at least 93 % of cases." */
#define NOISE_PERCENT_MIN 93u

/* The two variants differ in what one insertion in 512 asks for, a frame for a page table. */
static const char experiment_text[] =
    "name: e\n"
    "title: An experiment\n"
    "source: s\n"
    "workload: pfn_insert\n"
    "machine: nehalem-8\n"
    "cpus: [1]\n"
    "operations: {published: 65536, simulated: 32, warm_up: 16, sweep: 5, sweep_warm_up: 1}\n"
    "variants:\n"
    "  - name: a\n"
    "    base: base_2010\n"
    "    set: [{field: memtype, choice: spin}, {field: frame_cache, choice: magazine}]\n"
    "    what: w\n"
    "  - name: b\n"
    "    base: base_2010\n"
    "    set: [{field: memtype, choice: spin}, {field: frame_cache, choice: zone}]\n"
    "    what: w\n";

struct bench {
	struct experiment *experiment;
	struct machine *machine;
	struct study_case cases[2];
	struct study_plan plan;
};

/* An experiment may be named by its path; the machine is one of those that are there. */
static void open_bench(struct bench *bench, unsigned cpus)
{
	struct message why = {""};
	char path[128];

	fixture_write("experiments/e.yaml", experiment_text);
	snprintf(path, sizeof(path), "%s/experiments/e.yaml", fixture_folder);
	unsetenv("SOFTFAULT_PATH");
	if (experiment_load(&bench->experiment, path, NULL, &why) ||
	    machine_load(&bench->machine, "nehalem-8", &why))
		fail_msg("%s", why.text);
	for (unsigned i = 0; i < 2; i++)
		bench->cases[i] = study_case(bench->experiment, &bench->experiment->variants[i], cpus);
	bench->plan = (struct study_plan){.experiment = bench->experiment, .cases = bench->cases, .seed = 1};
}

static void close_bench(struct bench *bench)
{
	experiment_free(bench->experiment);
	machine_free(bench->machine);
}

static void run(struct study *study, const struct study_plan *plan)
{
	struct message why = {""};

	if (study_run(study, plan, NULL, &why))
		fail_msg("%s", why.text);
}

static void expect_noise(unsigned told, unsigned pairs)
{
	print_message("%u of %u pairs were told apart\n", told, pairs);
	assert_true((pairs - told) * 100 >= pairs * NOISE_PERCENT_MIN);
}

/* Eight simulated CPUs at one lock: what differs is the seed. */
static void tells_simulated_twins_are_the_same(void **state)
{
	struct bench bench;
	struct study study;
	unsigned told = 0;

	(void)state;
	open_bench(&bench, 8);
	bench.plan.engine = &engine_vsmp;
	bench.plan.machine = bench.machine;
	bench.plan.case_count = 1;
	bench.plan.repetitions = SIMULATED_PAIRS * 2 * REPETITIONS;
	bench.plan.operations = 32;
	run(&study, &bench.plan);
	for (unsigned i = 0; i < SIMULATED_PAIRS; i++) {
		const double *samples = study.rows[0].samples_ns + i * 2 * REPETITIONS;
		struct comparison comparison;

		compare_samples(samples, REPETITIONS, samples + REPETITIONS, REPETITIONS, &comparison);
		told += comparison.verdict != VERDICT_NOISE;
	}
	/* Seeds do make a difference, else this would say nothing. */
	assert_true(study.rows[0].samples_ns[0] != study.rows[0].samples_ns[1]);
	expect_noise(told, SIMULATED_PAIRS);
	study_free(&study);
	close_bench(&bench);
}

static void finds_5_percent_on_the_simulated_machine(void **state)
{
	struct what_if what_if = {0};
	struct study as_is, slower;
	struct comparison comparison;
	struct bench bench;
	struct message why = {""};

	(void)state;
	open_bench(&bench, 8);
	bench.plan.engine = &engine_vsmp;
	bench.plan.machine = bench.machine;
	bench.plan.case_count = 1;
	bench.plan.repetitions = 10;
	bench.plan.operations = 256;
	run(&as_is, &bench.plan);
	assert_int_equal(what_if_add_speedup(&what_if, "engine_memory_touch=-5", &why), 0);
	bench.plan.what_if = &what_if;
	bench.plan.seed = 1000;
	run(&slower, &bench.plan);
	compare_samples(as_is.rows[0].samples_ns, 10, slower.rows[0].samples_ns, 10, &comparison);
	print_message("ratio %.4f, %.4f to %.4f\n", comparison.ratio, comparison.low, comparison.high);
	assert_int_equal(comparison.verdict, VERDICT_SLOWER);
	assert_true(comparison.ratio > 1.02 && comparison.ratio < 1.09);
	study_free(&as_is);
	study_free(&slower);
	close_bench(&bench);
}

static void plan_real(struct bench *bench, const struct engine *engine, unsigned repetitions)
{
	open_bench(bench, 1);
	bench->plan.engine = engine;
	bench->plan.case_count = 2;
	bench->plan.repetitions = repetitions;
	bench->plan.operations = 16384;
}

static void tells_real_twins_are_the_same(void **state)
{
	struct bench bench;
	struct study study;
	unsigned told = 0;

	(void)state;
	plan_real(&bench, &engine_host, REAL_PAIRS * REPETITIONS);
	bench.cases[1] = bench.cases[0];
	run(&study, &bench.plan);
	for (unsigned i = 0; i < REAL_PAIRS; i++) {
		struct comparison comparison;

		compare_samples(study.rows[0].samples_ns + i * REPETITIONS, REPETITIONS,
				study.rows[1].samples_ns + i * REPETITIONS, REPETITIONS, &comparison);
		told += comparison.verdict != VERDICT_NOISE;
	}
	expect_noise(told, REAL_PAIRS);
	study_free(&study);
	close_bench(&bench);
}

/* --- An engine on which one of the variants is slower ------------------------------------------------- */

#define TOUCHES_PER_PAUSE 64u

static double pause_ns; /* after so many touches */
static bool slowed;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int open_slowed(const struct engine_config *config, struct message *why)
{
	slowed = config->policy.frame_cache == POLICY_FRAME_CACHE_ZONE;
	return engine_host.open(config, why);
}

static int touch_slowly(unsigned space, uintptr_t address, bool write)
{
	static unsigned touches;
	int error = engine_host.touch(space, address, write);

	if (slowed && ++touches % TOUCHES_PER_PAUSE == 0)
		for (double until = now_ns() + pause_ns; now_ns() < until;)
			;
	return error;
}

static void finds_20_percent_on_real_cpus(void **state)
{
	struct engine slow = engine_host;
	struct comparison comparison;
	struct bench bench;
	struct study study;

	(void)state;
	slow.open = open_slowed;
	slow.touch = touch_slowly;
	plan_real(&bench, &engine_host, 10);
	run(&study, &bench.plan);
	pause_ns = 0.2 * TOUCHES_PER_PAUSE * study.rows[0].ns_per_operation;
	study_free(&study);
	bench.plan.engine = &slow;
	bench.plan.repetitions = 20;
	run(&study, &bench.plan);
	compare_samples(study.rows[0].samples_ns, 20, study.rows[1].samples_ns, 20, &comparison);
	print_message("ratio %.4f, %.4f to %.4f\n", comparison.ratio, comparison.low, comparison.high);
	assert_int_equal(comparison.verdict, VERDICT_SLOWER);
	study_free(&study);
	close_bench(&bench);
}

/* What real CPUs show depends on what else they do: that is for `make bench`, which gives the argument
 * "real". */
int main(int argc, char **argv)
{
	const struct CMUnitTest simulated[] = {
	    cmocka_unit_test_setup_teardown(tells_simulated_twins_are_the_same, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(finds_5_percent_on_the_simulated_machine, fixture_open,
					    fixture_close),
	};
	const struct CMUnitTest real[] = {
	    cmocka_unit_test_setup_teardown(tells_real_twins_are_the_same, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(finds_20_percent_on_real_cpus, fixture_open, fixture_close),
	};

	if (argc == 2 && !strcmp(argv[1], "real"))
		return cmocka_run_group_tests(real, NULL, NULL);
	return cmocka_run_group_tests(simulated, NULL, NULL);
}
