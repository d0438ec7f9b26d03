/* SPDX-License-Identifier: MIT */
#include "lab/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/names.h"
#include "lab/pool.h"
#include "lab/wire.h"

struct batch {
	const struct run_request *requests;
	struct run_result *results;
	size_t *order; /* of the jobs: numbers of requests */
};

static const struct run_request *request_of(const struct batch *batch, size_t job)
{
	return &batch->requests[batch->order[job]];
}

/* RAM of each CPU in a small run: some hundred pages and their tables many times over. */
#define SMALL_BYTES (16ull << 20)

static struct workload_size size_of(const struct run_request *request)
{
	return (struct workload_size){.cpus = request->cpus,
				      .published =
					  request->small ? 0 : request->experiment->operations.published,
				      .measured = request->operations,
				      .warm_up = request->warm_up,
				      .seed = request->seed,
				      .settings = request->settings,
				      .simulated = run_is_simulated(request->engine),
				      .small = request->small,
				      .unchecked = request->unchecked};
}

static int configure(const struct run_request *request, const struct workload *workload,
		     const struct workload_size *size, struct vsmp_machine *machine,
		     struct engine_config *config, struct message *why)
{
	*config = (struct engine_config){
	    .cpus = request->cpus,
	    .seed = request->seed,
	    .memory_bytes = workload->memory_bytes ? workload->memory_bytes(size) : 0,
	    .exported_bytes = workload->exported_bytes ? workload->exported_bytes(size) : 0,
	    /* A simulated machine counts what clearing costs without doing it. */
	    .structure_only =
		workload->structure_only || (run_is_simulated(request->engine) && !workload->contents),
	    .pressed = workload->pressed,
	    .populate = workload->populate,
	    .gather_batches = workload->gather_batches ? workload->gather_batches(size) : 0,
	    .pcp_batches = workload->pcp_batches ? workload->pcp_batches(size) : 0,
	    .placement = request->placement,
	    .home_socket = -1,
	    .profile = request->profile,
	    .locks = request->locks,
	    .lines = request->lines,
	    .conflicts = request->conflicts,
	};
	if (request->small && config->memory_bytes)
		config->memory_bytes = request->cpus * SMALL_BYTES;
	if (request->what_if) {
		config->speedups = request->what_if->speedups;
		config->speedup_count = request->what_if->speedup_count;
	}
	experiment_policy(request->variant, &config->policy);
	if (!request->machine)
		return 0;
	machine_resolve(request->machine, request->point, machine);
	config->machine = machine;
	return machine_home_socket(machine, &request->placement, request->point->home, request->cpus,
				   &config->home_socket, why);
}

/* In the child's process, whose end frees what the engine's report holds. */
static int work(size_t job, void *argument, struct wire *result, struct message *why, const char **details)
{
	const struct run_request *request = request_of(argument, job);
	const struct workload *workload = workload_find(request->experiment->workload, why);
	const struct workload_size size = size_of(request);
	struct run_result got = {0};
	struct vsmp_machine machine;
	struct engine_config config;
	int error;

	error = configure(request, workload, &size, &machine, &config, why);
	if (error)
		return error;
	error = request->engine->open(&config, why);
	if (error)
		return error;
	error = workload->run(request->engine, &size, &got.outcome, why);
	if (error == -EDEADLK && request->engine->deadlock_report)
		*details = request->engine->deadlock_report();
	if (error)
		return error;
	error = request->engine->report(&got.report);
	if (error)
		return message_set(why, error, "the report cannot be made: %s", strerror(-error));
	if (!(got.outcome.timing.cpu_seconds_per_operation > 0))
		return message_set(why, -EIO,
				   "the measured time of an operation is %g s; it must be more than 0",
				   got.outcome.timing.cpu_seconds_per_operation);
	wire_bytes(result, &got.outcome, sizeof(got.outcome));
	wire_report(result, &got.report);
	return 0;
}

int run_here(const struct run_request *request, struct message *why)
{
	const struct workload *workload = workload_find(request->experiment->workload, why);
	const struct workload_size size = size_of(request);
	struct workload_outcome outcome;
	struct vsmp_machine machine;
	struct engine_config config;
	int error = configure(request, workload, &size, &machine, &config, why);

	if (!error)
		error = request->engine->open(&config, why);
	if (error)
		return error;
	error = workload->run(request->engine, &size, &outcome, why);
	request->engine->close();
	return error;
}

static void take(size_t job, void *argument, struct wire *wire)
{
	const struct batch *batch = argument;
	struct run_result *result = &batch->results[batch->order[job]];

	wire_bytes(wire, &result->outcome, sizeof(result->outcome));
	wire_report(wire, &result->report);
}

static void describe(size_t job, void *argument, char *text, size_t size)
{
	const struct run_request *request = request_of(argument, job);

	snprintf(text, size, "%s, variant %s, %u CPUs, engine %s, seed %llu", request->experiment->name,
		 request->variant->name, request->cpus, request->engine->name,
		 (unsigned long long)request->seed);
}

static int longest_first(const void *left, const void *right, void *argument)
{
	const struct run_request *requests = argument;
	size_t one = *(const size_t *)left, other = *(const size_t *)right;
	uint64_t work = requests[one].cpus * (requests[one].warm_up + requests[one].operations);
	uint64_t other_work = requests[other].cpus * (requests[other].warm_up + requests[other].operations);

	if (work != other_work)
		return work > other_work ? -1 : 1;
	return one < other ? -1 : one > other;
}

int run_all(const struct run_request *requests, size_t count, struct run_result *results,
	    void (*progress)(size_t done, size_t count), struct message *why)
{
	struct batch batch = {requests, results, calloc(count + 1, sizeof(*batch.order))};
	struct pool pool = {.jobs = count,
			    .parallel = 1,
			    .argument = &batch,
			    .work = work,
			    .take = take,
			    .describe = describe,
			    .progress = progress};
	int error;

	if (!batch.order)
		return message_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		batch.order[i] = i;
	if (count && run_is_simulated(requests[0].engine)) {
		pool.parallel = pool_processors();
		/* Then no process is left alone with a long one at the end. */
		qsort_r(batch.order, count, sizeof(*batch.order), longest_first, (void *)requests);
	}
	if (count > 1 && requests[0].engine->prepare)
		requests[0].engine->prepare();
	error = pool_run(&pool, why);
	free(batch.order);
	return error;
}

void run_results_free(struct run_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wire_report_free(&results[i].report);
}

double run_extrapolated_seconds(const struct experiment *experiment, double operation_seconds)
{
	uint64_t published = experiment->operations.published;

	return published ? operation_seconds * (double)published : operation_seconds;
}

const struct engine *run_engine(const char *name, struct message *why)
{
	static const struct engine *const engines[] = {&engine_vsmp, &engine_host, &engine_linux};
	const char *names[ARRAY_SIZE(engines)];
	char suggestion[MESSAGE_BYTES / 2];

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		names[i] = engines[i]->name;
		if (!strcmp(names[i], name))
			return engines[i];
	}
	names_suggest(suggestion, sizeof(suggestion), name, names, ARRAY_SIZE(names));
	message_set(why, -ENOENT, "there is no engine \"%s\"; %s", message_quote(name).text, suggestion);
	return NULL;
}

bool run_is_simulated(const struct engine *engine)
{
	return engine == &engine_vsmp;
}
