/* SPDX-License-Identifier: MIT */
/* The page: an overview, then one section for each study. */
"use strict";

function resultPart(study, title = "Results") {
	const samples = result => result.samples.length > 1
		? `${time(Math.min(...result.samples))} to ${time(Math.max(...result.samples))}` : "–";
	/* A curve may begin with fewer CPUs than any figure was published for. */
	const first = name => resultsOf(study).filter(one => one.variant === name)
		.reduce((best, one) => one.cpus < best.cpus ? one : best);
	const fewest = unique(study.results.map(result => first(result.variant).cpus));
	const columns = [
		{name: "variant", cell: result => result.variant},
		{name: "CPUs", right: true, cell: result => result.cpus},
		{name: `time of one ${study.operation || "operation"}`, right: true, cell: result => time(result.ns_per_op)},
		{name: `${study.operation || "operation"}s a second, all`, right: true, cell: result => big(result.ops_per_second)},
	];

	if (study.results.some(result => first(result.variant).cpus !== result.cpus))
		columns.push({name: fewest.length > 1 ? "efficiency" : `efficiency, against ${cpusText(fewest[0])}`, right: true,
			cell: result => `${(100 * first(result.variant).ns_per_op / result.ns_per_op).toFixed(1)} %`});
	if (study.results.some(result => result.as_is_ns_per_op))
		columns.push({name: "as it is", right: true, cell: result => time(result.as_is_ns_per_op)},
			{name: "less time", right: true,
				cell: result => `${percent(100 * (1 - result.ns_per_op / result.as_is_ns_per_op))} %`});
	if (study.results.some(result => result.samples.length > 1))
		columns.push({name: "repetitions", right: true, cell: samples});
	if (study.results.some(result => result.transfers_per_op !== null))
		columns.push({name: "transfers/op", right: true,
			cell: result => result.transfers_per_op === null ? "–" : num(result.transfers_per_op)});
	return h("div", {class: "part-results"}, h("h3", null, title), study.results.length > 12
		? h("details", null, h("summary", null, `All ${study.results.length} cases`), table(columns, study.results))
		: table(columns, study.results));
}

function whatIfNotice(study) {
	const what = study.what_if;

	if (!what)
		return null;
	return h("div", {class: "notice"}, h("b", null, "What if: "), [
		...what.speedups.map(one => `${one.symbol}, with all that it calls, cost ${Math.abs(one.percent)} % ` +
			(one.percent < 0 ? "more" : "less")),
		...what.machine_set.map(one => `${one.key} were ${one.value} ${one.unit}, and not ${one.was}`)].join("; "),
	". This is not the machine as it is.");
}

function machinePart(study) {
	const details = study.machine_details, computer = study.computer;

	if (computer)
		return h("div", {class: "part-machine"}, h("h3", null, "The computer"), h("ul", {class: "facts"},
			h("li", null, h("b", null, computer.processors), " processors", computer.virtual ? " of a virtual machine" : ""),
			h("li", null, computer.model), h("li", null, computer.kernel),
			h("li", null, "clock governor ", h("b", null, computer.governor)),
			h("li", null, "load ", h("b", null, computer.load === null ? "unknown" : computer.load.toFixed(2)),
				" before the first run")));
	if (!details)
		return null;
	const count = kind => details.figures.filter(figure => figure.provenance === kind).length;

	return h("div", {class: "part-machine"}, h("h3", null, "The machine and its sources"),
		h("p", null, h("b", null, study.machine), `: ${details.title}. ${details.sockets} sockets of ` +
			`${details.cores_per_socket} cores` + (details.threads_per_core > 1
			? `, ${details.threads_per_core} threads each` : "") + `. Of its figures ${count("sourced")} are sourced, ` +
			`${count("fitted")} fitted, ${count("assumed")} assumed.`),
		h("p", {class: "note"}, `Topology, ${details.topology_assumed ? "assumed" : "sourced"}: ${details.topology_text}`),
		h("p", {class: "note"}, `Protocol, ${details.protocol_assumed ? "assumed" : "sourced"}: ${details.protocol_text}`),
		details.home_assumed && h("p", {class: "note"}, `Home of the kernel's globals, assumed: ${details.home_assumed}`),
		h("details", null, h("summary", null, "Every figure, and where it comes from"), table([
			{name: "figure", wrap: true, cell: figure => [h("span", {class: "mono"}, figure.name),
				h("ul", {class: "sites"}, h("li", null, figure.what))]},
			{name: "value", right: true, cell: figure => `${figure.value} ${figure.unit}`},
			{name: "range", right: true,
				cell: figure => figure.provenance === "assumed" ? `${figure.low} to ${figure.high}` : "–"},
			{name: "kind", cell: figure => h("span", {class: "tag " + figure.provenance}, figure.provenance)},
			{name: "source, or reason", wrap: true, cell: figure => figure.text},
		], details.figures, "cards")));
}

function commandPart(study) {
	if (!study.command)
		return null;
	const button = h("button", {type: "button", class: "copy", onclick: () => {
		if (!navigator.clipboard)
			return;
		navigator.clipboard.writeText(study.command).then(() => { button.textContent = "copied"; }, () => {});
	}}, "copy");

	return h("div", {class: "part-command"}, h("h3", null, "To repeat it"), h("pre", null, study.command),
		h("div", {class: "controls"}, button));
}

function studySection(study, id) {
	return h("section", {class: "study", id},
		h("h2", null, h("small", null, study.experiment), study.title || study.experiment),
		study.source && h("p", {class: "note"}, `After ${study.source}.`),
		h("ul", {class: "facts"},
			h("li", null, "engine ", h("b", null, study.engine)),
			study.machine && h("li", null, "machine ", h("b", null, study.machine)),
			h("li", null, "seed ", h("b", null, study.seed)),
			study.repetitions && h("li", null, h("b", null, study.repetitions), " repetition",
				study.repetitions > 1 ? "s" : ""),
			study.operations_per_cpu && h("li", null, h("b", null, study.operations_per_cpu.toLocaleString("en-US")),
				` ${study.operation}s of each CPU`,
				study.published_operations ? ` of ${study.published_operations.toLocaleString("en-US")} published` : ""),
			h("li", null, "from ", h("code", null, study.path))),
		whatIfNotice(study), publishedPart(study), ticksPart(study), plotPart(study), resultPart(study),
		shownPart(study), observedPart(study), machinePart(study), commandPart(study));
}

function overview(studies) {
	const rows = studies.flatMap(study => figuresOf(study).filter(row => !row.derived)
		.map(row => ({...row, experiment: study.experiment})));

	if (studies.length < 2 || !rows.length)
		return null;
	return h("section", {class: "study", id: "overview"}, h("h2", null, "Every published figure"),
		summaryText(studies) && h("p", {class: "summary"}, summaryText(studies)),
		publishedTable(rows, [{name: "experiment", cell: row => row.experiment}]));
}

/* What is closed on the screen is open on paper. */
function openForPrint() {
	const opened = [];

	addEventListener("beforeprint", () => {
		for (const one of document.querySelectorAll("details:not([open])")) {
			one.open = true;
			opened.push(one);
		}
	});
	addEventListener("afterprint", () => {
		while (opened.length)
			opened.pop().open = false;
	});
}

function build() {
	const data = JSON.parse(document.getElementById("data").textContent);
	const studies = studiesOf(data);
	const main = document.getElementById("main");
	const top = overview(studies);
	const alike = (study, keys) => studies.filter(one => keys.every(key => one[key] === study[key])).length > 1;
	const names = studies.map(study => !alike(study, ["experiment"]) ? study.experiment
		: `${study.experiment}, ${alike(study, ["experiment", "engine"]) ? study.path : study.engine}`);

	document.getElementById("subtitle").textContent =
		"What each variant of a memory manager takes on how many CPUs, where its time goes, and what its CPUs meet at.";
	document.title = `softfault report: ${unique(studies.map(study => study.experiment)).join(", ")}`;
	if (top)
		main.append(top);
	studies.forEach((study, i) => main.append(studySection(study, `study-${i}`)));
	document.getElementById("contents").append(h("ul", null,
		top && h("li", null, h("a", {href: "#overview"}, "all figures")),
		names.map((name, i) => h("li", null, h("a", {href: `#study-${i}`}, name)))));
	openForPrint();
}

build();
