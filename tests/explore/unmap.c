/* SPDX-License-Identifier: MIT */
/*
 * Putting a page out of all spaces by the reverse map, while another CPU uses it or takes the memory away:
 * every word that was written is there afterwards, in each space that should have it, and who ends a mapping
 * meets the page or its slot.
 */
#include <stddef.h>

#include "tests/common/rmap_work.h"
#include "tests/explore/operations.h"

#define SLOTS  FILE_PAGES
#define STORED UINT64_C(0x10)
#define WORD   UINT64_C(0x20) /* what the other CPU writes */

static struct file swap_file;
static struct rmap rmap;
static struct page *kept; /* a page with a reference of the set-up */

/* --- The scenes: three pages written, of which TARGET is put out ---------------------------------------- */

static int open_scene(struct message *why)
{
	int error = fixture_open(true, why);
	struct policy policy;

	if (error)
		return error;
	file_open(&swap_file, SLOTS);
	check_that(!system_add_swap(fixture.system, &swap_file.backing, 0, false));
	policy = fixture_policy();
	rmap_init(&rmap, fixture.space->parts.frames, &policy);
	fixture_map(AT, 3, RW, SF_MAP_PRIVATE);
	for (unsigned i = 0; i < 3; i++)
		fixture_store(fixture.space, AT + i * PAGE, STORED + i);
	fixture.result[0] = fixture.result[1] = 0;
	return 0;
}

static int open_forked(struct message *why)
{
	int error = open_scene(why);

	if (!error)
		fixture_fork();
	return error;
}

/* The page stands where it was moved to. */
static int open_moved(struct message *why)
{
	int error = open_forked(why);
	uint64_t mapped;

	if (!error)
		check_that(!sf_remap(fixture.space, TARGET, PAGE, PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED,
				     AWAY, &mapped));
	return error;
}

/* The fork has a page of its own, and the set-up a reference on it. */
static int open_kept(struct message *why)
{
	int error = open_forked(why);

	if (!error) {
		fixture_store(fixture.child, TARGET + 8, WORD);
		kept = rmap_find(fixture.child, TARGET);
	}
	return error;
}

/* A zap that finds the page locked leaves it in the cache, for reclaim. */
static void close_scene(void)
{
	struct frames *frames = fixture.space->parts.frames;

	for (unsigned slot = 0; slot < SLOTS; slot++) {
		struct page *page = swap_take_cached(frames->swap, swap_entry(0, slot));

		if (page)
			page_put(frames, page);
	}
	if (fixture.made[1])
		sf_space_destroy(fixture.made[1]);
	fixture_close();
	check_that(atomic_load(&swap_file.released) == 1);
}

/* --- What the first CPU does ---------------------------------------------------------------------------- */

static void put_out(void)
{
	struct rmap_outcome outcome;

	fixture.result[0] = rmap_put_out(&rmap, fixture.space, TARGET, &outcome);
}

/* The page itself, whoever has it; not away from memory, as it is kept. */
static void put_kept_out(void)
{
	struct rmap_outcome outcome;

	page_lock(kept);
	fixture.result[0] = rmap_put_out_locked(&rmap, kept, &outcome);
	page_unlock(kept);
	page_put(rmap.frames, kept);
}

/* Looks twice: what is dirty in the cache may be found by either. */
static void scan(void)
{
	struct page *page = rmap_find(fixture.space, TARGET);
	struct rmap_found found;

	if (!page)
		return;
	page_lock(page);
	page_referenced(&rmap, page, &found);
	page_unlock(page);
	page_put(fixture.space->parts.frames, page);
	put_out();
}

/* --- What the other does -------------------------------------------------------------------------------- */

static void read_word(void)
{
	check_equal(fixture_load(fixture.space, TARGET), STORED + 1);
}

static void write_word(void)
{
	fixture_store(fixture.space, TARGET + 8, WORD);
	check_equal(fixture_load(fixture.space, TARGET), STORED + 1);
	check_equal(fixture_load(fixture.space, TARGET + 8), WORD);
}

static void write_in_child(void)
{
	fixture_store(fixture.child, TARGET + 8, WORD);
	check_equal(fixture_load(fixture.child, TARGET), STORED + 1);
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, TARGET, PAGE));
}

static void dontneed(void)
{
	check_that(!sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_DONTNEED));
}

static void protect(void)
{
	check_that(!sf_protect(fixture.space, TARGET, PAGE, SF_PROT_READ));
}

static void move(void)
{
	uint64_t mapped;

	check_that(
	    !sf_remap(fixture.space, TARGET, PAGE, PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED, AWAY, &mapped));
}

/* Once the call has returned the page is there, and stays. */
static void lock(void)
{
	check_that(!sf_lock(fixture.space, TARGET, PAGE));
	check_that(pte_maps(system_pte(fixture.space, TARGET)));
}

static void fork_it(void)
{
	check_that(!sf_space_fork(fixture.space, &fixture.made[1]));
}

static void destroy(void)
{
	struct sf_space *child = fixture.child;

	fixture.child = NULL;
	sf_space_destroy(child);
}

/* And waits until its nodes are freed. */
static void destroy_and_wait(void)
{
	destroy();
	port_rcu_barrier();
}

static void look_up(void)
{
	struct sf_tlb *tlb = NULL;
	uint64_t *word;

	check_that(!sf_tlb_create(fixture.space, &tlb));
	word = sf_tlb_lookup(tlb, TARGET, SF_WRITE, NULL);
	check_that(word && *word == STORED + 1);
	word[1] = WORD;
	sf_tlb_idle(tlb);
	sf_tlb_destroy(tlb);
}

static void put_child_out(void)
{
	struct rmap_outcome outcome;

	fixture.result[1] = rmap_put_out(&rmap, fixture.child, TARGET, &outcome);
}

/* --- What must be there at the end ---------------------------------------------------------------------- */

static bool has(struct sf_space *space, uint64_t address, uint64_t first, uint64_t second,
		struct message *why)
{
	return fixture_equal("the first word", fixture_load(space, address), first, why) &&
	       fixture_equal("the second word", fixture_load(space, address + 8), second, why);
}

static bool unchanged(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, STORED + 1, 0, why) &&
	       (!fixture.child || has(fixture.child, TARGET, STORED + 1, 0, why));
}

static bool written(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, STORED + 1, WORD, why) &&
	       (!fixture.child || has(fixture.child, TARGET, STORED + 1, 0, why));
}

static bool written_in_child(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, STORED + 1, 0, why) &&
	       has(fixture.child, TARGET, STORED + 1, WORD, why);
}

static bool gone(struct message *why)
{
	return fixture_good(why) && fixture_equal("the entry", system_pte(fixture.space, TARGET), 0, why) &&
	       (!fixture.child || has(fixture.child, TARGET, STORED + 1, 0, why));
}

static bool moved(struct message *why)
{
	return fixture_good(why) && has(fixture.space, AWAY, STORED + 1, 0, why) &&
	       has(fixture.child, TARGET, STORED + 1, 0, why);
}

static bool moved_and_written(struct message *why)
{
	return fixture_good(why) && has(fixture.space, AWAY, STORED + 1, 0, why) &&
	       has(fixture.child, TARGET, STORED + 1, WORD, why);
}

static bool forked(struct message *why)
{
	return unchanged(why) && has(fixture.made[1], TARGET, STORED + 1, 0, why);
}

/* Locked memory is in memory, whoever was first. */
static bool resident(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("mapped", pte_maps(system_pte(fixture.space, TARGET)), true, why) &&
	       unchanged(why);
}

const struct check unmap_read_check = {
    .name = "unmap-read",
    .summary = "a page is put out while it is read",
    .setup = open_scene,
    .body = {put_out, read_word},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_write_check = {
    .name = "unmap-write",
    .summary = "a page is put out while it is written to",
    .setup = open_scene,
    .body = {put_out, write_word},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_scan_check = {
    .name = "unmap-scan",
    .summary = "a page is scanned and put out while it is written to",
    .setup = open_scene,
    .body = {scan, write_word},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_cow_check = {
    .name = "unmap-cow",
    .summary = "a page of two spaces is put out while one writes to it",
    .setup = open_forked,
    .body = {put_out, write_word},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_child_check = {
    .name = "unmap-child",
    .summary = "a page of two spaces is put out while the fork writes to it",
    .setup = open_forked,
    .body = {put_out, write_in_child},
    .holds = written_in_child,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_zap_check = {
    .name = "unmap-unmap",
    .summary = "a page is put out while its memory is unmapped",
    .setup = open_scene,
    .body = {put_out, unmap},
    .holds = gone,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_dontneed_check = {
    .name = "unmap-dontneed",
    .summary = "a page of two spaces is put out while one does not need it",
    .setup = open_forked,
    .body = {put_out, dontneed},
    .holds = gone,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_protect_check = {
    .name = "unmap-protect",
    .summary = "a page is put out while its rights change",
    .setup = open_scene,
    .body = {put_out, protect},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_move_check = {
    .name = "unmap-move",
    .summary = "a page of two spaces is put out while it moves in one",
    .setup = open_forked,
    .body = {put_out, move},
    .holds = moved,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_lock_check = {
    .name = "unmap-lock",
    .summary = "a page is put out while it is locked in memory",
    .setup = open_scene,
    .body = {put_out, lock},
    .holds = resident,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_fork_check = {
    .name = "unmap-fork",
    .summary = "a page is put out while its space forks",
    .setup = open_scene,
    .body = {put_out, fork_it},
    .holds = forked,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_destroy_check = {
    .name = "unmap-destroy",
    .summary = "a page of two spaces is put out while one ends",
    .setup = open_forked,
    .body = {put_out, destroy},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_end_check = {
    .name = "unmap-end",
    .summary = "a page is put out while the only space that has it ends",
    .setup = open_kept,
    .body = {put_kept_out, destroy_and_wait},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_tlb_check = {
    .name = "unmap-tlb",
    .summary = "a page is put out while it is written to through a TLB",
    .setup = open_scene,
    .body = {put_out, look_up},
    .holds = written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_twice_check = {
    .name = "unmap-twice",
    .summary = "a page of two spaces is put out twice",
    .setup = open_forked,
    .body = {put_out, put_child_out},
    .holds = unchanged,
    .teardown = close_scene,
    .variants = variants_pairwise,
};

const struct check unmap_moved_check = {
    .name = "unmap-moved",
    .summary = "a page that was moved in one space is put out while the other writes to it",
    .setup = open_moved,
    .body = {put_child_out, write_in_child},
    .holds = moved_and_written,
    .teardown = close_scene,
    .variants = variants_pairwise,
};
