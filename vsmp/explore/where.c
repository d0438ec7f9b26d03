/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/where.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/explore/record.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/program.h"

/* The unit's folder says nothing to somebody who stands in it. */
static const char *shorten(const char *file, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	size_t length = folder ? strlen(folder) : 0;

	if (length && !strncmp(file, folder, length) && file[length] == '/')
		file += length + 1;
	return strncmp(file, "./", 2) ? file : file + 2;
}

static bool is_below(const char *file, const char *folder)
{
	return file && !strncmp(file, folder, strlen(folder));
}

/*
 * The units by address. clang makes no table of them (.debug_aranges), which libdw's own look-up needs. Kept,
 * as the program's file is.
 */
static struct unit {
	uintptr_t begin, end;
	Dwarf_Off offset;
} * units;
static size_t unit_count, unit_room;

static void read_unit(Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t more = 0;

	while ((more = dwarf_ranges(die, more, &base, &begin, &end)) > 0) {
		struct unit *grown = grow_array(units, &unit_room, unit_count + 1, sizeof(*grown));

		if (!grown)
			return;
		units = grown;
		units[unit_count++] =
		    (struct unit){.begin = begin, .end = end, .offset = dwarf_dieoffset(die)};
	}
}

static bool find_unit(uintptr_t address, Dwarf_Die *unit)
{
	Dwarf *dwarf = program_dwarf();
	Dwarf_CU *next = NULL;
	Dwarf_Die die;

	if (!dwarf)
		return false;
	if (!unit_count)
		while (!dwarf_get_units(dwarf, next, &next, NULL, NULL, &die, NULL))
			read_unit(&die);
	for (size_t i = 0; i < unit_count; i++)
		if (address - units[i].begin < units[i].end - units[i].begin)
			return dwarf_offdie(dwarf, units[i].offset, unit) != NULL;
	return false;
}

/* What stands at one address of the code. */
struct code {
	Dwarf_Die unit;
	Dwarf_Die *scopes; /* innermost first; to be freed */
	int count;
	int function; /* number of the innermost scope that is a function; -1: none */
};

static bool look(uintptr_t address, struct code *code)
{
	*code = (struct code){.function = -1};
	if (!find_unit(address, &code->unit))
		return false;
	code->count = dwarf_getscopes(&code->unit, address, &code->scopes);
	for (int i = 0; i < code->count && code->function < 0; i++) {
		int tag = dwarf_tag(&code->scopes[i]);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			code->function = i;
	}
	return true;
}

static void set_line(uintptr_t address, struct code *code, struct where *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(&code->unit, address);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;

	place->file = NULL;
	place->line = 0;
	if (!file || dwarf_lineno(line, &place->line))
		return;
	place->file = shorten(file, &code->unit);
}

static const char *function_name(struct code *code)
{
	const char *name = code->function < 0 ? NULL : dwarf_diename(&code->scopes[code->function]);

	return name ? name : "";
}

static bool read_number(Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, number);
}

/* From where the inlined function was called that stands at the address. Returns false if none was. */
static bool set_inline_caller(struct code *code, struct where *place)
{
	Dwarf_Die *die = code->function < 0 ? NULL : &code->scopes[code->function];
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t count;

	if (!die || dwarf_tag(die) != DW_TAG_inlined_subroutine)
		return false;
	if (!read_number(die, DW_AT_call_file, &file) || !read_number(die, DW_AT_call_line, &line) ||
	    dwarf_getsrcfiles(&code->unit, &files, &count) || file >= count)
		return false;
	place->file = shorten(dwarf_filesrc(files, file, NULL, NULL), &code->unit);
	place->line = (int)line;
	return true;
}

void where_pc(const void *pc, struct where *place)
{
	uintptr_t address = (uintptr_t)pc - 1;
	struct code code;

	*place = (struct where){.file = NULL};
	if (!pc)
		return;
	symbols_function_name((const void *)address, place->function);
	if (!look(address, &code))
		return;
	if (*function_name(&code))
		snprintf(place->function, sizeof(place->function), "%s", function_name(&code));
	set_line(address, &code, place);
	free(code.scopes);
}

void where_called(const struct record_frame *frame, struct where *place)
{
	uintptr_t address = (uintptr_t)frame->pc - 1;
	bool found = false;
	struct code code;

	place->file = NULL;
	place->line = 0;
	if (look(address, &code)) {
		found = set_inline_caller(&code, place);
		free(code.scopes);
	}
	if (found || !frame->call_site)
		return;
	address = (uintptr_t)frame->call_site - 1;
	if (!look(address, &code))
		return;
	set_line(address, &code, place);
	free(code.scopes);
	/* The machine called it back: the caller that we know waits somewhere else. */
	if (is_below(place->file, "vsmp/") && !is_below(place->file, "vsmp/home/"))
		place->file = NULL;
}

unsigned where_stack(const struct record_frame *frame, const void *pc, struct where *places, unsigned room)
{
	struct where place = {.file = NULL};
	unsigned count = 0;

	where_pc(pc, &place);
	for (; frame && frame->caller && count < room; frame = frame->caller) {
		struct where *here = &places[count++];

		symbols_function_name(frame->function, here->function);
		if (count == 1 && strcmp(place.function, here->function))
			where_pc(frame->pc, &place);
		here->file = place.file;
		here->line = place.line;
		where_called(frame, &place);
	}
	return count;
}

bool where_is_machine(const struct where *place)
{
	return is_below(place->file, "vsmp/") || is_below(place->file, "port/");
}

const char *where_short_file(const struct where *place)
{
	const char *slash = place->file ? strrchr(place->file, '/') : NULL;

	return slash ? slash + 1 : place->file ? place->file : "?";
}
