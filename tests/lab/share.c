/* SPDX-License-Identifier: MIT */
/*
 * Shares of a profile by call path, and published ones beside ours.
 */
#include "tests/lab/fixture.h"

#include <math.h>

#include "lab/share.h"

static struct vsmp_stack_row stacks[] = {
    {"fault;find_vma;spin_lock;ticket_wait", 40},
    {"fault;find_vma;spin_lock", 10},
    {"fault;up_read;spin_lock;ticket_wait", 30},
    {"fault;clear_page", 15},
    {"spin_lock;fault", 4},
    {"spin_lock_irq", 1},
};
static const struct vsmp_report report = {.stacks = stacks, .stack_count = ARRAY_SIZE(stacks)};

#define NAMES(...) (char *[]){__VA_ARGS__}, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void counts_what_a_function_calls(void **state)
{
	(void)state;
	assert_true(near(share_percent(&report, NAMES("clear_page"), NULL, 0), 15));
	assert_true(near(share_percent(&report, NAMES("spin_lock"), NULL, 0), 84));
	assert_true(near(share_percent(&report, NAMES("ticket_wait"), NULL, 0), 70));
	assert_true(near(share_percent(&report, NAMES("nothing"), NULL, 0), 0));
}

static void takes_callers_from_the_inside_out(void **state)
{
	(void)state;
	assert_true(near(share_percent(&report, NAMES("spin_lock", "fault"), NULL, 0), 80));
	assert_true(near(share_percent(&report, NAMES("fault", "spin_lock"), NULL, 0), 4));
	assert_true(near(share_percent(&report, NAMES("ticket_wait", "fault"), NULL, 0), 70));
	assert_true(near(share_percent(&report, NAMES("spin_lock", "spin_lock"), NULL, 0), 0));
}

static void takes_patterns_for_whole_names(void **state)
{
	(void)state;
	assert_true(near(share_percent(&report, NAMES("spin_lock*"), NULL, 0), 85));
	assert_true(near(share_percent(&report, NAMES("spin_lock", "*_read"), NULL, 0), 30));
	assert_true(near(share_percent(&report, NAMES("lock"), NULL, 0), 0));
}

static void divides_by_the_part_that_is_asked_for(void **state)
{
	(void)state;
	assert_true(
	    near(share_percent(&report, NAMES("spin_lock", "find_vma"), NAMES("spin_lock", "fault")), 62.5));
	assert_true(share_percent(&report, NAMES("spin_lock"), NAMES("nothing")) == -1);
	assert_true(share_percent(&(struct vsmp_report){0}, NAMES("spin_lock"), NULL, 0) == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_what_a_function_calls),
	    cmocka_unit_test(takes_callers_from_the_inside_out),
	    cmocka_unit_test(takes_patterns_for_whole_names),
	    cmocka_unit_test(divides_by_the_part_that_is_asked_for),
	};

	return cmocka_run_group_tests_name("lab/share", tests, NULL, NULL);
}
