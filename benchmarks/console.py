"""console: how the console's table behaves in Chromium while 5,000 pods change 50 times a second.

    python -m benchmarks.console [--pods 5000] [--rate 50] [--seconds 20]

It prints the time to the first paint and to the first rows, the times of frames, and the changes of the page's elements
that the browser has counted. The last line has the memory of the page.
"""

import argparse
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from playwright.sync_api import Page, sync_playwright

from aio_apiserver.testing import Server

PODS = "/api/v1/namespaces/default/pods"
FRAMES = """seconds => new Promise(resolve => {
    const times = [];
    let changes = 0, last = performance.now();
    const end = last + seconds * 1000;
    new MutationObserver(found => { changes += found.length }).observe(
        document.querySelector('.grid .body'), {childList: true, subtree: true});
    const frame = now => {
        times.push(now - last);
        last = now;
        now < end ? requestAnimationFrame(frame) : resolve({times, changes});
    };
    requestAnimationFrame(frame);
})"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def make(server: Server, pods: int) -> None:
    """Create the pods."""
    with server.client() as client:
        for number in range(pods):
            body = {"metadata": {"name": f"pod-{number:05}"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
            client.request("POST", PODS, body)


@contextmanager
def changing(server: Server, pods: int, rate: float) -> Iterator[None]:
    """Change the status of one pod after the other meanwhile."""
    stop = threading.Event()
    writer = threading.Thread(target=_change, args=(server, pods, rate, stop))
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def _change(server: Server, pods: int, rate: float, stop: threading.Event) -> None:
    phases = ("Running", "Pending", "Succeeded", "Failed")
    with server.client() as client:
        for number in count():
            if stop.wait(1 / rate):
                return
            path = f"{PODS}/pod-{number * 37 % pods:05}/status"
            body = {"status": {"phase": phases[number % 4], "message": str(number)}}
            client.request("PATCH", path, body, content_type="application/merge-patch+json")


def open_table(page: Page, server: Server, pods: int) -> None:
    """Sign in, open the table of pods, and print when its rows came."""
    page.goto(server.ui)
    page.wait_for_selector(".shell")
    page.goto(f"{server.url}/ui/#/t/core/v1/pods")
    page.reload()
    page.wait_for_selector(".row")
    rows_at = page.evaluate("performance.now()")
    page.wait_for_selector(f".live:has-text('{pods:,} · live')")
    all_at = page.evaluate("performance.now()")
    print(f"first paint {page.evaluate(PAINT):.0f} ms, first rows {rows_at:.0f} ms, all rows live {all_at:.0f} ms")


def measure_frames(page: Page, seconds: float) -> None:
    """Print how the table goes on for so many seconds."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    before = page.evaluate("performance.memory.usedJSHeapSize") / 2**20
    seen = page.evaluate(FRAMES, seconds)
    frames = sorted(seen["times"])
    session.send("HeapProfiler.collectGarbage")
    after = page.evaluate("performance.memory.usedJSHeapSize") / 2**20
    p50, p99 = (frames[int(len(frames) * part)] for part in (0.5, 0.99))
    print(f"{len(frames)} frames in {seconds:g} s, {seen['changes']} changes of elements")
    print(f"p50 {p50:.0f} ms, p99 {p99:.0f} ms, longest {frames[-1]:.0f} ms")
    print(f"elements of rows: {page.locator('.row').count()}; heap {before:.1f} MB, then {after:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    with Server(ui=True) as server, sync_playwright() as playwright:
        make(server, given.pods)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with changing(server, given.pods, given.rate):
            page = browser.new_page(ignore_https_errors=True)
            open_table(page, server, given.pods)
            measure_frames(page, given.seconds)
        browser.close()


if __name__ == "__main__":
    main()
