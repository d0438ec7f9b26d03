/* SPDX-License-Identifier: MIT */
/*
 * Command lines. argp parses them and writes the help; what is wrong with one is told in our own one line,
 * and the exit status is ours.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "base/message.h"

struct options {
	const char *command;               /* "softfault run" */
	const struct argp_option *options; /* long ones; --help and --version are added */
	const char *arguments;             /* "EXPERIMENT", for the help */
	const char *about;                 /* text above the options in the help; after a \v, text below */
	/*
	 * Takes an option (its key) or an argument (ARGP_KEY_ARG), and at the end ARGP_KEY_END. Returns 0, or
	 * -EINVAL with a message.
	 */
	int (*take)(int key, const char *text, void *values, struct message *why);
};

/*
 * Parses argv, whose first is not looked at. Returns -1 to go on, or the exit status: 0 after --help or
 * --version, 2 after a mistake, which has been told.
 */
int options_parse(const struct options *options, int argc, char **argv, void *values);

/* Reads a whole number for the option called `name` ("--reps"). Returns 0, or -EINVAL with a message. */
int options_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *number,
		   struct message *why);

/* Fills `why` for an argument that is one too many. Returns -EINVAL. */
int options_too_many(const char *text, struct message *why);

#endif
