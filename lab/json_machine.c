/* SPDX-License-Identifier: MIT */
#include "lab/json_parts.h"

static json_t *figures(const struct machine *machine)
{
	static const char *const names[] = {[PROVENANCE_SOURCED] = "sourced",
					    [PROVENANCE_ASSUMED] = "assumed",
					    [PROVENANCE_FITTED] = "fitted"};
	json_t *array = json_array();

	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		const struct figure *figure = &machine->figure[i];

		if (figure->provenance == PROVENANCE_NONE)
			continue;
		json_array_append_new(
		    array,
		    json_pack("{s:s, s:s, s:f, s:s, s:s, s:s?, s:f, s:f}", "name", machine_figure_name(i),
			      "what", i == MACHINE_GIGAHERTZ ? "clock" : vsmp_parameter_info[i].what, "value",
			      figure->value, "unit", machine_figure_unit(machine, i), "provenance",
			      names[figure->provenance], "text", figure->text, "low", figure->low, "high",
			      figure->high));
	}
	return array;
}

json_t *json_machine(const struct study *study)
{
	const struct machine *machine = study->plan.machine;
	const struct vsmp_machine *shape;

	if (!machine)
		return json_null();
	shape = &machine->shape;
	return json_pack(
	    "{s:s, s:i, s:i, s:i, s:b, s:s?, s:b, s:s?, s:s?, s:o}", "title", machine->title, "sockets",
	    (int)shape->sockets, "cores_per_socket", (int)shape->cores_per_socket, "threads_per_core",
	    (int)shape->threads_per_core, "topology_assumed", (int)machine->topology_assumed, "topology_text",
	    machine->topology_text, "protocol_assumed", (int)machine->protocol_assumed, "protocol_text",
	    machine->protocol_text, "home_assumed", machine->home_assumed, "figures", figures(machine));
}

json_t *json_computer(const struct study *study)
{
	const struct computer *computer = &study->computer;

	if (study->plan.machine)
		return json_null();
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:b}", "processors", (int)computer->processors, "model",
			 computer->model, "kernel", computer->kernel, "governor", computer->governor, "load",
			 computer->load < 0 ? json_null() : json_real(computer->load), "virtual",
			 (int)computer->is_virtual);
}
