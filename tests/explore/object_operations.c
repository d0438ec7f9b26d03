/* SPDX-License-Identifier: MIT */
/*
 * Operations and scenes that are about an object behind the mapping: it has three pages, mapped at AT, so
 * that TARGET is its page 1.
 */
#include "tests/explore/operations.h"

#include <stddef.h>

#define OBJECT_PAGES 3u
#define STORED       UINT64_C(0x10)

/* --- Operations ----------------------------------------------------------------------------------------- */

/* The first page stays. */
static int truncate_object(unsigned actor)
{
	(void)actor;
	return sf_object_resize(fixture.object, PAGE);
}

static int extend_object(unsigned actor)
{
	return sf_object_resize(fixture.object, (OBJECT_PAGES + 1 + actor) * PAGE);
}

static int punch_page(unsigned actor)
{
	(void)actor;
	return sf_object_punch(fixture.object, PAGE, PAGE);
}

/* The same through the mapping. */
static int remove_page(unsigned actor)
{
	(void)actor;
	return sf_advise(fixture.space, TARGET, PAGE, SF_ADVICE_REMOVE);
}

static int sync_pages(unsigned actor)
{
	return actor ? sf_object_sync(fixture.object)
		     : sf_sync(fixture.space, AT, OBJECT_PAGES * PAGE, SF_SYNC_SYNC);
}

static int fetch_word(unsigned actor)
{
	uint64_t value = 0;
	int64_t bytes = sf_object_read(fixture.object, PAGE, &value, sizeof(value));

	(void)actor;
	return bytes == sizeof(value) ? (int)value : (int)bytes - 1;
}

/* Each a word of its own, and none that others write through mappings. */
static int store_word(unsigned actor)
{
	const uint64_t value = 0x300 + actor;

	return (int)sf_object_write(fixture.object, PAGE + 32 + 8 * actor, &value, sizeof(value));
}

static int attach_object(unsigned actor)
{
	uint64_t mapped;

	return sf_map_object(fixture.space, AWAY, OBJECT_PAGES * PAGE, actor ? RW : SF_PROT_READ,
			     SF_MAP_SHARED | SF_MAP_FIXED, fixture.object, 0, &mapped);
}

static int close_object(unsigned actor)
{
	struct sf_object *object = fixture.object;

	(void)actor;
	fixture.object = NULL;
	sf_object_close(object);
	return 0;
}

static int inspect_object(unsigned actor)
{
	struct sf_object_statistics statistics;

	(void)actor;
	sf_object_statistics(fixture.object, &statistics);
	check_that(statistics.cached <= 2 * OBJECT_PAGES * PAGE && statistics.dirty <= statistics.cached);
	check_that(statistics.mappings <= 6);
	return 0;
}

/* An object comes and goes, with a page. */
static int make_object(unsigned actor)
{
	struct sf_object *object;
	uint64_t value = actor;

	check_that(!sf_object_create(fixture.system, PAGE, 0, &object));
	check_that(sf_object_write(object, 0, &value, sizeof(value)) == sizeof(value));
	sf_object_close(object);
	return 0;
}

const struct operation operation_truncate = {.run = truncate_object},
		       operation_extend = {.run = extend_object}, operation_punch = {.run = punch_page},
		       operation_remove = {.run = remove_page}, operation_sync = {.run = sync_pages},
		       operation_fetch = {.run = fetch_word}, operation_store = {.run = store_word},
		       operation_attach = {.run = attach_object}, operation_close = {.run = close_object},
		       operation_inspect = {.run = inspect_object, .result_varies = true},
		       operation_make = {.run = make_object};

/* --- Scenes --------------------------------------------------------------------------------------------- */

static int open_shmem(struct message *why)
{
	int error = fixture_open(true, why);

	if (!error)
		fixture_shmem(OBJECT_PAGES, 0);
	return error;
}

int scene_memfd(struct message *why)
{
	int error = open_shmem(why);

	if (error)
		return error;
	fixture_map_object(AT, OBJECT_PAGES, RW, SF_MAP_SHARED);
	fixture_store(fixture.space, AT, STORED);
	fixture_fork();
	return 0;
}

int scene_filled(struct message *why)
{
	int error = scene_memfd(why);

	if (error)
		return error;
	fixture_store(fixture.space, TARGET, STORED);
	check_that(fixture_load(fixture.child, TARGET) == STORED);
	return 0;
}

int scene_image(struct message *why)
{
	const uint64_t value = STORED;
	int error = open_shmem(why);

	if (error)
		return error;
	check_that(sf_object_write(fixture.object, PAGE, &value, sizeof(value)) == sizeof(value));
	fixture_map_object(AT, OBJECT_PAGES, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, STORED);
	check_that(fixture_load(fixture.space, TARGET) == STORED);
	return 0;
}

int scene_copied(struct message *why)
{
	int error = scene_image(why);

	if (!error)
		fixture_store(fixture.space, TARGET, STORED + 1);
	return error;
}

int scene_file(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_file(OBJECT_PAGES);
	fixture_map_object(AT, OBJECT_PAGES, RW, SF_MAP_SHARED);
	check_that(fixture_load(fixture.space, AT) == 1);
	return 0;
}

int scene_clean(struct message *why)
{
	int error = scene_file(why);

	if (error)
		return error;
	check_that(fixture_load(fixture.space, TARGET) == 2);
	fixture_fork();
	check_that(fixture_load(fixture.child, TARGET) == 2);
	return 0;
}

int scene_dirty(struct message *why)
{
	int error = scene_clean(why);

	if (error)
		return error;
	fixture_store(fixture.space, TARGET, STORED);
	fixture_store(fixture.child, TARGET + 8, STORED);
	return 0;
}

int scene_library(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_file(OBJECT_PAGES);
	fixture_map_object(AT, OBJECT_PAGES, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, STORED);
	return 0;
}
