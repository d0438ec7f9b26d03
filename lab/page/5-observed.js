/* SPDX-License-Identifier: MIT */
/* What was observed in one case: locks, lines, conflicts. */
"use strict";

function sites(list, text) {
	return h("ul", {class: "sites"}, list.slice(0, 4).map(site => h("li", {class: "mono"}, text(site))));
}

function lockPart(result) {
	if (!(result.locks || []).length)
		return null;
	return h("div", {class: "part-locks"}, h("h3", null, "Locks"), table([
		{name: "lock", wrap: true, cell: lock => [h("span", {class: "mono"}, lock.name),
			sites(lock.sites || [], site => `${big(site.contended)} waits in ${site.symbol}`)]},
		{name: "taken", right: true, cell: lock => big(lock.acquisitions)},
		{name: "contended", right: true, cell: lock => lock.acquisitions
			? `${(100 * lock.contended / lock.acquisitions).toFixed(1)} %` : "–"},
		{name: "wait, mean", right: true, cell: lock => lock.contended ? time(lock.wait_ns / lock.contended) : "–"},
		{name: "wait, all", right: true, cell: lock => lock.contended ? time(lock.wait_ns) : "–"},
		{name: "hold, mean", right: true, cell: lock => lock.acquisitions ? time(lock.hold_ns / lock.acquisitions) : "–"},
		{name: "hold, all", right: true, cell: lock => time(lock.hold_ns)},
	], [...result.locks].sort((a, b) => b.wait_ns - a.wait_ns), "cards"));
}

function linePart(result) {
	const operations = result.operations || 1;

	if (!(result.lines || []).length)
		return null;
	return h("div", {class: "part-lines"}, h("h3", null, "Contended cache lines"), table([
		{name: "type, field, and from where it is used", wrap: true, cell: line => [h("span", {class: "mono"}, line.name),
			sites(line.sites || [], site => `${line.transfers ? (100 * site.transfers / line.transfers).toFixed(1) : 0} % ` +
				`${site.writes ? "writes" : "reads"} in ${site.symbol}`)]},
		{name: "transfers/op", right: true, cell: line => num(line.transfers / operations)},
		{name: "lines", right: true, cell: line => big(line.lines)},
		{name: "wait/transfer", right: true, cell: line => line.transfers ? time(line.wait_ns / line.transfers) : "–"},
		{name: "readers", right: true, cell: line => line.readers},
		{name: "writers", right: true, cell: line => line.writers},
	], [...result.lines].sort((a, b) => b.wait_ns - a.wait_ns).slice(0, 20), "cards"));
}

function conflictPart(result) {
	const conflicts = result.conflicts || [];
	const names = unique(conflicts.flatMap(one => [one.operation, one.with])).sort();
	const lines = (a, b) => conflicts.filter(one => (one.operation === a && one.with === b) ||
		(one.operation === b && one.with === a)).reduce((sum, one) => sum + one.lines, 0);
	const most = Math.max(1, ...names.flatMap(a => names.map(b => lines(a, b))));
	const shade = count => count ? `background: color-mix(in srgb, var(--c7) ${8 + 42 * Math.log1p(count) /
		Math.log1p(most)}%, transparent)` : null;

	if (result.conflicts_per_op === null || result.conflicts_per_op === undefined)
		return null;
	if (!conflicts.length)
		return h("div", {class: "part-conflicts"}, h("h3", null, "Conflicts"),
			h("p", null, "None: no two CPUs met on a cache line in operations that ought to be independent."));
	return h("div", {class: "part-conflicts"}, h("h3", null, "Conflicts: cache lines on which two operations meet"),
		h("div", {class: "card scroll"}, h("table", {class: "matrix"},
			h("thead", null, h("tr", null, h("td"), names.map(name => h("th", {scope: "col"}, name)))),
			h("tbody", null, names.map(a => h("tr", null, h("th", {scope: "row"}, a),
				names.map(b => h("td", {style: shade(lines(a, b))}, lines(a, b) ? big(lines(a, b)) : "·"))))))),
		table([
			{name: "operation", cell: one => one.operation},
			{name: "with", cell: one => one.with},
			{name: "sharing", cell: one => one.sharing},
			{name: "what is there", wrap: true, cell: one => h("span", {class: "mono"}, one.name)},
			{name: "lines", right: true, cell: one => big(one.lines)},
			{name: "transfers", right: true, cell: one => big(one.transfers)},
		], conflicts.slice(0, 20), "cards"));
}

/* The case that says most is shown first: the one with something observed, on the most CPUs. */
function observedPart(study) {
	/* In what reproduce writes, the published cases stand apart from those of the curve. */
	const results = resultsOf(study).filter(result =>
		(result.stacks || []).length || (result.locks || []).length || (result.lines || []).length || (typeof result.conflicts_per_op === "number"));
	const place = h("div");

	if (!results.length)
		return h("p", {class: "note"}, "No profile, locks, lines or conflicts were observed in this run: ",
			["--profile", "--locks", "--lines"].map(name => [h("code", {class: "option"}, name), ", "]),
			"and ", h("code", {class: "option"}, "--conflicts"), " add them.");
	const show = result => place.replaceChildren(...[flamePart(result), lockPart(result), linePart(result),
		conflictPart(result)].filter(Boolean));
	const first = results.reduce((best, one) => one.cpus > best.cpus ? one : best);
	const select = h("select", {"aria-label": "Case", onchange: () => show(results[select.selectedIndex])},
		results.map(result => h("option", {selected: result === first}, label(result))));

	show(first);
	return h("div", null, h("h3", null, "Inside one case"),
		h("div", {class: "controls"}, h("label", null, "shown: ", select)), place);
}
