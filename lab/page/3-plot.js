/* SPDX-License-Identifier: MIT */
/* Throughput by number of CPUs, both axes logarithmic. */
"use strict";

/* Curves of a study: {name, points: [{cpus, value, low, high}], published: [{cpus, value}], law}. */
function curvesOf(study) {
	const results = resultsOf(study);
	const scaling = [...(study.curve ? study.curve.scaling : []), ...(study.scaling || [])];

	return unique(results.map(result => result.variant)).map(name => {
		const points = new Map(), published = [];

		for (const result of results.filter(one => one.variant === name)) {
			const rates = result.samples.map(ns => 1e9 * result.cpus / ns);
			const operations = study.published_operations;
			let low = Math.min(...rates), high = Math.max(...rates);

			if (result.range && operations) {
				low = Math.min(low, result.cpus * operations / result.range.high);
				high = Math.max(high, result.cpus * operations / result.range.low);
			}
			if (!points.has(result.cpus))
				points.set(result.cpus, {cpus: result.cpus, value: result.ops_per_second, low, high});
			for (const figure of result.published || [])
				if (figure.quantity === "seconds" && operations)
					published.push({cpus: result.cpus, value: result.cpus * operations / figure.value});
				else if (figure.quantity === "operations a second")
					published.push({cpus: result.cpus, value: figure.value});
		}
		const fit = (scaling.find(one => one.variant === name) || {}).fit;

		return {name, published, law: fit || null, points: [...points.values()].sort((a, b) => a.cpus - b.cpus)};
	});
}

function lawAt(law, cpus) {
	return law.ops_per_second_alone * cpus /
		(1 + law.contention * (cpus - 1) + law.coherence * cpus * (cpus - 1));
}

let plots = 0;

/* Drawn in the pixels that there are, so that letters keep their size on a phone. */
function sizeOf(pixels) {
	const width = Math.max(280, Math.min(pixels || 860, 1100));

	return {width, height: Math.round(Math.max(260, Math.min(width / 2, 460))), left: 64, right: 16, top: 12, bottom: 44};
}

/* Round numbers around all values: 1, 2 and 5 times powers of ten, the powers alone where that is too many. */
function ticksAround(low, high) {
	for (const steps of [[1, 2, 5], [1]]) {
		const all = [];

		for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.ceil(Math.log10(high)); power++)
			all.push(...steps.map(step => Number(`${step}e${power}`)));

		const first = all.filter(tick => tick <= low).length - 1;
		const last = all.findIndex(tick => tick >= high);
		const ticks = all.slice(first, last + 1);

		if (ticks.length <= 9 || steps.length === 1)
			return ticks;
	}
	return [];
}

function scales(curves, size) {
	const values = curves.flatMap(curve => [...curve.points.flatMap(point => [point.low, point.high]),
		...curve.published.map(point => point.value)]).filter(value => value > 0);
	const cpus = unique(curves.flatMap(curve => curve.points.map(point => point.cpus))).sort((a, b) => a - b);
	const ticks = ticksAround(Math.min(...values), Math.max(...values));
	const low = Math.log(ticks[0]), high = Math.log(ticks[ticks.length - 1]);
	const first = Math.log(cpus[0]), last = Math.log(cpus[cpus.length - 1]);
	const {width, height, left, right, top, bottom} = size;

	return {cpus, ticks, size,
		x: value => left + (width - left - right) * (last > first ? (Math.log(value) - first) / (last - first) : 0.5),
		y: value => top + (height - top - bottom) * (1 - (Math.log(value) - low) / (high - low))};
}

function axes(scale, unit) {
	const {width, height, left, right, top, bottom} = scale.size;
	const parts = [];
	let free = -100;

	for (const tick of scale.ticks)
		parts.push(svg("line", {class: "grid", x1: left, x2: width - right, y1: scale.y(tick), y2: scale.y(tick)}),
			svg("text", {x: left - 8, y: scale.y(tick) + 4, "text-anchor": "end"}, big(tick).replace(/\.0+( |$)/, "$1")));
	for (const cpus of scale.cpus) {
		const x = scale.x(cpus);

		if (x < free)
			continue;
		free = x + 34;
		parts.push(svg("line", {class: "axis", x1: x, x2: x, y1: height - bottom, y2: height - bottom + 5}),
			svg("text", {x, y: height - bottom + 20, "text-anchor": "middle"}, String(cpus)));
	}
	parts.push(svg("line", {class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom}),
		svg("text", {x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle"}, "CPUs"),
		svg("text", {x: 14, y: (top + height - bottom) / 2, "text-anchor": "middle",
			transform: `rotate(-90 14 ${(top + height - bottom) / 2})`}, unit));
	return parts;
}

function curve(one, index, scale, area) {
	const stroke = colour(index);
	const line = one.points.map((point, i) => `${i ? "L" : "M"}${scale.x(point.cpus)} ${scale.y(point.value)}`).join("");
	const last = one.points[one.points.length - 1].cpus, first = one.points[0].cpus;
	let law = null;

	if (one.law) {
		const steps = Array.from({length: 61}, (unused, i) => first * (last / first) ** (i / 60));

		law = svg("path", {fill: "none", stroke, "stroke-width": 1.5, "stroke-dasharray": "3 5", opacity: 0.75,
			"clip-path": `url(#${area})`,
			d: steps.map((cpus, i) => `${i ? "L" : "M"}${scale.x(cpus)} ${scale.y(lawAt(one.law, cpus))}`).join("")});
	}
	return svg("g", {class: "curve"}, law,
		one.points.filter(point => point.high > point.low * 1.005).map(point => svg("line", {stroke,
			"stroke-width": 7, "stroke-linecap": "round", opacity: 0.22, x1: scale.x(point.cpus),
			x2: scale.x(point.cpus), y1: scale.y(point.low), y2: scale.y(point.high)})),
		svg("path", {d: line, fill: "none", stroke, "stroke-width": 2.5, "stroke-linejoin": "round"}),
		one.points.map(point => svg("circle", {cx: scale.x(point.cpus), cy: scale.y(point.value), r: 4, fill: stroke},
			svg("title", null, `${one.name}, ${point.cpus} CPUs: ${big(point.value)} a second` +
				(point.high > point.low * 1.005 ? ` (${big(point.low)} to ${big(point.high)})` : "")))),
		one.published.map(point => svg("circle", {cx: scale.x(point.cpus), cy: scale.y(point.value), r: 7, fill: "none",
			stroke, "stroke-width": 2}, svg("title", null, `published: ${big(point.value)} a second`))));
}

function plotPart(study) {
	const curves = curvesOf(study);

	if (curves.every(one => one.points.length < 2))
		return h("p", {class: "note"}, "These cases ran on one number of CPUs each; --cpus 1-64 draws a curve.");
	const place = h("div");
	const name = `${study.operation || "operation"}s a second, all CPUs`;
	const area = `plot-area-${++plots}`;

	const draw = pixels => {
		const scale = scales(curves, sizeOf(pixels));
		const {width, height, left, right, top, bottom} = scale.size;

		place.replaceChildren(svg("svg", {class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name},
			svg("clipPath", {id: area}, svg("rect", {x: left, y: top, width: width - left - right,
				height: height - top - bottom})),
			axes(scale, name), curves.map((one, i) => curve(one, i, scale, area))));
	};

	let drawn = 0;

	draw(0);
	/* Drawing changes the height: not while sizes are being told. */
	new ResizeObserver(() => requestAnimationFrame(() => {
		if (place.clientWidth !== drawn) {
			drawn = place.clientWidth;
			draw(drawn);
		}
	})).observe(place);
	return h("div", {class: "part-scalability"}, h("h3", null, "Scalability"),
		h("figure", {class: "card figure"},
			h("ul", {class: "legend"}, curves.map((one, i) => h("li", null,
				h("i", {style: `border-color: ${colour(i)}`}), one.name)),
			curves.some(one => one.law) && h("li", null, h("i", {class: "law"}), "scalability law, fitted"),
			curves.some(one => one.published.length) && h("li", null, h("i", {class: "dot"}), "published")),
			place),
		limitsNote(study));
}

function limitsNote(study) {
	const all = (study.scaling || []).length ? study.scaling : study.curve ? study.curve.scaling : [];

	return all.length ? h("ul", {class: "note"}, all.map(one => h("li", null, h("b", null, one.variant),
		`: most at ${one.best_cpus} CPUs`,
		one.fit && one.fit.peak_cpus ? `, the law's peak at ${Math.round(one.fit.peak_cpus)}` : "",
		one.limiting_lock || one.limiting_line ? "; limited by " : "; nothing shared was waited for",
		one.limiting_lock ? ["the lock ", h("code", null, one.limiting_lock)] : null,
		one.limiting_lock && one.limiting_line ? " and " : null,
		one.limiting_line ? ["the line ", h("code", null, one.limiting_line)] : null))) : null;
}
