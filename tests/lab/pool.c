/* SPDX-License-Identifier: MIT */
/*
 * Jobs in processes of their own: results come whole and to their places, and whatever becomes of a job is
 * told.
 */
#include "tests/lab/fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/random.h"
#include "lab/pool.h"

#define JOBS 40

/* What the jobs do, and what came of them. */
struct jobs {
	size_t crashing, exiting, failing, second_failing; /* numbers of jobs; JOBS: none */
	size_t long_result;                                /* bytes that every result has besides */
	uint64_t results[JOBS];
	size_t taken, described;
	bool intact;
};

static struct jobs quiet_jobs(void)
{
	return (struct jobs){
	    .crashing = JOBS, .exiting = JOBS, .failing = JOBS, .second_failing = JOBS, .intact = true};
}

static int work(size_t job, void *argument, struct wire *result, struct message *why, const char **details)
{
	struct jobs *jobs = argument;
	uint64_t value = job * job;

	(void)details;
	if (job == jobs->crashing)
		raise(SIGKILL);
	if (job == jobs->exiting)
		_exit(7);
	if (job == jobs->failing)
		return message_set(why, -EDEADLK, "job %zu is stuck", job);
	/* The second to fail does so long before the first. */
	if (job == jobs->second_failing)
		return message_set(why, -ENOSPC, "job %zu is too large", job);
	wire_bytes(result, &value, sizeof(value));
	for (size_t i = 0; i < jobs->long_result; i++) {
		char byte = (char)(i * 31 + job);

		wire_bytes(result, &byte, 1);
	}
	return 0;
}

static void take(size_t job, void *argument, struct wire *result)
{
	struct jobs *jobs = argument;

	wire_bytes(result, &jobs->results[job], sizeof(jobs->results[job]));
	for (size_t i = 0; i < jobs->long_result; i++) {
		char byte;

		wire_bytes(result, &byte, 1);
		jobs->intact = jobs->intact && byte == (char)(i * 31 + job);
	}
	jobs->taken++;
}

static void describe(size_t job, void *argument, char *text, size_t size)
{
	((struct jobs *)argument)->described++;
	snprintf(text, size, "job number %zu", job);
}

static size_t last_done, calls;

static void progress(size_t done, size_t count)
{
	assert_int_equal(count, JOBS);
	assert_int_equal(done, last_done + 1);
	last_done = done;
	calls++;
}

static int run(struct jobs *jobs, unsigned parallel, struct message *why)
{
	struct pool pool = {.jobs = JOBS,
			    .parallel = parallel,
			    .argument = jobs,
			    .work = work,
			    .take = take,
			    .describe = describe};

	return pool_run(&pool, why);
}

static void puts_every_result_in_its_place(void **state)
{
	static const unsigned parallel[] = {1, 2, 7, 100};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parallel); i++) {
		struct jobs jobs = quiet_jobs();
		struct message why = {""};

		if (run(&jobs, parallel[i], &why))
			fail_msg("%s", why.text);
		assert_int_equal(jobs.taken, JOBS);
		for (size_t job = 0; job < JOBS; job++)
			assert_int_equal(jobs.results[job], job * job);
	}
}

/* More than a pipe holds. */
static void carries_large_results(void **state)
{
	struct jobs jobs = quiet_jobs();
	struct message why = {""};

	(void)state;
	jobs.long_result = 300000;
	assert_int_equal(run(&jobs, 3, &why), 0);
	assert_true(jobs.intact);
}

/* Jobs begin in order, so what has begun is all up to some job. */
static bool is_enough(void *argument)
{
	return ((const struct jobs *)argument)->results[5] != 0;
}

static void stops_when_it_is_enough(void **state)
{
	static const unsigned parallel[] = {1, 3};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parallel); i++) {
		struct jobs jobs = quiet_jobs();
		struct pool pool = {.jobs = JOBS,
				    .parallel = parallel[i],
				    .argument = &jobs,
				    .work = work,
				    .take = take,
				    .describe = describe,
				    .enough = is_enough};

		assert_int_equal(pool_run(&pool, NULL), 0);
		assert_in_range(jobs.taken, 6, JOBS - 1);
		for (size_t job = 0; job < jobs.taken; job++)
			assert_int_equal(jobs.results[job], job * job);
	}
}

static void tells_of_progress(void **state)
{
	struct jobs jobs = quiet_jobs();
	struct pool pool = {.jobs = JOBS,
			    .parallel = 2,
			    .argument = &jobs,
			    .work = work,
			    .take = take,
			    .describe = describe,
			    .progress = progress};

	(void)state;
	last_done = calls = 0;
	assert_int_equal(pool_run(&pool, NULL), 0);
	assert_int_equal(calls, JOBS);
}

static void tells_of_a_crash(void **state)
{
	struct jobs jobs = quiet_jobs();
	struct message why = {""};

	(void)state;
	jobs.crashing = 5;
	assert_int_equal(run(&jobs, 2, &why), -EIO);
	assert_string_equal(why.text, "job number 5: the process that ran it was ended by signal 9 (Killed)");
	jobs = quiet_jobs();
	jobs.exiting = 6;
	assert_int_equal(run(&jobs, 2, &why), -EIO);
	assert_string_equal(why.text, "job number 6: the process that ran it ended with status 7");
}

static void tells_of_the_first_failure(void **state)
{
	(void)state;
	for (unsigned parallel = 1; parallel < 5; parallel++) {
		struct jobs jobs = quiet_jobs();
		struct message why = {""};

		jobs.failing = 3;
		jobs.second_failing = 4;
		assert_int_equal(run(&jobs, parallel, &why), -EDEADLK);
		assert_string_equal(why.text, "job number 3: job 3 is stuck");
		assert_true(jobs.taken < JOBS);
	}
}

static void take_too_much(size_t job, void *argument, struct wire *result)
{
	uint64_t numbers[2];

	(void)job;
	(void)argument;
	wire_bytes(result, numbers, sizeof(numbers));
}

static void notices_a_result_that_is_cut(void **state)
{
	struct jobs jobs = quiet_jobs();
	struct message why = {""};
	struct pool pool = {.jobs = 1,
			    .parallel = 1,
			    .argument = &jobs,
			    .work = work,
			    .take = take_too_much,
			    .describe = describe};

	(void)state;
	assert_int_equal(pool_run(&pool, &why), -EIO);
	assert_string_equal(why.text, "job number 0: its result did not arrive");
}

static int wait_for_ever(size_t job, void *argument, struct wire *result, struct message *why,
			 const char **details)
{
	(void)job;
	(void)argument;
	(void)result;
	(void)why;
	(void)details;
	kill(getppid(), SIGTERM);
	while (pause() == -1)
		continue;
	return 0;
}

/* A signal ends all jobs, leaves no child behind, and the handler that was there is there again. */
static void ends_on_a_signal(void **state)
{
	struct jobs jobs = quiet_jobs();
	struct message why = {""};
	struct sigaction action;
	struct pool pool = {.jobs = JOBS,
			    .parallel = 3,
			    .argument = &jobs,
			    .work = wait_for_ever,
			    .take = take,
			    .describe = describe};

	(void)state;
	assert_int_equal(pool_run(&pool, &why), -EINTR);
	assert_int_equal(pool_signal(), SIGTERM);
	assert_int_equal(jobs.taken, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	sigaction(SIGTERM, NULL, &action);
	assert_ptr_equal(action.sa_handler, SIG_DFL);
}

/* --- Reports on the wire --- */

static struct random numbers;

static char *random_text(void)
{
	char *text = malloc(16);

	snprintf(text, 16, "%llu", (unsigned long long)random_below(&numbers, 1u << 30));
	return text;
}

static void fill_report(struct vsmp_report *report)
{
	report->operations = random_next(&numbers);
	report->transfers = random_next(&numbers);
	report->profile_count = random_below(&numbers, 5);
	report->profile = calloc(report->profile_count + 1, sizeof(*report->profile));
	for (size_t i = 0; i < report->profile_count; i++) {
		struct vsmp_profile_row *row = &report->profile[i];

		row->symbol = random_text();
		row->self_percent = (double)random_below(&numbers, 100);
		row->caller_count = random_below(&numbers, 3);
		row->callers = calloc(row->caller_count + 1, sizeof(*row->callers));
		for (size_t j = 0; j < row->caller_count; j++)
			row->callers[j].symbol = random_text();
	}
	report->lock_count = random_below(&numbers, 3);
	report->locks = calloc(report->lock_count + 1, sizeof(*report->locks));
	for (size_t i = 0; i < report->lock_count; i++) {
		report->locks[i].name = random_text();
		report->locks[i].contentions = random_next(&numbers);
		report->locks[i].site_count = 1;
		report->locks[i].sites = calloc(1, sizeof(*report->locks[i].sites));
		report->locks[i].sites[0].symbol = random_text();
	}
	report->stack_count = 1;
	report->stacks = calloc(1, sizeof(*report->stacks));
	report->stacks[0].path = random_text();
	report->line_count = 1;
	report->lines = calloc(1, sizeof(*report->lines));
	report->lines[0].site_count = 2;
	report->lines[0].sites = calloc(2, sizeof(*report->lines[0].sites));
	report->lines[0].sites[1].symbol = random_text();
	report->conflict_count = 1;
	report->conflicts = calloc(1, sizeof(*report->conflicts));
	report->conflicts[0].scope = random_text();
	report->conflicts[0].name = random_text();
}

static void carries_reports_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 50; seed++) {
		struct wire out = {0}, in = {.reading = true}, again = {0};
		struct vsmp_report sent = {0}, received = {0}, cut = {0};

		random_seed(&numbers, seed);
		fill_report(&sent);
		wire_report(&out, &sent);
		in.data = out.data;
		in.bytes = out.bytes;
		wire_report(&in, &received);
		assert_false(in.failed);
		assert_int_equal(in.at, in.bytes);
		assert_int_equal(received.operations, sent.operations);
		assert_int_equal(received.profile_count, sent.profile_count);
		assert_string_equal(received.conflicts[0].name, sent.conflicts[0].name);
		assert_null(received.conflicts[0].other_scope);
		assert_null(received.lines[0].sites[0].symbol);
		assert_string_equal(received.lines[0].sites[1].symbol, sent.lines[0].sites[1].symbol);
		for (size_t i = 0; i < sent.profile_count; i++) {
			assert_string_equal(received.profile[i].symbol, sent.profile[i].symbol);
			assert_int_equal(received.profile[i].caller_count, sent.profile[i].caller_count);
			for (size_t j = 0; j < sent.profile[i].caller_count; j++)
				assert_string_equal(received.profile[i].callers[j].symbol,
						    sent.profile[i].callers[j].symbol);
		}
		/* What was received is sent in as many bytes, and one byte less is noticed. */
		wire_report(&again, &received);
		assert_int_equal(again.bytes, out.bytes);
		in = (struct wire){.reading = true, .data = out.data, .bytes = out.bytes - 1};
		wire_report(&in, &cut);
		assert_true(in.failed);
		wire_report_free(&cut);
		wire_report_free(&sent);
		wire_report_free(&received);
		free(out.data);
		free(again.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(puts_every_result_in_its_place),
	    cmocka_unit_test(carries_large_results),
	    cmocka_unit_test(tells_of_progress),
	    cmocka_unit_test(stops_when_it_is_enough),
	    cmocka_unit_test(tells_of_a_crash),
	    cmocka_unit_test(tells_of_the_first_failure),
	    cmocka_unit_test(notices_a_result_that_is_cut),
	    cmocka_unit_test(ends_on_a_signal),
	    cmocka_unit_test(carries_reports_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
