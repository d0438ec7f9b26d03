/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

#define KEY_HELP    0x10001
#define KEY_VERSION 0x10002
#define OPTIONS_MAX 32

struct parsing {
	const struct options *options;
	const struct argp_option *all;
	void *values;
	struct message *why;
	int error;
	bool help, version;
};

/* Says what is wrong with one word of a command line; false when nothing is that we can see. */
static bool explain(const struct parsing *parsing, const char *word, struct message *why)
{
	const struct argp_option *found = NULL;
	size_t length;
	int matches = 0;

	if (word[0] != '-' || !word[1])
		return false;
	if (word[1] != '-') {
		message_set(why, -EINVAL, "unknown option \"%s\"; %s --help lists the options",
			    message_quote(word).text, parsing->options->command);
		return true;
	}
	word += 2;
	length = strcspn(word, "=");
	for (const struct argp_option *option = parsing->all; option->name; option++) {
		if (strncmp(option->name, word, length))
			continue;
		found = option;
		matches++;
		if (strlen(option->name) == length) {
			matches = 1;
			break;
		}
	}
	if (!length || !matches)
		message_set(why, -EINVAL, "unknown option \"--%.*s\"; %s --help lists the options",
			    (int)length, word, parsing->options->command);
	else if (matches > 1)
		message_set(why, -EINVAL, "\"--%.*s\" could be several options; %s --help lists them",
			    (int)length, word, parsing->options->command);
	else if (!found->arg && word[length])
		message_set(why, -EINVAL, "--%s takes no value", found->name);
	else if (found->arg && !word[length])
		message_set(why, -EINVAL, "--%s needs a value: --%s %s", found->name, found->name,
			    found->arg);
	else
		return false;
	return true;
}

/* argp has stopped at a word that it does not understand: the one before `next`, or in a cluster that one. */
static void blame(struct parsing *parsing, const struct argp_state *state)
{
	for (int i = state->next - 1; i <= state->next && i < state->argc; i++)
		if (i > 0 && explain(parsing, state->argv[i], parsing->why))
			return;
	message_set(parsing->why, -EINVAL, "the command line makes no sense; see %s --help",
		    parsing->options->command);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct parsing *parsing = state->input;

	switch (key) {
	case KEY_HELP:
		parsing->help = true;
		return 0;
	case KEY_VERSION:
		parsing->version = true;
		return 0;
	case ARGP_KEY_ERROR:
		if (!parsing->error) {
			parsing->error = -EINVAL;
			blame(parsing, state);
		}
		return 0;
	case ARGP_KEY_INIT:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_FINI:
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_ARGS:
		return ARGP_ERR_UNKNOWN;
	case ARGP_KEY_END:
		if (parsing->help || parsing->version)
			return 0;
		break;
	default:
		break;
	}
	parsing->error = parsing->options->take(key, text, parsing->values, parsing->why);
	return parsing->error ? EINVAL : 0;
}

int options_parse(const struct options *options, int argc, char **argv, void *values)
{
	struct argp_option all[OPTIONS_MAX + 3] = {{0}};
	struct message why = {""};
	struct parsing parsing = {.options = options, .all = all, .values = values, .why = &why};
	const struct argp argp = {
	    .options = all, .parser = parse, .args_doc = options->arguments, .doc = options->about};
	size_t count = 0;

	for (; options->options && options->options[count].name && count < OPTIONS_MAX; count++)
		all[count] = options->options[count];
	all[count++] =
	    (struct argp_option){.name = "help", .key = KEY_HELP, .doc = "print this help", .group = -1};
	all[count] = (struct argp_option){
	    .name = "version", .key = KEY_VERSION, .doc = "print the version", .group = -1};
	argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &parsing);
	if (parsing.error)
		return command_fail(EXIT_BAD_INPUT, &why);
	if (parsing.help) {
		argp_help(&argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
			  (char *)options->command);
		return command_end(0);
	}
	if (parsing.version) {
		printf("softfault %s\n", SOFTFAULT_VERSION);
		return command_end(0);
	}
	return -1;
}

int options_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *number,
		   struct message *why)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least && *number <= most)
		return 0;
	return message_set(why, -EINVAL, "%s: \"%s\" must be a whole number from %llu to %llu", name,
			   message_quote(text).text, (unsigned long long)least, (unsigned long long)most);
}

int options_too_many(const char *text, struct message *why)
{
	return message_set(why, -EINVAL, "\"%s\" is one argument too many", message_quote(text).text);
}
