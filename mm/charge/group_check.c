/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the groups while nothing runs.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/charge/group.h"
#include "mm/charge/stock.h"

struct groups_check {
	struct groups *groups;
	struct message *why;
	uint64_t lru_pages; /* with PG_lru */
};

static int count_page(void *argument, struct page *page)
{
	struct groups_check *check = argument;
	bool lru = page_has_flag(page, PG_lru);

	if (page->group)
		group_of(page->group)->checked_own++;
	check->lru_pages += lru;
	if (lru && (!page->group || !page_refcount(page)))
		return message_set(check->why, -EINVAL,
				   "frame %" PRIu64 ": on an LRU list, and charged to nobody or free",
				   page_to_pfn(check->groups->frames, page));
	return 0;
}

static void count_stock(struct sf_group *group, unsigned pages)
{
	group->checked_own += pages;
}

static int check_group(struct sf_group *group, struct message *why)
{
	uint64_t usage = atomic_load(&group->memory.usage), limit = atomic_load(&group->memory.limit);
	bool offline = atomic_load(&group->offline);

	if (usage != (group->exempt ? 0 : group->checked_below))
		return message_set(why, -EINVAL,
				   "a group counts %" PRIu64 " pages, and %" PRIu64
				   " are charged to it and to those below",
				   usage, group->checked_below);
	if (usage > limit || usage > atomic_load(&group->memory.watermark))
		return message_set(why, -EINVAL,
				   "a group counts %" PRIu64 " pages, above its limit of %" PRIu64
				   " or its peak of %" PRIu64,
				   usage, limit, atomic_load(&group->memory.watermark));
	if (offline && (!usage || group->spaces || group->children))
		return message_set(why, -EINVAL,
				   "a group that was destroyed has %u spaces and %u children, or nothing is "
				   "charged to it and it still exists",
				   group->spaces, group->children);
	return 0;
}

/* What a group that is gone had on its lists is on its parent's. */
static int check_lists(struct groups *groups, struct sf_group *group, uint64_t *listed, struct message *why)
{
	uint64_t pages = 0;
	int error = lru_group_check(groups->frames->lru, &group->pages, &pages, why);

	if (!error && pages && atomic_load(&group->offline))
		return message_set(
		    why, -EINVAL, "a group that was destroyed has %" PRIu64 " pages on its LRU lists", pages);
	*listed += pages;
	return error;
}

int groups_check(struct groups *groups, struct message *why)
{
	struct groups_check check = {.groups = groups, .why = why};
	uint64_t listed = lru_waiting(groups->frames->lru);
	int error;

	for (struct sf_group *group = groups->all; group; group = group->next)
		group->checked_own = group->checked_below = 0;
	error = frames_for_each(groups->frames, count_page, &check);
	if (error)
		return error;
	stocks_for_each(groups, count_stock);
	for (struct sf_group *group = groups->all; group; group = group->next)
		for (struct sf_group *above = group; above; above = above->parent)
			above->checked_below += group->checked_own;
	for (struct sf_group *group = groups->all; group && !error; group = group->next) {
		error = check_group(group, why);
		if (!error)
			error = check_lists(groups, group, &listed, why);
	}
	if (!error && listed != check.lru_pages)
		return message_set(why, -EINVAL,
				   "%" PRIu64 " pages say that they are on LRU lists, and %" PRIu64 " are",
				   check.lru_pages, listed);
	return error;
}
