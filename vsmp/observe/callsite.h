/* SPDX-License-Identifier: MIT */
/*
 * Which function a call path stands for, in reports that say where something was asked for.
 */
#ifndef VSMP_OBSERVE_CALLSITE_H
#define VSMP_OBSERVE_CALLSITE_H

#include <stdint.h>

#include "vsmp/observe/calls.h"

/* Writes the text of the name of a node's function, "[no function]" for the root. Returns 0 or -ENOMEM. */
int callsite_function(const struct call_node *node, uint32_t *text);

/*
 * The same for the function that asked for a lock: the innermost that is not written in the folder of the
 * locks, sync/, or in what the machine puts beneath it, port/ and port_home/. When all are, the innermost.
 */
int callsite_of_lock(const struct call_node *node, uint32_t *text);

/* The same for the function that touched a line: the innermost that is not the machine's. */
int callsite_of_line(const struct call_node *node, uint32_t *text);

#endif
