"""Frame times of the explorer of the graph in Chromium while it expands to 200 names, is dragged and is zoomed.

`python -m benchmarks.web_frames [--rounds 3] [--slowdown 1]` runs `threadlore serve --web` as a process of its own on
a made-up graph and opens the page at 1280 × 800 pixels. Without a graphics processor Chromium draws in software: frames
take longer than on a desk. A round opens the page anew. With a slowdown of 4 scripts run at a fourth of the speed.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Page, async_playwright

from benchmarks.plumbing import parse_arguments, start_process, temporary_folder
from benchmarks.web_streams import free_port, run_command, wait_until_served
from tests.browser.conftest import CHROMIUM, FLAGS

HUBS, SPOKES = 8, 28
SETTLED = 2.5  # seconds after an expansion in which frames count, too
DISPLAYED = 200
RECORD = """() => {
  const frames = (window.frameTimes = []);
  let last = performance.now();
  const tick = (now) => { frames.push(now - last); last = now; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
}"""
TAKE = "() => window.frameTimes.splice(0)"


def build_names(count: int) -> list[str]:
    """Different made-up names."""
    first = ("Bal", "Dor", "Fen", "Gor", "Hul", "Jas", "Kel", "Lom", "Mar", "Nor", "Pel", "Quil", "Ros", "Tam", "Vel")
    middle, last = ("amo", "eri", "obu", "uti", "ila"), ("nda", "rth", "skan", "vik", "low")
    names = ["".join(parts) for parts in itertools.product(first, middle, last)]
    assert len(names) >= count
    return names[:count]


def write_notes(path: Path) -> str:
    """Write sentences about pairs of names, of which some are known to many; returns the first of these."""
    names = build_names(HUBS * (SPOKES + 1))
    hubs, others = names[:HUBS], names[HUBS:]
    pairs = [(hubs[0], hub) for hub in hubs[1:]]
    pairs += [(hub, others[place * SPOKES + number]) for place, hub in enumerate(hubs) for number in range(SPOKES)]
    path.write_text("\n\n".join(f"# Day {day}\n\n{one} met {other} there." for day, (one, other) in enumerate(pairs)))
    return hubs[0]


def show(label: str, frames: Sequence[float]) -> None:
    p95 = statistics.quantiles(frames, n=20)[-1]
    print(f"| {label} | {statistics.median(frames):.0f} | {p95:.0f} | {max(frames):.0f} | {len(frames)} |", flush=True)


async def expand(page: Page) -> int:
    """Expand the first name of the table that adds names, until the picture is full; returns the names in it."""
    for place in range(2 * HUBS):
        count = int(await page.locator("#graph-count").inner_text())
        if count >= DISPLAYED:
            return count
        hub = build_names(HUBS)[place % HUBS]
        button = page.get_by_role("button", name=f"Expand {hub}", exact=True)
        if await button.count():
            await button.evaluate("button => button.click()")
            await asyncio.sleep(SETTLED)
    return int(await page.locator("#graph-count").inner_text())


async def drag(page: Page) -> None:
    """Drag what lies in the middle of the picture around."""
    box = await page.locator("#graph-canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    for step in range(60):
        await page.mouse.move(x + 3 * (step % 30), y + 2 * (step % 20))
        await asyncio.sleep(0.016)
    await page.mouse.up()


async def zoom(page: Page) -> None:
    for step in range(30):
        await page.mouse.wheel(0, 120 if step < 15 else -120)
        await asyncio.sleep(0.03)


async def measure(page: Page, url: str, hub: str) -> None:
    """Measure one round, and show its rows."""
    await page.goto(f"{url}/graph?entity={hub}")
    await page.locator("#graph-status").get_by_text("names around").wait_for()
    await page.get_by_text("The same as a table").click()
    await page.evaluate(RECORD)
    await asyncio.sleep(SETTLED)
    show("idle", await page.evaluate(TAKE))
    count = await expand(page)
    show(f"expanding to {count} names", await page.evaluate(TAKE))
    await drag(page)
    show("dragging", await page.evaluate(TAKE))
    await zoom(page)
    show("zooming", await page.evaluate(TAKE))


async def run(rounds: int, slowdown: int, folder: Path) -> None:
    """Measure, and show a table."""
    port = free_port()
    environment = {"THREADLORE_DATA_DIR": str(folder / "home"), "THREADLORE_WEB_PORT": str(port)}
    hub = write_notes(folder / "notes.md")
    run_command(environment, "ingest", str(folder / "notes.md"))
    async with start_process("-m", "bot", "serve", "--web", environment=environment):
        await wait_until_served(port)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            print("| what | frame p50 ms | p95 ms | worst ms | frames |\n|---|---|---|---|---|")
            for _ in range(rounds):
                page = await browser.new_page(viewport={"width": 1280, "height": 800})
                session = await page.context.new_cdp_session(page)
                await session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
                await measure(page, f"http://127.0.0.1:{port}", hub)
                await page.close()
            await browser.close()


def main() -> None:
    chosen = parse_arguments(__doc__, rounds=3, slowdown=1)
    if CHROMIUM is None:
        sys.exit("Skipped: there is no Chromium.")
    with temporary_folder() as folder:
        asyncio.run(run(chosen.rounds, chosen.slowdown, Path(folder)))


if __name__ == "__main__":
    main()
