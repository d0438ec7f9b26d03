/* SPDX-License-Identifier: MIT */
#include "vsmp/check.h"

#include <stdio.h>

#include "vsmp/core.h"
#include "vsmp/explore/record.h"

const char *check_policy(void)
{
	const struct explore_config *config = explore_configuration();

	return config->policy ? config->policy : "default";
}

unsigned check_cpus(void)
{
	return machine->cpu_count;
}

_Noreturn void check_fail(const char *file, int line, const char *text)
{
	char what[256];

	snprintf(what, sizeof(what), "%s:%d: %s is not true", file, line, text);
	explore_fail(EXPLORE_ASSERTION, NULL, what);
}

void check_compare(const char *file, int line, const char *text, unsigned long long actual,
		   unsigned long long model)
{
	char what[256];

	if (actual == model)
		return;
	snprintf(what, sizeof(what), "%s:%d: %s is %llu (0x%llx), the model says %llu (0x%llx)", file, line,
		 text, actual, actual, model, model);
	explore_fail(EXPLORE_MODEL, NULL, what);
}

void check_nothing_left(const char *what, unsigned long long count)
{
	char text[128];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%s not given back: %llu", what, count);
	explore_fail(EXPLORE_LEAK, NULL, text);
}
