/* SPDX-License-Identifier: MIT */
/*
 * Pages go out and come in at random, transfers fail at random; a naive table knows at each step which slots
 * are in use and for whom, what is in the cache, and what each page contains.
 */
#include "tests/unit/mm/swap_fixture.h"

#define ITEMS 80u
#define SLOTS 70u
#define STEPS 30000u

/* One page's worth of memory, in memory, out, or both. */
struct item {
	bool live;
	uint64_t contents;
	struct page *page; /* with a reference of ours */
	bool cached;       /* in the cache; with page NULL it was read ahead */
	bool dirty, bad;   /* of the slot */
	bool has_slot;
	struct swap_entry slot;
	unsigned users; /* references on the slot */
};

static struct {
	struct swap_fixture fixture;
	struct random random;
	struct item item[ITEMS];
	uint64_t used, bad, written;
	uint64_t next_contents;
	unsigned done[10];
} naive;

static struct swap *swap_of(void)
{
	return naive.fixture.swap;
}

static bool chance(unsigned one_in)
{
	return !random_below(&naive.random, one_in);
}

static void slot_is_free(struct item *item)
{
	naive.used--;
	naive.bad += item->bad;
	item->has_slot = false;
}

static void put_page(struct item *item)
{
	page_put(naive.fixture.frames, item->page);
}

static void make(struct item *item)
{
	*item = (struct item){.live = true, .contents = naive.next_contents};
	naive.next_contents += 100000;
	item->page = make_page(&naive.fixture, item->contents);
	page_unlock(item->page);
}

static void add(struct item *item)
{
	int expected = naive.used + naive.bad < SLOTS ? 0 : -ENOSPC;

	page_lock(item->page);
	assert_int_equal(swap_add_page(swap_of(), item->page), expected);
	if (!expected) {
		item->cached = item->has_slot = item->dirty = true;
		item->bad = false;
		item->slot = page_swap_entry(item->page);
		naive.used++;
	}
	page_unlock(item->page);
}

static void put_user(struct item *item)
{
	item->users--;
	assert_int_equal(swap_put(swap_of(), item->slot), !item->users && item->cached);
	if (!item->users && !item->cached)
		slot_is_free(item);
}

static void write_out(struct item *item)
{
	struct memory_backing *file = &naive.fixture.file[0];
	struct swap_writer writer;
	bool fails = chance(6);

	file->error = chance(3) ? -EIO : -ENOSPC;
	file->late = chance(2);
	atomic_store(&file->good, fails ? 0 : MEMORY_BACKING_NEVER);
	swap_writer_init(&writer, swap_of(), 4);
	page_lock(item->page);
	assert_int_equal(swap_writer_add(&writer, item->page), item->bad ? -EIO : 0);
	page_unlock(item->page);
	assert_int_equal(swap_writer_finish(&writer), fails && !item->bad ? file->error : 0);
	atomic_store(&file->good, MEMORY_BACKING_NEVER);
	if (item->bad)
		return;
	if (fails) {
		item->bad = file->error == -EIO;
	} else {
		item->dirty = false;
		naive.written++;
	}
	assert_int_equal(page_has_flag(item->page, PG_dirty), item->dirty);
}

/* The page's only other copy is the slot's. */
static void remove_clean(struct item *item)
{
	bool expected = !item->dirty;
	struct page *page = item->page ? item->page : swap_find(swap_of(), item->slot);

	page_lock(page);
	assert_int_equal(swap_remove_clean(swap_of(), page), expected);
	page_unlock(page);
	if (!expected)
		return;
	page_put(naive.fixture.frames, page);
	page_put(naive.fixture.frames, page);
	item->page = NULL;
	item->cached = false;
}

/* The neighbours that came along are those of the window that were out. */
static void note_read_ahead(const struct item *wanted)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		struct item *item = &naive.item[i];
		bool near;

		if (!item->live || item->page || item->cached || item == wanted)
			continue;
		near = swap_entry_slot(item->slot) / 8 == swap_entry_slot(wanted->slot) / 8;
		item->cached = swap_is_cached(swap_of(), item->slot);
		assert_true(near || !item->cached);
	}
}

static void bring_in(struct item *item)
{
	struct memory_backing *file = &naive.fixture.file[0];
	bool fails = chance(5);
	struct page *page = NULL;
	int expected = fails && !item->cached ? -EIO : 0;

	file->error = -EIO;
	file->late = chance(2);
	atomic_store(&file->good, fails ? 0 : MEMORY_BACKING_NEVER);
	assert_int_equal(swap_in(swap_of(), item->slot, NULL, &page), expected);
	atomic_store(&file->good, MEMORY_BACKING_NEVER);
	if (!expected) {
		assert_true(page_is(&naive.fixture, page, item->contents));
		item->page = page;
		item->cached = true;
	}
	note_read_ahead(item);
}

static void take(struct item *item)
{
	page_lock(item->page);
	assert_int_equal(swap_take_page(swap_of(), item->page), !item->users);
	page_unlock(item->page);
	if (item->users)
		return;
	item->cached = false;
	slot_is_free(item);
	put_page(item);
}

static void modify(struct item *item)
{
	uint64_t *word = page_address(naive.fixture.frames, item->page);

	assert_true(page_is(&naive.fixture, item->page, item->contents));
	item->contents = naive.next_contents++;
	for (size_t i = 0; i < PORT_PAGE_SIZE / sizeof(*word); i++)
		word[i] = item->contents + i;
	if (item->cached) {
		page_set_flag(item->page, PG_dirty);
		item->dirty = true;
	}
}

static void end(struct item *item)
{
	struct page *page;

	if (item->page) {
		assert_true(page_is(&naive.fixture, item->page, item->contents));
		put_page(item);
		item->page = NULL;
	}
	while (item->users)
		put_user(item);
	if (item->cached) {
		page = swap_take_cached(swap_of(), item->slot);
		assert_non_null(page);
		page_put(naive.fixture.frames, page);
		slot_is_free(item);
	}
	item->live = false;
}

static void step(void)
{
	struct item *item = &naive.item[random_below(&naive.random, ITEMS)];
	unsigned what = (unsigned)random_below(&naive.random, 10);

	if (!item->live)
		make(item);
	else if (what == 0 && item->page && !item->cached)
		add(item);
	else if (what == 1 && item->has_slot && (item->cached || item->users)) {
		assert_int_equal(swap_dup(swap_of(), item->slot), 0);
		item->users++;
	} else if (what == 2 && item->users && (item->page || item->users > 1))
		put_user(item);
	else if (what == 3 && item->page && item->cached && item->dirty)
		write_out(item);
	else if (what == 4 && item->cached && item->users)
		remove_clean(item);
	else if (what == 5 && !item->page && item->users)
		bring_in(item);
	else if (what == 6 && item->page && item->cached)
		take(item);
	else if (what == 7 && item->page && !item->users)
		modify(item);
	else if (what == 8 && chance(20))
		end(item);
	else
		return;
	naive.done[what]++;
}

static void compare(bool thoroughly)
{
	struct swap_statistics statistics = statistics_of(&naive.fixture);
	static struct swap_entry user[1 << 16];
	uint64_t cached = 0;
	size_t users = 0;

	for (unsigned i = 0; i < ITEMS; i++) {
		cached += naive.item[i].live && naive.item[i].cached;
		for (unsigned j = 0; naive.item[i].live && j < naive.item[i].users; j++)
			user[users++] = naive.item[i].slot;
	}
	assert_int_equal(statistics.used, naive.used);
	assert_int_equal(statistics.bad, naive.bad);
	assert_int_equal(statistics.cached, cached);
	assert_int_equal(statistics.written, naive.written);
	if (thoroughly)
		assert_swap_good(&naive.fixture, user, users, cached);
}

static void swap_is_as_a_naive_table(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (unsigned round = 0; round < 4; round++) {
		memset(&naive, 0, sizeof(naive));
		random_seed(&naive.random, seed + round);
		fixture_open(&naive.fixture, 512, SLOTS, 8);
		for (unsigned i = 0; i < STEPS; i++) {
			step();
			compare(i % 64 == 0);
		}
		for (unsigned i = 0; i < 9; i++)
			assert_true(naive.done[i] > 0);
		for (unsigned i = 0; i < ITEMS; i++)
			if (naive.item[i].live)
				end(&naive.item[i]);
		assert_int_equal(statistics_of(&naive.fixture).used, 0);
		fixture_close(&naive.fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    swap_test(swap_is_as_a_naive_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
