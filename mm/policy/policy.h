/* SPDX-License-Identifier: MIT */
/*
 * The design choices of a system, fixed for its life. Each field is one choice of mechanism: a *before*, an
 * *after*, and a default that is the best known.
 */
#ifndef MM_POLICY_POLICY_H
#define MM_POLICY_POLICY_H

#include "base/message.h"

/* How a RAM page's memory type is read and set. */
enum policy_memtype {
	POLICY_MEMTYPE_CMPXCHG, /* no lock: both bits change in one compare-and-swap (default) */
	POLICY_MEMTYPE_SPIN,    /* under one global ticket spinlock, memtype_lock */
	POLICY_MEMTYPE_RWLOCK   /* under the same as a reader/writer lock */
};

struct policy {
	enum policy_memtype memtype;
};

/* Sets `policy` to the base called `name` ("default", "base_2010"). Returns 0, or -ENOENT with a message. */
int policy_base(struct policy *policy, const char *name, struct message *why);

/*
 * Sets one field by name ("memtype", "spin"). Returns 0, or -ENOENT with a message that lists the names that
 * would be right.
 */
int policy_set(struct policy *policy, const char *field, const char *choice, struct message *why);

/* Returns 0, or -EINVAL with a message when the combination means nothing. */
int policy_check(const struct policy *policy, struct message *why);

#endif
