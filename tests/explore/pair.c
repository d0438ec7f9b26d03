/* SPDX-License-Identifier: MIT */
#include "tests/explore/pair.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "mm/object/cache.h"
#include "mm/space/space.h"
#include "mm/table/pte.h"
#include "port/rcu.h"

/* More than the spaces of any pair have to say. */
#define WORDS_MAX 256u

/* Where pages can be. */
static const struct {
	uint64_t start;
	unsigned pages;
} places[] = {{AT, 6}, {AWAY, 6}};

/* What is left when both are done. */
struct snapshot {
	unsigned count;
	uint64_t word[WORDS_MAX];
};

/*
 * An operation that touches has two steps: it has its page faulted in, and then uses it; in between the other
 * operation may have taken the page away again. So there are two orders more: one of them has its page
 * faulted in, the other follows, and then the first does its work.
 */
#define ORDERS 4u

/* Made once, by the set-up; read only then. */
static struct snapshot model[ORDERS];
static unsigned models;

static void add(struct snapshot *snapshot, uint64_t word)
{
	check_that(snapshot->count < WORDS_MAX);
	snapshot->word[snapshot->count++] = word;
}

/* An operation of many steps may leave a page that no order leaves; but what it lies in, and what may be done
 * with it, is of one order. */
static bool is_of_many_steps(const struct pair *pair)
{
	return pair->operation[0]->many_steps || pair->operation[1]->many_steps;
}

/* Which frame it is depends on the order in many ways that nobody sees, but for frames by number. */
static void add_page(struct snapshot *snapshot, struct sf_space *space, uint64_t address)
{
	const struct frames *frames = space->parts.frames;
	uint64_t pte = table_read(&space->table, address), pfn = pte_pfn(pte);
	const uint64_t *words;

	/* Whether an object's page has an entry nobody sees: a touch brings it, and a hole takes it for a
	 * moment. */
	if (fixture.object && pte_maps(pte) && page_has_flag(pfn_to_page(frames, pfn), PG_cached))
		pte = 0;
	add(snapshot, pte & (PTE_PRESENT | PTE_WRITE | PTE_PROTNONE | PTE_SPECIAL | PTE_NX));
	if (!pte_maps(pte))
		return;
	add(snapshot, pfn >= frames->own ? pfn : 0);
	words = page_address(frames, pfn_to_page(frames, pfn));
	for (unsigned i = 0; i < 4; i++)
		add(snapshot, words[i]);
}

static void add_space(struct snapshot *snapshot, struct sf_space *space, bool pages)
{
	if (!space)
		return;
	for (const struct vma *vma = vma_tree_next(&space->tree, 0); vma;
	     vma = vma_tree_next(&space->tree, vma->end)) {
		add(snapshot, vma->start);
		add(snapshot, vma->end);
		/* What Linux counts as accounted depends on when it was first written. */
		add(snapshot, vma->flags & ~(uint32_t)VM_ACCOUNT);
	}
	if (!pages)
		return;
	port_rcu_read_lock();
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++)
		for (unsigned page = 0; page < places[i].pages; page++)
			add_page(snapshot, space, places[i].start + page * PAGE);
	port_rcu_read_unlock();
}

/* A page of zeroes is as good as none. Whether a file's page is dirty depends on when it was written back;
 * what must hold is fixture_file_good().
 */
static void add_object(struct snapshot *snapshot, struct sf_object *object)
{
	const struct frames *frames = fixture.space->parts.frames;
	struct page *page;

	if (!object)
		return;
	add(snapshot, atomic_load(&object->bytes));
	port_rcu_read_lock();
	for (uint64_t index = 0; (page = page_index_next(&object->index, &index, FILE_PAGES)); index++) {
		const uint64_t *words = page_address(frames, page);

		for (unsigned i = 0; i < FILE_WORDS; i++)
			if (words[i]) {
				add(snapshot, index * FILE_WORDS + i);
				add(snapshot, words[i]);
			}
	}
	port_rcu_read_unlock();
}

static void take(const struct pair *pair, struct snapshot *snapshot)
{
	bool whole = !is_of_many_steps(pair);

	snapshot->count = 0;
	for (unsigned actor = 0; actor < 2; actor++)
		if (!pair->operation[actor]->result_varies && !pair->operation[actor]->many_steps)
			add(snapshot, (uint64_t)(int64_t)fixture.result[actor]);
	add_space(snapshot, fixture.space, whole);
	add_space(snapshot, fixture.child, whole);
	for (unsigned actor = 0; actor < 2; actor++)
		add_space(snapshot, fixture.made[actor], whole);
	if (whole)
		add_object(snapshot, fixture.object);
}

void pair_run(const struct pair *pair, unsigned actor)
{
	fixture.result[actor] = pair->operation[actor]->run(actor);
}

static int make_model(const struct pair *pair, unsigned first, bool faulted, struct message *why)
{
	int error = pair->scene(why);

	if (error)
		return error;
	if (faulted) {
		(void)sf_touch(fixture.space, TARGET, pair->operation[first]->touches, NULL);
		first = !first;
	}
	pair_run(pair, first);
	pair_run(pair, !first);
	take(pair, &model[models++]);
	pair_teardown();
	return 0;
}

int pair_setup(const struct pair *pair, struct message *why)
{
	models = 0;
	for (unsigned first = 0; first < 2; first++) {
		int error = make_model(pair, first, false, why);

		if (!error && pair->operation[first]->touches)
			error = make_model(pair, first, true, why);
		if (error)
			return error;
	}
	return pair->scene(why);
}

/* The first word that differs, or the count. */
static unsigned differs(const struct snapshot *found, const struct snapshot *wanted)
{
	unsigned i = 0;

	while (i < found->count && i < wanted->count && found->word[i] == wanted->word[i])
		i++;
	return i;
}

static bool same(const struct snapshot *found, const struct snapshot *wanted)
{
	return found->count == wanted->count && differs(found, wanted) == found->count;
}

bool pair_holds(const struct pair *pair, struct message *why)
{
	static struct snapshot found;
	unsigned at;

	if (!fixture_good(why) || (fixture.object && !fixture_file_good(why)))
		return false;
	take(pair, &found);
	for (unsigned i = 0; i < models; i++)
		if (same(&found, &model[i]))
			return true;
	at = differs(&found, &model[0]);
	message_set(
	    why, -EINVAL,
	    "results %d and %d: no order comes to this; in the first, word %u of what is left is %#" PRIx64
	    " and not %#" PRIx64,
	    fixture.result[0], fixture.result[1], at, model[0].word[at], found.word[at]);
	return false;
}

void pair_teardown(void)
{
	for (unsigned actor = 0; actor < 2; actor++)
		if (fixture.made[actor])
			sf_space_destroy(fixture.made[actor]);
	fixture_close();
}
