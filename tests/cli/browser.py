#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/cli/browser.py PAGE WIDTH [EXPERIMENT:PART,PART...]... [--dark] [--screenshot FILE [--at SELECTOR]]

Opens a report in a headless Chromium as wide as WIDTH and tries everything on it. Each experiment on the page must
be named, with the parts that it has beside those that all have, and must have no others. Prints "ok NAME" or
"not ok NAME: what is wrong" for each check. Exit status 77: there is no Chromium that starts."""

import argparse
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS_MAX = 90


class Browser:
    """Chromium, spoken to through two pipes: JSON, each message ended by a NUL."""

    def __init__(self, folder):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not program:
            raise OSError("chromium is not installed")
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()

        def take_places():
            # Away from 3 and 4 first, which either may be.
            read, write = os.dup(theirs_in), os.dup(theirs_out)
            high_read, high_write = read + 20, write + 20
            os.dup2(read, high_read)
            os.dup2(write, high_write)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
             f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=take_places)
        os.close(theirs_in)
        os.close(theirs_out)
        self.number = 0
        self.session = None
        self.rest = b""
        self.events = []

    def read(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            data = os.read(self.into, 1 << 20)
            if not data:
                raise OSError("Chromium does not start here")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + SECONDS_MAX
        while True:
            answer = self.read(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        until = time.monotonic() + SECONDS_MAX
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read(until))

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", "exception"))
        return result["result"].get("value")

    def close(self):
        self.process.terminate()
        self.process.wait()


def settle(browser):
    """Two frames: what a change of size makes drawn anew is drawn."""
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


def set_media(browser, media, dark):
    browser.call("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])


def set_width(browser, width):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                 mobile=width < 600)


def set_screen(browser, width, dark):
    set_width(browser, width)
    set_media(browser, "screen", dark)


def open_page(browser, page, width, dark):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable")
    set_screen(browser, width, dark)
    browser.call("Page.navigate", url="file://" + os.path.abspath(page))
    browser.wait("Page.loadEventFired")
    settle(browser)


def complaints(browser):
    """What the console shows, and what was asked of anything but the file itself."""
    console, requests = [], []
    for event in browser.events:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            console.append(str(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            console.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            console.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("file://", "data:")):
                requests.append(url)
    return console, requests


# What every section of an experiment has; what else one must have, the command line says.
PARTS = ("results", "machine", "command")

# Each of these takes every such thing on the page, and says what is wrong or ''.
SEEN = """(() => {
    const seen = {};
    for (const section of document.querySelectorAll('section.study:not(#overview)')) {
        const parts = seen[section.querySelector('h2 small').textContent] ||= [];
        for (const part of section.querySelectorAll('[class^=part-]')) {
            const box = part.getBoundingClientRect();
            if (box.height > 20 && box.width > 200)
                parts.push(part.className.slice('part-'.length));
        }
    }
    return seen;
})()"""

ZOOM = """(() => {
    for (const part of document.querySelectorAll('.part-flame')) {
        const flame = part.querySelector('.flame'), frames = [...flame.children];
        const narrow = frames.filter(one => one.offsetWidth < flame.offsetWidth * 0.9 && one.offsetWidth > 1);
        if (!narrow.length)
            return 'no frame to zoom into';
        const name = narrow[0].textContent;
        narrow[0].click();
        const zoomed = [...flame.children].find(one => one.textContent === name && !one.classList.contains('faded'));
        if (!zoomed || Math.abs(zoomed.offsetWidth - flame.offsetWidth) > 2)
            return name + ' is not as wide as the graph after a click';
        part.querySelector('.reset').click();
        if (flame.children.length !== frames.length)
            return 'the whole graph does not come back';
    }
    return '';
})()"""

SEARCH = """(() => {
    for (const part of document.querySelectorAll('.part-flame')) {
        const field = part.querySelector('input');
        const find = text => { field.value = text; field.dispatchEvent(new Event('input'));
            return [part.querySelectorAll('.found').length, part.querySelector('.readout').textContent]; };
        const names = [...part.querySelectorAll('.flame button')].map(one => one.textContent);
        const some = find(names[names.length - 1]), none = find('no_such_function'), odd = find('(');
        find('');
        if (!some[0] || !/%/.test(some[1]))
            return 'a search for what is there finds nothing';
        if (none[0] || !none[1].startsWith('0.00 %'))
            return 'a search for what is not there finds something';
        if (odd[0])
            return 'a bracket finds something';
    }
    return '';
})()"""

CHOOSE = """(() => {
    for (const select of document.querySelectorAll('select')) {
        const place = select.closest('.controls').nextElementSibling, before = place.innerHTML;
        if (select.options.length < 2)
            return 'there is one case only';
        select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
        select.dispatchEvent(new Event('change'));
        if (place.innerHTML === before)
            return 'another case shows the same: ' + select.value;
    }
    return '';
})()"""

# Two rows of one name are of two figures that one case has, as "the same" of what stands before it.
ROWS = """(() => {
    for (const table of document.querySelectorAll('.part-measured table')) {
        const rows = [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent));
        for (const [i, one] of rows.entries())
            for (const other of rows.slice(i + 1))
                if (one[0] === other[0] && !one.some((text, at) => at && text !== '–' && other[at] !== '–'))
                    return 'two rows for one figure: ' + one[0];
    }
    return '';
})()"""

# What the program says of a curve, which may begin with fewer CPUs than any figure was published for.
EFFICIENCY = """(() => {
    let looked = 0, curves = 0;
    for (const [i, study] of studiesOf(JSON.parse(document.getElementById('data').textContent)).entries()) {
        const table = document.querySelector('#study-' + i + ' .part-results table');
        const at = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent.startsWith('efficiency'));
        for (const {variant, points} of (study.curve || study).scaling || []) {
            curves++;
            for (const row of table.tBodies[0].rows) {
                const point = points.find(one => one.cpus === +row.cells[1].textContent);
                if (row.cells[0].textContent !== variant || !point)
                    continue;
                if (at < 0 || row.cells[at].textContent !== (100 * point.efficiency).toFixed(1) + ' %')
                    return `${study.experiment}, ${variant} on ${point.cpus} CPUs: not ${100 * point.efficiency} %`;
                looked++;
            }
        }
    }
    return looked || !curves ? '' : 'no efficiency';
})()"""

OVERFLOW = """(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width)
        return '';
    const guilty = [...document.querySelectorAll('main *')].find(one => one.getBoundingClientRect().right > width + 1 &&
        getComputedStyle(one.closest('.scroll') || one).overflowX === 'visible');
    return 'the page is wider than ' + width + (guilty ? ': ' + guilty.outerHTML.slice(0, 80) : '');
})()"""

SMALL = """(() => {
    const small = [...document.querySelectorAll('main *')].find(one => one.children.length === 0 &&
        one.textContent.trim() && one.getClientRects().length && parseFloat(getComputedStyle(one).fontSize) < 11);
    const scales = [...document.querySelectorAll('.plot')]
        .map(plot => plot.getBoundingClientRect().width / plot.viewBox.baseVal.width);
    if (small)
        return 'letters too small to read: ' + small.outerHTML.slice(0, 80);
    return Math.min(1, ...scales) < 0.9 ? 'a plot is shrunk to ' + Math.min(...scales) : '';
})()"""

# All that is written, against the grounds of all that it is in: on a canvas, which knows every way to tell a colour.
CONTRAST = """(dark => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true}), known = new Map();
    const mixed = colours => {
        for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(value => value / 255)
            .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const light = colours => {
        const key = colours.join();
        if (!known.has(key))
            known.set(key, mixed(colours));
        return known.get(key);
    };
    const under = one => one ? [...under(one.parentElement), getComputedStyle(one).backgroundColor] : ['white'];
    const ratio = (ground, colour) => {
        const [a, b] = [light(ground), light([...ground, colour])];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    const ground = light(under(document.body));
    if (dark ? ground > 0.2 : ground < 0.8)
        return 'the lightness of the ground is ' + ground;
    if (ratio(under(document.body), getComputedStyle(document.body).color) < 7)
        return 'the text is too near to the ground';
    for (const one of document.querySelectorAll('body *')) {
        if (![...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()) || !one.getClientRects().length)
            continue;
        const style = getComputedStyle(one), found = ratio(under(one), one.closest('svg') ? style.fill : style.color);
        if (found < 4.5)
            return 'contrast ' + found.toFixed(2) + ': ' + one.outerHTML.slice(0, 80);
    }
    return '';
})(%s)"""

# US letter less the margins, at 96 pixels to the inch: the narrower of the usual papers.
PAPER_PIXELS = 739


def check_parts(browser, wanted):
    """Yields (name, what is wrong or ''). wanted: the parts of each experiment, by its name."""
    seen = browser.evaluate(SEEN)
    for experiment in sorted({*seen, *wanted}):
        have, want = set(seen.get(experiment, ())), {*PARTS, *wanted.get(experiment, ())}
        wrong = [f"{part} is not there, or cannot be seen" for part in sorted(want - have)] + \
                [f"nobody asked for {part}" for part in sorted(have - want)]
        yield "parts_of_" + experiment, "; ".join(wrong)


def check_paper(browser, wanted, dark):
    """Yields (name, what is wrong or ''). On paper nothing scrolls, and the ground is white in the dark too."""
    set_width(browser, PAPER_PIXELS)
    set_media(browser, "print", dark)
    # The page opens what is folded when it is told of a print, which emulation does not.
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    settle(browser)
    for name, wrong in check_parts(browser, wanted):
        yield "printed_" + name, wrong
    yield "printed_fits", browser.evaluate(OVERFLOW)
    yield "printed_colours", browser.evaluate(CONTRAST % "false")
    pdf = base64.b64decode(browser.call("Page.printToPDF")["data"])
    yield "prints", "" if pdf.startswith(b"%PDF") and len(pdf) > 20000 else f"{len(pdf)} bytes"
    browser.evaluate("dispatchEvent(new Event('afterprint'))")


def check(browser, wanted, width, dark):
    """Yields (name, what is wrong or '')."""
    yield from check_parts(browser, wanted)
    yield "fits", browser.evaluate(OVERFLOW)
    yield "legible", browser.evaluate(SMALL)
    yield "colours", browser.evaluate(CONTRAST % ("true" if dark else "false"))
    yield "efficiency", browser.evaluate(EFFICIENCY)
    yield "measured_rows", browser.evaluate(ROWS)
    yield "flame_zooms", browser.evaluate(ZOOM)
    yield "flame_searches", browser.evaluate(SEARCH)
    yield from check_paper(browser, wanted, dark)
    set_screen(browser, width, dark)
    settle(browser)
    yield "another_case", browser.evaluate(CHOOSE)
    settle(browser)
    console, requests = complaints(browser)
    yield "console_is_silent", "; ".join(console)
    yield "asks_nothing_of_the_network", "; ".join(requests)


def shoot(browser, path, selector):
    clip = {"captureBeyondViewport": True, "format": "png"}
    if selector:
        box = browser.evaluate(f"(() => {{ const b = document.querySelector('{selector}').getBoundingClientRect(); "
                               "return [b.left, b.top + scrollY, b.width, b.height]; })()")
        clip["clip"] = dict(zip(("x", "y", "width", "height"), box), scale=1)
    else:
        height = browser.evaluate("document.documentElement.scrollHeight")
        width = browser.evaluate("innerWidth")
        clip["clip"] = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    with open(path, "wb") as file:
        file.write(base64.b64decode(browser.call("Page.captureScreenshot", **clip)["data"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("width", type=int)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--screenshot")
    parser.add_argument("--at")
    options = parser.parse_intermixed_args()
    wanted = {name: parts.split(",") for name, _, parts in (one.partition(":") for one in options.parts)}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            browser = Browser(folder)
        except OSError as error:
            print(error)
            return 77
        try:
            try:
                open_page(browser, options.page, options.width, options.dark)
            except (OSError, TimeoutError) as error:
                print(error)
                return 77
            if options.screenshot:
                shoot(browser, options.screenshot, options.at)
                return 0
            failed = 0
            for name, wrong in check(browser, wanted, options.width, options.dark):
                print(f"not ok {name}: {wrong}" if wrong else f"ok {name}")
                failed += bool(wrong)
            return 1 if failed else 0
        finally:
            browser.close()


sys.exit(main())
