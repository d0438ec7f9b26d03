/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_RCU_H
#define PORT_HOME_RCU_H

#include "vsmp/home/inline.h"

/* vsmp/rcu.c, and vsmp/explore/sections.c for the first. */
void vsmp_rcu_reading(int or_locked);
void vsmp_rcu_read_lock(void);
void vsmp_rcu_read_unlock(void);
int vsmp_rcu_read_held(void);
void vsmp_rcu_synchronize(void);
void vsmp_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback);
void vsmp_rcu_poll(void);
int vsmp_rcu_pending(void);
void vsmp_rcu_barrier(void);

PORT_HOME_INLINE void port_rcu_read_lock(void)
{
	vsmp_rcu_read_lock();
}

PORT_HOME_INLINE void port_rcu_read_unlock(void)
{
	vsmp_rcu_read_unlock();
}

PORT_HOME_INLINE int port_rcu_read_held(void)
{
	return vsmp_rcu_read_held();
}

PORT_HOME_INLINE void port_rcu_reading(int or_locked)
{
	vsmp_rcu_reading(or_locked);
}

PORT_HOME_INLINE void port_rcu_synchronize(void)
{
	vsmp_rcu_synchronize();
}

PORT_HOME_INLINE void port_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback)
{
	vsmp_rcu_call(head, callback);
}

PORT_HOME_INLINE void port_rcu_poll(void)
{
	vsmp_rcu_poll();
}

PORT_HOME_INLINE int port_rcu_pending(void)
{
	return vsmp_rcu_pending();
}

PORT_HOME_INLINE void port_rcu_barrier(void)
{
	vsmp_rcu_barrier();
}

#endif
