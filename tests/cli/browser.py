#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/cli/browser.py PAGE WIDTH [--dark] [--screenshot FILE [--at SELECTOR]]

Opens a report in a headless Chromium as wide as WIDTH and tries everything on it. Prints "ok NAME" or
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


def open_page(browser, page, width, dark):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                 mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
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


# Each part of a report with everything in it; every one must be there and be seen.
PARTS = ("published", "results", "scalability", "flame", "locks", "lines", "conflicts", "machine", "command")

VISIBLE = """(name => {
    const all = [...document.querySelectorAll('.part-' + name)];
    return all.some(one => one.getBoundingClientRect().height > 20 && one.getBoundingClientRect().width > 200);
})('%s')"""

ZOOM = """(() => {
    const flame = document.querySelector('.flame'), frames = [...flame.children];
    const before = flame.querySelector('button').title;
    const narrow = frames.filter(one => one.offsetWidth < flame.offsetWidth * 0.9 && one.offsetWidth > 1);
    if (!narrow.length)
        return 'no frame to zoom into';
    const name = narrow[0].textContent;
    narrow[0].click();
    const zoomed = [...flame.children].find(one => one.textContent === name && !one.classList.contains('faded'));
    if (!zoomed || Math.abs(zoomed.offsetWidth - flame.offsetWidth) > 2)
        return name + ' is not as wide as the graph after a click';
    document.querySelector('.part-flame .reset').click();
    return flame.children.length === frames.length ? '' : 'the whole graph does not come back';
})()"""

SEARCH = """(() => {
    const part = document.querySelector('.part-flame'), field = part.querySelector('input');
    const find = text => { field.value = text; field.dispatchEvent(new Event('input'));
        return [part.querySelectorAll('.found').length, part.querySelector('.readout').textContent]; };
    const some = find('touch'), none = find('no_such_function'), odd = find('(');
    find('');
    if (!some[0] || !/%/.test(some[1]))
        return 'a search for what is there finds nothing';
    if (none[0] || !none[1].startsWith('0.00 %'))
        return 'a search for what is not there finds something';
    return odd[0] ? 'a bracket finds something' : '';
})()"""

CHOOSE = """(() => {
    const select = document.querySelector('select'), before = document.querySelector('.flame').innerHTML;
    if (select.options.length < 2)
        return 'there is one case only';
    select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
    select.dispatchEvent(new Event('change'));
    return document.querySelector('.flame').innerHTML === before ? 'another case shows the same' : '';
})()"""

OVERFLOW = """(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width)
        return '';
    const guilty = [...document.querySelectorAll('main *')].find(one => one.getBoundingClientRect().right > width + 1 &&
        !one.closest('.scroll'));
    return 'the page is wider than the window' + (guilty ? ': ' + guilty.outerHTML.slice(0, 80) : '');
})()"""

SMALL = """(() => {
    const small = [...document.querySelectorAll('main *')].find(one => one.children.length === 0 &&
        one.textContent.trim() && one.getClientRects().length && parseFloat(getComputedStyle(one).fontSize) < 11);
    const plot = document.querySelector('.plot');
    const scale = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
    if (small)
        return 'letters too small to read: ' + small.outerHTML.slice(0, 80);
    return scale < 0.9 ? 'the plot is shrunk to ' + scale : '';
})()"""

CONTRAST = """(() => {
    const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number)
        .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const style = getComputedStyle(document.body);
    const a = light(style.color), b = light(style.backgroundColor);
    return [b, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
})()"""


def check_parts(browser, parts):
    """Yields (name, what is wrong or '')."""
    for part in parts:
        yield "part_" + part, "" if browser.evaluate(VISIBLE % part) else "it is not there, or cannot be seen"
    yield "fits", browser.evaluate(OVERFLOW)


def check_quiet(browser):
    """Yields (name, what is wrong or '')."""
    settle(browser)
    console, requests = complaints(browser)
    yield "console_is_silent", "; ".join(console)
    yield "asks_nothing_of_the_network", "; ".join(requests)


def check(browser, dark):
    """Yields (name, what is wrong or '')."""
    yield from check_parts(browser, PARTS)
    yield "legible", browser.evaluate(SMALL)
    background, contrast = browser.evaluate(CONTRAST)
    wrong = (background > 0.2) if dark else (background < 0.8)
    yield "colours", f"background {background}, contrast {contrast}" if wrong or contrast < 7 else ""
    yield "flame_zooms", browser.evaluate(ZOOM)
    yield "flame_searches", browser.evaluate(SEARCH)
    yield "another_case", browser.evaluate(CHOOSE)
    pdf = base64.b64decode(browser.call("Page.printToPDF")["data"])
    yield "prints", "" if pdf.startswith(b"%PDF") and len(pdf) > 20000 else f"{len(pdf)} bytes"
    yield from check_quiet(browser)


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
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--screenshot")
    parser.add_argument("--at")
    parser.add_argument("--parts", help="only these, with commas between: of a page that has not all")
    options = parser.parse_args()
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
            checks = [*check_parts(browser, options.parts.split(",")), *check_quiet(browser)] \
                if options.parts else check(browser, options.dark)
            for name, wrong in checks:
                print(f"not ok {name}: {wrong}" if wrong else f"ok {name}")
                failed += bool(wrong)
            return 1 if failed else 0
        finally:
            browser.close()


sys.exit(main())
