/* SPDX-License-Identifier: MIT */
/* The flame graph: call paths as a tree, one row a depth; a click zooms, a word searches. */
"use strict";

function treeOf(stacks) {
	const root = {name: "all", total: 0, self: 0, children: new Map(), parent: null, depth: 0};

	for (const stack of stacks) {
		let node = root;

		root.total += stack.ns;
		for (const name of stack.path.split(";")) {
			if (!node.children.has(name))
				node.children.set(name, {name, total: 0, self: 0, children: new Map(), parent: node,
					depth: node.depth + 1});
			node = node.children.get(name);
			node.total += stack.ns;
		}
		node.self += stack.ns;
	}
	return root;
}

/* Warm, and the same for the same name. */
function flameColour(name) {
	let hash = 0;

	for (const letter of name)
		hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
	return `hsl(${12 + hash % 40} ${72 + hash % 17}% ${63 + (hash >>> 8) % 13}%)`;
}

const rowPixels = 21;
/* What is narrower cannot be seen. */
const widthMin = 0.0008;

function isBelow(node, top) {
	for (; node; node = node.parent)
		if (node === top)
			return true;
	return false;
}

/* Fills `place` with the frames of `zoomed` over its whole width, and its callers under it. */
function drawFlame(place, state) {
	const frames = [], {root, zoomed, pattern} = state;
	let depth = 0, found = 0;

	const add = (node, left, width, faded) => {
		const hit = pattern && pattern.test(node.name);
		const share = 100 * node.total / root.total;

		depth = Math.max(depth, node.depth);
		frames.push({node, button: h("button", {type: "button", class: (faded ? "faded " : "") + (hit ? "found" : ""),
			style: `left: ${100 * left}%; width: ${100 * width}%; background: ${flameColour(node.name)}`,
			title: `${node.name}: ${percent(share)} % of all time, ${percent(100 * node.self / root.total)} % itself`,
			onclick: () => { state.zoomed = node; drawFlame(place, state); }}, node.name)});
	};
	const walk = (node, left, width) => {
		add(node, left, width, false);
		for (const child of [...node.children.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
			const part = width * child.total / node.total;

			if (part >= widthMin)
				walk(child, left, part);
			left += part;
		}
	};
	/* Time under a function that fits, each path once. */
	const count = (node, inside) => {
		const hit = inside || pattern.test(node.name);

		if (hit && !inside)
			found += node.total;
		for (const child of node.children.values())
			count(child, hit);
	};

	for (let node = zoomed.parent; node; node = node.parent)
		add(node, 0, 1, true);
	walk(zoomed, 0, 1);
	if (pattern)
		count(root, false);
	for (const frame of frames)
		frame.button.style.top = `${(depth - frame.node.depth) * rowPixels}px`;
	place.style.height = `${(depth + 1) * rowPixels}px`;
	place.replaceChildren(...frames.map(frame => frame.button));
	state.readout.textContent = pattern
		? `${percent(100 * found / root.total)} % of the time is in what fits, and in what that calls`
		: zoomed === root ? "A frame is as wide as its share of the time. Click to zoom, type to search."
			: `${zoomed.name}: ${percent(100 * zoomed.total / root.total)} % of all time`;
}

/* A pattern, or what was typed taken literally when it is none. */
function patternOf(text) {
	if (!text)
		return null;
	try {
		return new RegExp(text, "i");
	} catch (error) {
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
	}
}

function flamePart(result) {
	const root = treeOf(result.stacks || []);
	const readout = h("p", {class: "readout", role: "status"});
	const place = h("div", {class: "flame"});
	const state = {root, zoomed: root, pattern: null, readout};

	if (!root.total)
		return null;
	const search = h("input", {type: "search", placeholder: "search functions", "aria-label": "Search functions",
		oninput: () => { state.pattern = patternOf(search.value); drawFlame(place, state); }});
	drawFlame(place, state);
	return h("div", {class: "part-flame"}, h("h3", null, "Where the time goes"),
		h("div", {class: "controls"}, search,
			h("button", {type: "button", class: "reset", onclick: () => { state.zoomed = root; drawFlame(place, state); }},
				"whole graph")),
		h("figure", {class: "card figure"}, place), readout);
}
