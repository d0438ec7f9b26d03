/* SPDX-License-Identifier: MIT */
/*
 * The table of choices and the table of bases. A new variant of a mechanism is one row of choice_table and
 * one file with its code; a new era is one row of base_table.
 */
#include "mm/policy/policy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Every choice of every field. A field's values are small enumerations, reached as ints at `offset`. */
static const struct {
	const char *field;
	size_t offset;
	const char *choice;
	int value;
} choice_table[] = {
    {"memtype", offsetof(struct policy, memtype), "cmpxchg", POLICY_MEMTYPE_CMPXCHG},
    {"memtype", offsetof(struct policy, memtype), "spin", POLICY_MEMTYPE_SPIN},
    {"memtype", offsetof(struct policy, memtype), "rwlock", POLICY_MEMTYPE_RWLOCK},
};

_Static_assert(sizeof(enum policy_memtype) == sizeof(int), "fields are set as ints");

/* The kernel of an era. "default" is the best choice known of every mechanism, whatever its era. */
static const struct {
	const char *name;
	struct policy policy;
} base_table[] = {
    {"default", {.memtype = POLICY_MEMTYPE_CMPXCHG}},
    /* Linux 2.6.34: lookup_memtype() takes memtype_lock. */
    {"base_2010", {.memtype = POLICY_MEMTYPE_SPIN}},
};

/* Adds `name` to the list in `text` (of `bytes`), unless it is the one that was added last. */
static void list_name(char *text, size_t bytes, const char **last, const char *name)
{
	size_t used = strlen(text);

	if (*last && !strcmp(*last, name))
		return;
	snprintf(text + used, bytes - used, "%s%s", *last ? ", " : "", name);
	*last = name;
}

int policy_base(struct policy *policy, const char *name, struct message *why)
{
	char names[256] = "";
	const char *last = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(base_table); i++) {
		if (!strcmp(base_table[i].name, name)) {
			*policy = base_table[i].policy;
			return 0;
		}
		list_name(names, sizeof(names), &last, base_table[i].name);
	}
	return message_set(why, -ENOENT, "no policy base is called '%s'; there are: %s", name, names);
}

int policy_set(struct policy *policy, const char *field, const char *choice, struct message *why)
{
	char fields[256] = "", choices[256] = "";
	const char *last_field = NULL, *last_choice = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(choice_table); i++) {
		list_name(fields, sizeof(fields), &last_field, choice_table[i].field);
		if (strcmp(choice_table[i].field, field))
			continue;
		if (!strcmp(choice_table[i].choice, choice)) {
			*(int *)((char *)policy + choice_table[i].offset) = choice_table[i].value;
			return 0;
		}
		list_name(choices, sizeof(choices), &last_choice, choice_table[i].choice);
	}
	if (!last_choice)
		return message_set(why, -ENOENT, "no policy field is called '%s'; there are: %s", field,
				   fields);
	return message_set(why, -ENOENT, "policy field '%s' has no choice '%s'; there are: %s", field, choice,
			   choices);
}

int policy_check(const struct policy *policy, struct message *why)
{
	/* Every value must be one of the table; combinations that exclude each other would be refused here.
	 */
	for (size_t i = 0; i < ARRAY_SIZE(choice_table); i++) {
		const char *field = choice_table[i].field;
		int value = *(const int *)((const char *)policy + choice_table[i].offset);
		bool known = false;

		for (size_t j = 0; j < ARRAY_SIZE(choice_table); j++)
			known |= !strcmp(choice_table[j].field, field) && choice_table[j].value == value;
		if (!known)
			return message_set(why, -EINVAL, "policy field '%s' has no choice of value %d", field,
					   value);
	}
	return 0;
}
