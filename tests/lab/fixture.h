/* SPDX-License-Identifier: MIT */
/*
 * For tests of the lab: a folder of their own with machine and experiment files, which the lab finds by
 * SOFTFAULT_PATH, and texts of such files that are right.
 */
#ifndef TESTS_LAB_FIXTURE_H
#define TESTS_LAB_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"

static char fixture_folder[64];

static inline int fixture_open(void **state)
{
	char path[128];

	(void)state;
	snprintf(fixture_folder, sizeof(fixture_folder), "/tmp/softfault-test.XXXXXX");
	if (!mkdtemp(fixture_folder))
		return -1;
	snprintf(path, sizeof(path), "%s/machines", fixture_folder);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/experiments", fixture_folder);
	mkdir(path, 0777);
	return setenv("SOFTFAULT_PATH", fixture_folder, 1);
}

static inline int fixture_close(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", fixture_folder);
	return system(command);
}

/* Writes `text` to the file at `relative` in the folder. */
static inline void fixture_write(const char *relative, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture_folder, relative);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* A right machine, called "m": 2 sockets of 4 cores. Its parameters begin in line 17, one a line. */
static inline char *fixture_machine(void)
{
	enum { BYTES = 16384 };
	char *text = calloc(1, BYTES);
	FILE *out = text ? fmemopen(text, BYTES, "w") : NULL;

	assert_non_null(out);

	fputs("name: m\n"
	      "title: A machine\n"
	      "gigahertz: {value: 2.0, source: \"s\"}\n"
	      "topology:\n"
	      "  sockets: 2\n"
	      "  cores_per_socket: 4\n"
	      "  threads_per_core: 1\n"
	      "  hops: [[0, 1], [1, 0]]\n"
	      "  source: \"s\"\n"
	      "protocol:\n"
	      "  service: random\n"
	      "  route: home\n"
	      "  merge_reads: true\n"
	      "  assumed: \"a\"\n"
	      "placement: fill\n"
	      "parameters:\n",
	      out);
	for (unsigned i = 0; i < VSMP_PARAMETER_COUNT; i++) {
		const struct vsmp_parameter_info *info = &vsmp_parameter_info[i];
		static const char *const values[] = {[VSMP_CYCLES] = "10, unit: cycles",
						     [VSMP_GIGABYTES] = "5, unit: GB/s",
						     [VSMP_RATIO] = "1.5, unit: ratio"};

		if (strncmp(info->name, "blade_", 6))
			fprintf(out, "  %s: {value: %s, source: \"s\"}\n", info->name, values[info->unit]);
	}
	fclose(out);
	return text;
}

/* A right experiment, called "e", on machine "m". */
static inline char *fixture_experiment(void)
{
	return strdup("name: e\n"
		      "title: An experiment\n"
		      "source: s\n"
		      "workload: pfn_insert\n"
		      "machine: m\n"
		      "cpus: [2, 8]\n"
		      "operations:\n"
		      "  published: 1000\n"
		      "  simulated: 10\n"
		      "  warm_up: 2\n"
		      "  sweep: 5\n"
		      "  sweep_warm_up: 1\n"
		      "variants:\n"
		      "  - name: before\n"
		      "    base: base_2010\n"
		      "    what: w\n"
		      "    set:\n"
		      "      - {field: memtype, choice: spin}\n"
		      "  - name: after\n"
		      "    base: default\n"
		      "    what: w\n"
		      "published:\n"
		      "  - variant: before\n"
		      "    cpus: 2\n"
		      "    quantity: seconds\n"
		      "    value: 4\n"
		      "    unit: s\n"
		      "    kind: fitted\n"
		      "    source: s\n"
		      "  - {variant: before, cpus: 8, quantity: seconds, value: 8, unit: s, kind: predicted, "
		      "source: s}\n");
}

/* Returns `text`, which is freed, with the first `from` in it, which must be there, replaced by `to`. */
static inline char *fixture_replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from);
	char *changed = malloc(strlen(text) + strlen(to) + 1);

	assert_non_null(at);
	assert_non_null(changed);
	sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	free(text);
	return changed;
}

/* Checks that `why` is "FOLDER/relative:" and then `expected`. */
static inline void fixture_expect(const struct message *why, const char *relative, const char *expected)
{
	char whole[MESSAGE_BYTES + 256];

	snprintf(whole, sizeof(whole), "%s/%s:%s", fixture_folder, relative, expected);
	assert_string_equal(why->text, whole);
}

#endif
