/* SPDX-License-Identifier: MIT */
/*
 * Software TLBs of threads that change the same pages at the same moment: a look-up that comes after one's
 * own call finds what the call left, whoever was faster; and nobody waits for a thread that is in a call, of
 * whatever system, or that has left.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softfault.h"

#define THREADS 2
#define ROUNDS  8000
#define PAGES   64 /* and one more, whose look-up wakes a TLB that is idle */
#define RW      (SF_PROT_READ | SF_PROT_WRITE)

static struct stage {
	struct sf_system *system[2];
	struct sf_space *space[2]; /* one in each */
	uint64_t memory[2];
	_Atomic unsigned arrived;
	_Atomic unsigned failures; /* an assertion of cmocka works only in the thread that runs the test */
} stage;

static void expect(int condition)
{
	if (!condition)
		atomic_fetch_add(&stage.failures, 1);
}

/* All threads meet; *met is how often they have. */
static void meet(unsigned *met)
{
	unsigned all = ++*met * THREADS;

	atomic_fetch_add(&stage.arrived, 1);
	while (atomic_load(&stage.arrived) < all)
		sched_yield();
}

static void open_stage(unsigned systems)
{
	const struct sf_options options = {.memory_bytes = 16 << 20, .cpus = THREADS + 2};

	atomic_store(&stage.arrived, 0);
	atomic_store(&stage.failures, 0);
	for (unsigned i = 0; i < systems; i++) {
		assert_int_equal(sf_system_create(&options, &stage.system[i], NULL), 0);
		assert_int_equal(sf_thread_enter(stage.system[i]), 0);
		assert_int_equal(sf_space_create(stage.system[i], &stage.space[i]), 0);
		assert_int_equal(sf_map(stage.space[i], 0, (PAGES + 1) * SF_PAGE_SIZE, RW,
					SF_MAP_PRIVATE | SF_MAP_ANONYMOUS, &stage.memory[i]),
				 0);
	}
}

static void close_stage(unsigned systems)
{
	const char *reason;

	for (unsigned i = 0; i < systems; i++) {
		assert_int_equal(sf_system_check(stage.system[i], &reason), 0);
		sf_space_destroy(stage.space[i]);
		sf_thread_exit(stage.system[i]);
	}
	for (unsigned i = 0; i < systems; i++)
		sf_system_destroy(stage.system[i]);
}

static uint64_t page(unsigned number)
{
	return stage.memory[0] + number * SF_PAGE_SIZE;
}

static uint64_t find(struct sf_tlb *tlb, uint64_t address)
{
	volatile uint64_t *word = sf_tlb_lookup(tlb, address, SF_READ, NULL);

	expect(word != NULL);
	return word ? *word : 0;
}

/* What the TLB says, after it has caught up by another page: so it may use what it has kept of this one. */
static uint64_t find_kept(struct sf_tlb *tlb, uint64_t address)
{
	find(tlb, page(PAGES));
	return find(tlb, address);
}

struct worker {
	pthread_t thread;
	unsigned number;
	struct sf_tlb *tlb;
	unsigned met;
};

/* Each writes a word of its own, in a page that they share with nobody: the zero page, or a forked space's.
 */
static void write_round(struct worker *worker, uint64_t round)
{
	uint64_t address = page(0) + 8 * worker->number, value = round + 1;
	struct sf_space *child = NULL;

	if (worker->number == 0) {
		expect(!sf_advise(stage.space[0], page(0), SF_PAGE_SIZE, SF_ADVICE_DONTNEED));
		if (round % 2) {
			expect(sf_write(stage.space[0], page(0) + 64, &value, 8, NULL) == 8);
			expect(!sf_space_fork(stage.space[0], &child));
		}
	}
	meet(&worker->met);
	expect(find(worker->tlb, address) == 0);
	sf_tlb_idle(worker->tlb);
	meet(&worker->met);
	expect(sf_write(stage.space[0], address, &value, 8, NULL) == 8);
	expect(find_kept(worker->tlb, address) == value);
	sf_tlb_idle(worker->tlb);
	meet(&worker->met);
	if (child)
		sf_space_destroy(child);
}

/* Both throw the first page away; one has more to do before it flushes. */
static void discard_round(struct worker *worker, uint64_t round)
{
	uint64_t value = round + 1;

	for (unsigned i = worker->number; i < PAGES; i += THREADS)
		expect(sf_write(stage.space[0], page(i), &value, 8, NULL) == 8);
	meet(&worker->met);
	for (unsigned i = 0; i < PAGES; i++)
		expect(find(worker->tlb, page(i)) == value);
	sf_tlb_idle(worker->tlb);
	meet(&worker->met);
	expect(!sf_advise(stage.space[0], page(0), (worker->number ? 1 : PAGES) * SF_PAGE_SIZE,
			  SF_ADVICE_DONTNEED));
	expect(find_kept(worker->tlb, page(0)) == 0);
	sf_tlb_idle(worker->tlb);
	meet(&worker->met);
}

/* Each looks up in one system and, with what it found still at hand, changes the other. */
static void cross_round(struct worker *worker, uint64_t round)
{
	unsigned other = 1 - worker->number;

	find(worker->tlb, stage.memory[worker->number]);
	expect(sf_write(stage.space[other], stage.memory[other], &round, 8, NULL) == 8);
	expect(!sf_advise(stage.space[other], stage.memory[other], SF_PAGE_SIZE, SF_ADVICE_DONTNEED));
}

static void work(struct worker *worker, unsigned space, void (*round)(struct worker *worker, uint64_t number))
{
	expect(!sf_thread_enter(stage.system[0]));
	expect(!sf_tlb_create(stage.space[space], &worker->tlb));
	for (uint64_t number = 0; number < ROUNDS; number++)
		round(worker, number);
	sf_tlb_destroy(worker->tlb);
	sf_thread_exit(stage.system[0]);
}

static void *writer(void *argument)
{
	work(argument, 0, write_round);
	return NULL;
}

static void *discarder(void *argument)
{
	work(argument, 0, discard_round);
	return NULL;
}

static void *crosser(void *argument)
{
	work(argument, ((struct worker *)argument)->number, cross_round);
	return NULL;
}

static void run(unsigned systems, void *(*body)(void *argument))
{
	struct worker worker[THREADS] = {0};

	open_stage(systems);
	for (unsigned i = 0; i < THREADS; i++) {
		worker[i].number = i;
		assert_int_equal(pthread_create(&worker[i].thread, NULL, body, &worker[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(worker[i].thread, NULL);
	assert_int_equal(atomic_load(&stage.failures), 0);
	close_stage(systems);
}

static void one_finds_ones_own_writes(void **state)
{
	(void)state;
	run(1, writer);
}

static void what_one_discards_is_gone(void **state)
{
	(void)state;
	run(1, discarder);
}

static void two_systems_do_not_wait_for_each_other(void **state)
{
	(void)state;
	run(2, crosser);
}

/* Looks up and leaves. */
static void *leave(void *argument)
{
	struct worker *worker = argument;

	expect(!sf_thread_enter(stage.system[0]));
	expect(!sf_tlb_create(stage.space[0], &worker->tlb));
	find(worker->tlb, page(0));
	sf_thread_exit(stage.system[0]);
	return NULL;
}

static void nobody_waits_for_who_has_left(void **state)
{
	struct worker worker = {0};

	(void)state;
	open_stage(1);
	assert_int_equal(pthread_create(&worker.thread, NULL, leave, &worker), 0);
	pthread_join(worker.thread, NULL);
	assert_int_equal(sf_unmap(stage.space[0], page(0), SF_PAGE_SIZE), 0);
	sf_tlb_destroy(worker.tlb);
	assert_int_equal(atomic_load(&stage.failures), 0);
	close_stage(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_finds_ones_own_writes),
	    cmocka_unit_test(what_one_discards_is_gone),
	    cmocka_unit_test(two_systems_do_not_wait_for_each_other),
	    cmocka_unit_test(nobody_waits_for_who_has_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
