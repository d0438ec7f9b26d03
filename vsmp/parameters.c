/* SPDX-License-Identifier: MIT */
#include "vsmp/parameters.h"

const struct vsmp_parameter_info vsmp_parameter_info[VSMP_PARAMETER_COUNT] = {
#define VSMP_PARAMETER_ROW(identifier, name, unit, low, high, what) \
	[VSMP_##identifier] = {name, VSMP_##unit, low, high, what},
    VSMP_PARAMETERS(VSMP_PARAMETER_ROW)
#undef VSMP_PARAMETER_ROW
};
