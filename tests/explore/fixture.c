/* SPDX-License-Identifier: MIT */
#include "tests/explore/fixture.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "mm/charge/group.h"
#include "mm/object/cache.h"
#include "mm/page/frames.h"
#include "mm/reclaim/reclaim.h"
#include "mm/space/space.h"
#include "mm/table/pte.h"
#include "port/rcu.h"

struct fixture fixture;

struct policy fixture_policy(void)
{
	struct policy policy;

	check_that(!policy_parse(&policy, check_policy(), NULL));
	return policy;
}

int fixture_open(bool contents, struct message *why)
{
	struct system_config config = {
	    .own_frames = OWN_FRAMES, .exported_frames = EXPORTED_FRAMES, .structure_only = !contents};
	struct sf_system_statistics statistics;
	int error = policy_parse(&config.policy, check_policy(), why);

	if (!error)
		error = system_create(&config, &fixture.system, why);
	if (error)
		return error;
	sf_system_statistics(fixture.system, &statistics);
	fixture.free_frames = statistics.free_frames;
	fixture.child = NULL;
	fixture.object = NULL;
	for (unsigned cpu = 0; cpu < CHECK_CPUS_MAX; cpu++)
		fixture.made[cpu] = NULL;
	error = sf_space_create(fixture.system, &fixture.space);
	return error ? message_set(why, error, "no memory for a space") : 0;
}

void fixture_use_lookup(const struct vma_lookup_ops *lookup)
{
	fixture.space->parts.lookup = lookup;
}

bool fixture_good(struct message *why)
{
	return !system_check(fixture.system, why);
}

void fixture_close(void)
{
	struct sf_system_statistics statistics;

	if (fixture.child)
		sf_space_destroy(fixture.child);
	sf_space_destroy(fixture.space);
	sf_object_close(fixture.object);
	/* Objects end a grace period after their last mapping; what waits for one would be neither free nor
	 * used. */
	port_rcu_barrier();
	sf_system_statistics(fixture.system, &statistics);
	check_equal(statistics.anonymous_frames, 0);
	check_equal(statistics.table_frames, 0);
	check_equal(statistics.pinned_frames, 0);
	check_equal(statistics.shared_frames, 0);
	check_equal(statistics.file_frames, 0);
	/* The nodes of indices keep their frames for the next ones. */
	check_nothing_left("frames", fixture.free_frames - statistics.free_frames - statistics.index_frames);
	system_destroy(fixture.system);
}

bool fixture_equal(const char *what, uint64_t found, uint64_t wanted, struct message *why)
{
	if (found == wanted)
		return true;
	message_set(why, -EINVAL, "%s: %#" PRIx64 ", and the model has %#" PRIx64, what, found, wanted);
	return false;
}

void fixture_map(uint64_t address, unsigned pages, int protection, int flags)
{
	uint64_t mapped;

	check_that(!sf_map(fixture.space, address, pages * PAGE, protection,
			   flags | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped));
}

void fixture_shmem(unsigned pages, unsigned limit)
{
	check_that(!sf_object_create(fixture.system, pages * PAGE, limit * PAGE, &fixture.object));
}

void fixture_file(unsigned pages)
{
	file_open(&fixture.file, pages);
	check_that(!sf_file_open(fixture.system, &fixture.file.backing, &fixture.object));
}

void fixture_swap(void)
{
	check_that(!sf_swap_add_memory(fixture.system, 16 * PAGE, 0));
}

unsigned fixture_evict(uint64_t first, uint64_t end)
{
	struct page *page[RECLAIM_BATCH];
	unsigned count = 0;

	/* One that is about to be made is on no list yet. */
	for (; count < RECLAIM_BATCH && (page[count] = cache_next_get(fixture.object, &first, end)); first++)
		if (page_is_uptodate(page[count]))
			count++;
		else
			page_put(fixture.object->objects->frames, page[count]);
	return count ? reclaim_page_list(fixture.object->objects->frames->groups->reclaim, page, count) : 0;
}

void fixture_map_object(uint64_t address, unsigned pages, int protection, int flags)
{
	uint64_t mapped;

	check_that(!sf_map_object(fixture.space, address, pages * PAGE, protection, flags | SF_MAP_FIXED,
				  fixture.object, 0, &mapped));
}

bool fixture_file_good(struct message *why)
{
	struct page *page;
	bool good = true;

	/* With dirty_tracking=pte a page looks clean while an entry of it is dirty. */
	if (fixture_policy().dirty_tracking == POLICY_DIRTY_TRACKING_PTE)
		return true;
	port_rcu_read_lock();
	for (uint64_t index = 0; good && fixture.object->file &&
				 (page = page_index_next(&fixture.object->index, &index, FILE_PAGES));
	     index++) {
		const uint64_t *words = page_address(fixture.space->parts.frames, page);

		for (unsigned i = 0; good && i < FILE_WORDS && !page_has_flag(page, PG_dirty); i++)
			good = fixture_equal("a word of a clean page", words[i], fixture.file.word[index][i],
					     why);
	}
	port_rcu_read_unlock();
	return good;
}

void fixture_store(struct sf_space *space, uint64_t address, uint64_t value)
{
	check_that(sf_write(space, address, &value, sizeof(value), NULL) == sizeof(value));
}

uint64_t fixture_load(struct sf_space *space, uint64_t address)
{
	uint64_t value = 0;

	check_that(sf_read(space, address, &value, sizeof(value), NULL) == sizeof(value));
	return value;
}

uint64_t fixture_peek(struct sf_space *space, uint64_t address)
{
	const struct frames *frames = space->parts.frames;
	uint64_t pte = system_pte(space, address);
	const uint64_t *word;

	if (!pte_maps(pte) || frames->structure_only)
		return 0;
	word = page_address(frames, pfn_to_page(frames, pte_pfn(pte)));
	return *word;
}

void fixture_fork(void)
{
	check_that(!sf_space_fork(fixture.space, &fixture.child));
}
