/* SPDX-License-Identifier: MIT */
/*
 * Readers under a sequence count never take a torn set of words for a whole one.
 */
#include "sync/seqcount.h"

#include "host/cpu.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "sync/spinlock.h"
#include "tests/common/on_cpus.h"

#define CPUS    5u
#define WRITERS 2u
#define WRITES  5000u
#define WORDS   4u

static struct seqcount sequence;
static struct spinlock writers;
static _Atomic uint64_t words[WORDS]; /* word i is word 0 times i + 1, but not inside a write */
static _Atomic unsigned writers_done;
static _Atomic uint64_t good_reads;

static void write_words(void)
{
	for (unsigned i = 0; i < WRITES; i++) {
		uint64_t next;

		spin_lock(&writers);
		next = atomic_load_explicit(&words[0], memory_order_relaxed) + 1;
		seqcount_write_begin(&sequence);
		for (unsigned word = 0; word < WORDS; word++)
			atomic_store_explicit(&words[word], next * (word + 1), memory_order_relaxed);
		seqcount_write_end(&sequence);
		spin_unlock(&writers);
	}
	atomic_fetch_add(&writers_done, 1);
}

static void read_words(bool peek)
{
	uint64_t before = 0;

	while (atomic_load(&writers_done) != WRITERS) {
		uint32_t began = peek ? seqcount_read_peek(&sequence) : seqcount_read_begin(&sequence);
		uint64_t seen[WORDS];

		/* Writers want a processor too. */
		port_cpu_relax();
		for (unsigned word = 0; word < WORDS; word++)
			seen[WORDS - 1 - word] =
			    atomic_load_explicit(&words[WORDS - 1 - word], memory_order_relaxed);
		if (seqcount_read_retry(&sequence, began))
			continue;
		for (unsigned word = 0; word < WORDS; word++)
			invariant(seen[word] == seen[0] * (word + 1));
		invariant(seen[0] >= before);
		before = seen[0];
		atomic_fetch_add(&good_reads, 1);
	}
}

static void write_or_read(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu < WRITERS)
		write_words();
	else
		read_words(cpu % 2);
}

static void reads_are_never_torn(void **state)
{
	(void)state;
	assert_int_equal(host_open(CPUS), 0);
	seqcount_init(&sequence);
	spin_lock_init(&writers, LOCK_RANK_TEST_OUTER);
	run_cpus(write_or_read, NULL);
	assert_int_equal(atomic_load(&words[0]), WRITERS * WRITES);
	host_close();
}

static void retry_sees_every_writer(void **state)
{
	uint32_t began;

	(void)state;
	assert_int_equal(host_open(1), 0);
	seqcount_init(&sequence);
	began = seqcount_read_begin(&sequence);
	assert_false(seqcount_read_retry(&sequence, began));
	seqcount_write_begin(&sequence);
	assert_true(seqcount_read_retry(&sequence, began));
	/* Begun inside a write: worth nothing, whether the writer is still in or out again. */
	began = seqcount_read_peek(&sequence);
	assert_true(seqcount_read_retry(&sequence, began));
	seqcount_write_end(&sequence);
	assert_true(seqcount_read_retry(&sequence, began));
	began = seqcount_read_begin(&sequence);
	assert_false(seqcount_read_retry(&sequence, began));
	host_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_are_never_torn),
	    cmocka_unit_test(retry_sees_every_writer),
	};

	return cmocka_run_group_tests_name("sync/seqcount", tests, NULL, NULL);
}
