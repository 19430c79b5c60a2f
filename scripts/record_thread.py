"""Record an answer that streams into a thread of a simulated Slack, and draw it as docs/thread.svg, a moving picture.

A server on this machine plays the language model, at the pace of one; all else is the bot itself.

python -m scripts.record_thread [docs/thread.svg]
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import textwrap
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.demos.day import start_bot
from tests.demos.slack_day import DemoDay, load_manifest, morning
from tests.support.openai_server import OpenAIServer
from tests.support.slack_server import Entry, FakeSlack, Person, Room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TARGET = Path(__file__).parents[1] / "docs" / "thread.svg"
QUESTION = "Which spars do we use for the Delta kite now?"
# What the model writes, each sentence with words of the source that it rests on.
SENTENCES = (
    (
        "The fibreglass spars of Orrin & Sons, until Firth Rods has fixed its carbon spars",
        "We go back to the fibreglass",
    ),
    (
        "The carbon spars broke twice, in gusts above 55 km/h; with fibreglass the kite stayed whole for 40 minutes",
        "km/h",
    ),
)
PACE_SECONDS = 0.12  # between two words of the model
POLL_SECONDS = 0.02
# Seconds that a state is shown at least, that the question stands alone, and that the end is shown.
SHORTEST, FIRST, LAST = 0.35, 1.2, 6.0
BUTTONS = 4  # further ones are suggested questions, which do not fit
WIDTH, COLUMNS, LINE, TOP, TEXT_LEFT = 820, 88, 22, 26, 76
COLORS = {"Cleo": "#2f6f8f", "Threadlore": "#7a4f9a"}
STYLE = """
text { font: 15px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #1d1c1d }
.author { font-weight: 700 } .quiet { fill: #616061; font-size: 13px } .letter { fill: #fff; font-weight: 700 }
.link { fill: #1264a3 } .frame { visibility: hidden }
"""


def write_reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """The reply of the model: the sentences, each with the number that its source has in the prompt."""
    prompt = "\n".join(str(message["content"]) for message in messages)
    if "low_level_keywords" in prompt:
        return json.dumps(
            {"question": QUESTION, "low_level_keywords": ["Delta kite", "spars"], "high_level_keywords": []}
        )
    said = list[str]()
    for sentence, words in SENTENCES:
        numbers = re.findall(r"\[(\d+)\]", prompt.partition(words)[0])
        said.append(f"{sentence} [{numbers[-1] if numbers else 1}].")
    return " ".join(said)


@dataclass(frozen=True)
class Message:
    """What is shown of one message: its author, lines of text, and a quiet line below."""

    author: str
    lines: tuple[str, ...]
    below: str


Frame = tuple[Message, ...]


def read_frame(root: Entry) -> Frame:
    """The thread as it is on the screen."""
    messages = [read_message(reply) for reply in (root, *root.replies)]
    if root.status:
        messages.append(Message("Threadlore", (), root.status))
    return tuple(messages)


def read_message(entry: Entry) -> Message:
    lines = [line for part in entry.text.split("\n") for line in textwrap.wrap(part, COLUMNS) or [""]]
    below = "   ".join(f"[ {label} ]" for label in entry.buttons[:BUTTONS])
    return Message(entry.author, tuple(lines), below)


async def record(day: DemoDay, person: Person, room: Room) -> list[Frame]:
    """Ask, and keep each state of the thread until the answer is whole."""
    said = await person.mentions(room, QUESTION)
    frames = list[Frame]()

    async def watch() -> None:
        while True:
            frame = read_frame(day.entry(person, room, said.ts))
            if frame not in frames[-1:]:
                frames.append(frame)
            await asyncio.sleep(POLL_SECONDS)

    watching = asyncio.create_task(watch())
    await day.wait_for_answer(person, said)
    await asyncio.sleep(POLL_SECONDS * 5)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    return frames


def mark_links(line: str) -> str:
    """A line of text in which links look like links."""
    return escape(line).replace("⟦", '<tspan class="link">').replace("⟧", "</tspan>")


def draw_message(message: Message, top: int) -> tuple[str, int]:
    """The shapes of a message, and where the next one begins."""
    color = COLORS.get(message.author, "#555")
    shapes = [
        f'<rect x="24" y="{top}" width="38" height="38" rx="8" fill="{color}"/>',
        f'<text class="letter" x="43" y="{top + 25}" text-anchor="middle">{escape(message.author[0])}</text>',
        f'<text class="author" x="{TEXT_LEFT}" y="{top + 14}">{escape(message.author)}</text>',
    ]
    y = top + 14
    for line in message.lines:
        y += LINE
        shapes.append(f'<text x="{TEXT_LEFT}" y="{y}">{mark_links(line)}</text>')
    if message.below:
        y += LINE
        shapes.append(f'<text class="quiet" x="{TEXT_LEFT}" y="{y}">{escape(message.below)}</text>')
    return "\n".join(shapes), max(y, top + 38) + 22


def draw_frame(frame: Frame) -> tuple[str, int]:
    """The shapes of a state of the thread, and its height."""
    shapes, top = list[str](), TOP
    for message in frame:
        drawn, top = draw_message(message, top)
        shapes.append(drawn)
    return "\n".join(shapes), top


def write_rules(number: int, begin: float, end: float, total: float) -> str:
    """The animation of a frame: visible from its begin to its end, in seconds of `total`."""
    first, last = 100 * begin / total, 100 * end / total
    before = f"0%, {first:.3f}% {{ visibility: hidden }} {first + 0.001:.3f}%" if number else "0%"
    after = "" if end >= total else f"{last + 0.001:.3f}%, 100% {{ visibility: hidden }}"
    visible = f"{before}, {min(last, 100):.3f}% {{ visibility: visible }}"
    return (
        f"@keyframes f{number} {{ {visible} {after} }}\n"
        f"#f{number} {{ animation: f{number} {total:.2f}s step-end infinite }}"
    )


def draw(frames: list[Frame]) -> str:
    """The moving picture, in which each frame is visible in its turn; who wants no motion sees the last."""
    seconds = [FIRST, *[SHORTEST] * (len(frames) - 2), LAST]
    ends = list(accumulate(seconds))
    drawn = [draw_frame(frame) for frame in frames]
    height = max(bottom for _, bottom in drawn)
    rules = [write_rules(at, ends[at] - seconds[at], ends[at], ends[-1]) for at in range(len(frames))]
    last = f"#f{len(frames) - 1} {{ visibility: visible }}"
    rules.append(f"@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none !important }} {last} }}")
    groups = [f'<g class="frame" id="f{number}">\n{shapes}\n</g>' for number, (shapes, _) in enumerate(drawn)]
    label = escape(f"{QUESTION} The answer streams into the thread, with its sources.")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    card = f'<rect width="{WIDTH}" height="{height}" rx="12" fill="#fff" stroke="#ddd"/>'
    style = "\n".join([f"<style>{STYLE}", *rules, "</style>"])
    return "\n".join([f'{head} role="img" aria-label="{label}">', style, card, *groups, "</svg>", ""])


async def main() -> list[Frame]:
    """The states of the thread."""
    async with FakeSlack(load_manifest()) as slack, OpenAIServer(write_reply, pace=PACE_SECONDS) as model:
        day, app = DemoDay(slack, lambda _: None, 0.6), slack.space.app
        access = {"bot_token": app.bot_token, "app_token": app.app_token, "api_base": slack.base_url}
        with_model = {"llm_model": "openai/stand-in", "llm_api_base": model.api_base, "llm_api_key": "none"}
        async with start_bot("slack", access, **with_model, extraction_by="rules", llm_context_tokens=32_000):
            await slack.wait_until_connected()
            await morning(day)
            await day.ask(day.bo, day.general, QUESTION)  # how the model replies is known only after its first answer
            return await record(day, day.cleo, day.workshop)


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET).write_text(draw(asyncio.run(main())), encoding="utf-8")
