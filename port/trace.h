/* SPDX-License-Identifier: MIT */
/*
 * Contract: what the code tells whoever measures it. None of it changes what the code does, and on the real
 * machine all of it may be empty.
 */
#ifndef PORT_TRACE_H
#define PORT_TRACE_H

/*
 * An operation scope: the time between begin and end belongs to one operation named `name` (a string that
 * outlives the machine; the same pointer for the same scope). Cache lines that two CPUs touch in their
 * scopes, one of them writing, are a conflict of these two scopes. Scopes nest: the innermost one counts, so
 * a batched refill inside a fault is a scope of its own. Begin and end pair on one CPU.
 */
static inline void port_scope_begin(const char *name);
static inline void port_scope_end(void);

/*
 * A lock at `lock`, of the class `name`, is about to be waited for (only where the caller found it taken),
 * has been acquired, or is about to be released. `shared` is nonzero for a reader's side.
 */
static inline void port_lock_contended(const void *lock, const char *name, int shared);
static inline void port_lock_acquired(const void *lock, const char *name, int shared);
static inline void port_lock_released(const void *lock, const char *name, int shared);

#include <port_home/trace.h>

#endif
