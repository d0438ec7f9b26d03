/* SPDX-License-Identifier: MIT */
/*
 * Write-back in the background writes what is dirty, in file order and in transfers of the size that was
 * asked for, goes on where it stopped, and loses nothing that fails; and reclaim's last resort is counted.
 */
#include "mm/object/evict.h"
#include "mm/object/file.h"
#include "mm/page/page_wait.h"
#include "mm/rmap/reverse_map.h"
#include "mm/system/internal.h"
#include "tests/common/memory_backing.h"
#include "tests/unit/mm/object_fixture.h"

#define BULK  8u
#define PAGES 5000u
#define CALLS 64u

/* A file that keeps what was written to it, transfer by transfer. */
struct logged {
	struct memory_backing file;
	struct sf_backing_ops ops;
	struct sf_object *object;
	unsigned calls;
	struct {
		uint64_t first;
		unsigned count;
	} call[CALLS];
};

static struct logged files[3];
static struct sf_system *machine;
static unsigned opened, order[CALLS], ordered;

static int log_write(struct sf_backing *backing, struct sf_io *io)
{
	struct logged *logged =
	    container_of(container_of(backing, struct memory_backing, backing), struct logged, file);

	assert_true(logged->calls < CALLS && ordered < CALLS);
	logged->call[logged->calls].first = io->offset / PAGE;
	logged->call[logged->calls++].count = io->count;
	order[ordered++] = (unsigned)(logged - files);
	return memory_backing_write(backing, io);
}

static void forget(void)
{
	for (unsigned i = 0; i < opened; i++)
		files[i].calls = 0;
	ordered = 0;
}

static void open_files(const char *text, unsigned count)
{
	struct system_config config = {.own_frames = 2 * PAGES, .write_back_pages = BULK};
	struct message why = {""};

	assert_int_equal(policy_parse(&config.policy, text, &why), 0);
	if (system_create(&config, &machine, &why))
		fail_msg("%s", why.text);
	opened = count;
	for (unsigned i = 0; i < count; i++) {
		struct logged *logged = &files[i];

		memory_backing_open(&logged->file, PAGES * PAGE, PAGES * PAGE);
		logged->ops = memory_backing_ops;
		logged->ops.write = log_write;
		logged->file.backing.ops = &logged->ops;
		assert_int_equal(sf_file_open(machine, &logged->file.backing, &logged->object), 0);
	}
	forget();
}

static void close_files(void)
{
	assert_good(machine);
	for (unsigned i = 0; i < opened; i++)
		sf_object_close(files[i].object);
	port_rcu_barrier();
	system_destroy(machine);
	for (unsigned i = 0; i < opened; i++) {
		assert_true(files[i].file.released);
		memory_backing_close(&files[i].file);
	}
}

static void make_dirty(struct logged *logged, uint64_t first, uint64_t count)
{
	for (uint64_t page = first; page < first + count; page++)
		object_put_byte(logged->object, page * PAGE, (unsigned char)(page + 1));
}

static void assert_call(const struct logged *logged, unsigned i, uint64_t first, unsigned count)
{
	assert_true(i < logged->calls);
	assert_int_equal(logged->call[i].first, first);
	assert_int_equal(logged->call[i].count, count);
	for (uint64_t page = first; page < first + count; page++)
		assert_int_equal(logged->file.bytes[page * PAGE], (unsigned char)(page + 1));
}

static uint64_t dirty_bytes(const struct logged *logged)
{
	struct sf_object_statistics statistics;

	sf_object_statistics(logged->object, &statistics);
	return statistics.dirty;
}

static struct sf_reclaim_statistics counts(void)
{
	struct sf_reclaim_statistics statistics;

	sf_reclaim_statistics(machine, &statistics);
	return statistics;
}

/* Pages 0..19 as 8, 8, 4; a page alone; and far away, in a tree that has grown since, 3. */
static void it_writes_in_bulk_and_in_order(void **state)
{
	struct logged *file = &files[0];

	(void)state;
	open_files("default", 1);
	make_dirty(file, 0, 20);
	make_dirty(file, 4998, 2);
	make_dirty(file, 70, 1);
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), 23 * PAGE);
	assert_int_equal(file->calls, 5);
	assert_call(file, 0, 0, 8);
	assert_call(file, 1, 8, 8);
	assert_call(file, 2, 16, 4);
	assert_call(file, 3, 70, 1);
	assert_call(file, 4, 4998, 2);
	assert_int_equal(dirty_bytes(file), 0);
	assert_int_equal(counts().write_backs, 5);
	assert_int_equal(counts().written_back, 23);
	assert_int_equal(counts().written_alone, 0);
	/* Nothing is left; what is dirty again is found again, and a sync leaves nothing either. */
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), 0);
	make_dirty(file, 70, 1);
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), PAGE);
	make_dirty(file, 70, 2);
	assert_int_equal(sf_object_sync(file->object), 0);
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), 0);
	assert_int_equal(file->calls, 7);
	close_files();
}

/* It stops when it has written enough, and goes on there: what is dirty before that has to wait. */
static void it_goes_on_where_it_stopped(void **state)
{
	struct logged *file = &files[0];

	(void)state;
	open_files("default page_index=tree_lock", 1);
	make_dirty(file, 0, 24);
	assert_int_equal(sf_write_back(machine, BULK * PAGE), BULK * PAGE);
	make_dirty(file, 0, 1);
	assert_int_equal(sf_write_back(machine, 2 * BULK * PAGE), 2 * BULK * PAGE);
	assert_int_equal(file->calls, 3);
	assert_call(file, 1, 8, 8);
	assert_call(file, 2, 16, 8);
	assert_int_equal(dirty_bytes(file), PAGE);
	assert_int_equal(sf_write_back(machine, PAGE), PAGE);
	assert_call(file, 3, 0, 1);
	close_files();
}

static void all_files_have_their_turn(void **state)
{
	(void)state;
	open_files("default", 3);
	for (unsigned i = 0; i < 3; i++)
		make_dirty(&files[i], 0, 2 * BULK);
	/* Each call has room for one file and a half. */
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(sf_write_back(machine, 3 * BULK * PAGE), 3 * BULK * PAGE);
	assert_int_equal(ordered, 6);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(dirty_bytes(&files[i]), 0);
	forget();
	/* One that is cut or written to at the moment is passed over. */
	for (unsigned i = 0; i < 3; i++)
		make_dirty(&files[i], 5, 1);
	down_write(&files[1].object->lock);
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), 2 * PAGE);
	up_write(&files[1].object->lock);
	assert_int_equal(files[1].calls, 0);
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), PAGE);
	close_files();
}

static void what_fails_is_tried_again(void **state)
{
	struct logged *file = &files[0];

	(void)state;
	open_files("default", 1);
	for (unsigned late = 0; late < 2; late++) {
		file->file.late = late;
		make_dirty(file, 3, 10);
		atomic_store(&file->file.good, 1);
		assert_int_equal(sf_write_back(machine, PAGES * PAGE), 8 * PAGE);
		assert_int_equal(dirty_bytes(file), 2 * PAGE);
		assert_int_equal(sf_write_back(machine, PAGES * PAGE), 0);
		assert_good(machine);
		atomic_store(&file->file.good, MEMORY_BACKING_NEVER);
		assert_int_equal(sf_write_back(machine, PAGES * PAGE), 2 * PAGE);
		assert_int_equal(dirty_bytes(file), 0);
		assert_int_equal(sf_object_sync(file->object), -EIO);
		assert_int_equal(sf_object_sync(file->object), 0);
		assert_memory_equal(file->file.bytes + 12 * PAGE, "\15", 1);
	}
	close_files();
}

static unsigned write_around(struct logged *file, uint64_t index)
{
	struct page *page = cache_find_get(file->object, index);
	unsigned written;

	assert_non_null(page);
	written = object_write_around(page);
	page_put(file->object->objects->frames, page);
	return written;
}

/* What is dirty beside the page goes with it, in one transfer: pages 8..15 stand together. */
static void the_last_resort_is_counted(void **state)
{
	struct logged *file = &files[0];

	(void)state;
	open_files("default", 1);
	make_dirty(file, 6, 7);
	make_dirty(file, 14, 1);
	assert_int_equal(write_around(file, 10), 5);
	assert_call(file, 0, 8, 5);
	assert_int_equal(counts().written_alone, 0);
	assert_int_equal(write_around(file, 14), 1);
	assert_call(file, 1, 14, 1);
	assert_int_equal(counts().written_alone, 1);
	/* Clean by now; and one of a file that is cut. */
	assert_int_equal(write_around(file, 14), 0);
	down_write(&file->object->lock);
	assert_int_equal(write_around(file, 6), 0);
	up_write(&file->object->lock);
	assert_int_equal(write_around(file, 7), 2);
	assert_call(file, 2, 6, 2);
	assert_int_equal(counts().written_alone, 1);
	assert_int_equal(file->calls, 3);
	assert_int_equal(dirty_bytes(file), 0);
	close_files();
}

/* With dirty_tracking=pte entries know what is dirty until they go or are asked. */
static void it_sees_what_pages_know(void **state)
{
	struct logged *file = &files[0];
	struct sf_space *space;
	uint64_t mapped;

	(void)state;
	open_files("default dirty_tracking=pte", 1);
	assert_int_equal(sf_space_create(machine, &space), 0);
	assert_int_equal(
	    sf_map_object(space, BASE, 16 * PAGE, RW, SHARED | SF_MAP_FIXED, file->object, 0, &mapped), 0);
	for (unsigned page = 0; page < 16; page++)
		put_byte(space, BASE + page * PAGE, (unsigned char)(page + 1));
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), 0);
	assert_int_equal(sf_unmap(space, BASE + 4 * PAGE, 4 * PAGE), 0);
	assert_int_equal(sf_write_back(machine, PAGES * PAGE), 4 * PAGE);
	assert_call(file, 0, 4, 4);
	assert_int_equal(sf_object_sync(file->object), 0);
	assert_int_equal(file->calls, 3);
	assert_call(file, 1, 0, 4);
	assert_call(file, 2, 8, 8);
	/* Written through the entry that kept its right. */
	put_byte(space, BASE + 1, 77);
	assert_int_equal(dirty_bytes(file), 0);
	assert_int_equal(sf_object_sync(file->object), 0);
	assert_int_equal(file->file.bytes[1], 77);
	sf_space_destroy(space);
	close_files();
}

/* The scan for references brings the dirty bits along, or leaves them where they are. */
static void a_scan_tells_pages(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct rmap_found found;
		struct sf_space *space;
		struct page *page;
		uint64_t mapped;

		open_files(
		    on ? "default dirty_tracking=pte" : "default dirty_tracking=pte dirty_transfer=off", 1);
		assert_int_equal(sf_space_create(machine, &space), 0);
		assert_int_equal(
		    sf_map_object(space, BASE, PAGE, RW, SHARED | SF_MAP_FIXED, files[0].object, 0, &mapped),
		    0);
		put_byte(space, BASE, 1);
		page = cache_find_get(files[0].object, 0);
		page_lock(page);
		page_referenced(&machine->rmap, page, &found);
		page_unlock(page);
		page_put(machine->frames, page);
		assert_int_equal(found.references, 1);
		assert_int_equal(sf_write_back(machine, PAGE), on * PAGE);
		put_byte(space, BASE, 2);
		assert_int_equal(sf_object_sync(files[0].object), 0);
		assert_int_equal(files[0].file.bytes[0], 2);
		sf_space_destroy(space);
		close_files();
	}
}

static void a_transfer_has_its_bounds(void **state)
{
	struct system_config config = {.own_frames = 64, .write_back_pages = SF_IO_PAGES_MAX + 1};
	struct message why = {""};

	(void)state;
	assert_int_equal(policy_parse(&config.policy, "default", &why), 0);
	assert_int_equal(system_create(&config, &machine, &why), -EINVAL);
	assert_non_null(strstr(why.text, "at most 32"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(it_writes_in_bulk_and_in_order),
	    fault_test(it_goes_on_where_it_stopped),
	    fault_test(all_files_have_their_turn),
	    fault_test(what_fails_is_tried_again),
	    fault_test(the_last_resort_is_counted),
	    fault_test(it_sees_what_pages_know),
	    fault_test(a_scan_tells_pages),
	    fault_test(a_transfer_has_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
