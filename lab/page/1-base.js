/* SPDX-License-Identifier: MIT */
/* Elements, numbers, and what of the data belongs together. */
"use strict";

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat(3))
		if (child !== null && child !== undefined && child !== false)
			element.append(child);
	return element;
}

function h(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/* Three digits that count: "0.0123", "4.05", "888", "13,400". */
function num(value) {
	const size = Math.abs(value);

	if (!Number.isFinite(value))
		return "–";
	if (size === 0)
		return "0";
	if (size >= 1e12 || size < 1e-4)
		return value.toExponential(2);
	if (size >= 100)
		return Math.round(value).toLocaleString("en-US");
	return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
}

/* "103 M": for rates, and for counts, "7". */
function big(value) {
	if (Number.isInteger(value) && Math.abs(value) < 1000)
		return String(value);
	for (const [size, unit] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]])
		if (value >= size)
			return num(value / size) + unit;
	return num(value);
}

/* A time in the unit that suits it. */
function time(ns) {
	for (const [size, unit] of [[1e9, " s"], [1e6, " ms"], [1e3, " µs"]])
		if (ns >= size)
			return num(ns / size) + unit;
	return num(ns) + " ns";
}

function percent(value) {
	return value.toFixed(2);
}

/* On a phone a row is a card: there each cell tells what it is, and one that has nothing to tell is left out. */
function tableCell(column, content) {
	return h("td", {class: (column.right ? "r" : column.wrap ? "w" : "n") + (content === "–" ? " empty" : ""),
		"data-label": column.name}, content);
}

/* Columns: {name, right, cell: row => text or node}. */
function table(columns, rows, className) {
	return h("div", {class: "card scroll"}, h("table", {class: className},
		h("thead", null, h("tr", null, columns.map(
			column => h("th", {class: column.right ? "r" : null, scope: "col"}, column.name)))),
		h("tbody", null, rows.map(row => h("tr", null, columns.map(
			column => tableCell(column, column.cell(row))))))));
}

function colour(index) {
	return `var(--c${index % 8})`;
}

/* reproduce runs all that it is not told to leave out: here its command is that for one experiment. */
function commandOf(command, experiment) {
	return command && /^softfault reproduce\b/.test(command) && !command.includes(experiment)
		? command.replace("reproduce", `reproduce ${experiment}`) : command;
}

/* Whatever a file wraps them in: one list of studies. */
function studiesOf(data) {
	const all = [];

	for (const file of data.files)
		for (const study of file.root.engines || file.root.experiments || [file.root])
			all.push({...study, path: file.path,
				command: study.command || commandOf(file.root.command, study.experiment)});
	return all;
}

/* Each name once, in the order in which they come. */
function unique(names) {
	return [...new Set(names)];
}

function cpusText(cpus) {
	return `${cpus} CPU${cpus === 1 ? "" : "s"}`;
}

function label(result) {
	return `${result.variant}, ${cpusText(result.cpus)}`;
}

/* All cases of a study: reproduce measures a curve, with fewer operations, next to what was published. */
function resultsOf(study) {
	return [...study.results, ...(study.curve ? study.curve.results : [])];
}
