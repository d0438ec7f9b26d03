/* SPDX-License-Identifier: MIT */
/*
 * After each schedule everything that it wrote is as it was, to the byte: allocated memory and global
 * variables, written in all sizes and ways, by hooked code and by the machine; and so are the allocator, the
 * callbacks of RCU and the grace periods.
 */
#include "tests/vsmp/explore_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/random.h"
#include "port/cpu.h"
#include "port/lifetime.h"
#include "port/memory.h"
#include "port/page.h"
#include "port/rcu.h"

#define CPUS    3
#define BLOCKS  8
#define PAGES   3
#define WRITES  60
#define SEEDS   400
#define GLOBALS 600

struct block {
	struct port_rcu_head head;
	unsigned char bytes[];
};

struct aggregate {
	uint64_t words[21];
};

/* Each CPU has its own, so that nothing is a race; of odd sizes, so that they share lines. */
static struct area {
	unsigned char globals[GLOBALS + 3];
	unsigned char *pages; /* PAGES of them */
	struct block *blocks[BLOCKS];
	size_t block_bytes[BLOCKS];
	struct aggregate *aggregate;
} areas[CPUS];

static _Atomic uint32_t turns[CPUS];

/* Handed to RCU by setup, so that its callback is due in every schedule. */
static struct block *pending;

/* Not written by the checks: what they do next. Set by the test before each schedule. */
static uint64_t what_to_do;

static void free_block(struct port_rcu_head *head)
{
	memset(head + 1, 0xdd, 8);
	port_memory_free(head, sizeof(struct block));
}

static int setup(struct message *why)
{
	struct random random = {.state = 42};

	(void)why;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		struct area *area = &areas[cpu];

		area->pages = port_memory_alloc(PAGES * PORT_PAGE_SIZE, 0, NULL);
		area->aggregate = port_memory_alloc(sizeof(*area->aggregate), 0, NULL);
		for (unsigned i = 0; i < BLOCKS; i++) {
			area->block_bytes[i] = sizeof(struct block) + 8 + random_below(&random, 9000);
			area->blocks[i] = port_memory_alloc(area->block_bytes[i], 0, "struct block");
			for (size_t at = 0; at < area->block_bytes[i] - sizeof(struct block); at++)
				area->blocks[i]->bytes[at] = (unsigned char)random_next(&random);
		}
		for (unsigned i = 0; i < PAGES * PORT_PAGE_SIZE; i++)
			area->pages[i] = (unsigned char)random_next(&random);
		for (unsigned i = 0; i < sizeof(area->globals); i++)
			area->globals[i] = (unsigned char)random_next(&random);
		/* What setup itself frees and hands over is gone before the first schedule. */
		port_memory_free(port_memory_alloc(300, 0, NULL), 300);
	}
	pending = port_memory_alloc(sizeof(struct block) + 8, 0, "struct block");
	port_rcu_call(&pending->head, free_block);
	return 0;
}

static void write_some(struct random *random, unsigned char *to, size_t room)
{
	size_t bytes = 1 + random_below(random, room < 300 ? room : 300);
	size_t at = random_below(random, room - bytes + 1);
	int value = (int)random_below(random, 256);

	switch (random_below(random, 8)) {
	case 0:
		memset(to + at, value, bytes);
		break;
	case 1:
		memmove(to + at, to, bytes);
		break;
	case 2:
		to[at] = (unsigned char)value;
		break;
	case 3:
		if (bytes >= 8)
			*(volatile uint64_t *)(to + (at & ~(size_t)7)) = (uint64_t)value;
		break;
	case 4:
		if (bytes >= 4)
			atomic_fetch_add((_Atomic uint32_t *)(to + (at & ~(size_t)3)), 77);
		break;
	case 5:
		if (bytes >= 2)
			atomic_store((_Atomic uint16_t *)(to + (at & ~(size_t)1)), (uint16_t)value);
		break;
	case 6:
		atomic_exchange((_Atomic uint8_t *)(to + at), (uint8_t)value);
		break;
	default:
		if (bytes >= 8) {
			uint64_t expected = 0;
			_Atomic uint64_t *word = (_Atomic uint64_t *)(to + (at & ~(size_t)7));

			while (!atomic_compare_exchange_strong(word, &expected, expected ^ 5))
				;
		}
		break;
	}
}

static void allocate_some(struct random *random)
{
	size_t bytes = sizeof(struct block) + 8 + random_below(random, 6000);
	struct block *block = port_memory_alloc(bytes, 0, NULL);

	check_that(block->bytes[0] == 0 && block->bytes[bytes - sizeof(*block) - 1] == 0 &&
		   !block->head.next);
	memset(block->bytes, 0xee, bytes - sizeof(*block));
	if (random_below(random, 2))
		port_memory_free(block, bytes);
	else
		port_rcu_call(&block->head, free_block);
	if (!random_below(random, 4))
		port_rcu_poll();
}

static void end_block(struct random *random, struct area *area, bool *gone)
{
	unsigned i = (unsigned)random_below(random, BLOCKS);

	if (gone[i])
		return;
	gone[i] = true;
	switch (random_below(random, 3)) {
	case 0:
		port_memory_free(area->blocks[i], area->block_bytes[i]);
		break;
	case 1:
		port_rcu_call(&area->blocks[i]->head, free_block);
		break;
	default:
		port_memory_dead(area->blocks[i], area->block_bytes[i], "struct block");
		port_memory_alive(area->blocks[i], area->block_bytes[i]);
		memset(area->blocks[i]->bytes, 1, 8);
		port_memory_free(area->blocks[i], area->block_bytes[i]);
		break;
	}
	area->blocks[i] = NULL;
}

static void work(void)
{
	struct area *area = &areas[port_cpu()];
	struct random random = {.state = what_to_do * CPUS + port_cpu()};
	bool gone[BLOCKS] = {false};

	for (unsigned i = 0; i < WRITES; i++) {
		unsigned block = (unsigned)random_below(&random, BLOCKS);

		switch (random_below(&random, 9)) {
		case 0:
			allocate_some(&random);
			break;
		case 1:
			end_block(&random, area, gone);
			break;
		case 2:
			port_page_clear(area->pages + random_below(&random, PAGES) * PORT_PAGE_SIZE, 0);
			break;
		case 3:
			port_page_copy(area->pages + PORT_PAGE_SIZE, area->pages, 0);
			break;
		case 4:
			*area->aggregate = (struct aggregate){.words = {i}};
			break;
		case 5:
			write_some(&random, area->globals, sizeof(area->globals));
			break;
		case 6:
			write_some(&random, area->pages, PAGES * PORT_PAGE_SIZE);
			break;
		default:
			if (!gone[block])
				write_some(&random, area->blocks[block]->bytes,
					   area->block_bytes[block] - sizeof(struct block));
			break;
		}
	}
	port_rcu_read_lock();
	for (unsigned i = 0; i < 20; i++)
		atomic_fetch_add(&turns[port_cpu()], 1);
	/* Some schedules end in the middle. */
	check_that(random_below(&random, 6) || (what_to_do & 1));
	port_rcu_read_unlock();
	if (what_to_do % 3 == 0)
		port_rcu_barrier();
}

static void teardown(void)
{
	port_rcu_barrier();
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		struct area *area = &areas[cpu];

		port_memory_free(area->pages, PAGES * PORT_PAGE_SIZE);
		port_memory_free(area->aggregate, sizeof(*area->aggregate));
		for (unsigned i = 0; i < BLOCKS; i++)
			port_memory_free(area->blocks[i], area->block_bytes[i]);
		memset(area->globals, 0, sizeof(area->globals));
	}
}

static struct check check = {
    .name = "undo", .setup = setup, .body = {work, work, work}, .teardown = teardown};

/* All that was written by setup, one behind the other. */
static unsigned char before[CPUS * 200000], now[CPUS * 200000];

static size_t copy_all(unsigned char *to)
{
	unsigned char *begin = to;

	memcpy(to, areas, sizeof(areas));
	to += sizeof(areas);
	memcpy(to, pending, sizeof(struct block) + 8);
	to += sizeof(struct block) + 8;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		struct area *area = &areas[cpu];

		memcpy(to, area->pages, PAGES * PORT_PAGE_SIZE);
		to += PAGES * PORT_PAGE_SIZE;
		memcpy(to, area->aggregate, sizeof(*area->aggregate));
		to += sizeof(*area->aggregate);
		for (unsigned i = 0; i < BLOCKS; i++) {
			memcpy(to, area->blocks[i], area->block_bytes[i]);
			to += area->block_bytes[i];
		}
	}
	return (size_t)(to - begin);
}

static void test_everything_is_back(void **state)
{
	static struct explore_outcome outcomes[SEEDS];
	unsigned failed = 0;
	size_t bytes;

	(void)state;
	fixture_open(&check);
	bytes = copy_all(before);
	assert_true(bytes <= sizeof(before));
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct explore_outcome outcome;

			what_to_do = seed;
			outcome = explore_run(seed);
			failed += outcome.kind != EXPLORE_NOTHING;
			if (outcome.kind != EXPLORE_NOTHING && outcome.kind != EXPLORE_ASSERTION)
				fixture_fail(&check, seed, explore_kind_name(outcome.kind));
			copy_all(now);
			assert_memory_equal(before, now, bytes);
			/* The second time the other schedules have come in between. */
			if (!pass)
				outcomes[seed] = outcome;
			assert_int_equal(outcomes[seed].kind, outcome.kind);
			assert_int_equal(outcomes[seed].steps, outcome.steps);
			assert_int_equal(outcomes[seed].fingerprint, outcome.fingerprint);
		}
	}
	assert_in_range(failed, SEEDS / 10, SEEDS);
	explore_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_everything_is_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
