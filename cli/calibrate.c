/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/json_file.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "lab/calibrate.h"

#define SEED_MAX ((uint64_t)1 << 62)

enum key { KEY_POINTS = 256, KEY_SEED, KEY_JSON };

static const struct argp_option own[] = {
    {"points", KEY_POINTS, "N", 0, "only N points of each curve, evenly spread (default: all)", 1},
    {"seed", KEY_SEED, "S", 0, "the seed (default: 1); the same seed gives the same output", 1},
    {"json", KEY_JSON, "FILE", 0, "write the results to FILE too, - for the output instead", 2},
    {0}};

struct values {
	const char *machine, *json;
	uint64_t points, seed;
};

static int take(int key, const char *text, void *argument, struct message *why)
{
	struct values *values = argument;

	switch (key) {
	case KEY_POINTS:
		return options_number("--points", text, 1, 1000, &values->points, why);
	case KEY_SEED:
		return options_number("--seed", text, 0, SEED_MAX, &values->seed, why);
	case KEY_JSON:
		values->json = text;
		return 0;
	case ARGP_KEY_END:
		return values->machine
			   ? 0
			   : message_set(why, -EINVAL, "a machine must be named, such as westmere-ex-80");
	default:
		if (values->machine)
			return options_too_many(text, why);
		values->machine = text;
		return 0;
	}
}

static int show(const struct calibration *calibration, const struct values *values, struct message *why)
{
	if (!json_file_is_stdout(values->json))
		calibration_print(stdout, terminal_width(), calibration);
	if (values->json && json_file_write(values->json, calibration_json(calibration), why))
		return command_fail(EXIT_RUN_FAILED, why);
	return command_end(calibration->worst_percent > CALIBRATION_PERCENT_MAX ? EXIT_RUN_FAILED : 0);
}

int command_calibrate(int argc, char **argv)
{
	static const struct options options = {
	    .command = "softfault calibrate",
	    .options = own,
	    .arguments = "MACHINE",
	    .about = "Replays a measured microbenchmark, one cache line that all CPUs want at once, on the "
		     "simulated machine "
		     "on whose model it was measured, and prints both. The exit status is 1 when a point is "
		     "more than 25 % "
		     "off.",
	    .take = take,
	};
	struct values values = {.seed = 1};
	struct calibration calibration = {0};
	struct message why = {""};
	struct machine *machine = NULL;
	int error, status = options_parse(&options, argc, argv, &values);

	if (status >= 0)
		return status;
	error = machine_load(&machine, values.machine, &why);
	if (!error && values.json)
		error = json_file_check(values.json, &why);
	if (error) {
		machine_free(machine);
		return command_fail(EXIT_BAD_INPUT, &why);
	}
	terminal_progress_begin(machine->shape.name);
	error = calibration_run(&calibration, machine, (unsigned)values.points, values.seed,
				terminal_progress, &why);
	terminal_progress_end();
	if (error == -ENOENT || error == -EINVAL)
		status = command_fail(EXIT_BAD_INPUT, &why);
	else if (error)
		status = command_run_failed(error, &why);
	else
		status = show(&calibration, &values, &why);
	calibration_free(&calibration);
	machine_free(machine);
	return status;
}
