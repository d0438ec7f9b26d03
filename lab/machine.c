/* SPDX-License-Identifier: MIT */
#include "lab/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/document.h"
#include "lab/files.h"
#include "lab/machine_file.h"

/* What a load holds together. */
struct loading {
	struct document *document;
	struct machine_file *file;
	struct machine *machine;
	struct message *why;
};

const char *machine_figure_name(unsigned figure)
{
	return figure == MACHINE_GIGAHERTZ ? "gigahertz" : vsmp_parameter_info[figure].name;
}

const char *machine_figure_unit(const struct machine *machine, unsigned figure)
{
	static const char *const names[] = {
	    [VSMP_CYCLES] = "cycles", [VSMP_GIGABYTES] = "GB/s", [VSMP_RATIO] = "ratio"};

	if (figure == MACHINE_GIGAHERTZ)
		return "GHz";
	return machine->figure[figure].nanoseconds ? "ns" : names[vsmp_parameter_info[figure].unit];
}

static const char *unit_names(enum vsmp_unit unit)
{
	return unit == VSMP_CYCLES ? "cycles or ns" : unit == VSMP_GIGABYTES ? "GB/s" : "ratio";
}

static bool takes_unit(enum vsmp_unit unit, const char *name)
{
	if (unit == VSMP_CYCLES)
		return !strcmp(name, "cycles") || !strcmp(name, "ns");
	return !strcmp(name, unit_names(unit));
}

/* Takes over a string that libcyaml allocated. */
static char *take(char **text)
{
	char *taken = *text;

	*text = NULL;
	return taken;
}

static int out_of_range(struct loading *loading, const char *place, const char *key, const char *name,
			double value, double minimum, double maximum, const char *unit)
{
	char at[192];

	snprintf(at, sizeof(at), "%s.%s", place, key);
	return document_error(loading->document, loading->why, at,
			      "%s of \"%s\" is %g %s; it must be %g to %g", key, name, value, unit, minimum,
			      maximum);
}

/* Where a figure comes from, and the range it has if it is assumed. */
static int load_provenance(struct loading *loading, const char *place, const char *name,
			   struct machine_file_figure *from, struct figure *figure)
{
	int origins = !!from->source + !!from->assumed + !!from->fitted;

	if (origins != 1)
		return document_error(
		    loading->document, loading->why, place,
		    origins ? "\"%s\" has more than one of the keys source, assumed and fitted; one must stay"
			    : "\"%s\" does not say where it comes from; give source: \"...\", or assumed: "
			      "\"why\" with "
			      "low and high",
		    name);
	figure->low = figure->high = figure->value;
	if (!from->assumed) {
		if (from->low || from->high)
			return document_error(
			    loading->document, loading->why, place,
			    "\"%s\" has a low or high but is not assumed; only assumed figures have a "
			    "range",
			    name);
		figure->provenance = from->source ? PROVENANCE_SOURCED : PROVENANCE_FITTED;
		figure->text = take(from->source ? &from->source : &from->fitted);
		return 0;
	}
	if (!from->low || !from->high)
		return document_error(
		    loading->document, loading->why, place,
		    "\"%s\" is assumed; it must have low and high, the range in which it is plausible", name);
	figure->low = *from->low;
	figure->high = *from->high;
	if (figure->value < figure->low || figure->value > figure->high)
		return document_error(loading->document, loading->why, place,
				      "\"%s\" is %g, outside its own range of low %g to high %g", name,
				      figure->value, figure->low, figure->high);
	figure->provenance = PROVENANCE_ASSUMED;
	figure->text = take(&from->assumed);
	return 0;
}

static int load_gigahertz(struct loading *loading)
{
	struct figure *figure = &loading->machine->figure[MACHINE_GIGAHERTZ];
	const struct {
		const char *key;
		double value;
	} numbers[] = {
	    {"value", loading->file->gigahertz.value},
	    {"low", loading->file->gigahertz.low ? *loading->file->gigahertz.low : MACHINE_GIGAHERTZ_MIN},
	    {"high", loading->file->gigahertz.high ? *loading->file->gigahertz.high : MACHINE_GIGAHERTZ_MAX}};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].value < MACHINE_GIGAHERTZ_MIN || numbers[i].value > MACHINE_GIGAHERTZ_MAX)
			return out_of_range(loading, "gigahertz", numbers[i].key, "gigahertz",
					    numbers[i].value, MACHINE_GIGAHERTZ_MIN, MACHINE_GIGAHERTZ_MAX,
					    "GHz");
	figure->value = loading->file->gigahertz.value;
	figure->more_is_better = true;
	return load_provenance(loading, "gigahertz", "gigahertz", &loading->file->gigahertz, figure);
}

static int load_parameter(struct loading *loading, unsigned parameter)
{
	const struct vsmp_parameter_info *info = &vsmp_parameter_info[parameter];
	struct machine_file_figure *from = loading->file->parameter[parameter];
	struct figure *figure = &loading->machine->figure[parameter];
	char place[128], at[160];
	double scale;

	snprintf(place, sizeof(place), "parameters.%s", info->name);
	snprintf(at, sizeof(at), "%s.unit", place);
	if (!takes_unit(info->unit, from->unit))
		return document_error(loading->document, loading->why, at,
				      "\"%s\" is in \"%s\"; its unit must be %s", info->name,
				      message_quote(from->unit).text, unit_names(info->unit));
	figure->value = from->value;
	figure->nanoseconds = !strcmp(from->unit, "ns");
	figure->more_is_better = info->unit == VSMP_GIGABYTES;
	scale = figure->nanoseconds ? loading->file->gigahertz.value : 1.0;

	const struct {
		const char *key;
		const double *value;
	} numbers[] = {{"value", &from->value}, {"low", from->low}, {"high", from->high}};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].value &&
		    (*numbers[i].value * scale < info->minimum || *numbers[i].value * scale > info->maximum))
			return out_of_range(loading, place, numbers[i].key, info->name, *numbers[i].value,
					    info->minimum / scale, info->maximum / scale, from->unit);
	if (from->fitted && parameter != VSMP_FAULT_PATH)
		return document_error(
		    loading->document, loading->why, place,
		    "\"%s\" may not be fitted; only \"%s\" may, and only to an uncontended figure",
		    info->name, vsmp_parameter_info[VSMP_FAULT_PATH].name);
	return load_provenance(loading, place, info->name, from, figure);
}

static int load_parameters(struct loading *loading)
{
	bool blades = loading->file->topology.sockets_per_blade;

	for (unsigned i = 0; i < VSMP_PARAMETER_COUNT; i++) {
		const struct vsmp_parameter_info *info = &vsmp_parameter_info[i];
		bool of_blades = !strncmp(info->name, "blade_", strlen("blade_"));
		char place[128];
		int error;

		snprintf(place, sizeof(place), "parameters.%s", info->name);
		if (!loading->file->parameter[i] && (!of_blades || blades))
			return document_error(loading->document, loading->why, place,
					      "\"parameters\" lacks \"%s\" (%s)", info->name, info->what);
		if (!loading->file->parameter[i])
			continue;
		if (of_blades && !blades)
			return document_error(
			    loading->document, loading->why, place,
			    "\"%s\" is for a machine with blades; give topology.sockets_per_blade, or "
			    "leave it out",
			    info->name);
		error = load_parameter(loading, i);
		if (error)
			return error;
	}
	return 0;
}

static int load_socket_order(struct loading *loading)
{
	struct vsmp_machine *shape = &loading->machine->shape;
	bool used[VSMP_SOCKETS_MAX] = {false};

	if (!loading->file->topology.socket_order) {
		for (unsigned i = 0; i < shape->sockets; i++)
			shape->socket_order[i] = (uint16_t)i;
		return 0;
	}
	if (loading->file->topology.socket_order_count != shape->sockets)
		return document_error(
		    loading->document, loading->why, "topology.socket_order",
		    "\"socket_order\" has %u items; it must name each of the %u sockets once",
		    loading->file->topology.socket_order_count, shape->sockets);
	for (unsigned i = 0; i < shape->sockets; i++) {
		uint32_t socket = loading->file->topology.socket_order[i];

		if (socket >= shape->sockets || used[socket])
			return document_error(
			    loading->document, loading->why, "topology.socket_order",
			    "\"socket_order\" has %u where it must name each socket, 0 to %u, once", socket,
			    shape->sockets - 1);
		used[socket] = true;
		shape->socket_order[i] = (uint16_t)socket;
	}
	return 0;
}

/* Hops by the rule of the file: between sockets of a blade, of a group of blades, and beyond. */
static void rule_hops(const struct machine_file *file, struct vsmp_machine *shape)
{
	bool full = *file->topology.hops_rule == MACHINE_HOPS_FULL;

	for (unsigned a = 0; a < shape->sockets; a++)
		for (unsigned b = 0; b < shape->sockets; b++) {
			unsigned blade_a = full ? 0 : a / shape->sockets_per_blade;
			unsigned blade_b = full ? 0 : b / shape->sockets_per_blade;

			if (a == b)
				shape->hops[a][b] = 0;
			else if (blade_a == blade_b)
				shape->hops[a][b] = 1;
			else if (blade_a / file->topology.blades_per_group ==
				 blade_b / file->topology.blades_per_group)
				shape->hops[a][b] = 2;
			else
				shape->hops[a][b] = 3;
		}
}

static int table_hops(struct loading *loading)
{
	struct vsmp_machine *shape = &loading->machine->shape;
	size_t rows = document_length(loading->document, "topology.hops");
	char place[64];

	if (rows != shape->sockets)
		return document_error(loading->document, loading->why, "topology.hops",
				      "\"hops\" has %zu rows; it must have one for each of the %u sockets",
				      rows, shape->sockets);
	for (unsigned a = 0; a < shape->sockets; a++) {
		size_t length;

		snprintf(place, sizeof(place), "topology.hops.%u", a);
		length = document_length(loading->document, place);
		if (length != shape->sockets)
			return document_error(
			    loading->document, loading->why, place,
			    "row %u of \"hops\" has %zu numbers; it must have one for each of the %u "
			    "sockets",
			    a, length, shape->sockets);
		for (unsigned b = 0; b < shape->sockets; b++) {
			unsigned hops;
			int error;

			snprintf(place, sizeof(place), "topology.hops.%u.%u", a, b);
			error = document_number(loading->document, place, UINT8_MAX, &hops, loading->why);
			if (error)
				return error;
			shape->hops[a][b] = (uint8_t)hops;
			if ((a == b) != (hops == 0))
				return document_error(
				    loading->document, loading->why, place,
				    "\"hops\" says %u from socket %u to socket %u; it must be 0 from a "
				    "socket to itself and more to any other",
				    hops, a, b);
			if (b < a && shape->hops[b][a] != hops)
				return document_error(
				    loading->document, loading->why, place,
				    "\"hops\" says %u from socket %u to socket %u but %u back; both "
				    "must be the same",
				    hops, a, b, shape->hops[b][a]);
		}
	}
	return 0;
}

static int load_hops(struct loading *loading)
{
	struct document *document = loading->document;
	const struct machine_file *file = loading->file;
	struct vsmp_machine *shape = &loading->machine->shape;
	bool table = document_length(document, "topology.hops") > 0;
	bool blades = file->topology.hops_rule && *file->topology.hops_rule == MACHINE_HOPS_BLADES;

	if (table == !!file->topology.hops_rule)
		return document_error(
		    document, loading->why, table ? "topology.hops_rule" : "topology.hops",
		    "\"topology\" must have one of \"hops\" (a row for each socket) and \"hops_rule\"");
	if (blades && !file->topology.sockets_per_blade)
		return document_error(document, loading->why, "topology.hops_rule",
				      "\"hops_rule: blades\" needs \"sockets_per_blade\"");
	if (blades != !!file->topology.blades_per_group)
		return document_error(
		    document, loading->why, blades ? "topology.hops_rule" : "topology.blades_per_group",
		    "\"blades_per_group\" (1 or more) goes with \"hops_rule: blades\" and with nothing "
		    "else");
	if (table)
		return table_hops(loading);
	if (!blades)
		loading->file->topology.blades_per_group = 1;
	rule_hops(file, shape);
	return 0;
}

static int load_origin(struct loading *loading, const char *place, char **source, char **assumed, char **text,
		       bool *is_assumed)
{
	if (!*source == !*assumed)
		return document_error(loading->document, loading->why, place,
				      "\"%s\" must have one of the keys source and assumed", place);
	*is_assumed = *assumed != NULL;
	*text = take(*assumed ? assumed : source);
	return 0;
}

static int load_topology(struct loading *loading)
{
	const struct machine_file *file = loading->file;
	struct vsmp_machine *shape = &loading->machine->shape;
	const struct {
		const char *place;
		uint32_t value, most;
	} counts[] = {{"topology.sockets", file->topology.sockets, VSMP_SOCKETS_MAX},
		      {"topology.cores_per_socket", file->topology.cores_per_socket, VSMP_CPUS_MAX},
		      {"topology.threads_per_core", file->topology.threads_per_core, 8}};
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (!counts[i].value || counts[i].value > counts[i].most)
			return document_error(loading->document, loading->why, counts[i].place,
					      "\"%s\" is %u; it must be 1 to %u",
					      strchr(counts[i].place, '.') + 1, counts[i].value,
					      counts[i].most);
	shape->sockets = file->topology.sockets;
	shape->cores_per_socket = file->topology.cores_per_socket;
	shape->threads_per_core = file->topology.threads_per_core;
	shape->sockets_per_blade = file->topology.sockets_per_blade;
	if (vsmp_machine_cpus(shape) > VSMP_CPUS_MAX)
		return document_error(
		    loading->document, loading->why, "topology.sockets",
		    "the machine has %u CPUs; sockets x cores_per_socket x threads_per_core must be %u "
		    "at the most",
		    vsmp_machine_cpus(shape), VSMP_CPUS_MAX);
	if (shape->sockets_per_blade && shape->sockets % shape->sockets_per_blade)
		return document_error(loading->document, loading->why, "topology.sockets_per_blade",
				      "\"sockets_per_blade\" is %u; it must divide the %u sockets",
				      shape->sockets_per_blade, shape->sockets);
	error = load_socket_order(loading);
	if (!error)
		error = load_hops(loading);
	if (!error)
		error = load_origin(loading, "topology", &loading->file->topology.source,
				    &loading->file->topology.assumed, &loading->machine->topology_text,
				    &loading->machine->topology_assumed);
	return error;
}

static int load_file(struct loading *loading)
{
	struct machine_file *file = loading->file;
	struct machine *machine = loading->machine;
	const char *base = strrchr(machine->path, '/');
	struct machine_point point;
	struct message what = {""};
	int error;

	base = base ? base + 1 : machine->path;
	if (strncmp(base, file->name, strlen(file->name)) || strcmp(base + strlen(file->name), ".yaml"))
		return document_error(loading->document, loading->why, "name",
				      "the machine is called \"%s\"; its file must be called %s.yaml",
				      message_quote(file->name).text, message_quote(file->name).text);
	snprintf(machine->shape.name, sizeof(machine->shape.name), "%s", file->name);
	machine->title = take(&file->title);
	error = load_gigahertz(loading);
	if (!error)
		error = load_topology(loading);
	if (!error)
		error = load_origin(loading, "protocol", &file->protocol.source, &file->protocol.assumed,
				    &machine->protocol_text, &machine->protocol_assumed);
	if (!error)
		error = load_parameters(loading);
	if (error)
		return error;
	machine->shape.service = file->protocol.service;
	machine->shape.route = file->protocol.route;
	machine->shape.merge_reads = file->protocol.merge_reads;
	machine->placement.kind = file->placement;
	machine->placement.cpus_per_socket = file->cpus_per_socket;
	machine->home = (enum machine_home)file->home;
	machine->home_assumed = take(&file->home_assumed);
	machine->calibration = take(&file->calibration);
	machine_point_of_file(machine, &point);
	machine_resolve(machine, &point, &machine->shape);
	if (vsmp_machine_check(&machine->shape, &what))
		return document_error(loading->document, loading->why, "topology", "%s", what.text);
	return 0;
}

int machine_load(struct machine **machine, const char *name, struct message *why)
{
	struct loading loading = {.machine = calloc(1, sizeof(struct machine)), .why = why};
	void *data = NULL;
	int error;

	if (!loading.machine)
		return message_set(why, -ENOMEM, "out of memory");
	error = files_find("machines", name, &loading.machine->path, why);
	if (!error)
		error = document_open(&loading.document, loading.machine->path, "machines/README.md", why);
	if (!error)
		error = document_load(loading.document, &machine_file_schema, &data, why);
	loading.file = data;
	if (!error)
		error = load_file(&loading);
	document_free(&machine_file_schema, data);
	document_close(loading.document);
	if (error) {
		machine_free(loading.machine);
		return error;
	}
	*machine = loading.machine;
	return 0;
}

void machine_free(struct machine *machine)
{
	if (!machine)
		return;
	for (unsigned i = 0; i < MACHINE_FIGURES; i++)
		free(machine->figure[i].text);
	free(machine->title);
	free(machine->path);
	free(machine->home_assumed);
	free(machine->topology_text);
	free(machine->protocol_text);
	free(machine->calibration);
	free(machine);
}

void machine_point_of_file(const struct machine *machine, struct machine_point *point)
{
	for (unsigned i = 0; i < MACHINE_FIGURES; i++)
		point->value[i] = machine->figure[i].value;
	point->home = machine->home;
}

void machine_resolve(const struct machine *machine, const struct machine_point *point,
		     struct vsmp_machine *resolved)
{
	if (resolved != &machine->shape)
		*resolved = machine->shape;
	resolved->gigahertz = point->value[MACHINE_GIGAHERTZ];
	for (unsigned i = 0; i < VSMP_PARAMETER_COUNT; i++)
		resolved->value[i] = point->value[i] *
				     (machine->figure[i].nanoseconds ? point->value[MACHINE_GIGAHERTZ] : 1.0);
}

bool machine_point_differs(const struct machine_point *point, const struct machine_point *base,
			   uint64_t parameters_asked)
{
	for (unsigned i = 0; i < MACHINE_FIGURES; i++)
		if (machine_figure_counts(i, parameters_asked) && point->value[i] != base->value[i])
			return true;
	return point->home != base->home;
}

unsigned machine_cpus(const struct machine *machine, const struct vsmp_placement *placement)
{
	unsigned in_socket = machine->shape.cores_per_socket * machine->shape.threads_per_core;

	if (placement->cpus_per_socket && placement->cpus_per_socket < in_socket)
		in_socket = placement->cpus_per_socket;
	return machine->shape.sockets * in_socket;
}

int machine_home_socket(const struct vsmp_machine *shape, const struct vsmp_placement *placement,
			enum machine_home home, unsigned cpus, int *socket, struct message *why)
{
	struct vsmp_seat seats[VSMP_CPUS_MAX];
	bool used[VSMP_SOCKETS_MAX] = {false};
	int error = vsmp_place(shape, placement, cpus, seats, why);

	*socket = -1;
	if (error || home == MACHINE_HOME_BOOT)
		return error;
	for (unsigned i = 0; i < cpus; i++)
		used[seats[i].socket] = true;
	for (unsigned i = 0; i < shape->sockets && *socket < 0; i++)
		if (!used[shape->socket_order[i]])
			*socket = shape->socket_order[i];
	return 0;
}
