/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/rcu.h: liburcu's "memb" flavour behind it, in host/rcu.c. liburcu's headers
 * stay out of here, they would define macros that sync/rcu.h defines.
 */
#ifndef HOST_HOME_PORT_HOME_RCU_H
#define HOST_HOME_PORT_HOME_RCU_H

#include "port/panic.h"

/* How many read sections the calling thread is in. */
extern _Thread_local unsigned host_rcu_depth;

void host_rcu_read_lock(void);
void host_rcu_read_unlock(void);
void host_rcu_synchronize(void);
void host_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback);
void host_rcu_poll(void);
int host_rcu_pending(void);
void host_rcu_barrier(void);

static inline void port_rcu_read_lock(void)
{
	if (host_rcu_depth++ == 0)
		host_rcu_read_lock();
}

static inline void port_rcu_read_unlock(void)
{
	if (--host_rcu_depth == 0)
		host_rcu_read_unlock();
}

static inline int port_rcu_read_held(void)
{
	return host_rcu_depth != 0;
}

/* Who holds which lock is not known here. */
static inline void port_rcu_reading(int or_locked)
{
#ifdef SYNC_DEBUG
	invariant(or_locked || port_rcu_read_held());
#else
	(void)or_locked;
#endif
}

static inline void port_rcu_synchronize(void)
{
	host_rcu_synchronize();
}

static inline void port_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback)
{
	host_rcu_call(head, callback);
}

static inline void port_rcu_poll(void)
{
	host_rcu_poll();
}

static inline int port_rcu_pending(void)
{
	return host_rcu_pending();
}

static inline void port_rcu_barrier(void)
{
	host_rcu_barrier();
}

#endif
