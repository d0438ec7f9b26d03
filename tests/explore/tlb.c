/* SPDX-License-Identifier: MIT */
/*
 * A software TLB against those who take away what it holds. Who looks up after a change finds what the change
 * left; and no frame gets another life while a pointer to it may be used.
 */
#include <errno.h>
#include <stddef.h>

#include "port/cpu.h"
#include "tests/explore/fixture.h"

static struct sf_tlb *tlb;

/* Written once a change is over: with what the change must have left. */
static _Atomic unsigned done;

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	fixture_map(AWAY, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, 1);
	fixture_store(fixture.space, AT + PAGE, 1);
	check_that(!sf_tlb_create(fixture.space, &tlb));
	check_that(sf_tlb_lookup(tlb, AT, SF_WRITE, NULL));
	sf_tlb_idle(tlb);
	atomic_init(&done, 0);
	return 0;
}

static void teardown(void)
{
	sf_tlb_destroy(tlb);
	fixture_close();
}

static bool holds(struct message *why)
{
	return fixture_good(why);
}

/*
 * Whoever takes the page away returns only when the pointer to it is used no more: from the look-up to the
 * next one nobody can be done.
 */
static bool is_done(void)
{
	return atomic_load_explicit(&done, memory_order_acquire);
}

static void look_up(void)
{
	for (unsigned i = 0; i < 2; i++) {
		bool over = is_done();
		const uint64_t *word = sf_tlb_lookup(tlb, AT, SF_READ, NULL);

		check_that(!word || *word <= 1);
		if (!word || !*word)
			continue;
		check_that(!over);
		check_that(!is_done());
	}
	sf_tlb_idle(tlb);
}

static void over(void)
{
	atomic_store_explicit(&done, 1, memory_order_release);
	/* Likely the frame that was freed. */
	fixture_store(fixture.space, AWAY + 8 * port_cpu(), 7);
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, AT, PAGE));
	over();
}

const struct check tlb_unmap_check = {
    .name = "tlb-unmap",
    .summary = "look-ups in a software TLB against an unmap",
    .setup = setup,
    .body = {look_up, unmap},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

static void forbid(void)
{
	check_that(!sf_protect(fixture.space, AT, PAGE, SF_PROT_NONE));
	over();
}

const struct check tlb_protect_check = {
    .name = "tlb-protect",
    .summary = "look-ups in a software TLB against a protect",
    .setup = setup,
    .body = {look_up, forbid},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

static void move(void)
{
	uint64_t mapped;

	check_that(!sf_remap(fixture.space, AT, PAGE, PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED,
			     AWAY + 2 * PAGE, &mapped));
	over();
}

const struct check tlb_remap_check = {
    .name = "tlb-remap",
    .summary = "look-ups in a software TLB against a move",
    .setup = setup,
    .body = {look_up, move},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

static void dontneed(void)
{
	check_that(!sf_advise(fixture.space, AT, PAGE, SF_ADVICE_DONTNEED));
	over();
}

/* Two of them: the second may find nothing to flush, and yet nothing of the first may be found. */
const struct check tlb_dontneed_check = {
    .name = "tlb-dontneed",
    .summary = "look-ups in a software TLB against two that give its page back",
    .setup = setup,
    .body = {look_up, dontneed, dontneed},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

/* The page is shared with a child: the fault of another CPU replaces what the TLB has found. */
static int setup_shared(struct message *why)
{
	int error = setup(why);

	if (!error)
		fixture_fork();
	return error;
}

static void write_and_count(void)
{
	uint64_t expected = 0;

	check_equal(sf_compare_swap_64(fixture.space, AT + 8, &expected, 5, NULL), 1);
	atomic_store_explicit(&done, 1, memory_order_release);
}

/*
 * With `again` whoever replaces the page is the one who is done: then the pointer that is being used leads to
 * the page that he has written to.
 */
static void look_at_second(bool again)
{
	for (unsigned i = 0; i < 3; i++) {
		bool over = is_done();
		const _Atomic uint64_t *word = sf_tlb_lookup(tlb, AT + 8, SF_READ, NULL);

		check_that(word);
		check_that(atomic_load_explicit(word, memory_order_relaxed) == 5 || !over);
		over = again && is_done();
		check_that(atomic_load_explicit(word, memory_order_relaxed) == 5 || !over);
	}
	sf_tlb_idle(tlb);
}

static void look_and_read_again(void)
{
	look_at_second(true);
}

static void look_and_read(void)
{
	look_at_second(false);
}

const struct check tlb_cow_check = {
    .name = "tlb-cow",
    .summary = "look-ups in a software TLB against a copy on write",
    .setup = setup_shared,
    .body = {look_and_read_again, write_and_count},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

/* The TLB has found the zero page: a write of another CPU puts a page of its own there. */
static int setup_zero(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT + PAGE, 1);
	check_that(!sf_tlb_create(fixture.space, &tlb));
	check_that(sf_tlb_lookup(tlb, AT, SF_READ, NULL));
	sf_tlb_idle(tlb);
	atomic_init(&done, 0);
	return 0;
}

const struct check tlb_zero_check = {
    .name = "tlb-zero",
    .summary = "look-ups in a software TLB against the first write to a page",
    .setup = setup_zero,
    .body = {look_and_read_again, write_and_count},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

/* A write through the TLB, and a fork: the child has it or not, and never what comes later. */
static void write_through(void)
{
	for (uint64_t i = 1; i <= 2; i++) {
		_Atomic uint64_t *word = sf_tlb_lookup(tlb, AT + 8, SF_WRITE, NULL);

		check_that(word);
		atomic_store_explicit(word, i, memory_order_relaxed);
	}
	sf_tlb_idle(tlb);
}

static void fork_and_look(void)
{
	uint64_t before;

	fixture_fork();
	before = fixture_load(fixture.child, AT + 8);
	atomic_store_explicit(&done, 1, memory_order_release);
	check_equal(fixture_load(fixture.child, AT + 8), before);
}

static bool holds_written(struct message *why)
{
	return fixture_good(why) &&
	       fixture_equal("what was written", fixture_load(fixture.space, AT + 8), 2, why);
}

const struct check tlb_fork_check = {
    .name = "tlb-fork",
    .summary = "writes through a software TLB against a fork",
    .setup = setup,
    .body = {write_through, fork_and_look},
    .holds = holds_written,
    .teardown = teardown,
    .variants = variants_lookup,
};

/*
 * One CPU replaces the page, and another writes to the new one before the first has flushed. A look-up that
 * comes after that finds the new one; a pointer to the old one may be in use until the flush is over.
 */
static void write_third(void)
{
	uint64_t expected = 0;

	check_equal(sf_compare_swap_64(fixture.space, AT + 16, &expected, 6, NULL), 1);
}

const struct check tlb_cow_early_check = {
    .name = "tlb-cow-early",
    .summary = "look-ups in a software TLB against a copy on write and a write to the copy",
    .setup = setup_shared,
    .body = {look_and_read, write_third, write_and_count},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

/* A TLB comes while pages go. */
static int setup_none(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	fixture_map(AWAY, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, 1);
	atomic_init(&done, 0);
	tlb = NULL;
	return 0;
}

static void create_and_look(void)
{
	check_that(!sf_tlb_create(fixture.space, &tlb));
	look_up();
}

const struct check tlb_create_check = {
    .name = "tlb-create",
    .summary = "a new software TLB against who gives its page back",
    .setup = setup_none,
    .body = {create_and_look, dontneed},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};

/* One TLB is taken away while the flush of another CPU goes through the list. */
static void destroy_second(void)
{
	struct sf_tlb *second;

	check_that(!sf_tlb_create(fixture.space, &second));
	check_that(sf_tlb_lookup(second, AT + PAGE, SF_READ, NULL));
	sf_tlb_destroy(second);
}

const struct check tlb_destroy_check = {
    .name = "tlb-destroy",
    .summary = "the end of a software TLB against a flush and another's beginning",
    .setup = setup,
    .body = {destroy_second, dontneed, destroy_second},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_lookup,
};
