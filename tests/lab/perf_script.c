/* SPDX-License-Identifier: MIT */
/*
 * What perf script prints, as a profile.
 */
#include "tests/lab/fixture.h"

#include <errno.h>
#include <math.h>

#include "engine/perf.h"
#include "engine/perf_script.h"

static int read_text(const char *text, struct vsmp_report *report)
{
	FILE *in = fmemopen((char *)text, strlen(text), "r");
	int error;

	assert_non_null(in);
	memset(report, 0, sizeof(*report));
	error = perf_script_read(in, report);
	fclose(in);
	return error;
}

static const struct vsmp_profile_row *row(const struct vsmp_report *report, const char *symbol)
{
	for (size_t i = 0; i < report->profile_count; i++)
		if (!strcmp(report->profile[i].symbol, symbol))
			return &report->profile[i];
	fail_msg("no row %s", symbol);
	return NULL;
}

static void sums_samples_up_by_path(void **state)
{
	static const char *const text = "    100000 \n"
					"\tffffffff822563a7 clear_page_erms\n"
					"\tffffffff81602c5f do_fault\n"
					"\t            11a8 main\n"
					"\n"
					"    300000 \n"
					"\tffffffff822563a9 clear_page_erms\n"
					"\tffffffff81602c60 do_fault\n"
					"\t            11a8 main\n"
					"\n"
					"    100000 \n"
					"\t            11ab main\n"
					"\n"
					"    500000 \n"
					"\t            11ab do_fault\n"
					"\t            11a8 do_fault\n"
					"\t               0 [unknown]\n"
					"\n";
	struct vsmp_report report;

	(void)state;
	assert_int_equal(read_text(text, &report), 0);
	assert_int_equal(report.stack_count, 3);
	assert_string_equal(report.stacks[0].path, "[unknown];do_fault;do_fault");
	assert_int_equal(report.stacks[0].self_cycles, 500000);
	assert_string_equal(report.stacks[1].path, "main;do_fault;clear_page_erms");
	assert_int_equal(report.stacks[1].self_cycles, 400000);
	assert_int_equal(report.profile_count, 4);
	assert_string_equal(report.profile[0].symbol, "do_fault");
	assert_true(fabs(row(&report, "clear_page_erms")->self_percent - 40) < 1e-9);
	assert_true(fabs(row(&report, "main")->self_percent - 10) < 1e-9);
	assert_true(fabs(row(&report, "main")->total_percent - 50) < 1e-9);
	/* Recursion counts once. */
	assert_true(fabs(row(&report, "do_fault")->total_percent - 90) < 1e-9);
	perf_report_free(&report);
	assert_int_equal(report.stack_count + report.profile_count, 0);
}

static void takes_many_and_none(void **state)
{
	struct vsmp_report report;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		fprintf(out, "1 \n\t1 f%u\n\t2 operator();x\n\n", i % 300);
	fclose(out);
	assert_int_equal(read_text(text, &report), 0);
	assert_int_equal(report.stack_count, 300);
	assert_int_equal(report.profile_count, 301);
	/* A semicolon in a name would be two functions. */
	assert_true(fabs(row(&report, "operator():x")->total_percent - 100) < 1e-9);
	perf_report_free(&report);
	free(text);
	assert_int_equal(read_text("\n", &report), 0);
	assert_int_equal(report.stack_count, 0);
}

static void refuses_other_text(void **state)
{
	static const char *const wrong[] = {"perf: no such command\n", "100 cycles:\n\t1 main\n\n",
					    "100 \nmain\n\n", "100 \n\t11a8\n\n"};
	struct vsmp_report report;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(read_text(wrong[i], &report), -EINVAL);
		perf_report_free(&report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_samples_up_by_path),
	    cmocka_unit_test(takes_many_and_none),
	    cmocka_unit_test(refuses_other_text),
	};

	return cmocka_run_group_tests_name("lab/perf_script", tests, NULL, NULL);
}
