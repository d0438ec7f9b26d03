/* SPDX-License-Identifier: MIT */
/*
 * Grace periods of the virtual machine, exact: one ends when the last read section that was open at its start
 * has closed, plus the time the machine file says it takes to notice.
 */
#ifndef VSMP_RCU_H
#define VSMP_RCU_H

/* Forgets all grace periods: a machine begins. */
void rcu_reset(void);

/* The grace periods of now are those that rcu_put_back() brings back. */
void rcu_baseline(void);
void rcu_put_back(void);

#endif
