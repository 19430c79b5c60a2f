"""What the program looks up, connects to and writes besides its own folders, when nobody asked it to: nothing.

`python -m benchmarks.offline [--seconds 20]` runs each long-lived process in a network namespace in which all addresses
lead to a recorder, native libraries and subprocesses included, for so long, in an empty home.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.graph_image.fonts import font_families
from engine import Engine, FileParser, MiniLMEmbedder, ParserLimits, Question, Scope
from engine.llm.client.subprocess import SubprocessProvider
from tests.engine.parsers.samples import docx, paragraph, pdf, xlsx
from tests.support.offline_recorder import list_obstacles, run_recorded

PORT = 8637
FILES = {
    "ferry.md": b"# Ferry\n\nThe ferry Gudgeon leaves at noon.\n",
    "minutes.docx": docx(paragraph("Ada met Bob at the pier.")),
    "rules.pdf": pdf([["The fee for a berth is nine crowns."]]),
    "budget.xlsx": xlsx({"Budget": [["Item", "Cost"], ["Rope", 9]]}),
    "letter.eml": b"Subject: Roof\n\nThe tiles come on Monday.\n",
}
QUESTION = "When does the Gudgeon leave?"
# Matplotlib keeps the list of fonts there, for all programs; the embedder, that it looked for old files of telemetry.
EXPECTED = (".cache/matplotlib/", ".cache/threadlore/onnxruntime-telemetry-removed")
# What tells libraries to be quiet in the suite, or names other folders, would hide what the program does by itself.
HIDDEN = ("ORT_", "XDG_", "MPL", "LITELLM_", "THREADLORE_", "TIKTOKEN", "HF_")


def run_program(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "bot", *words], check=True, capture_output=True)


def ingest(home: Path, seconds: float) -> None:
    run_program("ingest", str(home / "town"))


def ask(home: Path, seconds: float) -> None:
    run_program("ingest", str(home / "town"))
    run_program("ask", QUESTION)


def serve_page(home: Path, seconds: float) -> None:
    """The page and the HTTP API, asked once."""
    run_program("ingest", str(home / "town"))
    serve(home, seconds, ["serve", "--web"], lambda: read_page("/api/v1/health"))


def serve_bot(home: Path, seconds: float) -> None:
    """The bot on Slack, which it cannot reach at an address on this machine."""
    os.environ["THREADLORE_SLACK_BOT_TOKEN"], os.environ["THREADLORE_SLACK_APP_TOKEN"] = "xoxb-1", "xapp-1"
    os.environ["THREADLORE_SLACK_API_BASE"] = "http://127.0.0.1:9/api/"
    serve(home, seconds, ["serve"], lambda: None)


def serve(home: Path, seconds: float, words: list[str], use: Callable[[], object]) -> None:
    process = subprocess.Popen([sys.executable, "-m", "bot", *words], stdout=subprocess.DEVNULL)
    try:
        use()
        time.sleep(seconds)
        assert process.poll() is None, "it has ended by itself"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def chat(home: Path, seconds: float) -> None:
    """A conversation with one question."""
    run_program("ingest", str(home / "town"))
    talk(["chat"], seconds, f"{QUESTION}\n")


def serve_mcp(home: Path, seconds: float) -> None:
    """The tools of an assistant, before it uses them."""
    talk(["mcp"], seconds, "")


def talk(words: list[str], seconds: float, text: str) -> None:
    """Run a program that ends with its input."""
    command = [sys.executable, "-m", "bot", *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stdin
        process.stdin.write(text)
        process.stdin.flush()
        time.sleep(seconds)
        assert process.poll() is None, "it has ended by itself"


def read_page(path: str) -> bytes:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}") as answer:
                return bytes(answer.read())
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def call_models(home: Path, seconds: float) -> None:
    """The process that calls models, with one call to an address on this machine where nobody listens."""

    async def call() -> None:
        provider = SubprocessProvider()
        await provider.preload()
        try:
            await provider.chat({"model": "openai/x", "api_base": "http://127.0.0.1:9", "api_key": "k", "messages": []})
        except Exception as error:  # noqa: BLE001 - it must fail
            print(type(error).__name__)
        await asyncio.sleep(seconds)
        await provider.close()

    asyncio.run(call())


def use_library(home: Path, seconds: float) -> None:
    """The engine of another program: files parsed, embedded and asked, and the fonts of a picture of the graph."""

    async def use() -> None:
        embedder = await MiniLMEmbedder.open()
        async with Engine.open(home / "data", embedder=embedder) as engine, FileParser(ParserLimits()) as parser:
            for name in FILES:
                await engine.documents.add_file(home / "town" / name, space="town", parser=parser)
            await engine.wait_until_indexed()
            answer = await engine.ask(Question(QUESTION, Scope.of("town")))
            print("".join([piece async for piece in answer]))
            print(font_families("漢字"))
            await asyncio.sleep(seconds)
        embedder.close()

    asyncio.run(use())


MODES: Mapping[str, Callable[[Path, float], None]] = {
    "ingest": ingest,
    "ask": ask,
    "serve --web": serve_page,
    "serve": serve_bot,
    "chat": chat,
    "mcp": serve_mcp,
    "models": call_models,
    "library": use_library,
}


def watch(mode: str, seconds: float, folder: Path) -> tuple[list[str], list[str]]:
    """What a mode asked for, and the files that it wrote outside of the data directory. Raises CalledProcessError."""
    (folder / "town").mkdir()
    for name, content in FILES.items():
        (folder / "town" / name).write_bytes(content)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)} | {
        "HOME": str(folder),
        "THREADLORE_DATA_DIR": str(folder / "data"),
        "THREADLORE_WEB_PORT": str(PORT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    report = folder / "report"
    command = [sys.executable, "-m", "benchmarks.offline", "--mode", mode, "--seconds", str(seconds)]
    done = run_recorded(command, report, environment)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    own = {folder / "town", folder / "data", report}
    written = [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and own.isdisjoint({path, *path.parents})
        if not str(path.relative_to(folder)).startswith(EXPECTED)
    ]
    return report.read_text().splitlines(), written


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--mode", choices=MODES)
    arguments = parser.parse_args()
    if arguments.mode:
        MODES[arguments.mode](Path.home(), arguments.seconds)
        return 0
    if obstacle := list_obstacles():
        print(f"Nothing can be recorded here: {obstacle}.")
        return 1
    print(f"{'process':12} {'look-ups and connections':26} files elsewhere")
    is_quiet = True
    for mode in MODES:
        with TemporaryDirectory() as name:
            asked, written = watch(mode, arguments.seconds, Path(name))
        is_quiet &= not asked and not written
        print(f"{mode:12} {len(asked):<26} {', '.join(written) or 0}", *sorted(set(asked)), sep="\n  ", flush=True)
    return 0 if is_quiet else 1


if __name__ == "__main__":
    sys.exit(main())
