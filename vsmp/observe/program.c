/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/program.h"

#include <stdbool.h>

#include "base/compiler.h"

/* The debug information stands in the program itself; no other file, and no server, is asked for it. */
static int no_other_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			 const char *file_name, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file_name, (void)link, (void)crc, (void)found;
	return -1;
}

Dwfl_Module *program_module(void)
{
	static const Dwfl_Callbacks callbacks = {
	    .find_debuginfo = no_other_file,
	    .section_address = dwfl_offline_section_address,
	};
	static Dwfl_Module *module;
	static bool tried;
	Dwfl *dwfl;

	if (tried)
		return module;
	tried = true;
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return NULL;
	dwfl_report_begin(dwfl);
	module = dwfl_report_offline(dwfl, "softfault", "/proc/self/exe", -1);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!module)
		dwfl_end(dwfl);
	return module;
}

Dwarf *program_dwarf(void)
{
	Dwfl_Module *module = program_module();
	Dwarf_Addr bias;

	return module ? dwfl_module_getdwarf(module, &bias) : NULL;
}
