/* SPDX-License-Identifier: MIT */
/*
 * Reclaim of anonymous memory: at a group's limit, when frames run out, when a limit is lowered; what is
 * taken first, and what never.
 */
#include "tests/unit/mm/reclaim_fixture.h"

static void holds_more_than_its_limit(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		struct stage stage;

		open_stage(&stage, reclaim_policies[i], 4000, 256, 1024);
		for (uint64_t page = 0; page < 1024; page++)
			write_page(&stage, page, page * 7 + 1);
		assert_good(&stage);
		for (uint64_t page = 0; page < 1024; page++)
			assert_int_equal(read_page(&stage, page), page * 7 + 1);
		for (uint64_t page = 1024; page-- > 0;)
			assert_int_equal(read_page(&stage, page), page * 7 + 1);
		assert_true(statistics(&stage).reclaimed >= 768);
		close_stage(&stage);
	}
}

static void frames_run_out(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		struct stage stage;

		open_stage(&stage, reclaim_policies[i], 600, UNLIMITED, 1024);
		fills(&stage, 1024);
		assert_good(&stage);
		holds(&stage, 1024);
		assert_true(statistics(&stage).direct > 0);
		close_stage(&stage);
	}
}

static void objects_give_way(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(reclaim_policies); i++) {
		struct memory_backing file;
		struct sf_object *object;
		struct stage stage;

		open_stage(&stage, reclaim_policies[i / 2], 4000, 256, 1);
		object = map_object(&stage, i % 2 ? &file : NULL, 1024);
		fills(&stage, 1024);
		assert_good(&stage);
		holds(&stage, 1024);
		assert_true(group_usage(stage.group) <= 256);
		assert_true(statistics(&stage).reclaimed >= 700);
		sf_object_close(object);
		close_stage(&stage);
		if (i % 2)
			memory_backing_close(&file);
	}
}

/* Both by offset, and frames run out. */
static void files_are_read_and_written_by_offset(void **state)
{
	struct memory_backing file;
	struct sf_object *object;
	unsigned char bytes[3 * PAGE];
	struct stage stage;

	(void)state;
	open_stage(&stage, "default", 600, UNLIMITED, 1);
	object = map_object(&stage, &file, 2048);
	for (uint64_t at = 0; at < 2046; at++) {
		memset(bytes, (int)(at % 251), sizeof(bytes));
		assert_int_equal(sf_object_write(object, at * PAGE + 5, bytes, sizeof(bytes)), sizeof(bytes));
	}
	assert_good(&stage);
	for (uint64_t at = 0; at < 2046; at++) {
		assert_int_equal(sf_object_read(object, at * PAGE + 5, bytes, PAGE), PAGE);
		assert_int_equal(bytes[0], at % 251);
		assert_int_equal(bytes[PAGE - 1], at % 251);
	}
	sf_object_close(object);
	close_stage(&stage);
	memory_backing_close(&file);
}

static void a_lower_limit_takes_the_rest(void **state)
{
	struct stage stage;

	(void)state;
	open_stage(&stage, "default", 4000, 1024, 800);
	fills(&stage, 800);
	assert_int_equal(sf_group_set_limit(stage.group, 200 * PAGE), 0);
	assert_true(group_usage(stage.group) <= 200);
	assert_good(&stage);
	holds(&stage, 800);
	close_stage(&stage);
}

static void without_swap_the_limit_stands(void **state)
{
	struct sf_group_statistics group;
	struct sf_signal signal;
	struct stage stage;

	(void)state;
	open_without_swap(&stage, "default", 4000, 300, 800);
	for (uint64_t page = 0; page < 200; page++)
		write_page(&stage, page, page);
	assert_int_equal(sf_group_set_limit(stage.group, 100 * PAGE), -EBUSY);
	for (uint64_t page = 200; !sf_touch(stage.space, stage.at + page * PAGE, SF_WRITE, &signal); page++)
		assert_true(page < 300);
	assert_ptr_equal(signal.group, stage.group);
	sf_group_statistics(stage.group, &group);
	assert_int_equal(group.out_of_memory, 1);
	assert_int_equal(statistics(&stage).reclaimed, 0);
	close_stage(&stage);
}

/* The swap area is full before all is out: who asks gets an error, and nothing is lost. */
static void full_swap_is_told(void **state)
{
	struct sf_signal signal;
	struct stage stage;
	uint64_t page = 0;

	(void)state;
	open_without_swap(&stage, "default", 4000, 256, 2000);
	assert_int_equal(sf_swap_add_memory(stage.system, 300 * PAGE, 0), 0);
	for (; page < 2000; page++) {
		if (sf_touch(stage.space, stage.at + page * PAGE, SF_WRITE, &signal))
			break;
		write_page(&stage, page, page * 7 + 1);
	}
	assert_in_range(page, 450, 556);
	assert_ptr_equal(signal.group, stage.group);
	assert_good(&stage);
	/* With every page and every slot in use nothing can be brought in. */
	assert_int_equal(sf_group_set_limit(stage.group, 264 * PAGE), 0);
	holds(&stage, page);
	assert_good(&stage);
	close_stage(&stage);
}

/* Writes fail, all of them or every third; what cannot leave stays, and is right. */
static void failed_writes_lose_nothing(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct memory_backing file;
		struct sf_signal signal;
		struct stage stage;
		uint64_t page;

		open_without_swap(&stage, "default", 4000, 256, 1000);
		memory_backing_open(&file, 2000 * PAGE, 2000 * PAGE);
		assert_int_equal(sf_swap_add(stage.system, &file.backing, 0), 0);
		file.error = i ? -EIO : -ENOMEM;
		file.late = i == 2;
		atomic_store(&file.good, 5);
		for (page = 0; page < 1000; page++) {
			if (sf_touch(stage.space, stage.at + page * PAGE, SF_WRITE, &signal))
				break;
			write_page(&stage, page, page * 7 + 1);
		}
		assert_in_range(page, 200, 800);
		assert_good(&stage);
		atomic_store(&file.good, MEMORY_BACKING_NEVER);
		/* Pages that cannot leave until they are touched may be all that there are. */
		assert_int_equal(sf_group_set_limit(stage.group, 264 * PAGE), 0);
		holds(&stage, page);
		for (unsigned round = 0; round < 3; round++) {
			fills(&stage, 1000);
			holds(&stage, 1000);
		}
		assert_good(&stage);
		close_stage(&stage);
		memory_backing_close(&file);
	}
}

static void locked_memory_stays(void **state)
{
	unsigned char in_memory[64];
	struct stage stage;

	(void)state;
	open_stage(&stage, "default", 4000, 256, 1024);
	fills(&stage, 64);
	assert_int_equal(sf_lock(stage.space, stage.at, 64 * PAGE), 0);
	fills(&stage, 1024);
	holds(&stage, 1024);
	assert_int_equal(sf_mincore(stage.space, stage.at, 64 * PAGE, in_memory), 0);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(in_memory[i], 1);
	close_stage(&stage);
}

static void pinned_pages_stay(void **state)
{
	struct sf_pin pin[8];
	struct stage stage;
	uint64_t *word[8];

	(void)state;
	open_stage(&stage, "default", 4000, 128, 1024);
	fills(&stage, 8);
	for (unsigned i = 0; i < 8; i++)
		word[i] = sf_pin(stage.space, stage.at + i * PAGE, SF_WRITE, &pin[i], NULL);
	fills(&stage, 1024);
	for (unsigned i = 0; i < 8; i++)
		word[i][100] = i + 1;
	holds(&stage, 1024);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t value;

		assert_int_equal(sf_read(stage.space, stage.at + i * PAGE + 800, &value, 8, NULL), 8);
		assert_int_equal(value, i + 1);
		sf_unpin(stage.system, &pin[i]);
	}
	close_stage(&stage);
}

/* 64 pages are touched all the time, and 1000 others once each: of the former few come back from swap. */
static void what_is_touched_stays(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		struct sf_space_statistics before, after;
		uint64_t hot_faults = 0;
		struct stage stage;

		open_stage(&stage, reclaim_policies[i], 4000, 300, 1200);
		fills(&stage, 250);
		for (uint64_t page = 250; page < 1200; page++) {
			write_page(&stage, page, page * 7 + 1);
			sf_space_statistics(stage.space, &before);
			for (uint64_t hot = 0; hot < 64; hot++)
				assert_int_equal(read_page(&stage, hot), hot * 7 + 1);
			sf_space_statistics(stage.space, &after);
			hot_faults += after.minor_faults + after.major_faults - before.minor_faults -
				      before.major_faults;
		}
		assert_true(statistics(&stage).activated > 0);
		/* Of 60,800 touches. */
		if (hot_faults > 300)
			fail_msg("%s: %llu faults on pages in use", reclaim_policies[i],
				 (unsigned long long)hot_faults);
		holds(&stage, 1200);
		close_stage(&stage);
	}
}

/* Two groups below one limit. The one within its guarantee keeps what it has. */
static void a_guarantee_is_kept(void **state)
{
	struct sf_group *parent, *spared, *other;
	struct stage stage, second;

	(void)state;
	open_stage(&stage, "default", 4000, UNLIMITED, 1);
	sf_space_destroy(stage.space);
	second = stage;
	assert_int_equal(sf_group_create(stage.group, &parent), 0);
	assert_int_equal(sf_group_create(parent, &spared), 0);
	assert_int_equal(sf_group_create(parent, &other), 0);
	assert_int_equal(sf_space_create_in(spared, &stage.space), 0);
	assert_int_equal(sf_space_create_in(other, &second.space), 0);
	sf_group_set_low(spared, 150 * PAGE);
	assert_int_equal(sf_group_set_limit(parent, 400 * PAGE), 0);
	map_memory(&stage, 100);
	map_memory(&second, 1500);
	fills(&stage, 100);
	for (unsigned round = 0; round < 4; round++)
		fills(&second, 1500);
	assert_int_equal(resident(&stage), 100);
	/* Beyond its guarantee it is as any other. */
	sf_group_set_low(spared, 50 * PAGE);
	for (unsigned round = 0; round < 4; round++)
		fills(&second, 1500);
	assert_true(resident(&stage) < 90);
	holds(&stage, 100);
	holds(&second, 1500);
	assert_good(&stage);
	sf_space_destroy(stage.space);
	sf_space_destroy(second.space);
	assert_int_equal(sf_group_destroy(spared), 0);
	assert_int_equal(sf_group_destroy(other), 0);
	assert_int_equal(sf_group_destroy(parent), 0);
	stage.space = second_space(&stage);
	close_stage(&stage);
}

/* When nothing else can be had, the guarantee does not keep others from going on. */
static void a_guarantee_gives_way(void **state)
{
	struct stage stage;
	struct sf_group *child;

	(void)state;
	open_stage(&stage, "default", 4000, 200, 1);
	sf_space_destroy(stage.space);
	assert_int_equal(sf_group_create(stage.group, &child), 0);
	sf_group_set_low(child, 1000 * PAGE);
	assert_int_equal(sf_space_create_in(child, &stage.space), 0);
	map_memory(&stage, 600);
	fills(&stage, 600);
	holds(&stage, 600);
	sf_space_destroy(stage.space);
	assert_int_equal(sf_group_destroy(child), 0);
	stage.space = second_space(&stage);
	close_stage(&stage);
}

/* What needs tables, or many pages at once, finds them in a group that is full. */
static void calls_make_room(void **state)
{
	const uint64_t away = (uint64_t)1 << 40;
	struct sf_space *child, *other;
	struct stage stage;
	uint64_t mapped;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		open_stage(&stage, reclaim_policies[i], 4000, 150, 600);
		fills(&stage, 600);
		assert_int_equal(sf_space_fork(stage.space, &child), 0);
		sf_space_destroy(child);
		fills(&stage, 600);
		assert_int_equal(sf_space_create_in(stage.group, &other), 0);
		sf_space_destroy(other);
		fills(&stage, 600);
		/* Made shorter on the way. */
		assert_int_equal(sf_remap(stage.space, stage.at, 600 * PAGE, 500 * PAGE,
					  SF_REMAP_MAYMOVE | SF_REMAP_FIXED, away, &mapped),
				 0);
		stage.at = away;
		holds(&stage, 500);
		assert_int_equal(sf_advise(stage.space, away, 500 * PAGE, SF_ADVICE_POPULATE_WRITE), 0);
		assert_int_equal(sf_lock(stage.space, away, 50 * PAGE), 0);
		holds(&stage, 500);
		assert_true(group_usage(stage.group) <= 150);
		close_stage(&stage);
	}
}

/* Taken ahead, on a thread of its own, until it is stopped. */
static void background_body(unsigned cpu, void *argument)
{
	struct stage *stage = argument;

	if (cpu) {
		sf_reclaim_background(stage->system);
		return;
	}
	for (unsigned round = 0; round < 3; round++)
		for (uint64_t page = 0; page < 3000; page++) {
			uint64_t value = page * 7 + 1;

			invariant(sf_write(stage->space, stage->at + page * PAGE + page % 500 * 8, &value, 8,
					   NULL) == 8);
		}
	sf_reclaim_stop(stage->system);
}

static void the_background_goes_ahead(void **state)
{
	struct stage stage;

	(void)state;
	open_stage(&stage, "default", 2000, UNLIMITED, 3000);
	assert_int_equal(host_run(background_body, &stage), 0);
	assert_true(statistics(&stage).background > 0);
	holds(&stage, 3000);
	/* Stopped before it begins. */
	sf_reclaim_stop(stage.system);
	sf_reclaim_background(stage.system);
	close_stage(&stage);
}

/* Pages that a fork shares are written once, and come back once. */
static void forks_share_what_is_out(void **state)
{
	struct sf_swap_statistics before, after;
	struct stage stage, child;

	(void)state;
	open_stage(&stage, "default", 4000, 1000, 500);
	fills(&stage, 500);
	child = stage;
	assert_int_equal(sf_space_fork(stage.space, &child.space), 0);
	sf_swap_statistics(stage.system, &before);
	assert_true(sf_group_reclaim(stage.group, 2000 * PAGE) >= 500 * PAGE);
	sf_swap_statistics(stage.system, &after);
	assert_int_equal(after.written - before.written, 500);
	assert_int_equal(resident(&stage), 0);
	assert_int_equal(resident(&child), 0);
	assert_good(&stage);
	holds(&stage, 500);
	holds(&child, 500);
	for (uint64_t page = 0; page < 500; page += 2)
		write_page(&child, page, 1);
	holds(&stage, 500);
	sf_space_destroy(child.space);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(holds_more_than_its_limit, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(frames_run_out, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(objects_give_way, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(files_are_read_and_written_by_offset, machine_open,
					    machine_close),
	    cmocka_unit_test_setup_teardown(a_lower_limit_takes_the_rest, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(without_swap_the_limit_stands, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(full_swap_is_told, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(failed_writes_lose_nothing, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(locked_memory_stays, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(pinned_pages_stay, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(what_is_touched_stays, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(a_guarantee_is_kept, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(a_guarantee_gives_way, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(calls_make_room, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(the_background_goes_ahead, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(forks_share_what_is_out, machine_open, machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
