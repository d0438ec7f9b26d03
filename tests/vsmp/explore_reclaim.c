/* SPDX-License-Identifier: MIT */
/*
 * The checks of tests/explore/ of pages that are taken from those who use them, and written.
 */
#include "tests/explore/list.h"
#include "tests/vsmp/explore_each.h"

EACH_TESTS(RECLAIM_CHECKS, 300)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_condition_is_looked_at),
	    cmocka_unit_test(every_check_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
