/* SPDX-License-Identifier: MIT */
/*
 * Groups come and go.
 */
#include "mm/charge/group.h"

#include <errno.h>

#include "mm/charge/charge.h"
#include "mm/charge/group_walk.h"
#include "mm/charge/release.h"
#include "mm/charge/stock.h"
#include "port/memory.h"
#include "port/panic.h"

static void link_group(struct groups *groups, struct sf_group *group)
{
	spin_lock(&groups->tree_lock);
	group->number = ++groups->created;
	group->next = groups->all;
	group->link = &groups->all;
	if (group->next)
		group->next->link = &group->next;
	groups->all = group;
	if (group->parent)
		group->parent->children++;
	spin_unlock(&groups->tree_lock);
}

static struct sf_group *make_group(struct groups *groups, struct sf_group *parent)
{
	struct sf_group *group = port_memory_alloc(sizeof(*group), PORT_NODE_FIRST_TOUCH, "struct sf_group");
	struct counter *above = parent && !parent->exempt ? &parent->memory : NULL;

	if (!group)
		return NULL;
	if (lru_group_init(groups->frames->lru, &group->pages, parent ? &parent->pages : NULL)) {
		port_memory_free(group, sizeof(*group));
		return NULL;
	}
	group->groups = groups;
	group->parent = parent;
	counter_init(&group->memory, above);
	link_group(groups, group);
	return group;
}

/* Nothing points to it any more, but the list of all, and who is walking over that. */
static void free_group(struct sf_group *group)
{
	struct groups *groups = group->groups;
	bool kept;

	spin_lock(&groups->tree_lock);
	kept = group->walkers != 0;
	group->ended = true;
	if (!kept) {
		*group->link = group->next;
		if (group->next)
			group->next->link = group->link;
	}
	spin_unlock(&groups->tree_lock);
	if (kept)
		return;
	lru_group_free(groups->frames->lru, &group->pages);
	port_memory_free(group, sizeof(*group));
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	free_group(container_of(head, struct sf_group, rcu));
}

/* The walker may be in a fault, which frees no memory itself. */
void group_walk_end(struct sf_group *group)
{
	bool last;

	spin_lock(&group->groups->tree_lock);
	last = --group->walkers == 0 && group->ended;
	spin_unlock(&group->groups->tree_lock);
	if (last)
		port_rcu_call(&group->rcu, free_after_grace_period);
}

void group_walk_get(struct sf_group *group)
{
	spin_lock(&group->groups->tree_lock);
	group->walkers++;
	spin_unlock(&group->groups->tree_lock);
}

struct sf_group *group_walk_next(struct sf_group *top, uint64_t *number)
{
	struct sf_group *group;

	spin_lock(&top->groups->tree_lock);
	for (group = top->groups->all; group; group = group->next)
		if (group->number < *number && !group->ended && group_is_below(group, top))
			break;
	if (group) {
		*number = group->number;
		group->walkers++;
	}
	spin_unlock(&top->groups->tree_lock);
	return group;
}

struct groups *groups_create(struct frames *frames, const struct policy *policy)
{
	struct groups *groups = port_memory_alloc(sizeof(*groups), PORT_NODE_FIRST_TOUCH, "struct groups");

	if (!groups)
		return NULL;
	groups->frames = frames;
	groups->counter =
	    policy->group_counter == POLICY_GROUP_COUNTER_PAGE_COUNTER ? &page_counter_ops : &res_counter_ops;
	groups->release = &release_batches[policy->release_batch];
	groups->stock_ops = stock_choices[policy->charge_stock];
	spin_lock_init(&groups->tree_lock, LOCK_RANK_GROUP_TREE);
	if (!stocks_create(groups))
		groups->root = make_group(groups, NULL);
	if (!groups->root) {
		stocks_free(groups);
		port_memory_free(groups, sizeof(*groups));
		return NULL;
	}
	groups->root->exempt = policy->root_group == POLICY_ROOT_GROUP_EXEMPT;
	frames->groups = groups;
	frames->uncharge = mem_cgroup_uncharge;
	return groups;
}

void groups_destroy(struct groups *groups)
{
	if (!groups)
		return;
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++)
		drain_stock(groups, cpu);
	invariant(groups->all == groups->root && !groups->root->next);
	invariant(!groups->counter->read(&groups->root->memory));
	free_group(groups->root);
	stocks_free(groups);
	port_memory_free(groups, sizeof(*groups));
}

bool groups_any_live(struct groups *groups)
{
	bool any;

	spin_lock(&groups->tree_lock);
	any = groups->root->children != 0;
	spin_unlock(&groups->tree_lock);
	return any;
}

struct sf_group *group_create(struct sf_group *parent)
{
	return make_group(parent->groups, parent);
}

static bool is_unused(struct sf_group *group)
{
	bool unused;

	spin_lock(&group->groups->tree_lock);
	unused = !group->children && !group->spaces;
	spin_unlock(&group->groups->tree_lock);
	return unused;
}

/* The parent counts the group until then, so it stays while its lists and its counter are needed. */
static void leave_tree(struct sf_group *group)
{
	spin_lock(&group->groups->tree_lock);
	group->parent->children--;
	spin_unlock(&group->groups->tree_lock);
}

int group_destroy(struct sf_group *group)
{
	invariant(group->parent);
	if (!is_unused(group))
		return -EBUSY;
	drain_all_stock(group);
	lru_group_reparent(group->groups->frames->lru, &group->pages);
	/* Whoever takes back the last charge sees that it is offline, or we see that there is none. */
	port_rcu_read_lock();
	atomic_store_explicit(&group->offline, true, memory_order_seq_cst);
	group_release_unused(group);
	leave_tree(group);
	port_rcu_read_unlock();
	return 0;
}

void group_release_unused(struct sf_group *group)
{
	for (; group && atomic_load_explicit(&group->offline, memory_order_seq_cst); group = group->parent)
		if (!group->groups->counter->read(&group->memory) &&
		    !atomic_exchange_explicit(&group->released, true, memory_order_relaxed))
			port_rcu_call(&group->rcu, free_after_grace_period);
}

/* The root cannot be destroyed, and all CPUs' forks would meet at its count. */
void group_add_space(struct sf_group *group)
{
	if (!group->parent)
		return;
	spin_lock(&group->groups->tree_lock);
	group->spaces++;
	spin_unlock(&group->groups->tree_lock);
}

void group_remove_space(struct sf_group *group)
{
	if (!group->parent)
		return;
	spin_lock(&group->groups->tree_lock);
	group->spaces--;
	spin_unlock(&group->groups->tree_lock);
}

int group_set_limit(struct sf_group *group, uint64_t pages)
{
	struct groups *groups = group->groups;
	int error;

	if (!group->parent)
		return -EINVAL;
	drain_all_stock(group);
	spin_lock(&groups->tree_lock);
	error = groups->counter->set_limit(&group->memory, pages);
	spin_unlock(&groups->tree_lock);
	return error;
}
