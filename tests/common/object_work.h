/* SPDX-License-Identifier: MIT */
/*
 * Work that meets at one object: one CPU changes its size, punches holes, maps and moves and forks; the
 * others touch and write through shared and private mappings of two spaces, write back, and reclaim. Runs on
 * real threads and on the virtual machine. The spaces move between memory groups, which come and go and are
 * full at times.
 *
 *   first half of the pages    words are written by all
 *   the other                  only read through shared mappings: private mappings copy them
 *
 * A word is 0 or has its page's number in its upper half, so that a page that turns up in a wrong place is
 * seen. Words are used by compare-and-swap alone: each access is atomic.
 */
#ifndef TESTS_COMMON_OBJECT_WORK_H
#define TESTS_COMMON_OBJECT_WORK_H

#include "tests/common/fault_policy.h"
#include "tests/common/memory_backing.h"

#include "mm/charge/group.h"
#include "mm/object/cache.h"
#include "mm/reclaim/reclaim.h"
#include "port/cpu.h"

/* Few CPUs and pages enough for real threads; a test that wants them to meet more often says so. */
#ifndef CPUS
#define CPUS  4u
#define PAGES 64u
#endif
#define WRITTEN_PAGES (PAGES / 2)
#define SHARED_AT     BASE
#define PRIVATE_AT    (BASE + 4096 * PAGE)
#define MOVED_AT      (BASE + 65536 * PAGE)

static struct {
	struct sf_system *system;
	struct sf_group *top, *group[2]; /* of the spaces, below `top` */
	struct sf_space *space[2], *child;
	struct sf_object *object;
	struct memory_backing file;
	bool is_file;
	unsigned steps; /* of each CPU in a round */
	uint64_t seed;
	_Atomic uint64_t touched, missed, refused, reclaimed;
} work;

static const char *const work_policies[] = {
    "default",
    "default page_index=tree_lock shmem_account=inode_lock charge_stock=32 lru_add=zone_lock",
    "default vma_lookup=per_vma page_table_lock=split charge_stock=none group_counter=res_counter",
    ("default vma_lookup=rwsem_xadd page_table_lock=mm shmem_account=ramfs release_batch=pagevec "
     "root_group=charged"),
    "default dirty_tracking=pte page_index=tree_lock",
    "base_2010",
};
#define WORK_POLICIES (sizeof(work_policies) / sizeof(work_policies[0]))

/* Returns whether the page was there. */
static bool use_word(struct sf_space *space, uint64_t address, uint64_t page, bool write)
{
	uint64_t value = write ? 0 : UINT64_MAX;
	struct sf_signal signal = {0};
	int result;

	for (;;) {
		uint64_t next = write ? (page + 1) << 32 | ((value + 1) & UINT32_MAX) : value;

		result = sf_compare_swap_64(space, address, &value, next, &signal);
		if (result)
			break;
		invariant(value >> 32 == 0 ? value == 0 : value >> 32 == page + 1);
		if (!write)
			break;
	}
	if (result >= 0) {
		atomic_fetch_add(&work.touched, 1);
		return true;
	}
	if (result == -ENOMEM) {
		invariant(signal.group);
		atomic_fetch_add(&work.refused, 1);
		return false;
	}
	invariant(result == -EFAULT);
	/* Beyond the end, or just not mapped. */
	invariant((signal.signal == SIGBUS && signal.code == BUS_ADRERR) || signal.signal == SIGSEGV);
	atomic_fetch_add(&work.missed, 1);
	return false;
}

/* Some pages are taken away, whoever uses them, or written back; all come back with the next use. */
static void reclaim_some(struct random *random)
{
	uint64_t index = random_below(random, PAGES), end = index + 1 + random_below(random, 4);
	struct reclaim *reclaim = work.object->objects->frames->groups->reclaim;
	struct page *page[RECLAIM_BATCH];
	unsigned count = 0;

	if (work.is_file && random_below(random, 2)) {
		sf_write_back(work.system, PAGE * (1 + random_below(random, 4)));
		return;
	}
	/* One that is about to be made is on no list yet. */
	for (; (page[count] = cache_next_get(work.object, &index, end)); index++)
		if (page_is_uptodate(page[count]))
			count++;
		else
			page_put(work.object->objects->frames, page[count]);
	if (count)
		atomic_fetch_add(&work.reclaimed, reclaim_page_list(reclaim, page, count));
	port_rcu_poll();
}

static void use_pages(struct random *random)
{
	struct sf_space *space = work.space[random_below(random, 2)];
	uint64_t page = random_below(random, PAGES), offset = page * PAGE + 8 * random_below(random, 4);
	int result;

	switch (random_below(random, 14)) {
	case 12:
	case 13:
		reclaim_some(random);
		break;
	case 0:
		/* A part can be moved away. */
		result = sf_advise(space, SHARED_AT, PAGES * PAGE, SF_ADVICE_DONTNEED);
		invariant(!result || result == -ENOMEM);
		break;
	case 1:
		if (work.is_file)
			invariant(sf_object_sync(work.object) == 0);
		break;
	case 2:
	case 3:
		page = WRITTEN_PAGES + page % (PAGES - WRITTEN_PAGES);
		use_word(space, PRIVATE_AT + page * PAGE, page, random_below(random, 2));
		break;
	default:
		use_word(space, SHARED_AT + offset, page, page < WRITTEN_PAGES && random_below(random, 2));
	}
}

static bool no_entry_beyond(uint64_t pages)
{
	for (unsigned i = 0; i < 2; i++)
		for (uint64_t page = pages; page < PAGES; page++)
			if (system_pte(work.space[i], SHARED_AT + page * PAGE) ||
			    system_pte(work.space[i], MOVED_AT + page * PAGE) ||
			    system_pte(work.space[i], PRIVATE_AT + page * PAGE))
				return false;
	return true;
}

static void cut_object(struct random *random)
{
	uint64_t page = random_below(random, PAGES), count = 1 + random_below(random, PAGES);

	if (random_below(random, 3) == 0) {
		invariant(!sf_object_punch(work.object, page * PAGE, count * PAGE));
		return;
	}
	/* Nobody else makes it larger: what is beyond the end now stays away. */
	invariant(!sf_object_resize(work.object, page * PAGE));
	invariant(no_entry_beyond(page));
	use_pages(random);
	invariant(no_entry_beyond(page));
	if (random_below(random, 4))
		invariant(!sf_object_resize(work.object, PAGES * PAGE));
}

/* Moves a mapping away and back, with or without its end. */
static void move_mapping(struct random *random)
{
	uint64_t from = random_below(random, 2) ? SHARED_AT : PRIVATE_AT,
		 pages = 1 + random_below(random, PAGES), mapped;
	const int flags = SF_REMAP_MAYMOVE | SF_REMAP_FIXED;

	invariant(!sf_remap(work.space[0], from, pages * PAGE, pages * PAGE, flags, MOVED_AT, &mapped));
	use_word(work.space[0], MOVED_AT, 0, true);
	invariant(!sf_remap(work.space[0], MOVED_AT, pages * PAGE, pages * PAGE, flags, from, &mapped));
}

static void map_again(struct random *random)
{
	uint64_t page = random_below(random, PAGES), count = 1 + random_below(random, PAGES - page), mapped;

	if (random_below(random, 2))
		invariant(!sf_unmap(work.space[1], SHARED_AT + page * PAGE, count * PAGE));
	invariant(!sf_map_object(work.space[1], SHARED_AT + page * PAGE, count * PAGE, RW,
				 SF_MAP_SHARED | SF_MAP_FIXED, work.object, page * PAGE, &mapped));
}

/* The last child stays, so that the check at the end sees what was copied and cut. */
static void fork_space(struct random *random)
{
	if (work.child)
		sf_space_destroy(work.child);
	invariant(!sf_space_fork(work.space[random_below(random, 2)], &work.child));
	use_word(work.child, PRIVATE_AT + (PAGES - 1) * PAGE, PAGES - 1, true);
	use_word(work.child, SHARED_AT, 0, true);
}

/* A space moves to a new group, and the old one ends with pages charged to it. Then all are full for a while.
 */
static void change_groups(struct random *random)
{
	unsigned which = (unsigned)random_below(random, 2);
	struct sf_group_statistics statistics;
	struct sf_group *fresh;
	int result;

	if (work.child)
		sf_space_destroy(work.child);
	work.child = NULL;
	invariant(!sf_group_create(work.top, &fresh));
	sf_space_set_group(work.space[which], fresh);
	invariant(!sf_group_destroy(work.group[which]));
	work.group[which] = fresh;
	sf_group_statistics(work.top, &statistics);
	result = sf_group_set_limit(work.top, statistics.usage);
	invariant(!result || result == -EBUSY);
	for (unsigned i = 0; i < 4; i++)
		use_pages(random);
	invariant(!sf_group_set_limit(work.top, SF_GROUP_UNLIMITED));
}

static void change_mappings(struct random *random)
{
	uint64_t page = random_below(random, PAGES), count = 1 + random_below(random, PAGES - page);

	switch (random_below(random, 5)) {
	case 0:
		map_again(random);
		break;
	case 1:
		fork_space(random);
		break;
	case 2:
		invariant(!sf_protect(work.space[1], PRIVATE_AT + page * PAGE, count * PAGE, SF_PROT_READ));
		invariant(!sf_protect(work.space[1], PRIVATE_AT + page * PAGE, count * PAGE, RW));
		break;
	case 3:
		change_groups(random);
		break;
	default:
		move_mapping(random);
	}
}

static void object_work(unsigned cpu, void *argument)
{
	struct random random;

	(void)argument;
	random_seed(&random, work.seed * CPUS + cpu);
	for (unsigned step = 0; step < work.steps; step++) {
		if (cpu == 0)
			cut_object(&random);
		else if (cpu == 1)
			change_mappings(&random);
		else
			use_pages(&random);
	}
}

static void map_all(struct sf_space *space)
{
	uint64_t mapped;

	assert_int_equal(sf_map_object(space, SHARED_AT, PAGES * PAGE, RW, SF_MAP_SHARED | SF_MAP_FIXED,
				       work.object, 0, &mapped),
			 0);
	assert_int_equal(sf_map_object(space, PRIVATE_AT, PAGES * PAGE, RW, SF_MAP_PRIVATE | SF_MAP_FIXED,
				       work.object, 0, &mapped),
			 0);
}

static void object_work_open(const char *text, bool is_file)
{
	struct policy policy;

	assert_int_equal(policy_parse(&policy, text, NULL), 0);
	work.system = fault_system(&policy, 4096);
	work.is_file = is_file;
	assert_int_equal(sf_swap_add_memory(work.system, 4 * PAGES * PAGE, 0), 0);
	memory_backing_open(&work.file, PAGES * PAGE, PAGES * PAGE);
	if (is_file)
		assert_int_equal(sf_file_open(work.system, &work.file.backing, &work.object), 0);
	else
		assert_int_equal(sf_object_create(work.system, PAGES * PAGE, 0, &work.object), 0);
	assert_int_equal(sf_group_create(sf_group_root(work.system), &work.top), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(sf_group_create(work.top, &work.group[i]), 0);
		assert_int_equal(sf_space_create_in(work.group[i], &work.space[i]), 0);
		map_all(work.space[i]);
	}
	atomic_store(&work.touched, 0);
	atomic_store(&work.missed, 0);
	atomic_store(&work.refused, 0);
	atomic_store(&work.reclaimed, 0);
}

/* All that was written through any mapping is in the file, once it has been written back. */
static void assert_written_back(void)
{
	static unsigned char bytes[PAGES * PAGE];
	struct sf_object_statistics statistics;

	if (!work.is_file)
		return;
	assert_int_equal(sf_object_sync(work.object), 0);
	sf_object_statistics(work.object, &statistics);
	assert_int_equal(statistics.dirty, 0);
	assert_int_equal(work.file.size, statistics.bytes);
	assert_int_equal(sf_object_read(work.object, 0, bytes, sizeof(bytes)), statistics.bytes);
	assert_memory_equal(bytes, work.file.bytes, statistics.bytes);
}

static void object_work_close(void)
{
	assert_good(work.system);
	assert_written_back();
	assert_good(work.system);
	for (unsigned i = 0; i < 2; i++)
		sf_space_destroy(work.space[i]);
	if (work.child)
		sf_space_destroy(work.child);
	work.child = NULL;
	sf_object_close(work.object);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(sf_group_destroy(work.group[i]), 0);
	assert_int_equal(sf_group_destroy(work.top), 0);
	fault_system_end(work.system);
	memory_backing_close(&work.file);
}

#endif
