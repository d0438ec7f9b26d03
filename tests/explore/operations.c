/* SPDX-License-Identifier: MIT */
#include "tests/explore/operations.h"

#include <errno.h>
#include <stddef.h>

/* --- Touching ------------------------------------------------------------------------------------------- */

static int read_page(unsigned actor)
{
	uint64_t value;

	(void)actor;
	if (sf_read(fixture.space, TARGET, &value, sizeof(value), NULL) != sizeof(value))
		return -EFAULT;
	return (int)value;
}

/* Each writes a word of its own: two that write the same would race as a program does. */
static int write_page(unsigned actor)
{
	const uint64_t value = 0x100 + actor;

	return sf_write(fixture.space, TARGET + 8 + 8 * actor, &value, sizeof(value), NULL) == sizeof(value)
		   ? 0
		   : -EFAULT;
}

static int swap_word(unsigned actor)
{
	uint64_t expected = 0;

	return sf_compare_swap_64(fixture.space, TARGET + 24, &expected, 0x200 + actor, NULL);
}

/* What is read through the pin is what was there while it was taken, whatever comes. */
static int pin_page(unsigned actor)
{
	struct sf_pin pin;
	const uint64_t *word = sf_pin(fixture.space, TARGET, SF_READ, &pin, NULL);
	int value = word ? (int)*word : -EFAULT;

	(void)actor;
	sf_unpin(fixture.system, &pin);
	return value;
}

static int look_up(unsigned actor)
{
	struct sf_tlb *tlb = NULL;
	const uint64_t *word;
	int value;

	(void)actor;
	check_that(!sf_tlb_create(fixture.space, &tlb));
	word = sf_tlb_lookup(tlb, TARGET, SF_READ, NULL);
	value = word ? (int)*word : -EFAULT;
	word = sf_tlb_lookup(tlb, TARGET, SF_READ, NULL);
	if (word)
		value ^= (int)*word << 8;
	sf_tlb_idle(tlb);
	sf_tlb_destroy(tlb);
	return value;
}

const struct operation operation_read = {.run = read_page, .touches = SF_READ},
		       operation_write = {.run = write_page, .touches = SF_WRITE},
		       operation_swap = {.run = swap_word, .touches = SF_WRITE},
		       operation_pin = {.run = pin_page, .touches = SF_READ},
		       operation_tlb = {.run = look_up, .many_steps = true};

/* --- Mappings ------------------------------------------------------------------------------------------- */

static int map_page(unsigned actor)
{
	uint64_t mapped;

	return sf_map(fixture.space, TARGET, PAGE, actor ? RW : SF_PROT_READ,
		      SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped);
}

static int place_pages(unsigned actor)
{
	uint64_t mapped = 0;
	int error =
	    sf_map(fixture.space, 0, (1 + actor) * PAGE, RW, SF_MAP_SHARED | SF_MAP_ANONYMOUS, &mapped);

	return error ? error : (int)((SF_ADDRESS_END - mapped) / PAGE);
}

static int unmap_page(unsigned actor)
{
	int error = sf_unmap(fixture.space, TARGET, PAGE);

	(void)actor;
	return error;
}

static int protect_page(unsigned actor)
{
	(void)actor;
	return sf_protect(fixture.space, TARGET, PAGE, SF_PROT_READ);
}

static int forbid_page(unsigned actor)
{
	(void)actor;
	return sf_protect(fixture.space, TARGET, PAGE, SF_PROT_NONE);
}

static int move_page(unsigned actor)
{
	uint64_t mapped;

	return sf_remap(fixture.space, TARGET, PAGE, PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED,
			AWAY + actor * 4 * PAGE, &mapped);
}

static int grow_mapping(unsigned actor)
{
	uint64_t mapped;

	return sf_remap(fixture.space, TARGET, 2 * PAGE, (3 + actor) * PAGE, 0, 0, &mapped);
}

static int dontneed_page(unsigned actor)
{
	(void)actor;
	return sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_DONTNEED);
}

static int free_page(unsigned actor)
{
	(void)actor;
	return sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_FREE);
}

static int populate_page(unsigned actor)
{
	(void)actor;
	return sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_POPULATE_WRITE);
}

static int lock_page(unsigned actor)
{
	(void)actor;
	return sf_lock(fixture.space, TARGET, PAGE);
}

static int unlock_page(unsigned actor)
{
	(void)actor;
	return sf_unlock(fixture.space, TARGET, PAGE);
}

static int limit_space(unsigned actor)
{
	return sf_set_limit(fixture.space, SF_LIMIT_ADDRESS_SPACE, (4 + actor) * PAGE);
}

const struct operation operation_map = {.run = map_page}, operation_place = {.run = place_pages},
		       operation_unmap = {.run = unmap_page}, operation_protect = {.run = protect_page},
		       operation_forbid = {.run = forbid_page}, operation_move = {.run = move_page},
		       operation_grow = {.run = grow_mapping}, operation_dontneed = {.run = dontneed_page},
		       operation_free = {.run = free_page},
		       operation_populate = {.run = populate_page, .many_steps = true},
		       operation_lock = {.run = lock_page, .many_steps = true},
		       operation_unlock = {.run = unlock_page}, operation_limit = {.run = limit_space};

/* --- Looking -------------------------------------------------------------------------------------------- */

/* Numbers of a moment; that they are plausible is all that can be said while others change them. */
static int look_around(unsigned actor)
{
	struct sf_space_statistics of_space;
	struct sf_system_statistics of_system;
	struct sf_mapping mapping;
	unsigned char resident[3];
	int error = sf_mincore(fixture.space, AT, 3 * PAGE, resident);

	(void)actor;
	check_that(!error || error == -ENOMEM);
	sf_space_statistics(fixture.space, &of_space);
	check_that(of_space.resident <= OWN_FRAMES * PAGE && of_space.peak_size >= of_space.size);
	sf_system_statistics(fixture.system, &of_system);
	check_that(of_system.frames == OWN_FRAMES && of_system.free_frames < OWN_FRAMES);
	for (uint64_t at = 0; !sf_next_mapping(fixture.space, at, &mapping); at = mapping.end)
		check_that(mapping.start < mapping.end && mapping.end > at &&
			   mapping.resident <= mapping.end - mapping.start);
	return 0;
}

const struct operation operation_look = {.run = look_around, .result_varies = true};

/* --- Spaces --------------------------------------------------------------------------------------------- */

static int fork_space(unsigned actor)
{
	return sf_space_fork(fixture.space, &fixture.made[actor]);
}

static int destroy_child(unsigned actor)
{
	struct sf_space *child = fixture.child;

	(void)actor;
	fixture.child = NULL;
	sf_space_destroy(child);
	return 0;
}

static int create_space(unsigned actor)
{
	struct sf_space *space;
	uint64_t mapped;

	check_that(!sf_space_create(fixture.system, &space));
	check_that(!sf_map(space, AT, PAGE, RW, SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped));
	fixture_store(space, AT, actor);
	sf_space_destroy(space);
	return 0;
}

const struct operation operation_fork = {.run = fork_space}, operation_destroy = {.run = destroy_child},
		       operation_create = {.run = create_space};

/* --- Scenes --------------------------------------------------------------------------------------------- */

#define STORED UINT64_C(0x10)

int scene_empty(struct message *why)
{
	return fixture_open(true, why);
}

int scene_fresh(struct message *why)
{
	int error = fixture_open(true, why);

	if (!error)
		fixture_map(AT, 3, RW, SF_MAP_PRIVATE);
	return error;
}

int scene_untouched(struct message *why)
{
	int error = scene_fresh(why);

	if (!error)
		fixture_store(fixture.space, AT, STORED);
	return error;
}

int scene_zero(struct message *why)
{
	int error = scene_untouched(why);

	if (!error)
		check_that(fixture_load(fixture.space, TARGET) == 0);
	return error;
}

int scene_own(struct message *why)
{
	int error = scene_untouched(why);

	if (!error)
		fixture_store(fixture.space, TARGET, STORED);
	return error;
}

int scene_cow(struct message *why)
{
	int error = scene_own(why);

	if (!error)
		fixture_fork();
	return error;
}

int scene_shared(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 3, RW, SF_MAP_SHARED);
	fixture_store(fixture.space, AT, STORED);
	fixture_fork();
	return 0;
}

int scene_pfn(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	check_that(!system_map_pfn(fixture.space, AT, 3 * PAGE, OWN_FRAMES, true));
	fixture_store(fixture.space, AT, STORED);
	return 0;
}
