/* SPDX-License-Identifier: MIT */
#include "lab/computer.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The first line of a file, without its end; `text` stays as it is when there is none. */
static void first_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	if (fgets(text, (int)size, file))
		text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

/* Of the first processor: its model's name, and whether it has the mark that hypervisors set. */
static void look_at_processor(struct computer *computer)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return;
	while (getline(&line, &room, file) > 1) {
		char *value = strchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		if (!value || !value[1])
			continue;
		if (!strncmp(line, "model name", 10))
			snprintf(computer->model, sizeof(computer->model), "%s", value + 2);
		else if (!strncmp(line, "flags", 5))
			computer->is_virtual = strstr(value, " hypervisor") != NULL;
	}
	free(line);
	fclose(file);
}

void computer_look(struct computer *computer)
{
	char load[64] = "";
	struct utsname name;
	cpu_set_t set;

	*computer = (struct computer){
	    .processors = 1, .model = "unknown", .kernel = "unknown", .governor = "none", .load = -1};
	if (!sched_getaffinity(0, sizeof(set), &set))
		computer->processors = (unsigned)CPU_COUNT(&set);
	if (!uname(&name))
		snprintf(computer->kernel, sizeof(computer->kernel), "%.30s %.60s", name.sysname,
			 name.release);
	look_at_processor(computer);
	first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", computer->governor,
		   sizeof(computer->governor));
	first_line("/proc/loadavg", load, sizeof(load));
	if (*load)
		computer->load = strtod(load, NULL);
}
