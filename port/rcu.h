/* SPDX-License-Identifier: MIT */
/*
 * Contract: read-copy-update. A read section keeps alive what was reachable when it began; it writes nothing
 * that another CPU reads. A grace period ends when every read section that was open at its start has closed.
 */
#ifndef PORT_RCU_H
#define PORT_RCU_H

struct port_rcu_head;

/* What a grace period's end calls. It runs outside every read section and every lock. */
typedef void port_rcu_callback(struct port_rcu_head *head);

/* Stands inside the object that is to be freed. */
struct port_rcu_head {
	struct port_rcu_head *next;
	port_rcu_callback *callback;
	unsigned long grace_period; /* the home's own */
};

/* Opens and closes a read section; sections nest. May be called from anywhere, the fault path included. */
static inline void port_rcu_read_lock(void);
static inline void port_rcu_read_unlock(void);

/* Returns nonzero inside a read section of the calling CPU. */
static inline int port_rcu_read_held(void);

/*
 * Says that the caller is about to follow a pointer that RCU protects, and so is inside a read section; or,
 * with `or_locked` nonzero, holds a lock that keeps the pointer and what is behind it. A machine that looks
 * for faults checks that, but takes any lock of sync/ for the right one; another does nothing.
 */
static inline void port_rcu_reading(int or_locked);

/*
 * Waits for a grace period. What the calling CPU handed to port_rcu_call() before is due at its next
 * port_rcu_poll(). The caller is outside every read section and holds no spinning lock.
 */
static inline void port_rcu_synchronize(void);

/*
 * Runs callback(head) after a grace period, on some CPU, from port_rcu_poll() or port_rcu_barrier(). Never
 * waits, never allocates; locks may be held.
 */
static inline void port_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback);

/* Runs the calling CPU's callbacks whose grace period is over. Entry points call it with nothing held. */
static inline void port_rcu_poll(void);

/*
 * Returns nonzero while callbacks that the calling CPU handed over have not begun. May be called from
 * anywhere; on the virtual machine it takes no time.
 */
static inline int port_rcu_pending(void);

/* Waits until every callback that was handed over before the call has run. As port_rcu_synchronize(). */
static inline void port_rcu_barrier(void);

#include <port_home/rcu.h>

#endif
