/* SPDX-License-Identifier: MIT */
/*
 * A covering set of policies, made greedily: each next policy starts from a pair of choices that no policy
 * has yet, and takes in every other field the choice that adds most new pairs. The set is the same in every
 * run. What is kept is, for each choice, the set of choices that it stood with.
 */
#include <string.h>

#include "mm/policy/choices.h"

struct cover {
	policy_choice_set with[POLICY_CHOICES_MAX];
};

static policy_choice_set one(size_t row)
{
	return (policy_choice_set)1 << row;
}

static bool same_field(size_t a, size_t b)
{
	return policy_choices[a].offset == policy_choices[b].offset;
}

/* Whether `row` may stand with all in `chosen`. */
static bool fits(policy_choice_set chosen, size_t row)
{
	for (size_t other = 0; other < policy_choice_count; other++)
		if ((chosen & one(other)) && policy_excluded(row, other))
			return false;
	return true;
}

/* How many pairs `row` would add to a policy of the choices in `chosen`. */
static unsigned gain(const struct cover *cover, policy_choice_set chosen, size_t row)
{
	return (unsigned)__builtin_popcountll(chosen & ~cover->with[row]);
}

/* The first pair that no policy has; false when there is none left. */
static bool first_missing(const struct cover *cover, policy_choice_set *chosen)
{
	for (size_t a = 0; a < policy_choice_count; a++)
		for (size_t b = a + 1; b < policy_choice_count; b++)
			if (!same_field(a, b) && !(cover->with[a] & one(b)) && !policy_excluded(a, b)) {
				*chosen = one(a) | one(b);
				return true;
			}
	return false;
}

/* Gives every field that `chosen` leaves open its best choice; of equals the earliest. */
static policy_choice_set complete(const struct cover *cover, policy_choice_set chosen)
{
	for (size_t first = 0, end; first < policy_choice_count; first = end) {
		bool open = true;
		size_t best = policy_choice_count;

		for (end = first; end < policy_choice_count && same_field(first, end); end++) {
			open &= !(chosen & one(end));
			if (fits(chosen, end) && (best == policy_choice_count ||
						  gain(cover, chosen, end) > gain(cover, chosen, best)))
				best = end;
		}
		/* No choice excludes all of another field, and no field is excluded by two. */
		if (open)
			chosen |= one(best);
	}
	return chosen;
}

bool policy_pairwise(unsigned index, struct policy *policy)
{
	struct cover cover;
	policy_choice_set chosen = 0;

	memset(&cover, 0, sizeof(cover));
	/* With nothing chosen and nothing covered, each field takes its first row: the default policy. */
	for (unsigned i = 0;; i++) {
		chosen = 0;
		if (i > 0 && !first_missing(&cover, &chosen))
			return false;
		chosen = complete(&cover, chosen);
		if (i == index)
			break;
		for (size_t row = 0; row < policy_choice_count; row++)
			if (chosen & one(row))
				cover.with[row] |= chosen;
	}
	for (size_t row = 0; row < policy_choice_count; row++)
		if (chosen & one(row))
			*policy_field(policy, &policy_choices[row]) = policy_choices[row].value;
	return true;
}
