/* SPDX-License-Identifier: MIT */
/* Published figures beside ours, and what all predictions amount to. */
"use strict";

/* One row for each published figure of a study: {variant, cpus, what, unit, published, ours, kind, low, high}. */
function figuresOf(study) {
	const rows = [];

	for (const result of study.results)
		for (const figure of result.published || []) {
			const seconds = figure.quantity === "seconds";
			const range = seconds ? result.range : figure.range;
			const ours = seconds ? result.extrapolated_seconds
				: figure.ours === undefined ? null : figure.ours;

			rows.push({variant: result.variant, cpus: String(result.cpus), unit: figure.unit,
				share: figure.quantity === "profile share",
				what: seconds ? "time" : figure.caller ? `${figure.symbol} for ${figure.caller}`
					: figure.symbol || figure.quantity,
				published: figure.value, ours, kind: figure.kind, source: figure.source,
				low: range ? range.low : null, high: range ? range.high : null});
		}
	for (const growth of study.growth || [])
		if (growth.published !== null)
			rows.push({variant: growth.variant, cpus: `${growth.from} to ${growth.to}`, unit: "×",
				what: "growth of time", published: growth.published, ours: growth.ratio, kind: "predicted",
				source: "", derived: true, low: growth.range ? growth.range.low : null,
				high: growth.range ? growth.range.high : null});
	return rows;
}

/* How far off: shares in points, others as a ratio. */
function errorOf(row) {
	if (row.ours === null)
		return {text: "–", className: ""};
	if (row.share) {
		const points = row.ours - row.published;
		const size = Math.abs(points);

		return {text: (points < 0 ? "−" : "+") + size.toFixed(2) + " points",
			className: size <= 5 ? "good" : size <= 15 ? "fair" : "bad"};
	}
	const ratio = row.ours / row.published;
	const off = Math.max(ratio, 1 / ratio);

	return {text: num(ratio) + "\u00a0×", className: off <= 1.25 ? "good" : off <= 2 ? "fair" : "bad"};
}

/* The range over what is assumed as a bar, ours as a dot in it, the published figure as a line. */
function rangeBar(row) {
	if (row.ours === null || row.low === null)
		return null;
	const values = [row.low, row.high, row.ours, row.published];
	const scale = row.share ? value => value : value => Math.log(Math.max(value, 1e-12));
	const from = row.share ? 0 : Math.min(...values.map(scale)) - 0.1;
	const to = row.share ? 100 : Math.max(...values.map(scale)) + 0.1;
	const x = value => 4 + 136 * (scale(value) - from) / (to - from || 1);

	return svg("svg", {class: "rangebar", viewBox: "0 0 144 20", role: "img",
		"aria-label": `${num(row.low)} to ${num(row.high)}`},
		svg("line", {x1: 4, x2: 140, y1: 10, y2: 10, stroke: "var(--rule)", "stroke-width": 2}),
		svg("line", {x1: x(row.low), x2: x(row.high), y1: 10, y2: 10, stroke: "var(--c0)", "stroke-width": 6,
			"stroke-linecap": "round", opacity: 0.45}),
		svg("circle", {cx: x(row.ours), cy: 10, r: 4, fill: "var(--c0)"}),
		svg("line", {x1: x(row.published), x2: x(row.published), y1: 2, y2: 18, stroke: "var(--ink)",
			"stroke-width": 2}));
}

function amount(value, unit) {
	return unit === "1/s" ? big(value) : num(value);
}

function withUnit(value, unit) {
	return value === null ? "–" : amount(value, unit) + (unit === "1/s" ? "/s" : `\u00a0${unit}`);
}

const publishedColumns = [
	{name: "variant", cell: row => row.variant},
	{name: "CPUs", right: true, cell: row => row.cpus},
	{name: "what", wrap: true, cell: row => h("span", {class: row.share ? "mono" : null, title: row.source}, row.what)},
	{name: "published", right: true, cell: row => withUnit(row.published, row.unit)},
	{name: "ours", right: true, cell: row => withUnit(row.ours, row.unit)},
	{name: "off by", right: true, cell: row => h("span", {class: errorOf(row).className}, errorOf(row).text)},
	{name: "kind", cell: row => h("span", {class: "tag " + row.kind}, row.kind)},
];

/* Only reproduce tries what is assumed about the machine. */
const rangeColumn = {name: "over assumptions", right: true, cell: row => row.low === null ? "–"
		: h("div", null, `${amount(row.low, row.unit)} to ${withUnit(row.high, row.unit)}`, rangeBar(row))};

function publishedTable(rows, others) {
	const ranged = rows.some(row => row.low !== null);

	return table([...others, ...publishedColumns, ...(ranged ? [rangeColumn] : [])], rows, "cards");
}

function publishedPart(study) {
	const rows = figuresOf(study);

	if (!rows.length)
		return null;
	return h("div", {class: "part-published"}, h("h3", null, "Published and ours"),
		publishedTable(rows, []),
		h("p", {class: "note"}, rows.some(row => row.low !== null)
			? "The bar is what ours becomes over the plausible ranges of what is assumed about the machine, the dot is " +
				"ours, the upright line the published figure. " : "",
		"“Fitted”: one number of the machine was chosen so that this figure comes out; “predicted”: nothing was."));
}

/* Profiles that were published in ticks of the timer, the functions with the most first. */
function ticksPart(study) {
	const rows = study.results.flatMap(result => (result.published || []).filter(figure => figure.ticks)
		.sort((a, b) => b.ticks - a.ticks).map(figure => ({variant: result.variant, cpus: result.cpus, figure})));

	if (!rows.length)
		return null;
	return h("div", {class: "part-ticks"}, h("h3", null, "Published profiles, in ticks of the timer"), table([
		{name: "variant", cell: row => row.variant},
		{name: "CPUs", right: true, cell: row => row.cpus},
		{name: "function, or what is part of it", wrap: true, cell: row => h("span", {class: "mono",
			title: row.figure.source}, row.figure.caller || row.figure.symbol)},
		{name: "published", right: true, cell: row => row.figure.ticks.toLocaleString("en-US")},
		{name: "ours", right: true, cell: row => typeof row.figure.our_ticks === "number"
			? Math.round(row.figure.our_ticks).toLocaleString("en-US") : "–"},
	], rows, "cards"), h("p", {class: "note"}, "Ours is in as many ticks in all as were published for the case."));
}

function median(values) {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;

	return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/* One line on all predictions; what follows from others is not counted twice. */
function summaryText(studies) {
	const rows = studies.flatMap(figuresOf)
		.filter(row => row.kind === "predicted" && row.ours !== null && !row.derived);
	const factors = rows.filter(row => !row.share)
		.map(row => Math.max(row.ours / row.published, row.published / row.ours));
	const points = rows.filter(row => row.share).map(row => Math.abs(row.ours - row.published));
	const parts = [];

	if (factors.length)
		parts.push(factors.length > 1 ? `${factors.length} times and rates are off by a factor of ` +
			`${num(median(factors))} in the median, ${num(Math.max(...factors))} at worst`
			: `one time or rate is off by a factor of ${num(factors[0])}`);
	if (points.length)
		parts.push(points.length > 1 ? `${points.length} shares of time are off by ${num(median(points))} points ` +
			`in the median, ${num(Math.max(...points))} at worst`
			: `one share of time is off by ${num(points[0])} points`);
	return parts.length ? `Of the predictions, ${parts.join("; ")}.` : null;
}
