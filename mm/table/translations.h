/* SPDX-License-Identifier: MIT */
/*
 * Who may hold translations of a space, and waiting until they have dropped them.
 *
 * There are two kinds of holders. A CPU holds one for the length of an access section (port/mmu.h); a space
 * remembers which CPUs ever touched it, and only those are asked. A *software TLB* holds some for longer: its
 * owner uses pointers that it found there without any section, until it looks up again or is idle. Every TLB
 * has caught up with one generation of the space, or is idle; a flush begins a new generation and waits until
 * each TLB is idle or has caught up with it.
 *
 * Whoever takes a translation away is a *changer* from before the first entry changes until the flush is
 * over. It begins with a new generation, so nothing that a TLB has kept is found any more; and while there
 * are changers no TLB keeps what it finds. So an entry that has changed is seen by every look-up that comes
 * after the change, also before the flush: docs/LOCKING.md, "A translation and a frame's next life". In a
 * space without TLBs nobody counts changers: the first TLB comes when no change is under way.
 *
 * Exclusion matrix:
 *
 *             note  catch up/idle  add/remove  change  flush
 *   note       yes       yes           yes      yes     yes
 *   catch up        no: own thread     yes      yes     yes
 *   add                          no: the lock    no     yes: RCU
 *   change                                      yes     yes
 *   flush                                               yes
 */
#ifndef MM_TABLE_TRANSLATIONS_H
#define MM_TABLE_TRANSLATIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/rcu.h"
#include "sync/spinlock.h"

struct table;

#define TRANSLATION_WORDS (PORT_CPUS_MAX / 64)

/* The generation that a TLB which is idle has caught up with: no space is in it. */
#define TLB_IDLE UINT64_C(0)

/* One software TLB, as a flush sees it. */
struct tlb_holder {
	/* Written by the TLB's thread alone. */
	CACHE_LINE_ALIGNED _Atomic uint64_t caught_up;
	struct tlb_holder *_Atomic next;  /* RCU; written under tlb_lock */
	struct tlb_holder *_Atomic *link; /* by tlb_lock */
};

struct translations {
	/* Which CPUs have touched the space. Bits are only ever set. Atomic. */
	CACHE_LINE_ALIGNED _Atomic uint64_t cpus[TRANSLATION_WORDS];

	/* Atomic; raised by a change and by a flush when there are TLBs. Read by every look-up in a TLB. */
	CACHE_LINE_ALIGNED _Atomic uint64_t generation;

	/* Those who change entries and have not flushed yet. Atomic; zero without TLBs. */
	_Atomic uint32_t changers;

	/*
	 * Odd while entries of pages that are shared from then on have lost their write bit and not all CPUs
	 * are known to know: a copy made now could miss what is written through an old translation. Written
	 * with the space's lock held for writing; read by faults that would copy a page.
	 */
	_Atomic uint32_t write_protecting;

	CACHE_LINE_ALIGNED struct spinlock tlb_lock;
	struct tlb_holder *_Atomic tlbs; /* RCU; written under tlb_lock */
};

void translations_init(struct translations *translations);

/* Whether a CPU has ever touched the space. */
static inline bool translations_noted(const struct translations *translations, unsigned cpu)
{
	return atomic_load_explicit(&translations->cpus[cpu / 64], memory_order_relaxed) >> cpu % 64 & 1;
}

/* Notes that the calling CPU may hold translations from now on. Part of the fault path. */
static inline void translations_note(struct translations *translations)
{
	unsigned cpu = port_cpu();
	_Atomic uint64_t *word = &translations->cpus[cpu / 64];
	uint64_t bit = (uint64_t)1 << cpu % 64;

	if (likely(atomic_load_explicit(word, memory_order_relaxed) & bit))
		return;
	atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
	/* The bit comes before the first entry that is read; the other side is table_flush(). */
	atomic_thread_fence(memory_order_seq_cst);
}

/*
 * Returns when nobody uses a translation of [start, end) that was made before the call, of entries that the
 * caller has changed. No spinning lock is held, and no access section is open; a TLB of the calling CPU is
 * idle. May be called by several at once, and by a fault.
 */
void table_flush(struct table *table, uintptr_t start, uintptr_t end);

/*
 * Stands before the first change of an entry that takes a translation away, and after the last flush that
 * belongs to it: with the space's lock held from before the beginning to the last change, or in one RCU read
 * section from the beginning to the last change. Returns whether there are TLBs; only then there is an end.
 */
void translations_count_changer(struct translations *translations);
static inline bool translations_change_begin(struct translations *translations)
{
	if (likely(!atomic_load_explicit(&translations->tlbs, memory_order_acquire)))
		return false;
	translations_count_changer(translations);
	return true;
}
void translations_change_end(struct translations *translations);

/*
 * For a changer that has found nothing to change: another may have changed it, and not have flushed yet.
 * Waits until no TLB's owner uses what that one took away.
 */
void translations_flush_nested(struct translations *translations);

/* Whether a TLB that has caught up, and then read an entry, may keep it. */
static inline bool translations_may_keep(struct translations *translations)
{
	return !atomic_load_explicit(&translations->changers, memory_order_acquire);
}

/*
 * Adds a TLB, which is idle; or takes one away, whose memory is freed after a grace period. One is added with
 * the space's lock held for writing, and a grace period passes before it catches up.
 */
void tlb_holder_add(struct translations *translations, struct tlb_holder *holder);
void tlb_holder_remove(struct translations *translations, struct tlb_holder *holder);

/*
 * Makes the TLB one that holds translations, and returns the generation that it has caught up with: what it
 * found in an older one it must drop first, and every entry that it reads from now on is as new as that. Its
 * thread is outside every call that may wait.
 */
uint64_t tlb_holder_catch_up(struct translations *translations, struct tlb_holder *holder);

/* Says that nothing that was found in the TLB is used any more. */
static inline void tlb_holder_idle(struct tlb_holder *holder)
{
	/* Release: what was done through its translations comes before what a flush does next. */
	atomic_store_explicit(&holder->caught_up, TLB_IDLE, memory_order_release);
}

#endif
