/* SPDX-License-Identifier: MIT */
#include "cli/run_what_if.h"

#include <errno.h>

int run_what_if_prepare(struct run_as_is *as_is, struct what_if *what_if, struct machine *machine,
			struct study_plan *plan, struct message *why)
{
	int error;

	if (!machine)
		return message_set(why, -EINVAL, "engine %s runs on this computer; %s is for --engine vsmp",
				   plan->engine->name,
				   what_if->speedup_count ? "--speedup" : "--machine-set");
	for (unsigned i = 0; i < what_if->speedup_count; i++)
		if (!plan->engine->has_function(what_if->speedups[i].symbol))
			return message_set(
			    why, -EINVAL,
			    "--speedup: there is no function \"%s\"; --profile lists those that "
			    "run",
			    message_quote(what_if->speedups[i].symbol).text);
	error = machine_load(&as_is->machine, machine->path, why);
	if (!error)
		error = what_if_apply(what_if, machine, why);
	if (error)
		return error;
	as_is->plan = *plan;
	as_is->plan.machine = as_is->machine;
	as_is->plan.profile = as_is->plan.locks = as_is->plan.lines = as_is->plan.conflicts = false;
	plan->what_if = what_if;
	return 0;
}

void run_what_if_free(struct run_as_is *as_is)
{
	study_free(&as_is->study);
	machine_free(as_is->machine);
}
