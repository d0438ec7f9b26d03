/* SPDX-License-Identifier: MIT */
#include "model/space_internal.h"

static struct model_anon *anon_new(struct model_world *world)
{
	struct model_anon *anon = model_allocate(sizeof(*anon));

	anon->next = world->anons;
	world->anons = anon;
	return anon;
}

static void link_to(struct model_range *range, struct model_anon *anon)
{
	model_invariant(range->lines < MODEL_LINE_MAX);
	range->line[range->lines++] = anon;
	anon->linked++;
}

void model_anon_copy(struct model_range *to, const struct model_range *from)
{
	model_invariant(!to->owner && !to->lines);
	for (unsigned i = 0; i < from->lines; i++)
		link_to(to, from->line[i]);
	to->owner = from->owner;
	if (to->owner)
		to->owner->owned++;
}

void model_anon_fork(struct model_world *world, struct model_range *child, const struct model_range *parent)
{
	child->owner = NULL;
	child->lines = 0;
	if (!parent->owner)
		return;
	for (unsigned i = 0; i < parent->lines; i++) {
		struct model_anon *anon = parent->line[i];

		link_to(child, anon);
		/* Its space has died and left one child: it can serve again. A root has itself as one more.
		 */
		if (!child->owner && anon->children < 2 && !anon->owned)
			child->owner = anon;
	}
	if (!child->owner) {
		child->owner = anon_new(world);
		child->owner->parent = parent->owner;
		parent->owner->children++;
		link_to(child, child->owner);
	}
	child->owner->owned++;
}

void model_anon_drop(struct model_range *range)
{
	while (range->lines) {
		struct model_anon *anon = range->line[--range->lines];

		if (--anon->linked == 0)
			anon->parent->children--;
	}
	if (range->owner)
		range->owner->owned--;
	range->owner = NULL;
}

/* Could the two, which touch, be one range but for what protect changes? */
static bool akin(const struct model_range *left, const struct model_range *right)
{
	return left->end == right->start && left->object == right->object &&
	       !((left->flags ^ right->flags) & ~(unsigned)MODEL_PROTECTION) &&
	       right->offset == left->offset + (right->start - left->start) / MODEL_PAGE;
}

void model_anon_prepare(struct model_space *space, struct model_range *range)
{
	const struct model_range *end = space->range + space->count;
	struct model_anon *owner = NULL;

	if (range->owner)
		return;
	if (range + 1 < end && akin(range, range + 1) && range[1].lines == 1)
		owner = range[1].owner;
	if (!owner && range > space->range && akin(range - 1, range) && range[-1].lines == 1)
		owner = range[-1].owner;
	if (!owner) {
		owner = anon_new(space->world);
		owner->parent = owner;
		owner->children = 1;
	}
	link_to(range, owner);
	owner->owned++;
	range->owner = owner;
}
