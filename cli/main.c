/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/repeat.h"
#include "lab/names.h"
#include "lab/pool.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
    {"list", command_list},       {"run", command_run},       {"reproduce", command_reproduce},
    {"compare", command_compare}, {"report", command_report}, {"calibrate", command_calibrate},
    {"explore", command_explore},
};

int command_fail(int status, const struct message *why)
{
	fflush(stdout);
	fprintf(stderr, "softfault: %s\n", why->text);
	return status;
}

int command_run_failed(int error, const struct message *why)
{
	if (error == -EINTR) {
		fflush(NULL);
		signal(pool_signal(), SIG_DFL);
		raise(pool_signal());
	}
	return command_fail(EXIT_RUN_FAILED, why);
}

int command_end(int status)
{
	struct message why;

	if (!fflush(stdout) && !ferror(stdout))
		return status;
	message_set(&why, -EIO, "the output cannot be written: %s", strerror(errno));
	fprintf(stderr, "softfault: %s\n", why.text);
	return EXIT_RUN_FAILED;
}

static int take(int key, const char *text, void *values, struct message *why)
{
	const char *names[ARRAY_SIZE(commands)];
	char suggestion[MESSAGE_BYTES / 2];

	(void)values;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	names_suggest(suggestion, sizeof(suggestion), text ? text : "", names, ARRAY_SIZE(names));
	if (key == ARGP_KEY_ARG)
		return message_set(why, -EINVAL, "there is no command \"%s\"; %s", message_quote(text).text,
				   suggestion);
	return message_set(why, -EINVAL, "a command must follow; %s", suggestion);
}

int main(int argc, char **argv)
{
	static const struct options options = {
	    .command = "softfault",
	    .arguments = "COMMAND ...",
	    .about = "Runs memory managers' fault paths on a simulated machine of many CPUs, and sets the "
		     "results beside "
		     "published ones.\v"
		     "Commands:\n"
		     "  list [experiments|machines|checks|variants EXPERIMENT]\n"
		     "  reproduce [EXPERIMENT...]   every published figure beside ours\n"
		     "  run EXPERIMENT              one experiment, as you want it\n"
		     "  compare A.json [B.json]     faster, slower, or within noise\n"
		     "  report FILE.json...         a page of HTML, or another format\n"
		     "  calibrate MACHINE           a measured microbenchmark beside its replay\n"
		     "  explore CHECK|EXPERIMENT    looks for concurrency faults by trying schedules\n"
		     "\n"
		     "softfault COMMAND --help tells about each. The exit status is 0, 1 when a run failed, "
		     "2 when the "
		     "command line or a file is wrong.\n",
	    .take = take,
	};
	int status;

	repeat_remember(argc, argv);
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	/* Only the first word can be a command, so that --help after a wrong one is no help for it. */
	status = options_parse(&options, argc > 2 ? 2 : argc, argv, NULL);
	return status < 0 ? EXIT_BAD_INPUT : status;
}
