/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_RCU_H
#define PORT_HOME_RCU_H

/* vsmp/rcu.c. */
void vsmp_rcu_read_lock(void);
void vsmp_rcu_read_unlock(void);
int vsmp_rcu_read_held(void);
void vsmp_rcu_synchronize(void);
void vsmp_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback);
void vsmp_rcu_poll(void);
void vsmp_rcu_barrier(void);

static inline void port_rcu_read_lock(void)
{
	vsmp_rcu_read_lock();
}

static inline void port_rcu_read_unlock(void)
{
	vsmp_rcu_read_unlock();
}

static inline int port_rcu_read_held(void)
{
	return vsmp_rcu_read_held();
}

static inline void port_rcu_synchronize(void)
{
	vsmp_rcu_synchronize();
}

static inline void port_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback)
{
	vsmp_rcu_call(head, callback);
}

static inline void port_rcu_poll(void)
{
	vsmp_rcu_poll();
}

static inline void port_rcu_barrier(void)
{
	vsmp_rcu_barrier();
}

#endif
