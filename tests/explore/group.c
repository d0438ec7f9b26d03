/* SPDX-License-Identifier: MIT */
/*
 * Memory groups of two levels: `leaf` below `top`. What is charged to one is charged to both, or to neither,
 * whoever charges, takes back, limits, empties stocks, moves spaces or destroys the group meanwhile. After
 * each schedule what every level counts is held against the pages, the stocks and the lists.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/page/lru.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

/* Pages of the mapping, at most; a pagevec's and two. */
#define PAGES (PAGEVEC_SIZE + 2)

static struct {
	struct sf_group *top, *leaf; /* NULL when it has been destroyed */
	struct sf_object *object;    /* NULL: none */
	uint64_t limit;              /* of `top`, in bytes: what a check has set */
	uint64_t above;              /* what is charged to `top` alone, in bytes */
} group;

static uint64_t usage(struct sf_group *of)
{
	struct sf_group_statistics statistics;

	sf_group_statistics(of, &statistics);
	return statistics.usage;
}

/*
 * Two spaces in `leaf`, one of them with a mapping of which CPU 0 has written `pages`: these are all that is
 * charged to `leaf`. The spaces' tables were made in `top`, with one page more at the mapping's end.
 */
static int setup_pages(struct message *why, unsigned pages)
{
	int error = fixture_open(false, why);

	if (error)
		return error;
	group.object = NULL;
	group.limit = SF_GROUP_UNLIMITED;
	check_that(!sf_group_create(sf_group_root(fixture.system), &group.top));
	check_that(!sf_group_create(group.top, &group.leaf));
	check_that(!sf_space_create_in(group.top, &fixture.child));
	sf_space_set_group(fixture.space, group.top);
	fixture_map(AT, PAGES + 1, RW, SF_MAP_PRIVATE);
	check_that(!sf_touch(fixture.space, AT + PAGES * PAGE, SF_WRITE, NULL));
	/* Empties the stocks. */
	check_that(!sf_group_set_limit(group.top, SF_GROUP_UNLIMITED));
	group.above = usage(group.top);
	sf_space_set_group(fixture.space, group.leaf);
	sf_space_set_group(fixture.child, group.leaf);
	for (unsigned page = 0; page < pages; page++)
		check_that(!sf_touch(fixture.space, AT + page * PAGE, SF_WRITE, NULL));
	return 0;
}

static int setup(struct message *why)
{
	return setup_pages(why, 2);
}

static int setup_empty(struct message *why)
{
	return setup_pages(why, 0);
}

/* The next page that CPU 0 adds fills its pagevec. */
static int setup_pagevec(struct message *why)
{
	return setup_pages(why, PAGEVEC_SIZE - 1);
}

/* Sets the limit so that `pages` more fit. */
static void narrow(unsigned pages)
{
	/* Empties the stocks. */
	check_that(!sf_group_set_limit(group.top, SF_GROUP_UNLIMITED));
	group.limit = usage(group.top) + pages * PAGE;
	check_that(!sf_group_set_limit(group.top, group.limit));
}

/* One more page fits. */
static int setup_narrow(struct message *why)
{
	int error = setup(why);

	if (!error)
		narrow(1);
	return error;
}

static void write_page(void)
{
	fixture.result[0] = sf_touch(fixture.space, AT + (PAGES - 2) * PAGE, SF_WRITE, NULL);
}

static void write_other(void)
{
	fixture.result[1] = sf_touch(fixture.space, AT + (PAGES - 1) * PAGE, SF_WRITE, NULL);
}

static void give_back(void)
{
	check_that(!sf_advise(fixture.space, AT, 2 * PAGE, SF_ADVICE_DONTNEED));
}

static void unmap_for_good(void)
{
	check_that(!sf_unmap(fixture.space, AT, (PAGES + 1) * PAGE));
	port_rcu_barrier();
}

/* What stocks and depots hold goes back; then each level has what its pages are, and `leaf` all of `top`. */
static bool holds(struct message *why)
{
	if (!fixture_good(why))
		return false;
	if (group.limit == SF_GROUP_UNLIMITED)
		check_that(!sf_group_set_limit(group.top, group.limit));
	if (usage(group.top) > group.limit)
		return fixture_equal("usage above the limit", usage(group.top), group.limit, why);
	return fixture_equal("usage of the leaf", usage(group.leaf), usage(group.top) - group.above, why) &&
	       fixture_good(why);
}

/* There need not have been room for a touch. */
static bool holds_narrow(struct message *why)
{
	for (unsigned touch = 0; touch < 2; touch++)
		if (fixture.result[touch] && fixture.result[touch] != -ENOMEM)
			return fixture_equal("what a touch returned",
					     (uint64_t)(int64_t)fixture.result[touch], (uint64_t)-ENOMEM,
					     why);
	return holds(why);
}

static void teardown(void)
{
	struct sf_group *root = sf_group_root(fixture.system);

	sf_space_set_group(fixture.space, root);
	sf_space_set_group(fixture.child, root);
	if (group.object)
		sf_object_close(group.object);
	if (group.leaf)
		check_that(!sf_group_destroy(group.leaf));
	check_that(!sf_group_destroy(group.top));
	fixture_close();
}

const struct check group_charge_uncharge_check = {
    .name = "group-charge-uncharge",
    .summary = "a fault charges two levels while another CPU takes pages back",
    .setup = setup,
    .body = {write_page, give_back},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check group_charge_charge_check = {
    .name = "group-charge-charge",
    .summary = "two faults where one page more fits below the limit",
    .setup = setup_narrow,
    .body = {write_page, write_other},
    .holds = holds_narrow,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check group_release_fault_check = {
    .name = "group-release-fault",
    .summary = "a fault where one page more fits, and an unmap that makes room",
    .setup = setup_narrow,
    .body = {write_page, give_back, write_other},
    .holds = holds_narrow,
    .teardown = teardown,
    .variants = variants_group,
};

/* Lowers the limit to what there is; pages that come later find it. */
static void set_limit(void)
{
	uint64_t bytes = usage(group.top);

	fixture.result[1] = sf_group_set_limit(group.top, bytes);
	if (!fixture.result[1])
		group.limit = bytes;
	else
		check_that(fixture.result[1] == -EBUSY);
}

static bool holds_limit(struct message *why)
{
	/* Also a limit that is then found to be too low can be the reason. */
	if (fixture.result[0] && fixture.result[0] != -ENOMEM)
		return fixture_equal("what a touch returned", (uint64_t)(int64_t)fixture.result[0], 0, why);
	return holds(why);
}

const struct check group_charge_limit_check = {
    .name = "group-charge-limit",
    .summary = "a fault while the limit of the upper level is lowered to the usage",
    .setup = setup,
    .body = {write_page, set_limit},
    .holds = holds_limit,
    .teardown = teardown,
    .variants = variants_group,
};

static void set_limit_again(void)
{
	(void)sf_group_set_limit(group.leaf, 64 * PAGE);
	check_that(!sf_group_set_limit(group.leaf, SF_GROUP_UNLIMITED));
}

const struct check group_uncharge_limit_check = {
    .name = "group-uncharge-limit",
    .summary = "pages are taken back while limits of both levels are set",
    .setup = setup,
    .body = {give_back, set_limit, set_limit_again},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};

/* What a CPU has charged ahead is given back while others use it. */
static void drain(void)
{
	check_that(!sf_group_set_limit(group.leaf, SF_GROUP_UNLIMITED));
}

static void idle(void)
{
	system_cpu_idle(fixture.system);
}

const struct check group_charge_drain_check = {
    .name = "group-charge-drain",
    .summary = "a charge from a stock that another CPU empties",
    .setup = setup,
    .body = {write_page, drain, idle},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};

static void move(void)
{
	sf_space_set_group(fixture.space, group.top);
}

/* The leaf goes once nothing is in it. */
static void move_and_destroy(void)
{
	sf_space_set_group(fixture.space, sf_group_root(fixture.system));
	sf_space_set_group(fixture.child, sf_group_root(fixture.system));
	check_that(!sf_group_destroy(group.leaf));
	group.leaf = NULL;
}

/* If the leaf is gone it is freed at once, whatever the other is about to do; as in unmap_for_good(). */
static void move_and_destroy_for_good(void)
{
	move_and_destroy();
	port_rcu_barrier();
}

/* What is left of a destroyed leaf is counted by the upper level. */
static bool holds_moved(struct message *why)
{
	if (!fixture_good(why))
		return false;
	check_that(!sf_group_set_limit(group.top, SF_GROUP_UNLIMITED));
	return fixture_good(why);
}

const struct check group_charge_move_check = {
    .name = "group-charge-move",
    .summary = "a fault while its space moves to the upper group",
    .setup = setup,
    .body = {write_page, move},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check group_charge_destroy_check = {
    .name = "group-charge-destroy",
    .summary = "a fault while its space leaves the group and that is destroyed",
    .setup = setup_empty,
    .body = {write_page, move_and_destroy},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check group_uncharge_destroy_check = {
    .name = "group-uncharge-destroy",
    .summary = "the last pages of a group go while it is destroyed",
    .setup = setup,
    .body = {unmap_for_good, move_and_destroy_for_good},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check group_drain_destroy_check = {
    .name = "group-drain-destroy",
    .summary = "stocks of a group that is being destroyed are emptied, and a page goes",
    .setup = setup,
    .body = {idle, move_and_destroy, give_back},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_group,
};

/* Nothing is charged to the leaf, and nothing can be: so it is gone for good as soon as it is destroyed. */
static int setup_leaf_full(struct message *why)
{
	int error = setup_empty(why);

	if (!error)
		check_that(!sf_group_set_limit(group.leaf, 0));
	return error;
}

static bool holds_gone(struct message *why)
{
	if (fixture.result[0] && fixture.result[0] != -ENOMEM)
		return fixture_equal("what a touch returned", (uint64_t)(int64_t)fixture.result[0],
				     (uint64_t)-ENOMEM, why);
	return holds_moved(why);
}

const struct check group_full_destroy_check = {
    .name = "group-full-destroy",
    .summary = "a fault is refused by a full group while its space leaves that, and it is destroyed",
    .setup = setup_leaf_full,
    .body = {write_page, move_and_destroy_for_good},
    .holds = holds_gone,
    .teardown = teardown,
    .variants = variants_group,
};

static void make_and_destroy(void)
{
	struct sf_group *made;

	check_that(!sf_group_create(group.top, &made));
	check_that(!sf_group_destroy(made));
}

const struct check group_life_check = {
    .name = "group-life",
    .summary = "groups below one group are made and destroyed, with a limit set above",
    .setup = setup,
    .body = {make_and_destroy, move_and_destroy, set_limit},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_group,
};

/* Two groups more, of which nobody has anything: they are gone for good as soon as they are destroyed. */
static struct sf_group *outer, *inner;

static int setup_nested(struct message *why)
{
	int error = setup(why);

	if (!error) {
		check_that(!sf_group_create(sf_group_root(fixture.system), &outer));
		check_that(!sf_group_create(outer, &inner));
	}
	return error;
}

static void destroy_inner(void)
{
	check_that(!sf_group_destroy(inner));
}

static void destroy_outer(void)
{
	if (!sf_group_destroy(outer))
		outer = NULL;
	port_rcu_barrier();
}

static void end_nested(void)
{
	if (outer)
		check_that(!sf_group_destroy(outer));
	teardown();
}

const struct check group_destroy_both_check = {
    .name = "group-destroy-both",
    .summary = "a group and the one above it are destroyed",
    .setup = setup_nested,
    .body = {destroy_inner, destroy_outer},
    .holds = holds,
    .teardown = end_nested,
    .variants = variants_group,
};

static void move_child(void)
{
	sf_space_set_group(fixture.child, group.top);
}

const struct check group_move_move_check = {
    .name = "group-move-move",
    .summary = "two spaces leave a group, and their limits are looked at",
    .setup = setup,
    .body = {move, move_child, set_limit},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_group,
};

static void fork(void)
{
	check_that(!sf_space_fork(fixture.space, &fixture.made[0]));
}

static void end_made(void)
{
	if (fixture.made[0])
		sf_space_destroy(fixture.made[0]);
	teardown();
}

const struct check group_move_fork_check = {
    .name = "group-move-fork",
    .summary = "a fork while the space moves to the upper group",
    .setup = setup,
    .body = {fork, move},
    .holds = holds_moved,
    .teardown = end_made,
    .variants = variants_group,
};

const struct check lru_add_del_check = {
    .name = "lru-add-del",
    .summary = "pages that wait for the lists are released while the pagevec is emptied",
    .setup = setup_pagevec,
    .body = {write_page, give_back},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check lru_drain_reparent_check = {
    .name = "lru-drain-reparent",
    .summary = "a pagevec is emptied while the group of its pages is destroyed",
    .setup = setup_pagevec,
    .body = {idle, move_and_destroy},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_group,
};

/* --- Pages of objects ---------------------------------------------------------------------------------- */

/* An object of two pages that both spaces map; nothing of it is there. */
static int setup_object(struct message *why)
{
	uint64_t mapped;
	int error = setup(why);

	if (error)
		return error;
	check_that(!sf_object_create(fixture.system, 2 * PAGE, 0, &group.object));
	check_that(!sf_map_object(fixture.space, AWAY, 2 * PAGE, RW, SF_MAP_SHARED | SF_MAP_FIXED,
				  group.object, 0, &mapped));
	check_that(!sf_map_object(fixture.child, AWAY, 2 * PAGE, RW, SF_MAP_SHARED | SF_MAP_FIXED,
				  group.object, 0, &mapped));
	check_that(!sf_touch(fixture.space, AWAY, SF_WRITE, NULL));
	check_that(!sf_touch(fixture.child, AWAY, SF_WRITE, NULL));
	return 0;
}

static int setup_object_full(struct message *why)
{
	int error = setup_object(why);

	if (!error)
		narrow(0);
	return error;
}

static void write_object(void)
{
	fixture.result[0] = sf_touch(fixture.space, AWAY + PAGE, SF_WRITE, NULL);
}

static void write_object_too(void)
{
	fixture.result[1] = sf_touch(fixture.child, AWAY + PAGE, SF_WRITE, NULL);
}

static void cut_object(void)
{
	check_that(!sf_object_resize(group.object, 0));
}

static bool holds_cut(struct message *why)
{
	if (fixture.result[0] && fixture.result[0] != -EFAULT)
		return fixture_equal("what a touch returned", (uint64_t)(int64_t)fixture.result[0], 0, why);
	return holds(why);
}

/* Neither can be charged, and nothing is left of the tries. */
static bool holds_full(struct message *why)
{
	struct sf_object_statistics statistics;
	uint64_t full = (uint64_t)-ENOMEM;

	sf_object_statistics(group.object, &statistics);
	return fixture_equal("what the first returned", (uint64_t)(int64_t)fixture.result[0], full, why) &&
	       fixture_equal("what the second returned", (uint64_t)(int64_t)fixture.result[1], full, why) &&
	       fixture_equal("cached bytes", statistics.cached, PAGE, why) && holds(why);
}

static const char *const variants_object_group[] = {
    "default",
    "shmem_account=inode_lock charge_stock=32 lru_add=zone_lock",
    "shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock group_counter=res_counter "
    "charge_stock=none lru_add=zone_lock release_batch=pagevec",
    "shmem_account=ramfs charge_stock=none root_group=charged release_batch=gather_unchunked",
    NULL,
};

const struct check group_object_same_check = {
    .name = "group-object-same",
    .summary = "two spaces of a group make one page of an object; one of the charges is taken back",
    .setup = setup_object,
    .body = {write_object, write_object_too},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_object_group,
};

const struct check group_object_full_check = {
    .name = "group-object-full",
    .summary = "two spaces of a full group want one page of an object",
    .setup = setup_object_full,
    .body = {write_object, write_object_too},
    .holds = holds_full,
    .teardown = teardown,
    .variants = variants_object_group,
};

const struct check group_object_cut_check = {
    .name = "group-object-cut",
    .summary = "a fault charges a page of an object while that is cut",
    .setup = setup_object,
    .body = {write_object, cut_object},
    .holds = holds_cut,
    .teardown = teardown,
    .variants = variants_object_group,
};

const struct check group_object_destroy_check = {
    .name = "group-object-destroy",
    .summary = "an object's pages leave it while the group that they are charged to is destroyed",
    .setup = setup_object,
    .body = {cut_object, move_and_destroy},
    .holds = holds_moved,
    .teardown = teardown,
    .variants = variants_object_group,
};
