/* SPDX-License-Identifier: MIT */
#include "engine/explore.h"

const struct explorer engine_explorer = {
    .checks = checks,
    .kind_name = explore_kind_name,
    .default_cpus = explore_default_cpus,
    .open = explore_open,
    .close = explore_close,
    .steps = explore_steps,
    .bound = explore_bound,
    .run = explore_run,
    .report = explore_report,
    .schedule_begin = explore_schedule_begin,
    .schedule_end = explore_schedule_end,
    .schedule_report = explore_schedule_report,
};
