/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/grow.h"
#include "vsmp/observe/program.h"

struct symbol {
	uintptr_t address;
	size_t bytes;
	const char *name; /* in the program file's string table */
	bool function, local;
};

static struct {
	struct symbol *symbols; /* by address */
	size_t count, capacity;
	bool open;
} table;

/* Of two names for one address the global one counts, then the first in the alphabet. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->local != b->local)
		return a->local ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int add_symbol(const GElf_Sym *elf, const char *name)
{
	unsigned type = GELF_ST_TYPE(elf->st_info);
	struct symbol *grown;

	if ((type != STT_FUNC && type != STT_OBJECT) || !name || !*name || elf->st_shndx == SHN_UNDEF)
		return 0;
	grown = grow_array(table.symbols, &table.capacity, table.count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	table.symbols = grown;
	table.symbols[table.count++] = (struct symbol){
	    .address = elf->st_value,
	    .bytes = elf->st_size,
	    .name = name,
	    .function = type == STT_FUNC,
	    .local = GELF_ST_BIND(elf->st_info) == STB_LOCAL,
	};
	return 0;
}

int symbols_open(void)
{
	Dwfl_Module *module = program_module();
	int count = module ? dwfl_module_getsymtab(module) : 0;

	if (table.open)
		return 0;
	for (int i = 0; i < count; i++) {
		GElf_Sym elf;
		const char *name = dwfl_module_getsym(module, i, &elf, NULL);

		if (add_symbol(&elf, name)) {
			free(table.symbols);
			memset(&table, 0, sizeof(table));
			return -ENOMEM;
		}
	}
	if (table.count)
		qsort(table.symbols, table.count, sizeof(*table.symbols), compare_symbols);
	table.open = true;
	return 0;
}

/* The first of the symbols of that kind which start nearest at or before `address`, if it reaches there. */
static const struct symbol *find(uintptr_t address, bool function)
{
	const struct symbol *best = NULL;
	size_t low = 0, high = table.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table.symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0) {
		const struct symbol *symbol = &table.symbols[low];

		if (symbol->function != function)
			continue;
		if (best && symbol->address != best->address)
			break;
		best = symbol;
	}
	if (!best || address - best->address >= (best->bytes ? best->bytes : 1))
		return NULL;
	return best;
}

/* Copies a symbol's name up to the first dot, which no name of C has. */
static size_t copy_name(char name[SYMBOLS_NAME_BYTES], const char *symbol)
{
	size_t length = *symbol == '.' ? strlen(symbol) : strcspn(symbol, ".");

	if (length > SYMBOLS_NAME_BYTES - 1)
		length = SYMBOLS_NAME_BYTES - 1;
	memcpy(name, symbol, length);
	name[length] = '\0';
	return length;
}

void symbols_function_name(const void *function, char name[SYMBOLS_NAME_BYTES])
{
	const struct symbol *symbol = find((uintptr_t)function, true);

	if (symbol)
		copy_name(name, symbol->name);
	else
		snprintf(name, SYMBOLS_NAME_BYTES, "0x%" PRIxPTR, (uintptr_t)function);
}

bool symbols_has_function(const char *name)
{
	char found[SYMBOLS_NAME_BYTES];

	for (size_t i = 0; i < table.count; i++)
		if (table.symbols[i].function) {
			copy_name(found, table.symbols[i].name);
			if (!strcmp(found, name))
				return true;
		}
	return false;
}

int symbols_variable_name(uintptr_t address, char name[SYMBOLS_NAME_BYTES])
{
	const struct symbol *symbol = find(address, false);
	size_t length;

	if (!symbol)
		return -1;
	length = copy_name(name, symbol->name);
	if (address != symbol->address)
		snprintf(name + length, SYMBOLS_NAME_BYTES - length, "+0x%" PRIxPTR,
			 address - symbol->address);
	return 0;
}
