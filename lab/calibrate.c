/* SPDX-License-Identifier: MIT */
#include "lab/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/files.h"
#include "lab/number.h"
#include "lab/pool.h"
#include "lab/table.h"

#define DATA_FILE "machines/calibration/line-sharing.csv"
#define HEADER    "host,kind,ncores,mean_cycles"

/* Rounds of a point. The published means are over many more; the mean of this many stands within 1 %. */
#define ROUNDS 300

/* --- The measured points --- */

static int add_point(struct calibration *calibration, const struct calibration_point *point)
{
	struct calibration_point *larger =
	    realloc(calibration->points, (calibration->count + 1) * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	calibration->points = larger;
	calibration->points[calibration->count++] = *point;
	return 0;
}

/* Reads "intel,ww,12,1159". Returns 0, 1 for another host's line, or -EINVAL. */
static int parse_line(char *line, const char *host, struct calibration_point *point)
{
	char *field[4], *end;
	unsigned long cpus;

	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		field[i] = strsep(&line, ",");
		if (!field[i] || !*field[i])
			return -EINVAL;
	}
	if (line || (strcmp(field[1], "ww") && strcmp(field[1], "rw")))
		return -EINVAL;
	memset(point, 0, sizeof(*point));
	point->reads = field[1][0] == 'r';
	cpus = strtoul(field[2], &end, 10);
	if (*end || field[2][0] == '-' || cpus < (point->reads ? 2 : 1) || cpus > VSMP_CPUS_MAX)
		return -EINVAL;
	point->cpus = (unsigned)cpus;
	point->measured_cycles = strtod(field[3], &end);
	if (*end || !isfinite(point->measured_cycles) || point->measured_cycles <= 0)
		return -EINVAL;
	return strcmp(field[0], host) != 0;
}

static int by_curve(const void *a, const void *b)
{
	const struct calibration_point *one = a, *other = b;

	if (one->reads != other->reads)
		return one->reads ? 1 : -1;
	return (one->cpus > other->cpus) - (one->cpus < other->cpus);
}

int calibration_read(struct calibration *calibration, const char *path, const char *host, struct message *why)
{
	char *text, *rest, *line;
	bool header = false;
	unsigned number = 0;
	size_t bytes;
	int error = files_read(path, &text, &bytes, why);

	if (error)
		return error;
	for (rest = text; !error && (line = strsep(&rest, "\n"));) {
		struct calibration_point point;
		int parsed;

		number++;
		if (!*line || *line == '#')
			continue;
		if (!header) {
			header = true;
			if (strcmp(line, HEADER))
				error = message_set(why, -EINVAL, "%s:%u: the columns must be " HEADER, path,
						    number);
			continue;
		}
		parsed = parse_line(line, host, &point);
		if (parsed < 0)
			error = message_set(
			    why, -EINVAL,
			    "%s:%u: not a point; it must look like \"intel,ww,12,1159\" (kinds: ww, rw)",
			    path, number);
		else if (!parsed && add_point(calibration, &point))
			error = message_set(why, -ENOMEM, "out of memory");
	}
	free(text);
	if (!error && !calibration->count)
		error = message_set(why, -ENOENT, "%s: no point was measured on a host called \"%s\"", path,
				    host);
	if (calibration->count)
		qsort(calibration->points, calibration->count, sizeof(*calibration->points), by_curve);
	return error;
}

void calibration_thin(struct calibration *calibration, unsigned most)
{
	size_t kept = 0;

	for (size_t first = 0, end; most && first < calibration->count; first = end) {
		size_t length, keep, start = kept;

		for (end = first; end < calibration->count; end++)
			if (calibration->points[end].reads != calibration->points[first].reads)
				break;
		length = end - first;
		keep = most < length ? most : length;
		for (size_t i = 0; i < keep; i++) {
			size_t from = keep > 1 ? i * (length - 1) / (keep - 1) : length - 1;

			calibration->points[start + i] = calibration->points[first + from];
		}
		kept += keep;
	}
	if (most)
		calibration->count = kept;
}

/* --- The replay --- */

static int work(size_t job, void *argument, struct wire *result, struct message *why, const char **details)
{
	const struct calibration *calibration = argument;
	const struct calibration_point *point = &calibration->points[job];
	double cycles;
	int error;

	(void)details;
	error = engine_vsmp.burst(&calibration->machine->shape, point->cpus, calibration->seed, point->reads,
				  ROUNDS, &cycles, why);
	if (!error)
		wire_bytes(result, &cycles, sizeof(cycles));
	return error;
}

static void take(size_t job, void *argument, struct wire *result)
{
	struct calibration_point *point = &((struct calibration *)argument)->points[job];

	wire_bytes(result, &point->simulated_cycles, sizeof(point->simulated_cycles));
}

static void describe(size_t job, void *argument, char *text, size_t size)
{
	const struct calibration *calibration = argument;
	const struct calibration_point *point = &calibration->points[job];

	snprintf(text, size, "calibrating %s, %s, %u CPUs", calibration->machine->shape.name,
		 point->reads ? "reads" : "adds", point->cpus);
}

static void judge(struct calibration *calibration)
{
	double sum = 0;

	for (size_t i = 0; i < calibration->count; i++) {
		struct calibration_point *point = &calibration->points[i];

		point->error_percent = 100 * (point->simulated_cycles / point->measured_cycles - 1);
		sum += fabs(point->error_percent);
		if (fabs(point->error_percent) > calibration->worst_percent)
			calibration->worst_percent = fabs(point->error_percent);
	}
	calibration->mean_percent = sum / (double)calibration->count;
}

int calibration_run(struct calibration *calibration, const struct machine *machine, unsigned most,
		    uint64_t seed, void (*progress)(size_t done, size_t count), struct message *why)
{
	struct pool pool = {.parallel = pool_processors(),
			    .argument = calibration,
			    .work = work,
			    .take = take,
			    .describe = describe,
			    .progress = progress};
	char *path;
	int error;

	*calibration = (struct calibration){.machine = machine, .seed = seed};
	if (!machine->calibration)
		return message_set(
		    why, -ENOENT,
		    "%s: the machine was not measured; one that was has a key \"calibration\", such as "
		    "westmere-ex-80 and opteron-48",
		    machine->path);
	error = files_find_data(DATA_FILE, &path, why);
	if (error)
		return error;
	error = calibration_read(calibration, path, machine->calibration, why);
	free(path);
	if (error)
		return error;
	for (size_t i = 0; i < calibration->count; i++)
		if (calibration->points[i].cpus > vsmp_machine_cpus(&machine->shape))
			return message_set(
			    why, -EINVAL,
			    "%s: the machine has %u CPUs, but \"%s\" was measured with up to %u",
			    machine->path, vsmp_machine_cpus(&machine->shape), machine->calibration,
			    calibration->points[i].cpus);
	calibration_thin(calibration, most);
	pool.jobs = calibration->count;
	error = pool_run(&pool, why);
	if (!error)
		judge(calibration);
	return error;
}

void calibration_free(struct calibration *calibration)
{
	free(calibration->points);
	calibration->points = NULL;
	calibration->count = 0;
}

/* --- The report --- */

void calibration_print(FILE *out, unsigned width, const struct calibration *calibration)
{
	static const struct table_column columns[] = {
	    {"operation", TABLE_LEFT, 0, 0},          {"CPUs", TABLE_RIGHT, 0, 0},
	    {"measured (cycles)", TABLE_RIGHT, 0, 0}, {"simulated (cycles)", TABLE_RIGHT, 0, 0},
	    {"error (%)", TABLE_RIGHT, 0, 0},
	};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));

	table_text(out, width, "", "%s (%s): one contended cache line, all CPUs at once",
		   calibration->machine->shape.name, calibration->machine->title);
	fputc('\n', out);
	for (size_t i = 0; i < calibration->count; i++) {
		const struct calibration_point *point = &calibration->points[i];

		table_cell(table, "%s", point->reads ? "read" : "add");
		table_cell(table, "%u", point->cpus);
		table_cell(table, "%.0f", point->measured_cycles);
		table_cell(table, "%.0f", point->simulated_cycles);
		table_cell(table, "%+.1f", point->error_percent);
	}
	table_print(table, out, width);
	table_free(table);
	fprintf(out, "\n%zu points; worst error %.1f %%, mean %.1f %%; at most %.0f %% is allowed: %s\n",
		calibration->count, calibration->worst_percent, calibration->mean_percent,
		CALIBRATION_PERCENT_MAX,
		calibration->worst_percent <= CALIBRATION_PERCENT_MAX ? "calibrated" : "not calibrated");
}

json_t *calibration_json(const struct calibration *calibration)
{
	json_t *points = json_array();

	for (size_t i = 0; i < calibration->count; i++) {
		const struct calibration_point *point = &calibration->points[i];

		json_array_append_new(
		    points,
		    json_pack("{s:s, s:i, s:f, s:f, s:f}", "operation", point->reads ? "read" : "add", "cpus",
			      (int)point->cpus, "measured_cycles", point->measured_cycles, "simulated_cycles",
			      point->simulated_cycles, "error_percent", point->error_percent));
	}
	return json_pack("{s:i, s:s, s:I, s:o, s:f, s:f}", "schema", 1, "machine",
			 calibration->machine->shape.name, "seed", (json_int_t)calibration->seed, "points",
			 points, "worst_percent", calibration->worst_percent, "mean_percent",
			 calibration->mean_percent);
}
