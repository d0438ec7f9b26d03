/* SPDX-License-Identifier: MIT */
/*
 * Pointers that RCU readers follow. Read sections and grace periods are port/rcu.h's own; this adds the order
 * in which a pointer and what it points to become visible.
 *
 * Exclusion matrix for one pointer and the object behind it:
 *
 *                    dereference  assign   free of the old object
 *   dereference         yes        yes     no: a grace period lies between
 *   assign              yes        no: the writers' lock
 *
 * The pointer is an _Atomic field. An object is filled, then assigned; unlinked, then freed a grace period
 * later.
 */
#ifndef SYNC_RCU_H
#define SYNC_RCU_H

#include <stdatomic.h>

#include "port/rcu.h"

/*
 * Returns the pointer at `location`, for use inside the read section that the caller is in. The acquire order
 * puts every later access through it after the load, and so after all that was stored before its
 * rcu_assign_pointer().
 */
#define rcu_dereference(location) \
	(port_rcu_reading(0), atomic_load_explicit((location), memory_order_acquire))

/*
 * The same for whoever is in a read section or holds a lock that keeps the pointer, and what is behind it, as
 * they are.
 */
#define rcu_dereference_or_locked(location) \
	(port_rcu_reading(1), atomic_load_explicit((location), memory_order_acquire))

/* The same for a writer, whose lock keeps the pointer as it is; nothing is to be ordered. */
#define rcu_dereference_locked(location) atomic_load_explicit((location), memory_order_relaxed)

/* Publishes `pointer`. The release order puts the filling of the object before it. The writers' lock is held.
 */
#define rcu_assign_pointer(location, pointer) \
	atomic_store_explicit((location), (pointer), memory_order_release)

#endif
