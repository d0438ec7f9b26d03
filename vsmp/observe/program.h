/* SPDX-License-Identifier: MIT */
/*
 * The running program's own file, as elfutils sees it. Opened by the first call and kept.
 */
#ifndef VSMP_OBSERVE_PROGRAM_H
#define VSMP_OBSERVE_PROGRAM_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/* Returns the program's file, or NULL when it cannot be read. */
Dwfl_Module *program_module(void);

/* Returns its debug information, or NULL when it was built or stripped so that it has none. */
Dwarf *program_dwarf(void);

#endif
