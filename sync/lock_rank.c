/* SPDX-License-Identifier: MIT */
#include "sync/lock_rank.h"

#include <stddef.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "port/rcu.h"

const char *const lock_rank_name[LOCK_RANK_COUNT] = {
#define LOCK_RANK_NAME(identifier, name) [identifier] = name,
    LOCK_RANKS(LOCK_RANK_NAME)
#undef LOCK_RANK_NAME
};

const char *lock_class_name(const uint16_t *rank)
{
	return lock_rank_name[*rank];
}

/* More than any path through the code holds at once. */
#define HELD_MAX 16

struct held_lock {
	const void *lock;
	uint16_t rank;
	uint16_t kind; /* enum lock_kind */
};

/* What one CPU holds, in the order in which it was taken. Touched by that CPU alone. */
struct held_locks {
	CACHE_LINE_ALIGNED unsigned count;
	struct held_lock held[HELD_MAX];
};

static struct held_locks held_locks[PORT_CPUS_MAX];

#define REPORT_BYTES 256

/* A line of text that is put together without a library: this code runs on simulated CPUs too. */
struct report {
	size_t length;
	char text[REPORT_BYTES];
};

static void report_add(struct report *report, const char *text)
{
	while (*text && report->length + 1 < sizeof(report->text))
		report->text[report->length++] = *text++;
	report->text[report->length] = '\0';
}

static void report_add_lock(struct report *report, const void *lock, unsigned rank)
{
	char digits[2 * sizeof(uintptr_t) + 1];
	size_t at = sizeof(digits) - 1;
	uintptr_t value = (uintptr_t)lock;

	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	report_add(report, lock_rank_name[rank]);
	report_add(report, " at 0x");
	report_add(report, digits + at);
}

/* Ends the program with "`what` LOCK[, `relation` OTHER]"; `other` may be NULL. */
_Noreturn static void broken(const char *what, const void *lock, unsigned rank, const char *relation,
			     const struct held_lock *other)
{
	struct report report = {.length = 0};

	report_add(&report, what);
	report_add_lock(&report, lock, rank);
	if (other) {
		report_add(&report, relation);
		report_add_lock(&report, other->lock, other->rank);
	}
	port_panic(__FILE__, __LINE__, report.text);
}

void lock_rank_check_take(const void *lock, uint16_t rank, enum lock_kind kind, int tried)
{
	struct held_locks *mine = &held_locks[port_cpu()];

	invariant(rank < LOCK_RANK_COUNT);
	for (unsigned i = 0; i < mine->count; i++) {
		const struct held_lock *held = &mine->held[i];

		if (held->lock == lock)
			broken("lock taken twice: ", lock, rank, ", held as ", held);
		if (!tried && rank != LOCK_RANK_NONE && rank <= held->rank)
			broken("lock order: taking ", lock, rank, " while holding ", held);
	}
	invariant(mine->count < HELD_MAX);
	mine->held[mine->count].lock = lock;
	mine->held[mine->count].rank = rank;
	mine->held[mine->count].kind = (uint16_t)kind;
	mine->count++;
}

void lock_rank_check_release(const void *lock, uint16_t rank)
{
	struct held_locks *mine = &held_locks[port_cpu()];
	unsigned i = mine->count;

	invariant(rank < LOCK_RANK_COUNT);
	while (i > 0 && mine->held[i - 1].lock != lock)
		i--;
	if (i == 0)
		broken("releasing a lock that this CPU does not hold: ", lock, rank, ", last taken is ",
		       mine->count ? &mine->held[mine->count - 1] : NULL);
	for (; i < mine->count; i++)
		mine->held[i - 1] = mine->held[i];
	mine->count--;
}

void lock_rank_check_sleep(void)
{
	struct held_locks *mine = &held_locks[port_cpu()];

	for (unsigned i = 0; i < mine->count; i++) {
		if (mine->held[i].kind == LOCK_SPINNING)
			broken("about to sleep while holding ", mine->held[i].lock, mine->held[i].rank, NULL,
			       NULL);
	}
	if (port_rcu_read_held())
		port_panic(__FILE__, __LINE__, "about to sleep inside an RCU read section");
}
