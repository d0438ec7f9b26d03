/* SPDX-License-Identifier: MIT */
/*
 * Private memory that is in swap: it is touched while another CPU touches it too, takes it away, or reclaims
 * it. Every word that was written is there afterwards, and no slot or page is left over.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/swap/swap_entry.h"
#include "mm/table/pte.h"
#include "tests/explore/operations.h"

#define SLOTS  FILE_PAGES
#define STORED UINT64_C(0x10)
#define WORD   UINT64_C(0x20) /* what the first CPU writes */
#define OTHER  UINT64_C(0x30) /* what the other one does */

static struct file swap_file;

static uint64_t used_slots(void)
{
	struct sf_swap_statistics statistics;

	sf_swap_statistics(fixture.system, &statistics);
	return statistics.used;
}

/* -ENOMEM: somebody has unmapped it. */
static void page_out(struct sf_space *space)
{
	int error = sf_advise(space, TARGET, PAGE, SF_ADVICE_PAGEOUT);

	check_that(!error || error == -ENOMEM);
}

static bool is_out(struct sf_space *space)
{
	return pte_is_swap(system_pte(space, TARGET));
}

/* --- The scenes: a page that was written to ------------------------------------------------------------- */

/* It is out. */
static int open_out(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	file_open(&swap_file, SLOTS);
	check_that(!system_add_swap(fixture.system, &swap_file.backing, 0, false));
	fixture_map(TARGET, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, TARGET, STORED);
	page_out(fixture.space);
	check_that(is_out(fixture.space));
	return 0;
}

/* Two spaces name its slot. */
static int open_shared(struct message *why)
{
	int error = open_out(why);

	if (!error)
		fixture_fork();
	return error;
}

/* It has been read: it is mapped, clean, in the cache, and its slot has nobody else. */
static int open_cached(struct message *why)
{
	int error = open_out(why);

	if (!error)
		check_equal(fixture_load(fixture.space, TARGET), STORED);
	return error;
}

/* So it has been in one space, and the other one names the slot still. */
static int open_half(struct message *why)
{
	int error = open_shared(why);

	if (!error)
		check_equal(fixture_load(fixture.space, TARGET), STORED);
	return error;
}

static void close_scene(void)
{
	if (fixture.made[1])
		sf_space_destroy(fixture.made[1]);
	fixture_close();
	check_that(atomic_load(&swap_file.released) == 1);
}

/* --- What the CPUs do ----------------------------------------------------------------------------------- */

static void read_word(void)
{
	check_equal(fixture_load(fixture.space, TARGET), STORED);
}

static void read_any(void)
{
	uint64_t word = fixture_load(fixture.space, TARGET);

	check_that(word == 0 || word == STORED);
}

static void write_word(void)
{
	fixture_store(fixture.space, TARGET + 8, WORD);
	check_equal(fixture_load(fixture.space, TARGET), STORED);
	check_equal(fixture_load(fixture.space, TARGET + 8), WORD);
}

static void write_other(void)
{
	fixture_store(fixture.space, TARGET + 16, OTHER);
	check_equal(fixture_load(fixture.space, TARGET), STORED);
}

static void read_in_child(void)
{
	check_equal(fixture_load(fixture.child, TARGET), STORED);
}

static void write_in_child(void)
{
	fixture_store(fixture.child, TARGET + 16, OTHER);
	check_equal(fixture_load(fixture.child, TARGET), STORED);
}

static void reclaim(void)
{
	page_out(fixture.space);
}

static void reclaim_in_child(void)
{
	page_out(fixture.child);
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, TARGET, PAGE));
}

static void dontneed(void)
{
	check_that(!sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_DONTNEED));
}

/* What is read later is what there was, or zero. */
static void lazily_free(void)
{
	check_that(!sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_FREE));
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

static void lock(void)
{
	check_that(!sf_lock(fixture.space, TARGET, PAGE));
	check_that(pte_maps(system_pte(fixture.space, TARGET)));
}

static void fork_it(void)
{
	check_that(!sf_space_fork(fixture.space, &fixture.made[1]));
}

static void destroy_child(void)
{
	struct sf_space *child = fixture.child;

	fixture.child = NULL;
	sf_space_destroy(child);
}

static void pin(void)
{
	struct sf_pin pinned;
	uint64_t *word = sf_pin(fixture.space, TARGET, SF_READ, &pinned, NULL);

	check_that(word && *word == STORED);
	sf_unpin(fixture.system, &pinned);
}

static void look_up(void)
{
	struct sf_tlb *tlb = NULL;
	uint64_t *word;

	check_that(!sf_tlb_create(fixture.space, &tlb));
	word = sf_tlb_lookup(tlb, TARGET, SF_READ, NULL);
	check_that(word && *word == STORED);
	sf_tlb_idle(tlb);
	sf_tlb_destroy(tlb);
}

static void look(void)
{
	unsigned char resident;
	struct sf_mapping mapping;

	check_that(!sf_mincore(fixture.space, TARGET, PAGE, &resident));
	check_that(!sf_next_mapping(fixture.space, TARGET, &mapping));
	check_equal(mapping.swapped + mapping.resident, PAGE);
	check_that(system_in_swap(fixture.space, TARGET) || pte_maps(system_pte(fixture.space, TARGET)));
}

/* --- What must be there at the end ---------------------------------------------------------------------- */

static bool has(struct sf_space *space, uint64_t address, uint64_t second, uint64_t third,
		struct message *why)
{
	return fixture_equal("the first word", fixture_load(space, address), STORED, why) &&
	       fixture_equal("the second word", fixture_load(space, address + 8), second, why) &&
	       fixture_equal("the third word", fixture_load(space, address + 16), third, why);
}

static bool unchanged(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, 0, 0, why) &&
	       (!fixture.child || has(fixture.child, TARGET, 0, 0, why)) &&
	       (!fixture.made[1] || has(fixture.made[1], TARGET, 0, 0, why));
}

static bool written(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, WORD, 0, why) &&
	       (!fixture.child || has(fixture.child, TARGET, 0, 0, why));
}

/* Nobody else has the page, so its slot is of no use any more once it can be written to. */
static bool written_alone(struct message *why)
{
	return written(why) && (!(system_pte(fixture.space, TARGET) & PTE_WRITE) ||
				fixture_equal("slots in use", used_slots(), 0, why));
}

static bool written_by_other(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, 0, OTHER, why);
}

static bool written_twice(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, WORD, OTHER, why) &&
	       fixture_equal("slots in use", used_slots(), 0, why);
}

static bool written_in_both(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, WORD, 0, why) &&
	       has(fixture.child, TARGET, 0, OTHER, why);
}

static bool written_in_child(struct message *why)
{
	return fixture_good(why) && has(fixture.space, TARGET, 0, 0, why) &&
	       has(fixture.child, TARGET, 0, OTHER, why);
}

/* What the child has is of one moment. */
static bool forked(struct message *why)
{
	uint64_t word = fixture_load(fixture.made[1], TARGET + 8);

	return written(why) && (!word || fixture_equal("the child's word", word, WORD, why)) &&
	       fixture_equal("the child's first word", fixture_load(fixture.made[1], TARGET), STORED, why);
}

static bool gone(struct message *why)
{
	return fixture_good(why) && fixture_equal("the entry", system_pte(fixture.space, TARGET), 0, why) &&
	       (fixture.child ? has(fixture.child, TARGET, 0, 0, why)
			      : fixture_equal("slots in use", used_slots(), 0, why));
}

static bool gone_or_zero(struct message *why)
{
	uint64_t word = fixture_load(fixture.space, TARGET);

	return fixture_good(why) && (!word || fixture_equal("the first word", word, STORED, why));
}

static bool moved(struct message *why)
{
	return fixture_good(why) && has(fixture.space, AWAY, 0, 0, why) &&
	       has(fixture.child, TARGET, 0, 0, why);
}

static bool resident(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("mapped", pte_maps(system_pte(fixture.space, TARGET)), true, why) &&
	       unchanged(why);
}

#define SWAP_IN_CHECK(structure, title, text, scene, first, second, end) \
	const struct check structure = {                                 \
	    .name = title,                                               \
	    .summary = text,                                             \
	    .setup = scene,                                              \
	    .body = {first, second},                                     \
	    .holds = end,                                                \
	    .teardown = close_scene,                                     \
	    .variants = variants_pairwise,                               \
	}

SWAP_IN_CHECK(swap_in_read_read_check, "swap-in-read-read", "two reads of one slot", open_out, read_word,
	      read_word, unchanged);
SWAP_IN_CHECK(swap_in_read_write_check, "swap-in-read-write", "a write and a read of one slot", open_out,
	      write_word, read_word, written_alone);
SWAP_IN_CHECK(swap_in_write_write_check, "swap-in-write-write", "two writes of one slot", open_out,
	      write_word, write_other, written_twice);
SWAP_IN_CHECK(swap_in_unmap_check, "swap-in-unmap", "a read of a slot and the end of its mapping",
	      open_shared, read_in_child, unmap, gone);
SWAP_IN_CHECK(swap_in_dontneed_check, "swap-in-dontneed",
	      "a read of a slot that is not needed in another space", open_shared, read_in_child, dontneed,
	      gone);
SWAP_IN_CHECK(swap_in_free_check, "swap-in-free", "a read of a page in swap that is lazily freed", open_out,
	      read_any, lazily_free, gone_or_zero);
SWAP_IN_CHECK(swap_in_protect_check, "swap-in-protect", "a read of a slot while rights change", open_out,
	      read_word, protect, unchanged);
SWAP_IN_CHECK(swap_in_move_check, "swap-in-move", "a read of a slot that moves in another space", open_shared,
	      read_in_child, move, moved);
SWAP_IN_CHECK(swap_in_lock_check, "swap-in-lock", "a read of a slot while its memory is locked", open_out,
	      read_word, lock, resident);
SWAP_IN_CHECK(swap_in_fork_check, "swap-in-fork", "a write of a slot and a fork", open_out, write_word,
	      fork_it, forked);
SWAP_IN_CHECK(swap_in_destroy_check, "swap-in-destroy",
	      "a write of a slot and the end of the other space that names it", open_shared, write_word,
	      destroy_child, written_alone);
SWAP_IN_CHECK(swap_in_pin_check, "swap-in-pin", "a pin of a page in swap and a write", open_out, write_other,
	      pin, written_by_other);
SWAP_IN_CHECK(swap_in_tlb_check, "swap-in-tlb", "a look-up of a page in swap and a read", open_out, read_word,
	      look_up, unchanged);
SWAP_IN_CHECK(swap_in_look_check, "swap-in-look", "a read of a slot while somebody looks", open_out,
	      read_word, look, unchanged);
SWAP_IN_CHECK(swap_in_child_check, "swap-in-child", "writes of two spaces that name one slot", open_shared,
	      write_word, write_in_child, written_in_both);
SWAP_IN_CHECK(swap_in_half_check, "swap-in-half",
	      "a write to a page in the cache whose slot the other space reads", open_half, write_word,
	      read_in_child, written);
SWAP_IN_CHECK(swap_in_half_write_check, "swap-in-half-write", "the same, and it writes too", open_half,
	      write_word, write_in_child, written_in_both);
SWAP_IN_CHECK(swap_in_reclaim_check, "swap-in-reclaim", "a read of a slot and reclaim of its page",
	      open_cached, reclaim, read_word, unchanged);
SWAP_IN_CHECK(swap_in_take_check, "swap-in-take", "a write to a clean page in the cache and its reclaim",
	      open_cached, reclaim, write_word, written_alone);
SWAP_IN_CHECK(swap_in_take_unmap_check, "swap-in-take-unmap",
	      "reclaim of a page in the cache that is unmapped", open_cached, reclaim, unmap, gone);
SWAP_IN_CHECK(swap_in_take_fork_check, "swap-in-take-fork", "reclaim of a page in the cache and a fork",
	      open_cached, reclaim, fork_it, unchanged);
SWAP_IN_CHECK(swap_in_take_child_check, "swap-in-take-child",
	      "reclaim in one space of a page that the other reads in", open_half, reclaim, read_in_child,
	      unchanged);
SWAP_IN_CHECK(swap_in_take_write_check, "swap-in-take-write",
	      "reclaim in one space of a page that the other writes to", open_half, reclaim, write_in_child,
	      written_in_child);
SWAP_IN_CHECK(swap_in_take_free_check, "swap-in-take-free",
	      "reclaim of a page in the cache that is lazily freed", open_cached, reclaim, lazily_free,
	      gone_or_zero);
SWAP_IN_CHECK(swap_in_take_both_check, "swap-in-take-both", "reclaim in both spaces", open_half, reclaim,
	      reclaim_in_child, unchanged);
