"""Draws docs/images/page-*.png and explorer-*.png: a question to the demo town and its graph, light and dark.

`threadlore --data-dir FOLDER demo --keep`, then `python -m scripts.take_page_pictures FOLDER/demo`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from bot.cli.chat.demo import DEMO_SPACE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PORT = 8639
NAME = "Patient Agnes"
QUESTION = "Who holds permit 17-B, and what did the holder of permit 17-B promise to do before the Mending?"
START_SECONDS = 60
SETTLE_MILLISECONDS = 3000  # until the names stand still
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def wait_for_server() -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                return
        time.sleep(0.2)
    sys.exit("The server does not start.")


def take_pictures(browser: Browser, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1120, "height": 640}, device_scale_factor=1.5)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{PORT}/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".turn.is-over .sources").wait_for()
    page.locator("a.citation").last.hover()
    page.screenshot(path=IMAGES / f"page-{scheme}.png")
    page.goto(f"http://127.0.0.1:{PORT}/graph?entity={quote(NAME)}")
    page.locator(".graph-related").wait_for()
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    page.screenshot(path=IMAGES / f"explorer-{scheme}.png")
    context.close()


def main() -> None:
    environment = {**os.environ, "THREADLORE_WEB_PORT": str(PORT), "THREADLORE_DATA_DIR": sys.argv[1]}
    environment["THREADLORE_SPACE"] = DEMO_SPACE
    program = Path(sys.executable).with_name("threadlore")
    with subprocess.Popen([program, "serve", "--web"], env=environment) as server:
        try:
            wait_for_server()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
                take_pictures(browser, "light")
                take_pictures(browser, "dark")
                browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
