/* SPDX-License-Identifier: MIT */
/*
 * Frames whose contents are written by plain stores while they are in use: a frame that two CPUs have at
 * once, or one that is handed on without the order that its next owner needs, is a data race, which
 * ThreadSanitizer sees. References to shared frames are got and put by all CPUs; whichever puts the last
 * gives the frame back.
 */
#include "tests/unit/mm/frames_fixture.h"

#include "port/panic.h"

#define CPUS   6u
#define USABLE 2500u
#define ROUNDS 6000u
#define SLOTS  32u

/* A place where a frame can be found: under its lock, as under that of a PTE. */
struct slot {
	struct spinlock lock;
	struct page *page;
};

struct stage {
	struct frames *frames;
	uint64_t seed;
	struct slot slot[SLOTS];
	_Atomic unsigned exhausted;
};

/* Plain on purpose. */
static void write_contents(struct frames *frames, struct page *page, uint64_t value)
{
	uint64_t *contents = page_address(frames, page);

	contents[0] = value;
	contents[PORT_PAGE_SIZE / sizeof(*contents) - 1] = value;
}

static void check_contents(struct frames *frames, struct page *page, uint64_t value)
{
	uint64_t *contents = page_address(frames, page);

	invariant(contents[0] == value && contents[PORT_PAGE_SIZE / sizeof(*contents) - 1] == value);
}

static struct page *take(struct stage *stage, uint64_t value)
{
	struct page *page = frame_alloc(stage->frames);

	if (page)
		write_contents(stage->frames, page, value);
	else
		atomic_fetch_add(&stage->exhausted, 1);
	return page;
}

/* "Maps" a new frame in a slot; what was there loses its mapping, and its users keep it for a while. */
static void replace(struct stage *stage, struct slot *slot, uint64_t number)
{
	struct page *page = take(stage, number), *old;

	if (!page)
		return;
	page_set_anonymous(stage->frames, page, NULL, 0);
	spin_lock(&slot->lock);
	old = slot->page;
	slot->page = page;
	page_add_mapping(page);
	if (old)
		page_remove_mapping(old);
	spin_unlock(&slot->lock);
	if (old)
		page_put(stage->frames, old);
}

/* Finds a frame, holds it for a while, and reads what nobody may change as long as it is held. */
static void look(struct stage *stage, struct slot *slot, uint64_t number)
{
	struct page *page;

	spin_lock(&slot->lock);
	page = slot->page;
	if (page)
		page_get(page);
	spin_unlock(&slot->lock);
	if (!page)
		return;
	for (int turn = 0; turn < 20; turn++)
		port_cpu_relax();
	check_contents(stage->frames, page, number);
	page_put(stage->frames, page);
}

/* Writes in place when nobody else has the frame, as a fault on a page with one mapping left does. */
static void reuse(struct stage *stage, struct slot *slot, uint64_t number)
{
	spin_lock(&slot->lock);
	if (slot->page && page_is_exclusive(slot->page))
		write_contents(stage->frames, slot->page, number);
	spin_unlock(&slot->lock);
}

static void use_frames(unsigned cpu, void *argument)
{
	struct stage *stage = argument;
	struct page *own[USABLE];
	uint64_t value[USABLE];
	unsigned count = 0;
	struct random random;

	random_seed(&random, stage->seed + cpu);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned what = (unsigned)random_below(&random, 100);
		unsigned number = (unsigned)random_below(&random, SLOTS);
		unsigned grow = round / 1000 % 2 ? 60 : 20;

		if (what < 10) {
			replace(stage, &stage->slot[number], number);
		} else if (what < 15) {
			reuse(stage, &stage->slot[number], number);
		} else if (what < 30) {
			look(stage, &stage->slot[number], number);
		} else if (what < 30 + grow) {
			value[count] = random_next(&random);
			own[count] = take(stage, value[count]);
			count += own[count] != NULL;
		} else if (count) {
			count--;
			check_contents(stage->frames, own[count], value[count]);
			page_put(stage->frames, own[count]);
		}
		if (round % 16 == 0)
			(void)frames_free_count(stage->frames);
	}
	while (count) {
		count--;
		check_contents(stage->frames, own[count], value[count]);
		page_put(stage->frames, own[count]);
	}
}

static void frames_are_handed_on_in_order(void **state)
{
	static struct stage stage;
	uint64_t seed = test_seed();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
		uint64_t used = 0;

		stage.seed = seed;
		stage.frames = open_frames(all_frame_caches[i], USABLE);
		for (unsigned n = 0; n < SLOTS; n++)
			spin_lock_init(&stage.slot[n].lock, LOCK_RANK_PAGE_TABLE);
		run_cpus(use_frames, &stage);
		for (unsigned n = 0; n < SLOTS; n++)
			used += stage.slot[n].page != NULL;
		assert_int_equal(frames_counted(stage.frames, FRAMES_ANONYMOUS), used);
		assert_frames_good(stage.frames, used);
		assert_true(used > SLOTS / 2);
		for (unsigned n = 0; n < SLOTS; n++) {
			if (!stage.slot[n].page)
				continue;
			check_contents(stage.frames, stage.slot[n].page, n);
			page_remove_mapping(stage.slot[n].page);
			page_put(stage.frames, stage.slot[n].page);
			stage.slot[n].page = NULL;
		}
		close_frames(stage.frames);
	}
	print_message("%u times there was no frame\n", atomic_load(&stage.exhausted));
}

static int machine_open(void **state)
{
	(void)state;
	return host_open(CPUS);
}

static int machine_close(void **state)
{
	(void)state;
	host_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_are_handed_on_in_order),
	};

	return cmocka_run_group_tests(tests, machine_open, machine_close);
}
