/* SPDX-License-Identifier: MIT */
/*
 * The checks of tests/explore/ that are made of two operations.
 */
#include "tests/explore/pair_list.h"
#include "tests/vsmp/explore_each.h"

#define DECLARE(scene, first, second) extern const struct check pair_##scene##_##first##_##second##_check;
PAIRS(DECLARE)
OBJECT_PAIRS(DECLARE)
#undef DECLARE

#define ROW(scene, first, second) &pair_##scene##_##first##_##second##_check,
static const struct check *const pair_checks[] = {PAIRS(ROW) NULL};
static const struct check *const object_pair_checks[] = {OBJECT_PAIRS(ROW) NULL};
#undef ROW

static void every_pair_holds(void **state)
{
	(void)state;
	each_holds(pair_checks, 12);
	each_holds(object_pair_checks, 12);
}

static void every_condition_is_looked_at(void **state)
{
	(void)state;
	each_condition_is_looked_at(pair_checks);
	each_condition_is_looked_at(object_pair_checks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_condition_is_looked_at),
	    cmocka_unit_test(every_pair_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
