"""Fifty questions at once, in fifty threads, with a model of twenty tokens a second: who waits how long, for what.

`python -m tests.bench.concurrent_questions [--questions 50]` runs the whole bot as a process of its own (`threadlore
serve`), against a Slack on this machine that enforces Slack's rates, and a model on this machine. Each answer must be
whole.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.demos.slack_day import load_manifest
from tests.support.slack_server.fake_slack import FakeSlack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from tests.support.slack_server.people import Person, Room, SentMessage

WORDS = 80
TOKENS_A_SECOND = 20
CASE_NUMBER = re.compile(r"case number (\d+)")
TIMEOUT_SECONDS = 900.0
STATUS = "assistant.threads.setStatus"


def build_answer(number: int) -> str:
    """What the model says to a question, in as many tokens as words."""
    said = " ".join(f"word{number}x{place}" for place in range(WORDS))
    return f"Of case {number}: {said}."


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """The model: it tells questions apart by their number."""
    asked = CASE_NUMBER.findall(str(messages[-1]["content"]))
    return build_answer(int(asked[-1])) if asked else "{}"


@contextlib.asynccontextmanager
async def start_process(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program beside this one, until left."""
    started = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env={**os.environ, **(environment or {})}, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield started
    finally:
        with contextlib.suppress(ProcessLookupError):
            started.terminate()
        await started.wait()


def resident_mib(pid: int) -> float:
    """MiB of memory that a process holds, with its helpers."""
    family = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    pages = sum(int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in family)
    return pages * resource.getpagesize() / 2**20


async def post_facts(slack: FakeSlack, room: Room, ada: Person, count: int) -> None:
    """What there is to know."""
    for number in range(count):
        await ada.says(room, f"The papers of case number {number} lie on shelf {number}.")
    await slack.wait_until_delivered(60)
    await slack.wait_until_quiet(1.0, 60)


def thread_text(slack: FakeSlack, ada: Person, room: Room, said: SentMessage) -> str:
    """What stands in the thread below a question."""
    return "\n".join(entry.body for entry in slack.replies(ada, room, said.ts) if entry.author != ada.name)


async def ask_all(
    slack: FakeSlack, room: Room, ada: Person, numbers: Sequence[int]
) -> tuple[dict[str, list[float]], list[int]]:
    """Ask all at once; gives seconds until status, first words and whole answer, and what was not answered wholly.

    The first counts from each question, the others from the first question.
    """
    since = time.perf_counter()
    asked: dict[int, SentMessage] = {}
    at: dict[str, float] = {}
    for number in numbers:
        now = slack.clock.now()
        asked[number] = await ada.mentions(room, f"Where are the papers of case number {number}?")
        at[asked[number].ts] = now
    spent: dict[str, list[float]] = {"status": [], "first words": [], "whole": []}
    missing = {what: set(numbers) for what in ("first words", "whole")}
    while any(missing.values()) and time.perf_counter() < since + TIMEOUT_SECONDS:
        for number in sorted(missing["whole"]):
            text = thread_text(slack, ada, room, asked[number])
            now = time.perf_counter() - since
            for what, there in (("first words", f"word{number}x0" in text), ("whole", build_answer(number) in text)):
                if there and number in missing[what]:
                    missing[what].discard(number)
                    spent[what].append(now)
        await asyncio.sleep(0.2)  # looking is work for the process that plays Slack, too
    told = {call.args.get("thread_ts"): call.at for call in reversed(slack.calls_to(STATUS))}
    spent["status"] = [told[ts] - asked_at for ts, asked_at in at.items() if ts in told]
    return spent, sorted(missing["whole"])


def show(label: str, spent: Mapping[str, Sequence[float]]) -> None:
    """A row of the table."""
    cells = [f"{statistics.median(each):.2f} / {max(each):.2f}" if each else "never" for each in spent.values()]
    print(f"| {label} | {' | '.join(cells)} |", flush=True)


async def run(count: int) -> int:
    """Measure, and show a table; 1 if an answer was not whole."""
    model = (
        "-m",
        "tests.support.openai_server",
        "--replier",
        "tests.bench.concurrent_questions:reply",
        "--pace",
        str(1 / TOKENS_A_SECOND),
    )
    with tempfile.TemporaryDirectory(prefix="threadlore-bench-") as home:
        async with FakeSlack(load_manifest()) as slack, start_process(*model) as server:
            assert server.stdout is not None
            port = int((await server.stdout.readline()).split()[-1])
            environment = {
                "THREADLORE_DATA_DIR": home,
                "THREADLORE_LLM_MODEL": "hosted_vllm/stub",
                "THREADLORE_LLM_API_BASE": f"http://127.0.0.1:{port}/v1",
                "THREADLORE_LLM_API_KEY": "none",
                "THREADLORE_LLM_MAX_CONCURRENCY": "64",
                "THREADLORE_QUESTIONS_PER_MINUTE": "1000",
                "THREADLORE_SLACK_BOT_TOKEN": slack.space.app.bot_token,
                "THREADLORE_SLACK_APP_TOKEN": slack.space.app.app_token,
                "THREADLORE_SLACK_API_BASE": slack.base_url,
            }
            ada = slack.user("Ada")
            room = slack.channel("archive", members=[ada])
            async with start_process("-m", "bot", "serve", environment=environment) as bot:
                await slack.wait_until_connected(timeout=60)
                await post_facts(slack, room, ada, 20)
                print("| questions | status p50 / max s | first words | whole answer |\n|---|---|---|---|")
                spent, lost = await ask_all(slack, room, ada, [0])
                show("1", spent)
                spent, late = await ask_all(slack, room, ada, range(1, 11))
                show("10 at once", spent)
                before = resident_mib(bot.pid)
                spent, later = await ask_all(slack, room, ada, range(100, 100 + count))
                show(f"{count} at once", spent)
                after = resident_mib(bot.pid)
    lost += late + later
    print(f"memory grew by {after - before:.0f} MiB from the 10th question on; not whole: {lost or 'none'}")
    print(f"an answer alone takes the model {WORDS / TOKENS_A_SECOND:.1f} s")
    return 1 if lost else 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=50)
    return asyncio.run(run(parser.parse_args().questions))


if __name__ == "__main__":
    sys.exit(main())
