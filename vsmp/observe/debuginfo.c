/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/debuginfo.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/field.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/program.h"
#include "vsmp/observe/symbols.h"
#include "vsmp/observe/texts.h"

struct variable {
	uintptr_t address;
	uint64_t bytes;
	const char *name;
	Dwarf_Die type;
};

struct function {
	uintptr_t begin, end;
	const char *file;
};

static struct {
	bool open;
	struct pairmap types;       /* (text of "struct page", 0) to the offset of its entry + 1 */
	struct variable *variables; /* by address */
	size_t variable_count, variable_capacity;
	struct function *functions; /* by address */
	size_t function_count, function_capacity;
	bool has_inner_variables; /* those that stand inside functions were read, too */
} info;

/* --- Reading ---------------------------------------------------------------------------------------------
 */

/* The keyword before a type's name, or NULL when entries of that tag are no types with a name. */
static const char *keyword(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		return "";
	default:
		return NULL;
	}
}

/* The first definition of a name counts: in one program all should be the same. */
static int read_type(Dwarf_Die *die, const char *prefix)
{
	const char *name = dwarf_diename(die);
	char full[DEBUGINFO_NAME_BYTES];
	uint64_t *value;
	uint32_t text;

	if (!name || dwarf_hasattr(die, DW_AT_declaration))
		return 0;
	snprintf(full, sizeof(full), "%s%s", prefix, name);
	if (texts_add(full, &text))
		return -ENOMEM;
	value = pairmap_at(&info.types, text, 0);
	if (!value)
		return -ENOMEM;
	if (!*value)
		*value = dwarf_dieoffset(die) + 1;
	return 0;
}

/* A variable with a fixed address; others live on a stack. */
static int read_variable(Dwarf_Die *die)
{
	struct variable variable, *grown;
	Dwarf_Attribute location, type;
	Dwarf_Op *expression;
	size_t length;
	Dwarf_Word bytes;

	if (!dwarf_attr(die, DW_AT_location, &location) ||
	    dwarf_getlocation(&location, &expression, &length) || length != 1 ||
	    (expression[0].atom != DW_OP_addr && expression[0].atom != DW_OP_addrx))
		return 0;
	if (expression[0].atom == DW_OP_addrx) {
		Dwarf_Attribute indexed;
		Dwarf_Addr address;

		if (dwarf_getlocation_attr(&location, expression, &indexed) ||
		    dwarf_formaddr(&indexed, &address))
			return 0;
		variable.address = address;
	} else {
		variable.address = expression[0].number;
	}
	variable.name = dwarf_diename(die);
	if (!variable.name || !dwarf_attr_integrate(die, DW_AT_type, &type) ||
	    !dwarf_formref_die(&type, &variable.type) || dwarf_aggregate_size(&variable.type, &bytes) ||
	    !bytes)
		return 0;
	variable.bytes = bytes;
	grown = grow_array(info.variables, &info.variable_capacity, info.variable_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	info.variables = grown;
	info.variables[info.variable_count++] = variable;
	return 0;
}

/* The file that an entry was written in. Number 0 is the unit's own, which dwarf_decl_file() does not know.
 */
static const char *file_of(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute number;
	Dwarf_Word value;
	Dwarf_Die unit;

	if (file || !dwarf_attr_integrate(die, DW_AT_decl_file, &number) ||
	    dwarf_formudata(&number, &value) || value || !dwarf_diecu(die, &unit, NULL, NULL))
		return file;
	return dwarf_diename(&unit);
}

static int read_function(Dwarf_Die *die)
{
	const char *file = file_of(die);
	Dwarf_Addr base, begin, end;
	ptrdiff_t more = 0;

	while (file && (more = dwarf_ranges(die, more, &base, &begin, &end)) > 0) {
		struct function *grown = grow_array(info.functions, &info.function_capacity,
						    info.function_count + 1, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		info.functions = grown;
		info.functions[info.function_count++] =
		    (struct function){.begin = begin, .end = end, .file = file};
	}
	return 0;
}

/* Reads the variables below a function or a block of it. */
static int read_inner(Dwarf_Die *parent)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die), error = 0;

		if (tag == DW_TAG_variable)
			error = read_variable(&die);
		else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
			error = read_inner(&die);
		if (error)
			return error;
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

static int read_outer(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	const char *prefix = keyword(tag);

	if (prefix)
		return read_type(die, prefix);
	if (tag == DW_TAG_variable)
		return read_variable(die);
	if (tag == DW_TAG_subprogram)
		return read_function(die);
	return 0;
}

static int read_inside_function(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_subprogram ? read_inner(die) : 0;
}

/* Calls read() for each outermost entry of the program. */
static int for_each_outer(int (*read)(Dwarf_Die *die))
{
	Dwarf *dwarf = program_dwarf();
	Dwarf_CU *unit = NULL;
	Dwarf_Die top, die;
	int error;

	if (!dwarf)
		return 0;
	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &top, NULL)) {
		if (dwarf_child(&top, &die))
			continue;
		do {
			error = read(&die);
			if (error)
				return error;
		} while (!dwarf_siblingof(&die, &die));
	}
	return 0;
}

static int compare_variables(const void *left, const void *right)
{
	const struct variable *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_functions(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void sort_variables(void)
{
	if (info.variable_count)
		qsort(info.variables, info.variable_count, sizeof(*info.variables), compare_variables);
}

int debuginfo_open(void)
{
	if (info.open)
		return 0;
	if (for_each_outer(read_outer)) {
		free(info.variables);
		free(info.functions);
		pairmap_free(&info.types);
		memset(&info, 0, sizeof(info));
		return -ENOMEM;
	}
	sort_variables();
	if (info.function_count)
		qsort(info.functions, info.function_count, sizeof(*info.functions), compare_functions);
	info.open = true;
	return 0;
}

/* --- Looking up ------------------------------------------------------------------------------------------
 */

static const struct variable *find_variable(uintptr_t address)
{
	size_t low = 0, high = info.variable_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (info.variables[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - info.variables[low - 1].address >= info.variables[low - 1].bytes)
		return NULL;
	return &info.variables[low - 1];
}

static int name_variable(uintptr_t address, size_t bytes, bool exact, struct debuginfo_name *name)
{
	char symbol[SYMBOLS_NAME_BYTES];
	const struct variable *variable = find_variable(address);

	if (!variable && symbols_variable_name(address, symbol))
		return -1;
	if (!variable && !info.has_inner_variables && !for_each_outer(read_inside_function)) {
		info.has_inner_variables = true;
		sort_variables();
		variable = find_variable(address);
	}
	if (variable) {
		Dwarf_Die type = variable->type;

		field_declare(&type, variable->name, name);
		field_describe(&type, address - variable->address, bytes, exact, name->field);
	} else {
		snprintf(name->base, sizeof(name->base), "%s", symbol);
		name->field[0] = '\0';
	}
	return 0;
}

int debuginfo_variable(uintptr_t address, size_t bytes, struct debuginfo_name *name)
{
	return name_variable(address, bytes, false, name);
}

int debuginfo_exact_variable(uintptr_t address, size_t bytes, struct debuginfo_name *name)
{
	return name_variable(address, bytes, true, name);
}

/* Finds the entry of a type by its name. */
static bool find_type(const char *type_name, Dwarf_Die *type)
{
	uint64_t offset;
	uint32_t text;

	if (texts_add(type_name, &text))
		return false;
	offset = pairmap_get(&info.types, text, 0);
	return offset && dwarf_offdie(program_dwarf(), offset - 1, type);
}

/* A structure that ends with an array of no fixed length stands alone. */
static uint64_t element_bytes(Dwarf_Die *type)
{
	Dwarf_Word bytes;

	return field_is_open_ended(type) || dwarf_aggregate_size(type, &bytes) ? 0 : bytes;
}

uint64_t debuginfo_element_bytes(const char *type_name)
{
	Dwarf_Die type;

	return find_type(type_name, &type) ? element_bytes(&type) : 0;
}

static void name_field(const char *type_name, uint64_t offset, size_t bytes, bool exact,
		       struct debuginfo_name *name)
{
	Dwarf_Die type;
	uint64_t element;

	snprintf(name->base, sizeof(name->base), "%s", type_name);
	name->field[0] = '\0';
	if (!find_type(type_name, &type))
		return;
	element = element_bytes(&type);
	field_describe(&type, element ? offset % element : offset, bytes, exact, name->field);
}

void debuginfo_field(const char *type_name, uint64_t offset, size_t bytes, struct debuginfo_name *name)
{
	name_field(type_name, offset, bytes, false, name);
}

void debuginfo_exact_field(const char *type_name, uint64_t offset, size_t bytes, struct debuginfo_name *name)
{
	name_field(type_name, offset, bytes, true, name);
}

const char *debuginfo_function_file(const void *function)
{
	uintptr_t address = (uintptr_t)function;
	size_t low = 0, high = info.function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (info.functions[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < info.functions[low - 1].end ? info.functions[low - 1].file : NULL;
}
