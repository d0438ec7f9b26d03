/* SPDX-License-Identifier: MIT */
/*
 * The table of choices and the table of bases. A new variant of a mechanism is one row of choice_table and
 * one file with its code; a new era is one row of base_table.
 */
#include "mm/policy/policy.h"

#include <errno.h>
#include <stdbool.h>
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

/* Names for a message, separated by commas; what does not fit is left out. */
struct name_list {
	char text[256];
	const char *last;
};

static void list_text(struct name_list *list, const char *text)
{
	size_t used = strlen(list->text), more = strlen(text);

	if (more < sizeof(list->text) - used)
		memcpy(list->text + used, text, more + 1);
}

/* Adds `name`, unless it is the one that was added last. */
static void list_name(struct name_list *list, const char *name)
{
	if (list->last && !strcmp(list->last, name))
		return;
	if (list->last)
		list_text(list, ", ");
	list_text(list, name);
	list->last = name;
}

int policy_base(struct policy *policy, const char *name, struct message *why)
{
	struct name_list names = {.last = NULL};

	for (size_t i = 0; i < ARRAY_SIZE(base_table); i++) {
		if (!strcmp(base_table[i].name, name)) {
			*policy = base_table[i].policy;
			return 0;
		}
		list_name(&names, base_table[i].name);
	}
	return message_set(why, -ENOENT, "no policy base is called '%s'; there are: %s", name, names.text);
}

int policy_set(struct policy *policy, const char *field, const char *choice, struct message *why)
{
	struct name_list fields = {.last = NULL}, choices = {.last = NULL};

	for (size_t i = 0; i < ARRAY_SIZE(choice_table); i++) {
		list_name(&fields, choice_table[i].field);
		if (strcmp(choice_table[i].field, field))
			continue;
		if (!strcmp(choice_table[i].choice, choice)) {
			*(int *)((char *)policy + choice_table[i].offset) = choice_table[i].value;
			return 0;
		}
		list_name(&choices, choice_table[i].choice);
	}
	if (!choices.last)
		return message_set(why, -ENOENT, "no policy field is called '%s'; there are: %s", field,
				   fields.text);
	return message_set(why, -ENOENT, "policy field '%s' has no choice '%s'; there are: %s", field, choice,
			   choices.text);
}

int policy_check(const struct policy *policy, struct message *why)
{
	/* With one field no combination excludes another: each value must be one of the table. */
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
