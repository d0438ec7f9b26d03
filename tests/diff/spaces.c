/* SPDX-License-Identifier: MIT */
/*
 * The differential test of address spaces and of what they map: seeded random sequences of operations and
 * accesses on our library, on the naive model, and on the running Linux kernel. After every operation: the
 * same errno, result, list of mappings and mincore; now and then and at the end: the same bytes in every page
 * of every space.
 *
 * OPS operations (default 200,000), 20,000 of each seed from SEED on; SEQUENCE runs that one of SEED alone.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <cmocka.h>

#include "mm/policy/policy.h"
#include "tests/diff/compare.h"
#include "tests/diff/library_objects.h"

#define SEQUENCE_OPERATIONS 400u
#define SEED_SEQUENCES      50u
#define POLICY_SEQUENCES    10u /* that a system lives for */

/*
 * One in so many runs while the library's allocations and transfers fail, and one while it is short of
 * memory.
 */
#define FAILING_SEQUENCES 3u

/* Sanitizers make all but the system calls several times slower. */
#if defined(__SANITIZE_ADDRESS__)
#define OPERATIONS 20000u
#else
#define OPERATIONS 200000u
#endif

/* The last sequences of a seed run into the limit on the number of mappings. */
#define LIMITED_SEQUENCES 2u
#define RANGES_LEFT       12u

#define KNOWN_LINUX "6.18."

/* Each operation's least share of the mix, in thousandths. */
#define SHARE_MIN 20u

/* The least share of operations of the library that fail at first, in thousandths. */
#define MENDED_MIN 10u

/* As many pages that the library swaps, out and in. */
#define SWAPPED_MIN 30u

#define DIFFERENCES_MAX 5u

static struct diff_bench bench;
static struct linux_side *free_linux, *limited_linux;
static struct diff_terms free_terms, limited_terms;
static const char *no_linux, *no_limited_linux;
static unsigned model_differences, library_differences, broken;
static uint64_t limited_operations;
static bool is_whole_run;

/* What is being run, for who must tell where it crashed. */
static volatile unsigned long long running_seed;
static volatile unsigned running_sequence;

static void on_crash(int number)
{
	char text[160];
	int size =
	    snprintf(text, sizeof(text), "crash in seed %llu, sequence %u, operation %u of the library\n",
		     running_seed, running_sequence, library_current());

	if (write(STDERR_FILENO, text, (size_t)size) < 0)
		_exit(2);
	signal(number, SIG_DFL);
	raise(number);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* The policies of the covering set in turn. */
static void open_library(unsigned round)
{
	struct policy policy;
	char text[POLICY_TEXT_BYTES];
	const char *reason = NULL;
	unsigned count = 0;

	while (policy_pairwise(count, &policy))
		count++;
	policy_pairwise(round % count, &policy);
	policy_text(&policy, text, sizeof(text));
	bench.library =
	    library_open(&bench.terms, text, (round + round / LIBRARY_SWAPS) % LIBRARY_SWAPS, &reason);
	if (!bench.library)
		fail_msg("%s", reason);
}

static void use_linux(bool limited)
{
	bench.linux = limited ? limited_linux : free_linux;
	bench.terms = limited ? limited_terms : free_terms;
}

/* Returns false when enough has been seen. */
static bool run_sequence(uint64_t seed, unsigned sequence)
{
	enum diff_side differs;

	/* Near the limit, a second try may meet it in the cuts that the first has made, as Linux makes them.
	 */
	bench.failures = sequence % FAILING_SEQUENCES == 1 && bench.terms.ranges_max == UINT64_MAX
			     ? seed * SEED_SEQUENCES + sequence
			     : 0;
	bench.pressure = sequence % FAILING_SEQUENCES == 2 ? seed * SEED_SEQUENCES + sequence : 0;
	running_seed = seed;
	running_sequence = sequence;
	switch (diff_sequence_run(&bench, seed, sequence, SEQUENCE_OPERATIONS, &differs)) {
	case 0:
		return true;
	case 1:
		if (differs == DIFF_SIDE_LINUX)
			model_differences++;
		else
			library_differences++;
		return model_differences + library_differences < DIFFERENCES_MAX;
	default:
		broken++;
		return false;
	}
}

static bool run_seed(uint64_t seed, unsigned from, unsigned to)
{
	bool go_on = true;

	for (unsigned i = from; i < to && go_on; i++) {
		bool limited = i >= SEED_SEQUENCES - LIMITED_SEQUENCES;
		uint64_t before = bench.counts.total;

		if (limited && !limited_linux && free_linux)
			break;
		if (!bench.library || i % POLICY_SEQUENCES == 0 || i == SEED_SEQUENCES - LIMITED_SEQUENCES) {
			if (bench.library)
				library_close(bench.library);
			use_linux(limited);
			open_library(
			    (unsigned)(seed * (SEED_SEQUENCES / POLICY_SEQUENCES) + i / POLICY_SEQUENCES));
		}
		go_on = run_sequence(seed, i);
		if (limited)
			limited_operations += bench.counts.total - before;
	}
	return go_on;
}

/* Without Linux there are terms all the same, so that the library can be held against the model. */
static void open_linux(void)
{
	const struct diff_terms otherwise = {.minimum_address = MODEL_PAGE,
					     .locked_max = (uint64_t)8 << 20,
					     .ranges_max = UINT64_MAX,
					     .execute_only = true};

	static char why[2][300];

	free_linux = linux_open(0, &free_terms, &no_linux);
	if (!free_linux) {
		free_terms = limited_terms = otherwise;
		limited_terms.ranges_max = RANGES_LEFT;
		snprintf(why[0], sizeof(why[0]), "%s", no_linux);
		no_linux = why[0];
		return;
	}
	limited_linux = linux_open(RANGES_LEFT, &limited_terms, &no_limited_linux);
	if (!limited_linux) {
		snprintf(why[1], sizeof(why[1]), "%s", no_limited_linux);
		no_limited_linux = why[1];
	}
}

static int run_everything(void **state)
{
	static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS};
	uint64_t operations = number_of("OPS", OPERATIONS), seed = number_of("SEED", 1);
	uint64_t sequences = (operations + SEQUENCE_OPERATIONS - 1) / SEQUENCE_OPERATIONS;
	unsigned only = (unsigned)number_of("SEQUENCE", UINT32_MAX);

	(void)state;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], on_crash);
	is_whole_run = only == UINT32_MAX && operations >= OPERATIONS;
	if (only != UINT32_MAX) {
		run_seed(seed, only, only + 1);
		return 0;
	}
	for (; sequences; seed++) {
		unsigned now = sequences < SEED_SEQUENCES ? (unsigned)sequences : SEED_SEQUENCES;

		if (!run_seed(seed, 0, now))
			break;
		sequences -= now;
	}
	return 0;
}

static uint64_t total_of(unsigned kind)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < DIFF_OUTCOMES; i++)
		total += bench.counts.outcome[kind][i];
	return total;
}

static void print_counts(void)
{
	uint64_t written, read;

	library_swapped(&written, &read);
	printf("%llu operations, %llu of them near the limit on the number of mappings; %llu were made to "
	       "fail at first; %llu pages were swapped out, %llu in\n%-16s",
	       (unsigned long long)bench.counts.total, (unsigned long long)limited_operations,
	       (unsigned long long)library_mended(), (unsigned long long)written, (unsigned long long)read,
	       "");
	for (unsigned i = 0; i < DIFF_OUTCOMES; i++)
		printf(" %8.8s", diff_outcome_name(i));
	printf("    share\n");
	for (unsigned kind = 0; kind < DIFF_KINDS; kind++) {
		printf("%-16s", diff_kind_name(kind));
		for (unsigned i = 0; i < DIFF_OUTCOMES; i++)
			printf(" %8llu", (unsigned long long)bench.counts.outcome[kind][i]);
		printf(" %6.2f %%\n", 100.0 * (double)total_of(kind) / (double)bench.counts.total);
	}
}

static void library_equals_model(void **state)
{
	(void)state;
	assert_int_equal(broken, 0);
	assert_int_equal(library_differences, 0);
}

/* The model follows one version of Linux; others differ in details of merging and remapping. */
static void skip_unless_known(const char *reason)
{
	struct utsname name;

	if (reason) {
		print_message("skipped: no Linux to compare with: %s\n", reason);
		skip();
	}
	if (model_differences && !uname(&name) && strncmp(name.release, KNOWN_LINUX, strlen(KNOWN_LINUX))) {
		print_message("skipped: Linux %s differs from the model, which follows %s*\n", name.release,
			      KNOWN_LINUX);
		skip();
	}
}

static void model_equals_linux(void **state)
{
	(void)state;
	skip_unless_known(no_linux);
	assert_int_equal(broken, 0);
	assert_int_equal(model_differences, 0);
}

static void model_equals_linux_near_map_count(void **state)
{
	(void)state;
	skip_unless_known(no_linux ? no_linux : no_limited_linux);
	assert_int_equal(model_differences, 0);
	if (is_whole_run)
		assert_true(limited_operations > 0);
}

static void every_operation_has_its_share(void **state)
{
	uint64_t written, read;

	(void)state;
	print_counts();
	if (!is_whole_run)
		skip();
	assert_true(library_mended() * 1000 > bench.counts.total * MENDED_MIN);
	library_swapped(&written, &read);
	assert_true(written * 1000 > bench.counts.total * SWAPPED_MIN);
	assert_true(read * 1000 > bench.counts.total * SWAPPED_MIN);
	for (unsigned kind = 0; kind < DIFF_KINDS; kind++) {
		if (total_of(kind) * 1000 < bench.counts.total * SHARE_MIN)
			fail_msg("%s has less than %u thousandths of the mix", diff_kind_name(kind),
				 SHARE_MIN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(library_equals_model),
	    cmocka_unit_test(model_equals_linux),
	    cmocka_unit_test(model_equals_linux_near_map_count),
	    cmocka_unit_test(every_operation_has_its_share),
	};
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	open_linux();
	failed = cmocka_run_group_tests(tests, run_everything, NULL);
	if (bench.library)
		library_close(bench.library);
	if (free_linux)
		linux_close(free_linux);
	if (limited_linux)
		linux_close(limited_linux);
	return failed;
}
