/* SPDX-License-Identifier: MIT */
/*
 * One hot page. Every CPU but the first has a word in it, which it counts up by compare-and-swap as fast as
 * it can, so it knows what it must find there. The first CPU takes the page away from under them, in every
 * way: protects it, forks, moves it away and back, and (with `zaps`) gives it back or unmaps it, when zero is
 * what may be found too. What it forked must not change any more, what it frees it uses for something else,
 * and a write that goes where the page was before is seen by either.
 */
#ifndef TESTS_COMMON_FAULT_HOT_H
#define TESTS_COMMON_FAULT_HOT_H

#include "tests/common/fault_policy.h"

#include "base/compiler.h"
#include "port/cpu.h"

/* The more there are, the longer an access of the page's line takes, and the wider is the window. */
#ifndef HOT_CPUS
#define HOT_CPUS 4u
#endif
#define HOT_FRAMES 256u
#define HOT_PAGE   (BASE + 7 * PAGE)
#define HOT_AWAY   (2 * BASE)
#define HOT_DECOYS (3 * BASE)
#define DECOYS     8u
#define FOREIGN    UINT64_C(0xdecdecdecdecdec0)

static struct hot {
	struct sf_system *system;
	struct sf_space *space;
	struct random random;
	unsigned rounds;
	bool zaps;
	void (*pause)(void); /* NULL, or what gives others a turn where threads outnumber processors */
	CACHE_LINE_ALIGNED _Atomic unsigned finished, ready;
	CACHE_LINE_ALIGNED _Atomic uint64_t counted;
} hot;

/* Not a wait for anything: the others go on meanwhile. */
static void let_time_pass(void)
{
	static CACHE_LINE_ALIGNED _Atomic uint64_t own;

	for (uint64_t i = random_below(&hot.random, 200); i; i--)
		atomic_fetch_add_explicit(&own, 1, memory_order_relaxed);
}

static uint64_t hot_word(unsigned cpu)
{
	return HOT_PAGE + cpu * 8;
}

static void hot_count(unsigned cpu, struct sf_tlb *tlb)
{
	uint64_t mine = 0;
	unsigned accesses = 0;
	struct sf_signal signal;

	while (!atomic_load_explicit(&hot.finished, memory_order_relaxed)) {
		uint64_t found = mine;
		int result = sf_compare_swap_64(hot.space, hot_word(cpu), &found, mine + 1, &signal);
		const _Atomic uint64_t *word;

		assert_true(result >= 0 || result == -EFAULT);
		if (result == 1) {
			mine++;
			atomic_fetch_add_explicit(&hot.counted, 1, memory_order_relaxed);
		} else if (result == 0) {
			if (!hot.zaps || found)
				fail_msg("CPU %u found %#llx instead of %#llx", cpu,
					 (unsigned long long)found, (unsigned long long)mine);
			mine = 0;
		}
		word = sf_tlb_lookup(tlb, hot_word(cpu), SF_READ, NULL);
		if (word) {
			found = atomic_load_explicit(word, memory_order_relaxed);
			if (found != mine && (found || !hot.zaps))
				fail_msg("CPU %u read %#llx instead of %#llx", cpu, (unsigned long long)found,
					 (unsigned long long)mine);
		}
		sf_tlb_idle(tlb);
		if (hot.pause && ++accesses % 16 == 0)
			hot.pause();
	}
}

/* Frames that were the page's a moment ago are likely among those that these pages get. */
static void use_frames(void)
{
	uint64_t word = FOREIGN;

	for (unsigned i = 0; i < DECOYS; i++)
		for (unsigned cpu = 1; cpu < HOT_CPUS; cpu++)
			assert_int_equal(sf_write(hot.space, HOT_DECOYS + i * PAGE + cpu * 8, &word, 8, NULL),
					 8);
	for (unsigned i = 0; i < DECOYS; i++) {
		for (unsigned cpu = 1; cpu < HOT_CPUS; cpu++) {
			assert_int_equal(sf_read(hot.space, HOT_DECOYS + i * PAGE + cpu * 8, &word, 8, NULL),
					 8);
			assert_true(word == FOREIGN);
		}
	}
	assert_int_equal(sf_advise(hot.space, HOT_DECOYS, DECOYS * PAGE, SF_ADVICE_DONTNEED), 0);
}

/* The child's page stays what it was; what the child writes does not show here. */
static void fork_hot(void)
{
	struct sf_space *child = NULL;
	uint64_t before[HOT_CPUS], after[HOT_CPUS], own = FOREIGN;

	assert_int_equal(sf_space_fork(hot.space, &child), 0);
	assert_int_equal(sf_read(child, HOT_PAGE, before, sizeof(before), NULL), sizeof(before));
	let_time_pass();
	assert_int_equal(sf_read(child, HOT_PAGE, after, sizeof(after), NULL), sizeof(after));
	assert_memory_equal(before, after, sizeof(before));
	if (random_below(&hot.random, 2))
		for (unsigned cpu = 1; cpu < HOT_CPUS; cpu++)
			assert_int_equal(sf_write(child, hot_word(cpu), &own, 8, NULL), 8);
	sf_space_destroy(child);
}

static void protect_hot(int protection)
{
	uint64_t before[HOT_CPUS], after[HOT_CPUS];

	assert_int_equal(sf_protect(hot.space, HOT_PAGE, PAGE, protection), 0);
	if (protection == SF_PROT_READ) {
		assert_int_equal(sf_read(hot.space, HOT_PAGE, before, sizeof(before), NULL), sizeof(before));
		let_time_pass();
		assert_int_equal(sf_read(hot.space, HOT_PAGE, after, sizeof(after), NULL), sizeof(after));
		assert_memory_equal(before, after, sizeof(before));
	}
	assert_int_equal(sf_protect(hot.space, HOT_PAGE, PAGE, RW), 0);
}

static void move_hot(void)
{
	uint64_t mapped, before[HOT_CPUS], after[HOT_CPUS];
	const int flags = SF_REMAP_MAYMOVE | SF_REMAP_FIXED;

	assert_int_equal(sf_remap(hot.space, HOT_PAGE, PAGE, PAGE, flags, HOT_AWAY, &mapped), 0);
	assert_true(system_pte(hot.space, HOT_PAGE) == 0);
	assert_int_equal(sf_read(hot.space, HOT_AWAY, before, sizeof(before), NULL), sizeof(before));
	let_time_pass();
	assert_int_equal(sf_read(hot.space, HOT_AWAY, after, sizeof(after), NULL), sizeof(after));
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(sf_remap(hot.space, HOT_AWAY, PAGE, PAGE, flags, HOT_PAGE, &mapped), 0);
}

static void unmap_hot(void)
{
	assert_int_equal(sf_unmap(hot.space, HOT_PAGE, PAGE), 0);
	assert_true(system_pte(hot.space, HOT_PAGE) == 0);
	use_frames();
	assert_true(system_pte(hot.space, HOT_PAGE) == 0);
	map_at(hot.space, HOT_PAGE, 1, RW, SF_MAP_PRIVATE);
}

static void take_away_hot(void)
{
	switch (random_below(&hot.random, hot.zaps ? 7 : 4)) {
	case 0:
		protect_hot(SF_PROT_READ);
		break;
	case 1:
		protect_hot(SF_PROT_NONE);
		break;
	case 2:
		fork_hot();
		break;
	case 3:
		move_hot();
		break;
	case 4:
	case 5:
		assert_int_equal(sf_advise(hot.space, HOT_PAGE, PAGE, SF_ADVICE_DONTNEED), 0);
		use_frames();
		break;
	default:
		unmap_hot();
	}
}

static void hot_work(unsigned cpu, void *argument)
{
	struct sf_tlb *tlb = NULL;

	(void)argument;
	if (cpu) {
		assert_int_equal(sf_tlb_create(hot.space, &tlb), 0);
		atomic_fetch_add(&hot.ready, 1);
		hot_count(cpu, tlb);
		sf_tlb_destroy(tlb);
		return;
	}
	while (atomic_load(&hot.ready) < HOT_CPUS - 1)
		port_cpu_relax();
	for (unsigned round = 0; round < hot.rounds; round++) {
		uint64_t counted = atomic_load(&hot.counted);

		take_away_hot();
		/* Until somebody has written to the page again. */
		while (round % 4 && atomic_load(&hot.counted) == counted)
			port_cpu_relax();
	}
	atomic_store(&hot.finished, 1);
}

static inline void hot_open(const struct policy *policy, uint64_t seed, unsigned rounds, bool zaps)
{
	hot.system = fault_system(policy, HOT_FRAMES);
	hot.space = fault_space(hot.system);
	random_seed(&hot.random, seed);
	hot.rounds = rounds;
	hot.zaps = zaps;
	atomic_store(&hot.finished, 0);
	atomic_store(&hot.ready, 0);
	atomic_store(&hot.counted, 0);
	map_at(hot.space, HOT_PAGE, 1, RW, SF_MAP_PRIVATE);
	map_at(hot.space, HOT_DECOYS, DECOYS, RW, SF_MAP_PRIVATE);
}

static inline void hot_close(void)
{
	assert_good(hot.system);
	sf_space_destroy(hot.space);
	fault_system_end(hot.system);
}

#endif
