/* SPDX-License-Identifier: MIT */
/*
 * The computer on which real CPUs ran: what it is, and in what state it was.
 */
#ifndef LAB_COMPUTER_H
#define LAB_COMPUTER_H

#include <stdbool.h>

struct computer {
	unsigned processors; /* that this process may use */
	char model[96];      /* of the first processor; "unknown" where the system does not say */
	char kernel[96];     /* "Linux 6.1.0" */
	char governor[32];   /* of the processors' clocks; "none" where the system shows none */
	double load;         /* runnable tasks, mean of the last minute; -1 when unknown */
	bool is_virtual;     /* the processors say that a hypervisor runs them */
};

/* Looks now. Cannot fail: what the system does not show is said to be unknown. */
void computer_look(struct computer *computer);

#endif
