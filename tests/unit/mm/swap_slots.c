/* SPDX-License-Identifier: MIT */
/*
 * Slots one by one: entries and page table entries, how full is full, which area and which neighbour is next,
 * a page that comes back and leaves unwritten, one that is shared.
 */
#include "tests/unit/mm/swap_fixture.h"

#include "mm/swap/area.h"
#include "mm/table/pte.h"

static void entries_stand_in_page_table_entries(void **state)
{
	(void)state;
	assert_int_equal(SWAP_PTE_MARK, PTE_SPECIAL);
	assert_int_equal(SWAP_PTE_MAPS, PTE_PRESENT | PTE_PROTNONE);
	for (unsigned area = 0; area < SWAP_AREAS_MAX; area++)
		for (unsigned bit = 0; bit < SWAP_SLOT_BITS; bit++) {
			struct swap_entry entry = swap_entry(area, (UINT64_C(1) << bit) - 1);
			uint64_t pte = pte_from_swap(entry);

			assert_true(pte_is_swap(pte) && pte_is_swap(pte | PTE_LOCKED));
			assert_false(pte_maps(pte));
			assert_int_equal(pte & (PTE_LOCKED | PTE_NX), 0);
			assert_int_equal(pte_swap_entry(pte).value, entry.value);
			assert_int_equal(pte_swap_entry(pte | PTE_LOCKED).value, entry.value);
			assert_int_equal(swap_entry_area(entry), area);
			assert_int_equal(swap_entry_slot(entry), (UINT64_C(1) << bit) - 1);
		}
	assert_false(pte_is_swap(0) || pte_is_swap(PTE_LOCKED));
	assert_false(pte_is_swap(pte_make_zero(false)) || pte_is_swap(pte_make_pfn(5, true, MEMTYPE_WB)));
	assert_false(pte_is_swap(pte_make_page(5, true, true)));
	/* PROT_NONE over the zero page. */
	assert_false(pte_is_swap((pte_make_zero(false) & ~PTE_PRESENT) | PTE_PROTNONE));
}

#define MANY 200u

/* Areas of 70 and 130 slots: the second has priority. Exactly 200 pages fit, and again after all are gone. */
static void full_is_when_every_slot_is_used(void **state)
{
	struct swap_fixture fixture;
	struct page *page[MANY + 1];

	(void)state;
	fixture_open(&fixture, 1024, 70, 1);
	fixture_add(&fixture, 130, 5);
	assert_int_equal(statistics_of(&fixture).slots, MANY);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			page[i] = make_page(&fixture, i);
			assert_int_equal(swap_add_page(fixture.swap, page[i]), 0);
			assert_int_equal(swap_entry_area(page_swap_entry(page[i])), i < 130);
			assert_int_equal(statistics_of(&fixture).used, i + 1);
		}
		page[MANY] = make_page(&fixture, MANY);
		assert_int_equal(swap_add_page(fixture.swap, page[MANY]), -ENOSPC);
		assert_false(page_has_flag(page[MANY], PG_swapcache));
		assert_int_equal(page_refcount(page[MANY]), 1);
		assert_swap_good(&fixture, NULL, 0, MANY);
		for (unsigned i = 0; i <= MANY; i++) {
			if (i < MANY) {
				assert_true(swap_take_page(fixture.swap, page[i]));
				page_put(fixture.frames, page[i]);
			}
			page_unlock(page[i]);
			page_put(fixture.frames, page[i]);
		}
		assert_int_equal(statistics_of(&fixture).used, 0);
		assert_swap_good(&fixture, NULL, 0, 0);
	}
	fixture_close(&fixture);
}

static struct swap_fixture shared;
static struct page *shared_page[MANY];

/* CPU 0 takes one slot, and with it 63 more for itself; CPU 1 gets all of them. */
static void take_on_one_cpu(unsigned cpu, void *argument)
{
	unsigned *taken = argument;
	unsigned count = cpu == 0 ? 1 : cpu == 1 ? 63 : 0;

	while (atomic_load((_Atomic unsigned *)taken) < cpu && count)
		port_cpu_relax();
	for (unsigned i = 0; i < count; i++)
		invariant(!swap_add_page(shared.swap, shared_page[cpu + i]));
	if (cpu == 1)
		invariant(swap_add_page(shared.swap, shared_page[64]) == -ENOSPC);
	if (count)
		atomic_fetch_add((_Atomic unsigned *)taken, 1);
}

static void slots_of_other_cpus_are_found(void **state)
{
	static _Atomic unsigned taken;

	(void)state;
	atomic_store(&taken, 0);
	fixture_open(&shared, 1024, 64, 1);
	for (unsigned i = 0; i < 65; i++)
		shared_page[i] = make_page(&shared, i);
	run_cpus(take_on_one_cpu, (void *)&taken);
	assert_swap_good(&shared, NULL, 0, 64);
	for (unsigned i = 0; i < 65; i++) {
		if (i < 64) {
			assert_true(swap_take_page(shared.swap, shared_page[i]));
			page_put(shared.frames, shared_page[i]);
		}
		page_unlock(shared_page[i]);
		page_put(shared.frames, shared_page[i]);
	}
	fixture_close(&shared);
}

/* Three entries name one slot: it is written once, read once, and its page comes and leaves again unwritten.
 */
static void a_shared_page_is_moved_once(void **state)
{
	struct swap_fixture fixture;
	struct swap_entry user[3];
	struct page *page, *again;

	(void)state;
	fixture_open(&fixture, 256, 64, 1);
	user[0] = user[1] = user[2] = put_out(&fixture, 77, 3);
	assert_swap_good(&fixture, user, 3, 0);
	assert_false(swap_is_cached(fixture.swap, user[0]));
	assert_null(swap_find(fixture.swap, user[0]));

	assert_int_equal(swap_in(fixture.swap, user[0], NULL, &page), 0);
	assert_true(page_is(&fixture, page, 77));
	assert_int_equal(swap_in(fixture.swap, user[1], NULL, &again), 0);
	assert_ptr_equal(again, page);
	page_put(fixture.frames, again);
	assert_int_equal(page_refcount(page), 2);
	assert_false(swap_put(fixture.swap, user[0]));
	assert_swap_good(&fixture, user, 2, 1);

	/* It leaves: clean. One reference more, as of a mapping, keeps it. */
	page_lock(page);
	page_get(page);
	assert_false(swap_remove_clean(fixture.swap, page));
	page_put(fixture.frames, page);
	assert_false(swap_take_page(fixture.swap, page));
	assert_int_equal(swap_dup(fixture.swap, user[1]), 0);
	assert_true(swap_remove_clean(fixture.swap, page));
	page_unlock(page);
	page_put(fixture.frames, page);
	page_put(fixture.frames, page);
	assert_swap_good(&fixture, user, 3, 0);
	assert_int_equal(fixture.file[0].writes, 1);
	assert_int_equal(fixture.file[0].reads, 1);

	/* All come back; the last reference leaves the slot to the cache. */
	assert_int_equal(swap_in(fixture.swap, user[0], NULL, &page), 0);
	assert_false(swap_put(fixture.swap, user[0]));
	assert_false(swap_put(fixture.swap, user[1]));
	assert_true(swap_put(fixture.swap, user[2]));
	assert_int_equal(statistics_of(&fixture).used, 1);
	page_lock(page);
	assert_null(swap_take_cached(fixture.swap, user[2]));
	page_unlock(page);
	assert_ptr_equal(swap_take_cached(fixture.swap, user[2]), page);
	page_put(fixture.frames, page);
	assert_true(page_is(&fixture, page, 77));
	page_put(fixture.frames, page);
	assert_int_equal(statistics_of(&fixture).used, 0);
	assert_int_equal(swap_in(fixture.swap, user[0], NULL, &page), -ENOENT);
	fixture_close(&fixture);
}

static void neighbours_are_read_and_written_together(void **state)
{
	struct swap_fixture fixture;
	struct swap_entry user[32];
	struct swap_writer writer;
	struct page *page[32], *found;
	unsigned users = 0;

	(void)state;
	fixture_open(&fixture, 256, 64, 16);
	swap_writer_init(&writer, fixture.swap, 8);
	for (unsigned i = 0; i < 32; i++) {
		page[i] = make_page(&fixture, i * 1000);
		assert_int_equal(swap_add_page(fixture.swap, page[i]), 0);
		user[i] = page_swap_entry(page[i]);
		assert_int_equal(swap_dup(fixture.swap, user[i]), 0);
		assert_int_equal(swap_writer_add(&writer, page[i]), 0);
		page_unlock(page[i]);
	}
	assert_int_equal(swap_writer_finish(&writer), 0);
	assert_int_equal(writer.written, 32);
	assert_int_equal(fixture.file[0].writes, 4);
	for (unsigned i = 0; i < 32; i++) {
		page_lock(page[i]);
		assert_true(swap_remove_clean(fixture.swap, page[i]));
		page_unlock(page[i]);
		page_put(fixture.frames, page[i]);
		page_put(fixture.frames, page[i]);
	}
	/* The window of 16 around slot 5, without slots 3 and 8, which are free. */
	assert_int_equal(swap_entry_slot(user[5]), 5);
	assert_false(swap_put(fixture.swap, user[3]) || swap_put(fixture.swap, user[8]));
	assert_int_equal(swap_in(fixture.swap, user[5], NULL, &found), 0);
	assert_true(page_is(&fixture, found, 5000));
	page_put(fixture.frames, found);
	assert_int_equal(fixture.file[0].reads, 3);
	assert_int_equal(statistics_of(&fixture).ahead, 13);
	assert_int_equal(statistics_of(&fixture).read, 1);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(swap_is_cached(fixture.swap, user[i]), i < 16 && i != 3 && i != 8);
	for (unsigned i = 0; i < 32; i++)
		if (i != 3 && i != 8)
			user[users++] = user[i];
	assert_swap_good(&fixture, user, users, 14);
	assert_int_equal(swap_in(fixture.swap, user[0], NULL, &found), 0);
	assert_true(page_is(&fixture, found, 0));
	assert_int_equal(fixture.file[0].reads, 3);
	page_put(fixture.frames, found);
	for (unsigned i = 0; i < users; i++)
		swap_put(fixture.swap, user[i]);
	/* What the cache still has goes with it. */
	assert_int_equal(statistics_of(&fixture).used, 14);
	fixture_close(&fixture);
}

static void areas_are_checked(void **state)
{
	struct swap_fixture fixture;
	struct memory_backing file;
	struct swap_area_config config = {.backing = &file.backing};
	struct message why = {""};

	(void)state;
	fixture_open(&fixture, 64, 0, 1);
	memory_backing_open(&file, PORT_PAGE_SIZE - 1, PORT_PAGE_SIZE);
	assert_int_equal(swap_add_area(fixture.swap, &config, &why), -EINVAL);
	file.backing.bytes = (UINT64_C(1) << (SWAP_SLOT_BITS + PORT_PAGE_SHIFT)) + PORT_PAGE_SIZE;
	assert_int_equal(swap_add_area(fixture.swap, &config, &why), -EINVAL);
	memory_backing_close(&file);
	/* Without an area nothing fits. */
	{
		struct page *page = make_page(&fixture, 1);

		assert_int_equal(swap_add_page(fixture.swap, page), -ENOSPC);
		page_unlock(page);
		page_put(fixture.frames, page);
	}
	fixture_close(&fixture);
}

/* The counts are what the check sees; a wrong one shows. */
static void the_check_fires(void **state)
{
	struct swap_fixture fixture;
	struct message why = {""};
	struct swap_entry entry;
	struct swap_area *area;
	uint64_t cached;

	(void)state;
	fixture_open(&fixture, 64, 64, 1);
	entry = put_out(&fixture, 1, 2);
	area = fixture.swap->area[0];
	for (unsigned users = 1; users <= 3; users++) {
		assert_int_equal(swap_check_begin(fixture.swap), 0);
		for (unsigned i = 0; i < users; i++)
			swap_check_user(fixture.swap, entry);
		assert_int_equal(swap_check_end(fixture.swap, &cached, &why), users == 2 ? 0 : -EINVAL);
	}
	swap_count(area, SWAP_USED, 1);
	assert_int_equal(swap_check_begin(fixture.swap), 0);
	swap_check_user(fixture.swap, entry);
	swap_check_user(fixture.swap, entry);
	assert_int_equal(swap_check_end(fixture.swap, &cached, &why), -EINVAL);
	swap_count(area, SWAP_USED, -1);
	area->cluster[0].free |= 1;
	assert_int_equal(swap_check_begin(fixture.swap), 0);
	swap_check_user(fixture.swap, entry);
	swap_check_user(fixture.swap, entry);
	assert_int_equal(swap_check_end(fixture.swap, &cached, &why), -EINVAL);
	area->cluster[0].free &= ~UINT64_C(1);
	swap_put(fixture.swap, entry);
	swap_put(fixture.swap, entry);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    swap_test(entries_stand_in_page_table_entries),
	    swap_test(full_is_when_every_slot_is_used),
	    swap_test(slots_of_other_cpus_are_found),
	    swap_test(a_shared_page_is_moved_once),
	    swap_test(neighbours_are_read_and_written_together),
	    swap_test(areas_are_checked),
	    swap_test(the_check_fires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
