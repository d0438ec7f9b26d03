/* SPDX-License-Identifier: MIT */
#include "lab/workload.h"

#include <errno.h>
#include <string.h>

#include "lab/names.h"

static const struct workload *const workloads[] = {
    &workload_anon_fault,   &workload_group_release, &workload_over_commit, &workload_pfn_insert,
    &workload_reclaim_copy, &workload_shared_fault,  &workload_whole};

const struct workload *workload_find(const char *name, struct message *why)
{
	const char *names[ARRAY_SIZE(workloads)];
	char suggestion[MESSAGE_BYTES / 2];

	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++) {
		names[i] = workloads[i]->name;
		if (!strcmp(names[i], name))
			return workloads[i];
	}
	names_suggest(suggestion, sizeof(suggestion), name, names, ARRAY_SIZE(names));
	message_set(why, -ENOENT, "there is no workload \"%s\"; %s", message_quote(name).text, suggestion);
	return NULL;
}

int workload_choose(const struct workload *workload, struct workload_settings *settings, const char *option,
		    const char *choice, struct message *why)
{
	const char *names[WORKLOAD_OPTIONS_MAX];
	char suggestion[MESSAGE_BYTES / 2];
	unsigned count = 0;

	for (unsigned i = 0; i < workload->option_count; i++) {
		const struct workload_option *found = &workload->options[i];

		names[i] = found->name;
		if (strcmp(found->name, option))
			continue;
		for (count = 0; found->choices[count]; count++) {
			if (strcmp(found->choices[count], choice))
				continue;
			settings->choice[i] = (uint8_t)count;
			return 0;
		}
		names_suggest(suggestion, sizeof(suggestion), choice, (const char **)found->choices, count);
		return message_set(why, -ENOENT, "%s cannot be \"%s\"; %s", option, choice, suggestion);
	}
	if (!workload->option_count)
		return message_set(why, -ENOENT, "workload %s has no options, so no \"%s\"", workload->name,
				   option);
	names_suggest(suggestion, sizeof(suggestion), option, names, workload->option_count);
	return message_set(why, -ENOENT, "workload %s has no option \"%s\"; %s", workload->name, option,
			   suggestion);
}

const char *workload_choice(const struct workload *workload, const struct workload_settings *settings,
			    unsigned option)
{
	return workload->options[option].choices[settings->choice[option]];
}

int workload_run_phases(const struct engine *engine, const struct workload_size *size,
			const struct workload_phases *phases, void *argument, struct engine_timing *timing,
			struct message *why)
{
	int error = engine->setup(phases->set_up, argument, why);

	if (!error)
		error = phases->error(argument);
	if (!error)
		error = engine->run(phases->body, argument, timing, why);
	if (!error)
		error = phases->error(argument);
	if (!error && !size->unchecked)
		error = engine->setup(phases->tear_down, argument, why);
	return error ? error : phases->error(argument);
}

int workload_cpu_failed(unsigned cpu, int error, const char *doing, struct message *why)
{
	return message_set(why, error, "CPU %u failed while %s: %s", cpu, doing, strerror(-error));
}

int workload_check_faults(const struct engine_statistics *before, const struct engine_statistics *after,
			  uint64_t touches, struct message *why)
{
	uint64_t faults = after->faults - before->faults;

	if (faults >= touches)
		return 0;
	return message_set(why, -EIO,
			   "only %llu of %llu touches faulted: this measures something else than faults",
			   (unsigned long long)faults, (unsigned long long)touches);
}
