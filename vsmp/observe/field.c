/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/field.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

struct path {
	char *text;
	size_t length;
	bool indices;
};

static void append(struct path *path, const char *text)
{
	while (*text && path->length < DEBUGINFO_NAME_BYTES - 1)
		path->text[path->length++] = *text++;
	path->text[path->length] = '\0';
}

static void append_member(struct path *path, const char *name)
{
	if (!name)
		return;
	if (path->length)
		append(path, ".");
	append(path, name);
}

/* Goes to the type that `die` refers to; false for void. */
static bool follow(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, die);
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
	       tag == DW_TAG_atomic_type;
}

/* Goes through qualifiers, and through typedefs when asked to, to what is behind. */
static void strip(Dwarf_Die *type, bool typedefs)
{
	while (is_qualifier(dwarf_tag(type)) || (typedefs && dwarf_tag(type) == DW_TAG_typedef)) {
		if (!follow(type))
			return;
	}
}

/* A member's place in its structure. */
struct member {
	Dwarf_Die type;
	const char *name;
	uint64_t offset, bytes; /* bytes is 0 for an array of no fixed length */
};

static bool read_number(Dwarf_Die *die, unsigned attribute_name, uint64_t *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	if (!dwarf_attr(die, attribute_name, &attribute) || dwarf_formudata(&attribute, &word))
		return false;
	*number = word;
	return true;
}

/* Narrows a bit field's member to the bytes that hold its bits. */
static void read_bits(Dwarf_Die *die, struct member *member)
{
	uint64_t bit, bits, unit_bytes;

	if (!read_number(die, DW_AT_bit_size, &bits))
		return;
	if (!read_number(die, DW_AT_data_bit_offset, &bit)) {
		/* The older form: counted from the highest bit of a unit, whose place is the member's. */
		if (!read_number(die, DW_AT_bit_offset, &bit))
			return;
		if (!read_number(die, DW_AT_byte_size, &unit_bytes))
			unit_bytes = member->bytes;
		bit = (member->offset + unit_bytes) * 8 - bit - bits;
	}
	member->offset = bit / 8;
	member->bytes = (bit + bits + 7) / 8 - member->offset;
}

static bool read_member(Dwarf_Die *die, struct member *member)
{
	Dwarf_Word bytes;

	if (dwarf_tag(die) != DW_TAG_member)
		return false;
	member->name = dwarf_diename(die);
	member->type = *die;
	if (!follow(&member->type))
		return false;
	member->bytes = dwarf_aggregate_size(&member->type, &bytes) ? 0 : bytes;
	if (!read_number(die, DW_AT_data_member_location, &member->offset))
		member->offset = 0; /* of a union */
	read_bits(die, member);
	return true;
}

static bool is_open_array(const struct member *member)
{
	Dwarf_Die type = member->type;

	strip(&type, true);
	return !member->bytes && dwarf_tag(&type) == DW_TAG_array_type;
}

bool field_is_open_ended(Dwarf_Die *type)
{
	Dwarf_Die structure = *type, die;
	bool open = false;

	strip(&structure, true);
	if (dwarf_tag(&structure) != DW_TAG_structure_type || dwarf_child(&structure, &die))
		return false;
	do {
		struct member member;

		if (read_member(&die, &member))
			open = is_open_array(&member);
	} while (!dwarf_siblingof(&die, &die));
	return open;
}

static bool describe(Dwarf_Die type, uint64_t offset, uint64_t bytes, struct path *path);

/* An element of an array. */
static bool describe_element(Dwarf_Die array, uint64_t offset, uint64_t bytes, struct path *path)
{
	Dwarf_Word element;

	bool known = follow(&array) && !dwarf_aggregate_size(&array, &element) && element;
	char index[32] = "[]";

	if (known && path->indices)
		snprintf(index, sizeof(index), "[%llu]", (unsigned long long)(offset / element));
	/* Those of a whole variable or allocation go without saying. */
	if (path->length)
		append(path, index);
	if (!known)
		return false;
	/* The dimensions of one array are one type to DWARF, so one pair of brackets stands for them all. */
	offset %= element;
	return offset + bytes <= element && describe(array, offset, bytes, path);
}

static bool is_whole(Dwarf_Die *type, uint64_t offset, uint64_t bytes)
{
	Dwarf_Word size;

	return !offset && !dwarf_aggregate_size(type, &size) && size == bytes;
}

/*
 * Of the members that hold all the bytes, which are several in a union or with bit fields, the first one that
 * has a field of just that place and size, else the first.
 */
static bool describe_member(Dwarf_Die structure, uint64_t offset, uint64_t bytes, struct path *path)
{
	const char *first_name = NULL, *last_name = NULL;
	size_t before = path->length;
	bool found = false, several = false;
	char kept[DEBUGINFO_NAME_BYTES];
	Dwarf_Die die;

	if (dwarf_child(&structure, &die))
		return false;
	do {
		struct member member;
		uint64_t end;

		if (!read_member(&die, &member))
			continue;
		end = is_open_array(&member) ? UINT64_MAX : member.offset + member.bytes;
		if (member.offset >= offset + bytes || end <= offset)
			continue;
		if (member.offset <= offset && offset + bytes <= end) {
			bool exact;

			append_member(path, member.name);
			exact = describe(member.type, offset - member.offset, bytes, path);
			if (exact)
				return true;
			if (!found)
				memcpy(kept, path->text + before, path->length - before + 1);
			found = true;
			path->length = before;
			path->text[before] = '\0';
		} else if (member.name) {
			several = several || first_name;
			first_name = first_name ? first_name : member.name;
			last_name = member.name;
		}
	} while (!dwarf_siblingof(&die, &die));
	if (found) {
		append(path, kept);
	} else if (first_name && !is_whole(&structure, offset, bytes)) {
		append_member(path, first_name);
		if (several) {
			append(path, "..");
			append(path, last_name);
		}
	} else if (!first_name) {
		append_member(path, "[padding]");
	}
	return false;
}

/* Appends to the path; returns true when a field of just that place and size was found. */
static bool describe(Dwarf_Die type, uint64_t offset, uint64_t bytes, struct path *path)
{
	strip(&type, true);
	switch (dwarf_tag(&type)) {
	case DW_TAG_array_type:
		return describe_element(type, offset, bytes, path);
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return describe_member(type, offset, bytes, path);
	default:
		return is_whole(&type, offset, bytes);
	}
}

void field_describe(Dwarf_Die *type, uint64_t offset, uint64_t bytes, bool indices,
		    char path[DEBUGINFO_NAME_BYTES])
{
	struct path at = {.text = path, .indices = indices};

	path[0] = '\0';
	describe(*type, offset, bytes, &at);
}

/* A type as C writes it, as far as it can stand before a variable's name. */
static void append_type(struct path *path, Dwarf_Die type)
{
	const char *name;

	strip(&type, false);
	name = dwarf_diename(&type);
	switch (dwarf_tag(&type)) {
	case DW_TAG_structure_type:
		append(path, "struct ");
		append(path, name ? name : "{}");
		break;
	case DW_TAG_union_type:
		append(path, "union ");
		append(path, name ? name : "{}");
		break;
	case DW_TAG_enumeration_type:
		append(path, "enum ");
		append(path, name ? name : "{}");
		break;
	case DW_TAG_pointer_type:
		if (follow(&type))
			append_type(path, type);
		else
			append(path, "void");
		append(path, path->text[path->length - 1] == '*' ? "*" : " *");
		break;
	case DW_TAG_subroutine_type:
		append(path, "function");
		break;
	case DW_TAG_array_type:
		if (follow(&type))
			append_type(path, type);
		append(path, " []");
		break;
	default:
		append(path, name ? name : "void");
		break;
	}
}

void field_declare(Dwarf_Die *type, const char *variable, struct debuginfo_name *name)
{
	struct path path = {.text = name->base};
	Dwarf_Die plain = *type;
	bool array;

	strip(&plain, true);
	array = dwarf_tag(&plain) == DW_TAG_array_type;
	name->base[0] = '\0';
	/* An array gives way to its elements; a typedef of anything else is a name as good as any. */
	if (!array || !follow(&plain))
		plain = *type;
	append_type(&path, plain);
	if (path.text[path.length - 1] != '*')
		append(&path, " ");
	append(&path, variable);
	if (array)
		append(&path, "[]");
}
