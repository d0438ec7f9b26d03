/* SPDX-License-Identifier: MIT */
/*
 * The order between who changes an entry and who holds what it said before.
 *
 * A CPU: it sets its bit, then reads entries; the flush changes entries, then reads the bits. A full fence
 * between the two on both sides: either the flush asks the CPU, or the CPU reads the new entries. What lies
 * between port_mmu_flush() and an access section is that contract's.
 *
 * A TLB that wakes up: it stores the generation that it has caught up with, then reads the generation again
 * and entries; the flush changes entries, raises the generation, then reads what the TLB has caught up with.
 * Fences again: either the flush waits for it, or it sees the new generation and the new entries. A TLB that
 * is awake needs no fence: its store was seen long ago, and the flush waits until it has read the new
 * generation.
 *
 * A TLB that keeps an entry: it catches up, reads the entry, then reads that there are no changers. A changer
 * counts itself, raises the generation, changes the entry, flushes, and leaves the count. Suppose the TLB has
 * read the entry from before the change. If it has read the count from before the changer, it has caught up
 * with a generation from before as well, which is over when the change is seen. If it has read the count from
 * after the changer, the flush has not waited for it: it has caught up with the flush's generation, whose
 * reader sees the change.
 *
 * A TLB that is new: a changer that found none holds the space's lock until its last change, and the TLB was
 * added under that lock; or it is a fault in a read section, and a grace period has passed.
 */
#include "mm/table/translations.h"

#include "mm/table/table.h"
#include "port/mmu.h"
#include "sync/rcu.h"

void translations_init(struct translations *translations)
{
	for (unsigned i = 0; i < TRANSLATION_WORDS; i++)
		atomic_init(&translations->cpus[i], 0);
	atomic_init(&translations->generation, TLB_IDLE + 1);
	atomic_init(&translations->changers, 0);
	atomic_init(&translations->write_protecting, 0);
	spin_lock_init(&translations->tlb_lock, LOCK_RANK_TLB_LIST);
	atomic_init(&translations->tlbs, NULL);
}

static void wait_for_tlb(struct tlb_holder *holder, uint64_t generation)
{
	for (;;) {
		/* Acquire: what was done through its old translations comes before what follows here. */
		uint64_t caught_up = atomic_load_explicit(&holder->caught_up, memory_order_acquire);

		if (caught_up == TLB_IDLE || caught_up >= generation)
			return;
		port_cpu_relax();
	}
}

/*
 * The waiting stands inside a read section: a TLB's memory is freed after a grace period, and whoever waits
 * for one of those is in a call, where its own TLBs are idle.
 */
static void flush_tlbs(struct translations *translations)
{
	struct tlb_holder *holder;
	uint64_t generation;

	if (!atomic_load_explicit(&translations->tlbs, memory_order_acquire))
		return;
	generation = atomic_fetch_add_explicit(&translations->generation, 1, memory_order_acq_rel) + 1;
	atomic_thread_fence(memory_order_seq_cst);
	port_rcu_read_lock();
	for (holder = rcu_dereference(&translations->tlbs); holder; holder = rcu_dereference(&holder->next))
		wait_for_tlb(holder, generation);
	port_rcu_read_unlock();
}

void table_flush(struct table *table, uintptr_t start, uintptr_t end)
{
	uint64_t cpus[TRANSLATION_WORDS];
	unsigned words = (port_cpu_count() + 63) / 64;

	/* The changed entries come before the look at who may have them; the other side is
	 * translations_note() and tlb_holder_add(). */
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned i = 0; i < words; i++)
		cpus[i] = atomic_load_explicit(&table->translations.cpus[i], memory_order_relaxed);
	frames_count(table->frames, FRAMES_FLUSHES, 1);
	port_mmu_flush((uintptr_t)table, start, end, cpus, words);
	flush_tlbs(&table->translations);
}

/* Who sees the changed entry sees the generation, and who sees that sees the count. */
void translations_count_changer(struct translations *translations)
{
	atomic_fetch_add_explicit(&translations->changers, 1, memory_order_acq_rel);
	atomic_fetch_add_explicit(&translations->generation, 1, memory_order_acq_rel);
}

void translations_change_end(struct translations *translations)
{
	atomic_fetch_sub_explicit(&translations->changers, 1, memory_order_acq_rel);
}

/* Whoever changed the entries that the caller has read is still in the count, or has flushed. */
void translations_flush_nested(struct translations *translations)
{
	if (atomic_load_explicit(&translations->changers, memory_order_acquire) > 1)
		flush_tlbs(translations);
}

void tlb_holder_add(struct translations *translations, struct tlb_holder *holder)
{
	struct tlb_holder *first;

	atomic_init(&holder->caught_up, TLB_IDLE);
	spin_lock(&translations->tlb_lock);
	first = rcu_dereference_locked(&translations->tlbs);
	atomic_init(&holder->next, first);
	holder->link = &translations->tlbs;
	if (first)
		first->link = &holder->next;
	rcu_assign_pointer(&translations->tlbs, holder);
	spin_unlock(&translations->tlb_lock);
	/* The TLB is known before it reads its first entry: see table_flush(). */
	atomic_thread_fence(memory_order_seq_cst);
}

void tlb_holder_remove(struct translations *translations, struct tlb_holder *holder)
{
	struct tlb_holder *next;

	tlb_holder_idle(holder);
	spin_lock(&translations->tlb_lock);
	next = rcu_dereference_locked(&holder->next);
	rcu_assign_pointer(holder->link, next);
	if (next)
		next->link = holder->link;
	spin_unlock(&translations->tlb_lock);
}

uint64_t tlb_holder_catch_up(struct translations *translations, struct tlb_holder *holder)
{
	uint64_t generation = atomic_load_explicit(&translations->generation, memory_order_acquire), now;

	for (;;) {
		/* Release, as for an idle one: the older translations are used no more. */
		atomic_store_explicit(&holder->caught_up, generation, memory_order_release);
		atomic_thread_fence(memory_order_seq_cst);
		now = atomic_load_explicit(&translations->generation, memory_order_acquire);
		if (now == generation)
			return generation;
		generation = now;
	}
}
