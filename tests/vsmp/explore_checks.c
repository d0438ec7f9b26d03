/* SPDX-License-Identifier: MIT */
/*
 * Checks of tests/explore/ that have a file of their own, and what must hold of all checks. explore_reclaim.c
 * and explore_swap.c have the others.
 */
#include <string.h>

#include "mm/policy/policy.h"
#include "tests/explore/fixture.h"
#include "tests/explore/list.h"
#include "tests/vsmp/explore_each.h"

#define THESE_CHECKS(X) SYSTEM_CHECKS(X) PLANTED_CHECKS(X)

EACH_TESTS(THESE_CHECKS, 300)

static void names_are_unique(void **state)
{
	(void)state;
	assert_non_null(checks[0]);
	for (unsigned i = 0; checks[i]; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(checks[i]->name, checks[j]->name);
}

static void the_variants_are_pairwise(void **state)
{
	struct policy policy, wanted;
	unsigned count = 0;

	(void)state;
	while (policy_pairwise(count, &wanted)) {
		assert_non_null(variants_pairwise[count]);
		assert_int_equal(policy_parse(&policy, variants_pairwise[count], NULL), 0);
		assert_memory_equal(&policy, &wanted, sizeof(policy));
		count++;
	}
	assert_null(variants_pairwise[count]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_unique),
	    cmocka_unit_test(the_variants_are_pairwise),
	    cmocka_unit_test(every_condition_is_looked_at),
	    cmocka_unit_test(every_check_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
