/* SPDX-License-Identifier: MIT */
/* What a workload measures besides time, what an experiment shows beside its published figures, and its verdicts. */
"use strict";

/* So many cases stand beside each other: more would fit on no paper. */
const casesBeside = 6;

/* One row for each figure that a case of `cases` has measured, one column for each case. */
function measuredTable(cases) {
	/* Two figures of one case may have one name: "the same", of what stands before it. Their units differ. */
	const name = figure => `${figure.name} (${figure.unit})`;
	const rows = unique(cases.flatMap(result => result.measured.map(name)));
	const at = (result, row) => result.measured.find(figure => name(figure) === row);

	return table([
		{name: "what", wrap: true, cell: row => row},
		...cases.map(result => ({name: label(result), right: true, cell: row => {
			const figure = at(result, row);

			return figure && figure.value !== null ? num(figure.value) : "–";
		}})),
	], rows, "cards");
}

function measuredPart(results) {
	const cases = results.filter(result => (result.measured || []).length), tables = [];

	for (let first = 0; first < cases.length; first += casesBeside)
		tables.push(measuredTable(cases.slice(first, first + casesBeside)));
	return tables.length ? h("div", {class: "part-measured"}, h("h3", null, "Measured"), tables) : null;
}

function verdictPart(verdicts) {
	if (!(verdicts || []).length)
		return null;
	return h("div", {class: "part-verdicts"}, h("h3", null, "Verdicts that were published"), table([
		{name: "variant", cell: one => one.variant},
		{name: "against", cell: one => one.against},
		{name: "CPUs", right: true, cell: one => one.cpus},
		{name: "time, ratio", right: true, cell: one => one.ratio.toFixed(4)},
		{name: "95 % interval", right: true, cell: one => `${one.low.toFixed(4)} to ${one.high.toFixed(4)}`},
		{name: "published", cell: one => h("span", {title: one.source}, one.published)},
		{name: "ours", cell: one => h("span", {class: one.ours === one.published ? "good" : "bad"}, one.ours)},
	], verdicts, "cards"));
}

/* The cases under "shown" in the experiment's file, which stand apart where figures were published too. */
function shownPart(study) {
	const parts = [study.shown && resultPart(study.shown, "Shown beside what was published"),
		measuredPart(study.shown ? study.shown.results : study.results), verdictPart(study.verdicts)].filter(Boolean);

	return parts.length ? h("div", {class: "part-shown"}, parts) : null;
}
