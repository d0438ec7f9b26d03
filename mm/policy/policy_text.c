/* SPDX-License-Identifier: MIT */
/*
 * Policies as text.
 */
#include "mm/policy/policy.h"

#include <errno.h>
#include <string.h>

#include "mm/policy/choices.h"

static const char blanks[] = " \t\n";

/* One word is a base, or FIELD=CHOICE. A base starts over, so it can only come first. */
static int parse_word(struct policy *policy, char *word, bool first, struct message *why)
{
	char *equals = strchr(word, '=');

	if (equals) {
		*equals = '\0';
		return policy_set(policy, word, equals + 1, why);
	}
	if (!first)
		return message_set(
		    why, -EINVAL, "policy: '%s' is no FIELD=CHOICE; only the first word can be a base", word);
	return policy_base(policy, word, why);
}

int policy_parse(struct policy *policy, const char *text, struct message *why)
{
	struct policy result;
	bool first = true;
	int error = policy_base(&result, "default", why);

	for (text += strspn(text, blanks); *text && !error; text += strspn(text, blanks)) {
		size_t bytes = strcspn(text, blanks);
		char word[POLICY_TEXT_BYTES];

		if (bytes >= sizeof(word))
			return message_set(why, -EINVAL,
					   "policy: a word of %zu bytes is no base and no FIELD=CHOICE",
					   bytes);
		memcpy(word, text, bytes);
		word[bytes] = '\0';
		error = parse_word(&result, word, first, why);
		first = false;
		text += bytes;
	}
	if (!error)
		error = policy_check(&result, why);
	if (!error)
		*policy = result;
	return error;
}

/* Adds as much of `word` as there is room for, with a NUL. */
static void append(char *text, size_t bytes, size_t *used, const char *word)
{
	while (*word && *used + 1 < bytes)
		text[(*used)++] = *word++;
	text[*used] = '\0';
}

void policy_text(const struct policy *policy, char *text, size_t bytes)
{
	size_t used = 0;

	for (size_t i = 0; i < policy_choice_count; i++) {
		const struct policy_choice *row = &policy_choices[i];

		if (policy_value(policy, row) != row->value)
			continue;
		append(text, bytes, &used, used ? " " : "");
		append(text, bytes, &used, row->field);
		append(text, bytes, &used, "=");
		append(text, bytes, &used, row->choice);
	}
}
