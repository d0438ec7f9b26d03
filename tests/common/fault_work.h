/* SPDX-License-Identifier: MIT */
/*
 * Work that meets in one space: threads map, touch, fork, protect, move and unmap at once. Each thread knows
 * what it must find. Runs on real threads and on the virtual machine.
 *
 * Two kinds of memory:
 *
 *   slots    0123012301230123...   page i belongs to thread i % THREADS: neighbours merge and split all the
 *                                  time, tables and their lines are everyone's, and yet each thread knows
 *                                  exactly what its pages hold
 *   areas    00000000 11111111...  whole last-level tables of each thread, which it maps, unmaps and gives
 *                                  back, while the others look in: they find nothing, zero, or its stamp
 *
 * A page's stamp is made of its address, so that a frame that turns up in a wrong place is seen.
 */
#ifndef TESTS_COMMON_FAULT_WORK_H
#define TESTS_COMMON_FAULT_WORK_H

#include "tests/common/fault_policy.h"

#include "base/compiler.h"
#include "port/cpu.h"

#define THREADS 4u
#define FRAMES  8192u
#define SLOTS   48u /* of each thread */

#define TABLE      ((uint64_t)512 * PAGE)
#define SLOT_BASE  (BASE - THREADS * SLOTS / 2 * PAGE) /* over a border of last-level tables */
#define AREA_PAGES 1536u
#define AREA_BASE  (BASE + 64 * TABLE)

struct slot {
	bool mapped, shared;
	int protection;
	uint64_t value; /* of its first word */
};

struct worker {
	struct slot slot[SLOTS];
	struct random random;
	struct sf_tlb *tlb;
	uint64_t area_value;
};

static struct stage {
	struct sf_system *system;
	struct sf_space *space;
	uint64_t seed;
	/* How an access is made: NULL, as it is; else do_job(&jobs[cpu]) in some other way. */
	void (*deliver)(unsigned cpu);
	unsigned rounds;
	struct worker worker[THREADS];
	_Atomic unsigned finished;
	_Atomic uint64_t areas_touched, areas_missed;
} stage;

/* --- Accesses, as they are or in a signal handler ------------------------------------------------------- */

enum work { TOUCH, READ, WRITE, SWAP };

/* One access of a word, for the handler. */
static struct job {
	CACHE_LINE_ALIGNED enum work work;
	enum sf_access access;
	struct sf_space *space;
	uint64_t address, value, expected;
	struct sf_signal signal;
	int result; /* 0, -EFAULT or -ENOMEM; of a swap also 1 */
} jobs[THREADS];

static void do_job(struct job *job)
{
	const size_t bytes = sizeof(job->value);

	switch (job->work) {
	case TOUCH:
		job->result = sf_touch(job->space, job->address, job->access, &job->signal);
		break;
	case READ:
		job->result = sf_read(job->space, job->address, &job->value, bytes, &job->signal) == bytes
				  ? 0
				  : -EFAULT;
		break;
	case WRITE:
		job->result = sf_write(job->space, job->address, &job->value, bytes, &job->signal) == bytes
				  ? 0
				  : -EFAULT;
		break;
	case SWAP:
		job->result =
		    sf_compare_swap_64(job->space, job->address, &job->expected, job->value, &job->signal);
		break;
	}
}

static struct job *run_job(unsigned cpu, const struct job *job)
{
	jobs[cpu] = *job;
	if (stage.deliver)
		stage.deliver(cpu);
	else
		do_job(&jobs[cpu]);
	return &jobs[cpu];
}

static int touch(unsigned cpu, struct sf_space *space, uint64_t address, enum sf_access access)
{
	return run_job(cpu,
		       &(struct job){.work = TOUCH, .space = space, .address = address, .access = access})
	    ->result;
}

static uint64_t read_word(unsigned cpu, struct sf_space *space, uint64_t address)
{
	struct job *job = run_job(cpu, &(struct job){.work = READ, .space = space, .address = address});

	if (job->result)
		fail_msg("read of %#llx: signal %d, code %d", (unsigned long long)address, job->signal.signal,
			 job->signal.code);
	return job->value;
}

static void write_word(unsigned cpu, struct sf_space *space, uint64_t address, uint64_t value)
{
	struct job *job =
	    run_job(cpu, &(struct job){.work = WRITE, .space = space, .address = address, .value = value});

	if (job->result)
		fail_msg("write of %#llx: signal %d, code %d", (unsigned long long)address,
			 job->signal.signal, job->signal.code);
}

/* --- Slots ---------------------------------------------------------------------------------------------- */

static uint64_t slot_address(unsigned cpu, unsigned slot)
{
	return SLOT_BASE + (slot * THREADS + cpu) * PAGE;
}

static uint64_t stamp(struct worker *worker, uint64_t address)
{
	return address << 16 | (random_next(&worker->random) & 0xffff);
}

static void map_slot(struct worker *worker, unsigned cpu, unsigned number)
{
	struct slot *slot = &worker->slot[number];

	slot->shared = random_below(&worker->random, 4) == 0;
	slot->mapped = true;
	slot->protection = RW;
	slot->value = 0;
	map_at(stage.space, slot_address(cpu, number), 1, RW, slot->shared ? SF_MAP_SHARED : SF_MAP_PRIVATE);
}

static void unmap_slot(struct worker *worker, unsigned cpu, unsigned number)
{
	assert_int_equal(sf_unmap(stage.space, slot_address(cpu, number), PAGE), 0);
	assert_true(system_pte(stage.space, slot_address(cpu, number)) == 0);
	worker->slot[number].mapped = false;
}

static void protect_slot(struct worker *worker, unsigned cpu, unsigned number)
{
	static const int choices[] = {RW, SF_PROT_READ, SF_PROT_NONE, RW};
	struct slot *slot = &worker->slot[number];
	int protection = choices[random_below(&worker->random, 4)];

	assert_int_equal(sf_protect(stage.space, slot_address(cpu, number), PAGE, protection),
			 slot->mapped ? 0 : -ENOMEM);
	if (slot->mapped)
		slot->protection = protection;
}

static void move_slot(struct worker *worker, unsigned cpu, unsigned from, unsigned to)
{
	uint64_t mapped;

	if (from == to || !worker->slot[from].mapped)
		return;
	assert_int_equal(sf_remap(stage.space, slot_address(cpu, from), PAGE, PAGE,
				  SF_REMAP_MAYMOVE | SF_REMAP_FIXED, slot_address(cpu, to), &mapped),
			 0);
	worker->slot[to] = worker->slot[from];
	worker->slot[from].mapped = false;
}

static void give_back_slot(struct worker *worker, unsigned cpu, unsigned number)
{
	struct slot *slot = &worker->slot[number];

	if (!slot->mapped)
		return;
	assert_int_equal(sf_advise(stage.space, slot_address(cpu, number), PAGE, SF_ADVICE_DONTNEED), 0);
	if (!slot->shared)
		slot->value = 0;
}

/* What a touch of the slot must come to. */
static void check_slot(struct worker *worker, unsigned cpu, struct sf_space *space, unsigned number)
{
	const struct slot *slot = &worker->slot[number];
	uint64_t address = slot_address(cpu, number);

	if (!slot->mapped || slot->protection == SF_PROT_NONE) {
		assert_int_equal(touch(cpu, space, address, SF_READ), -EFAULT);
		assert_int_equal(jobs[cpu].signal.signal, SIGSEGV);
		assert_int_equal(jobs[cpu].signal.code, slot->mapped ? SEGV_ACCERR : SEGV_MAPERR);
		return;
	}
	if (!(slot->protection & SF_PROT_WRITE))
		assert_int_equal(touch(cpu, space, address, SF_WRITE), -EFAULT);
	if (read_word(cpu, space, address) != slot->value)
		fail_msg("slot at %#llx holds %#llx instead of %#llx", (unsigned long long)address,
			 (unsigned long long)read_word(cpu, space, address), (unsigned long long)slot->value);
}

static void write_slot(struct worker *worker, unsigned cpu, unsigned number)
{
	struct slot *slot = &worker->slot[number];
	uint64_t address = slot_address(cpu, number), old = slot->value;

	if (!slot->mapped || !(slot->protection & SF_PROT_WRITE))
		return;
	slot->value = stamp(worker, address);
	if (random_below(&worker->random, 2)) {
		write_word(cpu, stage.space, address, slot->value);
		return;
	}
	assert_int_equal(run_job(cpu, &(struct job){.work = SWAP,
						    .space = stage.space,
						    .address = address,
						    .expected = old,
						    .value = slot->value})
			     ->result,
			 1);
}

static void look_up_slot(struct worker *worker, unsigned cpu, unsigned number)
{
	const struct slot *slot = &worker->slot[number];
	uint64_t *word = sf_tlb_lookup(worker->tlb, slot_address(cpu, number), SF_READ, NULL);

	if (slot->mapped && slot->protection != SF_PROT_NONE) {
		assert_non_null(word);
		assert_true(*word == slot->value);
	} else {
		assert_null(word);
	}
	if (random_below(&worker->random, 4) == 0)
		sf_tlb_idle(worker->tlb);
}

/* A child sees what the thread's slots hold; what either writes to private memory, the other does not. */
static void fork_slots(struct worker *worker, unsigned cpu)
{
	struct sf_space *child = NULL;
	unsigned number = (unsigned)random_below(&worker->random, SLOTS);
	struct slot *slot = &worker->slot[number];
	uint64_t before = slot->value;

	assert_int_equal(sf_space_fork(stage.space, &child), 0);
	for (unsigned i = 0; i < SLOTS; i += 3)
		check_slot(worker, cpu, child, i);
	write_slot(worker, cpu, number);
	if (slot->mapped && slot->protection == RW) {
		uint64_t own = stamp(worker, slot_address(cpu, number));

		assert_true(read_word(cpu, child, slot_address(cpu, number)) ==
			    (slot->shared ? slot->value : before));
		write_word(cpu, child, slot_address(cpu, number), own);
		if (slot->shared)
			slot->value = own;
		check_slot(worker, cpu, stage.space, number);
	}
	sf_space_destroy(child);
}

static void work_on_slots(struct worker *worker, unsigned cpu)
{
	unsigned number = (unsigned)random_below(&worker->random, SLOTS);

	switch (random_below(&worker->random, 12)) {
	case 0:
	case 1:
		map_slot(worker, cpu, number);
		break;
	case 2:
		unmap_slot(worker, cpu, number);
		break;
	case 3:
		protect_slot(worker, cpu, number);
		break;
	case 4:
		move_slot(worker, cpu, number, (unsigned)random_below(&worker->random, SLOTS));
		break;
	case 5:
		give_back_slot(worker, cpu, number);
		break;
	case 6:
	case 7:
	case 8:
		write_slot(worker, cpu, number);
		break;
	case 9:
		look_up_slot(worker, cpu, number);
		break;
	default:
		check_slot(worker, cpu, stage.space, number);
	}
}

/* --- Areas ---------------------------------------------------------------------------------------------- */

static uint64_t area_of(unsigned cpu)
{
	return AREA_BASE + cpu * 2 * AREA_PAGES * PAGE;
}

/* Somebody else's area: nothing, zero, or a stamp of that page. */
static void look_in(struct worker *worker, unsigned cpu)
{
	unsigned owner = (unsigned)random_below(&worker->random, THREADS);
	uint64_t address = area_of(owner) + random_below(&worker->random, AREA_PAGES) / 16 * 16 * PAGE;
	_Atomic uint64_t *word;
	int error;

	if (random_below(&worker->random, 2)) {
		error =
		    touch(cpu, stage.space, address, random_below(&worker->random, 2) ? SF_READ : SF_WRITE);
		assert_true(!error || jobs[cpu].signal.signal == SIGSEGV);
	} else {
		word = sf_tlb_lookup(worker->tlb, address, SF_READ, NULL);
		error = !word;
		if (word) {
			uint64_t value = atomic_load_explicit(word, memory_order_relaxed);

			assert_true(value == 0 || value >> 16 == address);
		}
		sf_tlb_idle(worker->tlb);
	}
	atomic_fetch_add_explicit(error ? &stage.areas_missed : &stage.areas_touched, 1,
				  memory_order_relaxed);
}

static void swap_in_area(struct worker *worker, unsigned cpu, uint64_t address)
{
	struct job *job = run_job(cpu, &(struct job){.work = SWAP,
						     .space = stage.space,
						     .address = address,
						     .value = stamp(worker, address)});

	assert_true(job->result == 1 || (job->result == 0 && job->expected >> 16 == address));
}

static void assert_no_entry(uint64_t start, uint64_t pages)
{
	for (uint64_t page = 0; page < pages; page += 16)
		assert_true(system_pte(stage.space, start + page * PAGE) == 0);
}

/* Maps the own area, uses it, gives it back in one of several ways; tables come and go with it. */
static void work_on_area(struct worker *worker, unsigned cpu)
{
	uint64_t start = area_of(cpu) + random_below(&worker->random, 3) * TABLE / 2;
	uint64_t pages = AREA_PAGES / 2, mapped;

	map_at(stage.space, start, pages, RW, SF_MAP_PRIVATE);
	for (uint64_t page = 0; page < pages; page += 16)
		if (random_below(&worker->random, 2))
			swap_in_area(worker, cpu, start + page * PAGE);
	look_in(worker, cpu);
	switch (random_below(&worker->random, 4)) {
	case 0:
		assert_int_equal(sf_protect(stage.space, start, pages * PAGE, SF_PROT_READ), 0);
		assert_int_equal(touch(cpu, stage.space, start, SF_WRITE), -EFAULT);
		break;
	case 1:
		assert_int_equal(sf_advise(stage.space, start, pages * PAGE, SF_ADVICE_DONTNEED), 0);
		break;
	case 2:
		/* Beyond the area, where nobody looks; the stamps come along. */
		assert_int_equal(sf_remap(stage.space, start, pages * PAGE, pages * PAGE,
					  SF_REMAP_MAYMOVE | SF_REMAP_FIXED, area_of(cpu) + AREA_PAGES * PAGE,
					  &mapped),
				 0);
		assert_no_entry(start, pages);
		for (uint64_t page = 0; page < pages; page += 48) {
			uint64_t value = read_word(cpu, stage.space, mapped + page * PAGE);

			assert_true(value == 0 || value >> 16 == start + page * PAGE);
		}
		assert_int_equal(sf_unmap(stage.space, mapped, pages * PAGE), 0);
		break;
	default:
		break;
	}
	assert_int_equal(sf_unmap(stage.space, area_of(cpu), AREA_PAGES * PAGE), 0);
	assert_no_entry(area_of(cpu), AREA_PAGES);
	look_in(worker, cpu);
	assert_no_entry(area_of(cpu), AREA_PAGES);
}

/* --- One thread's work ---------------------------------------------------------------------------------- */

static void fault_work(unsigned cpu, void *argument)
{
	struct worker *worker = &stage.worker[cpu];

	(void)argument;
	memset(worker, 0, sizeof(*worker));
	random_seed(&worker->random, stage.seed + cpu);
	assert_int_equal(sf_tlb_create(stage.space, &worker->tlb), 0);
	for (unsigned round = 0; round < stage.rounds; round++) {
		work_on_slots(worker, cpu);
		if (round % 8 == 0)
			work_on_area(worker, cpu);
		look_in(worker, cpu);
		if (round % 16 == 5)
			fork_slots(worker, cpu);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		check_slot(worker, cpu, stage.space, i);
	sf_tlb_destroy(worker->tlb);
}

/* --- Around the run --------------------------------------------------------------------------------------
 */

static void fault_stage_open(const struct policy *policy)
{
	stage.system = fault_system(policy, FRAMES);
	stage.space = fault_space(stage.system);
	atomic_store(&stage.areas_touched, 0);
	atomic_store(&stage.areas_missed, 0);
}

static void fault_stage_close(void)
{
	assert_good(stage.system);
	sf_space_destroy(stage.space);
	fault_system_end(stage.system);
}

#endif
