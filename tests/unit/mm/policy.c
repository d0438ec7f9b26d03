/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "mm/policy/choices.h"
#include "mm/policy/policy.h"

static const char *const base_names[] = {"default", "base_2004", "base_2009", "base_2010", "base_2014"};

static void bases_are_found_by_name(void **state)
{
	struct policy policy, zero;
	struct message why = {""};

	(void)state;
	memset(&zero, 0, sizeof(zero));
	assert_int_equal(policy_base(&policy, "default", &why), 0);
	assert_memory_equal(&policy, &zero, sizeof(policy));
	assert_int_equal(policy_base(&policy, "base_2010", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_SPIN);
	assert_int_equal(policy.vma_lookup, POLICY_VMA_LOOKUP_RWSEM_XADD);
	assert_string_equal(why.text, "");
	assert_int_equal(policy_base(&policy, "base_2011", &why), -ENOENT);
	assert_string_equal(why.text, "no policy base is called 'base_2011'; there are: default, base_2004, "
				      "base_2009, base_2010, base_2014");
	assert_int_equal(policy_base(&policy, "", NULL), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(base_names); i++) {
		assert_int_equal(policy_base(&policy, base_names[i], NULL), 0);
		assert_int_equal(policy_check(&policy, NULL), 0);
	}
}

static void fields_are_set_by_name(void **state)
{
	struct policy policy = {.vma_lookup = POLICY_VMA_LOOKUP_PER_VMA};
	struct message why = {""};

	(void)state;
	assert_int_equal(policy_set(&policy, "memtype", "spin", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_SPIN);
	assert_int_equal(policy_set(&policy, "frame_cache", "zone", &why), 0);
	assert_int_equal(policy.frame_cache, POLICY_FRAME_CACHE_ZONE);
	assert_int_equal(policy_set(&policy, "memtype", "cmpxchg", &why), 0);
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_CMPXCHG);
	assert_int_equal(policy_set(&policy, "memtype", "mutex", &why), -ENOENT);
	assert_string_equal(why.text,
			    "policy field 'memtype' has no choice 'mutex'; there are: cmpxchg, spin, rwlock");
	assert_int_equal(policy_set(&policy, "memtypes", "spin", &why), -ENOENT);
	assert_string_equal(why.text,
			    "no policy field is called 'memtypes'; there are: vma_lookup, "
			    "page_table_lock, frame_cache, memtype, shmem_alloc, shmem_account, page_index, "
			    "group_counter, charge_stock, root_group, release_batch, lru_add, "
			    "rmap_lock, dirty_tracking, dirty_transfer");
	assert_int_equal(policy.memtype, POLICY_MEMTYPE_CMPXCHG);
	assert_int_equal(policy.vma_lookup, POLICY_VMA_LOOKUP_PER_VMA);
}

static void values_are_checked(void **state)
{
	struct message why = {""};

	(void)state;
	for (size_t i = 0; i < policy_choice_count; i++) {
		struct policy policy;

		memset(&policy, 0, sizeof(policy));
		if (!strcmp(policy_choices[i].choice, "inside"))
			policy.shmem_account = POLICY_SHMEM_ACCOUNT_INODE_LOCK;
		*policy_field(&policy, &policy_choices[i]) = policy_choices[i].value;
		assert_int_equal(policy_check(&policy, &why), 0);
		*policy_field(&policy, &policy_choices[i]) = 17;
		assert_int_equal(policy_check(&policy, &why), -EINVAL);
		assert_non_null(strstr(why.text, "17"));
		assert_non_null(strstr(why.text, policy_choices[i].field));
	}
}

static void what_means_nothing_is_refused(void **state)
{
	struct policy policy;
	struct message why = {""};

	(void)state;
	assert_int_equal(policy_parse(&policy, "shmem_alloc=inside", &why), -EINVAL);
	assert_string_equal(why.text, "policy shmem_alloc=inside means nothing with shmem_account=per_cpu: "
				      "there is no lock of the object to be inside of");
	assert_int_equal(policy_parse(&policy, "base_2010 shmem_account=ramfs", &why), -EINVAL);
	assert_int_equal(policy_parse(&policy, "base_2010 shmem_account=ramfs shmem_alloc=before", &why), 0);
	assert_int_equal(policy_check(&policy, &why), 0);
	policy.shmem_alloc = POLICY_SHMEM_ALLOC_INSIDE;
	assert_int_equal(policy_check(&policy, &why), -EINVAL);
}

static void texts_are_read(void **state)
{
	struct policy policy, wanted;
	struct message why = {""};

	(void)state;
	assert_int_equal(policy_parse(&policy, "base_2009 vma_lookup=refcount", &why), 0);
	assert_int_equal(policy_base(&wanted, "base_2009", &why), 0);
	wanted.vma_lookup = POLICY_VMA_LOOKUP_REFCOUNT;
	assert_memory_equal(&policy, &wanted, sizeof(policy));

	assert_int_equal(policy_parse(&policy, " \tpage_table_lock=mm  memtype=rwlock\n", &why), 0);
	memset(&wanted, 0, sizeof(wanted));
	wanted.page_table_lock = POLICY_PAGE_TABLE_LOCK_MM;
	wanted.memtype = POLICY_MEMTYPE_RWLOCK;
	assert_memory_equal(&policy, &wanted, sizeof(policy));

	assert_int_equal(policy_parse(&policy, "", &why), 0);
	memset(&wanted, 0, sizeof(wanted));
	assert_memory_equal(&policy, &wanted, sizeof(policy));
	assert_string_equal(why.text, "");
}

static void wrong_texts_are_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *why;
	} cases[] = {
	    {"base_2011", -ENOENT, "base_2011"},
	    {"base_2009 default", -EINVAL, "default"},
	    {"memtype=spin base_2009", -EINVAL, "base_2009"},
	    {"memtype=", -ENOENT, "cmpxchg"},
	    {"=spin", -ENOENT, "there are"},
	    {"default memtype=spin=spin", -ENOENT, "spin=spin"},
	    {"default, memtype=spin", -ENOENT, "default,"},
	};
	struct policy policy, before = {.memtype = POLICY_MEMTYPE_RWLOCK};
	char longest[POLICY_TEXT_BYTES + 100];
	struct message why;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		policy = before;
		assert_int_equal(policy_parse(&policy, cases[i].text, &why), cases[i].error);
		assert_non_null(strstr(why.text, cases[i].why));
		assert_memory_equal(&policy, &before, sizeof(policy));
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(policy_parse(&policy, longest, &why), -EINVAL);
	assert_memory_equal(&policy, &before, sizeof(policy));
}

static void a_policys_text_makes_it_again(void **state)
{
	struct policy policy, again;
	char text[POLICY_TEXT_BYTES], cut[10];

	(void)state;
	for (unsigned i = 0; policy_pairwise(i, &policy); i++) {
		policy_text(&policy, text, sizeof(text));
		assert_int_equal(policy_parse(&again, text, NULL), 0);
		assert_memory_equal(&again, &policy, sizeof(policy));
	}
	policy_text(&policy, cut, sizeof(cut));
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	assert_memory_equal(cut, text, 9);
}

/* Every pair of choices of two fields stands in one policy of the covering set, which is small. */
static void pairs_are_covered(void **state)
{
	struct policy policy, zero;
	bool covered[POLICY_CHOICES_MAX][POLICY_CHOICES_MAX] = {{false}};
	unsigned count = 0, all = 1;

	(void)state;
	memset(&zero, 0, sizeof(zero));
	assert_true(policy_pairwise(0, &policy));
	assert_memory_equal(&policy, &zero, sizeof(policy));
	for (; policy_pairwise(count, &policy); count++) {
		assert_int_equal(policy_check(&policy, NULL), 0);
		for (size_t a = 0; a < policy_choice_count; a++)
			for (size_t b = 0; b < policy_choice_count; b++)
				covered[a][b] |=
				    policy_value(&policy, &policy_choices[a]) == policy_choices[a].value &&
				    policy_value(&policy, &policy_choices[b]) == policy_choices[b].value;
	}
	assert_false(policy_pairwise(count + 5, &policy));
	for (size_t a = 0; a < policy_choice_count; a++)
		for (size_t b = 0; b < policy_choice_count; b++)
			assert_true(covered[a][b] || policy_choices[a].offset == policy_choices[b].offset ||
				    policy_excluded(a, b));

	/* Far fewer than all combinations. */
	for (size_t a = 0; a < policy_choice_count;) {
		size_t first = a;

		while (a < policy_choice_count && policy_choices[a].offset == policy_choices[first].offset)
			a++;
		all *= (unsigned)(a - first);
	}
	print_message("%u policies cover the pairs of %u combinations\n", count, all);
	assert_true(count >= 15 && count * 4 <= all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bases_are_found_by_name),
	    cmocka_unit_test(fields_are_set_by_name),
	    cmocka_unit_test(values_are_checked),
	    cmocka_unit_test(what_means_nothing_is_refused),
	    cmocka_unit_test(texts_are_read),
	    cmocka_unit_test(wrong_texts_are_refused),
	    cmocka_unit_test(a_policys_text_makes_it_again),
	    cmocka_unit_test(pairs_are_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
