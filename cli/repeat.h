/* SPDX-License-Identifier: MIT */
/*
 * The command line that would do the same again, for results to carry with them.
 */
#ifndef CLI_REPEAT_H
#define CLI_REPEAT_H

#include <jansson.h>

/* Keeps the program's command line, before parsing puts its words into another order. */
void repeat_remember(int argc, char **argv);

/*
 * Adds "command" to `result` (NULL is left alone): "softfault" and the words that followed, quoted for a
 * shell, but for options that say where output goes (--json, --report).
 */
void repeat_note(json_t *result);

#endif
