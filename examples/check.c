/* SPDX-License-Identifier: MIT */
/*
 * Two checks of a reference count, and a program that explores them on the virtual machine. It needs nothing
 * of this project but vsmp/, base/ and port/; docs/EXPLORING.md tells how it is built.
 *
 * A box is used by two CPUs, and the last that puts it back must free it. Whoever looks at the count and then
 * lowers it does two steps where there must be one: when both look first, neither frees.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>

#include "base/compiler.h"
#include "port/memory.h"
#include "vsmp/check.h"
#include "vsmp/explore/explore.h"

struct box {
	_Atomic unsigned users;
};

static struct box *box;

static void box_free(struct box *old)
{
	port_memory_free(old, sizeof(*old));
}

static void put(struct box *old)
{
	if (atomic_fetch_sub(&old->users, 1) == 1)
		box_free(old);
}

static void put_in_two_steps(struct box *old)
{
	if (atomic_load(&old->users) == 1)
		box_free(old);
	else
		atomic_fetch_sub(&old->users, 1);
}

/* --- The checks ------------------------------------------------------------------------------------------
 */

static int setup(struct message *why)
{
	box = port_memory_alloc(sizeof(*box), PORT_NODE_FIRST_TOUCH, "struct box");
	if (!box)
		return message_set(why, -ENOMEM, "no memory for a box");
	atomic_init(&box->users, 2);
	return 0;
}

static void put_right(void)
{
	put(box);
}

static void put_wrong(void)
{
	put_in_two_steps(box);
}

/* What is still allocated at the end is a leak: nothing else has to hold. */
static bool holds(struct message *why)
{
	(void)why;
	return true;
}

static void teardown(void)
{
}

static const struct check right = {
    .name = "box-right",
    .summary = "two puts of the last references",
    .setup = setup,
    .body = {put_right, put_right},
    .holds = holds,
    .teardown = teardown,
};

static const struct check wrong = {
    .name = "box-wrong",
    .summary = "the same, and a put takes two steps",
    .setup = setup,
    .body = {put_wrong, put_wrong},
    .holds = holds,
    .teardown = teardown,
};

/* --- The program -----------------------------------------------------------------------------------------
 */

#define SCHEDULES 1000

/* Returns true when a schedule has failed. */
static bool explore(const struct check *check)
{
	const struct explore_config config = {.check = check, .strategy = EXPLORE_PCT, .depth = 2};
	struct explore_outcome outcome = {.kind = EXPLORE_NOTHING};
	struct message why;
	uint64_t seed;
	char *report;

	if (explore_open(&config, &why)) {
		fprintf(stderr, "%s\n", why.text);
		exit(2);
	}
	for (seed = 1; seed <= SCHEDULES && outcome.kind == EXPLORE_NOTHING; seed++)
		outcome = explore_run(seed);
	if (outcome.kind == EXPLORE_NOTHING) {
		printf("%s: %d schedules of %d steps, no failure\n", check->name, SCHEDULES,
		       (int)explore_steps());
	} else if (!explore_report(seed - 1, &outcome, 0, &report, NULL)) {
		fputs(report, stdout);
		free(report);
	}
	explore_close();
	return outcome.kind != EXPLORE_NOTHING;
}

int main(void)
{
	bool failed = explore(&right);

	return explore(&wrong) && !failed ? 0 : 1;
}
