/* SPDX-License-Identifier: MIT */
/*
 * Functions and variables of the running program by address, from its own symbol table. The file is read once
 * and kept: a program does not change while it runs. The program must be linked with -no-pie; an address that
 * is in no symbol, or a program without a symbol table, gives hexadecimal numbers instead of names.
 */
#ifndef VSMP_OBSERVE_SYMBOLS_H
#define VSMP_OBSERVE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#define SYMBOLS_NAME_BYTES 160

/* Reads the symbol table. Later calls do nothing. Returns 0 or -ENOMEM. */
int symbols_open(void);

/*
 * Writes the name of the function at `function`, without what the compiler appended (".constprop.0"). Uses
 * little stack and allocates nothing: a simulated CPU may call it.
 */
void symbols_function_name(const void *function, char name[SYMBOLS_NAME_BYTES]);

/* Returns whether any function has that name, without what the compiler appended. */
bool symbols_has_function(const char *name);

/*
 * Writes the name of the variable that holds `address`, with the distance from its start ("table+0x40").
 * Returns 0, or -1 when there is none.
 */
int symbols_variable_name(uintptr_t address, char name[SYMBOLS_NAME_BYTES]);

#endif
