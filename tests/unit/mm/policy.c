/* SPDX-License-Identifier: MIT */
#include "tests/unit/mm/fixture.h"

#include <string.h>

static void bases_are_found_by_name(void **state)
{
	struct policy policy;
	struct message why = {""};

	(void)state;
	assert_int_equal(policy_base(&policy, "default", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_CMPXCHG);
	assert_int_equal(policy_base(&policy, "base_2010", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_SPIN);
	assert_string_equal(why.text, "");
	assert_int_equal(policy_base(&policy, "base_2011", &why), -ENOENT);
	assert_string_equal(why.text, "no policy base is called 'base_2011'; there are: default, base_2010");
	assert_int_equal(policy_base(&policy, "", NULL), -ENOENT);
}

static void fields_are_set_by_name(void **state)
{
	struct policy policy = {POLICY_MEMTYPE_CMPXCHG};
	struct message why = {""};

	(void)state;
	assert_int_equal(policy_set(&policy, "memtype", "spin", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_SPIN);
	assert_int_equal(policy_set(&policy, "memtype", "rwlock", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_RWLOCK);
	assert_int_equal(policy_set(&policy, "memtype", "cmpxchg", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_CMPXCHG);
	assert_int_equal(policy_set(&policy, "memtype", "mutex", &why), -ENOENT);
	assert_string_equal(why.text,
			    "policy field 'memtype' has no choice 'mutex'; there are: cmpxchg, spin, rwlock");
	assert_int_equal(policy_set(&policy, "memtypes", "spin", &why), -ENOENT);
	assert_string_equal(why.text, "no policy field is called 'memtypes'; there are: memtype");
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_CMPXCHG);
}

static void values_are_checked(void **state)
{
	struct policy policy;
	struct message why = {""};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_memtype_policies); i++) {
		policy.memtype = all_memtype_policies[i];
		assert_int_equal(policy_check(&policy, &why), 0);
	}
	policy.memtype = (enum policy_memtype)17;
	assert_int_equal(policy_check(&policy, &why), -EINVAL);
	assert_non_null(strstr(why.text, "17"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bases_are_found_by_name),
	    cmocka_unit_test(fields_are_set_by_name),
	    cmocka_unit_test(values_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
