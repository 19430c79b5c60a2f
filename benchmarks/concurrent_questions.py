"""Fifty questions at once, in fifty threads, with a model of twenty tokens a second: who waits how long, for what.

`python -m benchmarks.concurrent_questions [--questions 50]` runs the whole bot as a process of its own (`threadlore
serve`), against a Slack on this machine that enforces Slack's rates, and a model on this machine. Each answer must be
whole.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.plumbing import parse_arguments, resident_mib, start_model_server, start_process, temporary_folder
from tests.demos.slack_day import load_manifest
from tests.support.slack_server.fake_slack import FakeSlack
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


async def post_facts(slack: FakeSlack, room: Room, ada: Person, count: int) -> None:
    """Post the facts that the questions are about."""
    for number in range(count):
        await ada.says(room, f"The papers of case number {number} lie on shelf {number}.")
    await slack.wait_until_delivered(60)
    await slack.wait_until_quiet(1.0, 60)


def thread_text(slack: FakeSlack, ada: Person, room: Room, said: SentMessage) -> str:
    """The text of the thread below a question."""
    return "\n".join(entry.body for entry in slack.replies(ada, room, said.ts) if entry.author != ada.name)


async def ask_all(
    slack: FakeSlack, room: Room, ada: Person, numbers: Sequence[int]
) -> tuple[dict[str, list[float]], list[int]]:
    """Ask all at once; gives seconds until status, first words and whole answer, and what was not answered wholly.

    The first counts from each question, the others from the first question.
    """
    since = time.perf_counter()
    asked: dict[int, SentMessage] = {}
    asked_at: dict[str, float] = {}
    for number in numbers:
        now = slack.clock.time()
        asked[number] = await ada.mentions(room, f"Where are the papers of case number {number}?")
        asked_at[asked[number].ts] = now
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
    shown_at = {call.args.get("thread_ts"): call.at for call in reversed(slack.calls_to(STATUS))}
    spent["status"] = [shown_at[ts] - at for ts, at in asked_at.items() if ts in shown_at]
    return spent, sorted(missing["whole"])


def show(label: str, spent: Mapping[str, Sequence[float]]) -> None:
    """A row of the table."""
    cells = [f"{statistics.median(each):.2f} / {max(each):.2f}" if each else "never" for each in spent.values()]
    print(f"| {label} | {' | '.join(cells)} |", flush=True)


def environment_of(slack: FakeSlack, home: str, model: str) -> dict[str, str]:
    """The settings of a bot in this Slack, with this model."""
    app = slack.space.app
    settings = {
        "DATA_DIR": home,
        "LLM_MODEL": "hosted_vllm/stub",
        "LLM_API_BASE": model,
        "LLM_API_KEY": "none",
        "LLM_MAX_CONCURRENCY": "64",
        "QUESTIONS_PER_MINUTE": "1000",
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
        "SLACK_API_BASE": slack.base_url,
    }
    return {f"THREADLORE_{name}": value for name, value in settings.items()}


def family_mib(pid: int) -> float:
    """MiB of memory that a process and its children hold."""
    return resident_mib(pid, *Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


async def run(count: int) -> int:
    """Measure, and show a table; 1 if an answer was not whole."""
    replier, pace = "benchmarks.concurrent_questions:reply", str(1 / TOKENS_A_SECOND)
    with temporary_folder() as home:
        async with (
            FakeSlack(load_manifest()) as slack,
            start_model_server(replier, "--pace", pace) as model,
            start_process("-m", "bot", "serve", environment=environment_of(slack, home, model)) as bot,
        ):
            ada = slack.user("Ada")
            room = slack.channel("archive", members=[ada])
            await slack.wait_until_connected(timeout=60)
            await post_facts(slack, room, ada, 20)
            print("| questions | status p50 / max s | first words | whole answer |\n|---|---|---|---|")
            missing, memory = list[int](), list[float]()
            for label, numbers in (("1", [0]), ("10", range(1, 11)), (f"{count}", range(100, 100 + count))):
                memory.append(family_mib(bot.pid))
                spent, incomplete = await ask_all(slack, room, ada, numbers)
                show(f"{label} at once", spent)
                missing += incomplete
            growth = family_mib(bot.pid) - memory[-1]
    print(f"memory grew by {growth:.0f} MiB from the 10th question on; not whole: {missing or 'none'}")
    print(f"an answer alone takes the model {WORDS / TOKENS_A_SECOND:.1f} s")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run(parse_arguments(__doc__, questions=50).questions)))
