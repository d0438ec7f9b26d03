/* SPDX-License-Identifier: MIT */
/*
 * The commands of softfault, and how each of them ends.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "base/message.h"

#define SOFTFAULT_VERSION "0.1"

#define EXIT_RUN_FAILED 1 /* a run that was asked for rightly did not come to its end */
#define EXIT_BAD_INPUT  2 /* the command line or a file is wrong; nothing was run */

/* Each takes its own part of the command line, argv[0] being its name, and returns the exit status. */
int command_list(int argc, char **argv);
int command_run(int argc, char **argv);
int command_reproduce(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_report(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_explore(int argc, char **argv);

/* Prints "softfault: " and the message, one line, on stderr. Returns `status`. */
int command_fail(int status, const struct message *why);

/* The end of a run that failed with `error`: after a signal (-EINTR) ends the program as the signal would
 * have, else as command_fail(EXIT_RUN_FAILED). */
int command_run_failed(int error, const struct message *why);

/* Flushes stdout. Returns `status`, or EXIT_RUN_FAILED with a line on stderr when it could not be written. */
int command_end(int status);

#endif
