"""A workspace that talks, shares files and asks while its bots are killed, and what must hold in the end."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.support.slack_server import RateSettings, SentMessage
from tests.support.town.cluster import LIST_FILES, BotCluster
from tests.support.town.protocol import Asked, TownFile

CHANNELS = 5
THREADS = 3  # of a channel
MAX_PAUSE = 1.0  # seconds between what people do and the next kill
MAX_TAKE_OVER = 15.0  # seconds until the work of a killed process is free
COUNT_ANSWERS = "SELECT state, COUNT(*) FROM threadlore_bot.answer GROUP BY state"


@dataclass(frozen=True, slots=True)
class Load:
    """How much happens. `kills` are spread over everything else."""

    messages: int
    questions: int
    files: int
    kills: int
    processes: int = 3
    seed: int = 1


@dataclass(slots=True)
class LoadReport:
    """What happened, and what is wrong."""

    seconds: float = 0.0
    take_overs: list[float] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


class LoadRun:
    """One run of a load on a cluster."""

    def __init__(self, cluster: BotCluster, load: Load) -> None:
        self._cluster = cluster
        self._town = cluster.town
        self._load = load
        self._random = random.Random(load.seed)
        self._threads: dict[str, list[SentMessage]] = {}  # the roots of each channel
        self._messages: dict[str, str] = {}  # the root of each message's thread, empty outside
        self._files: list[str] = []
        self._asked: list[Asked] = []

    async def run(self) -> LoadReport:
        """Let people do everything, and kill processes meanwhile; then check."""
        self._town.slack.buckets.rates = RateSettings(on=False)
        for number in range(CHANNELS):
            self._town.add_channel(f"c{number}", "ada bob")
        began = time.monotonic()
        await self._cluster.start(*range(self._load.processes))
        rounds = max(self._load.kills, 1)
        for number in range(rounds):
            await asyncio.gather(*self._act(number, rounds))
            await asyncio.sleep(self._random.uniform(0.0, MAX_PAUSE))
            if number < self._load.kills:
                place = self._random.randrange(self._load.processes)
                await self._cluster.kill(place)
                await self._cluster.start(place)
        await self._cluster.wait_until_idle()
        return await self._check(began)

    def _act(self, number: int, rounds: int) -> list[asyncio.Task[None]]:
        """What people do between two kills."""
        done, until = (
            [count * place // rounds for count in (self._load.messages, self._load.questions, self._load.files)]
            for place in (number, number + 1)
        )
        actions = [self._say(each) for each in range(done[0], until[0])]
        actions += [self._ask(each) for each in range(done[1], until[1])]
        actions += [self._share(each) for each in range(done[2], until[2])]
        self._random.shuffle(actions)
        return [asyncio.ensure_future(action) for action in actions]

    def _choose_channel(self) -> str:
        return f"c{self._random.randrange(CHANNELS)}"

    async def _say(self, number: int) -> None:
        channel = self._choose_channel()
        roots = self._threads.setdefault(channel, [])
        thread = self._random.choice([None, *roots])
        text = f"The password of the safe Onyx{number} is agate{number}."
        said = await self._town.say(self._random.choice(["ada", "bob"]), channel, text, thread=thread)
        self._messages[said.ts] = thread.ts if thread else ""
        if thread is None and len(roots) < THREADS:
            roots.append(said)

    async def _ask(self, number: int) -> None:
        text = f"What is the password of the safe Onyx{number}?"
        self._asked.append(await self._town.ask("ada", self._choose_channel(), text))

    async def _share(self, number: int) -> None:
        name = f"manual{number:03}.md"
        file = TownFile(name, f"# The safe {number}\n\nMill {number} sells flour to Baker {number} in Vesta.\n")
        self._files.append(name)
        said = await self._town.say("bob", self._choose_channel(), f"See {name}.", files=[file])
        self._messages[said.ts] = ""

    # What must hold.

    async def _check(self, began: float) -> LoadReport:
        report = LoadReport(take_overs=sorted(self._cluster.take_overs))
        for asked in self._asked:
            answers = self._cluster.count_answers(asked)
            if answers != [True]:
                texts = [post.text for post in self._town.posts(asked)]
                report.violations.append(f"a question has the answers {answers}: {texts}")
        await self._check_documents(report)
        states = dict(await self._cluster.select(COUNT_ANSWERS))
        if states != {"done": len(self._asked)}:
            report.violations.append(f"the answers are {states}")
        code, out = await self._cluster.run("verify")
        if code:
            report.violations.append(f"verify ended with {code}: {out}")
        report.violations += [f"work was free after {over:.1f} s" for over in report.take_overs if over > MAX_TAKE_OVER]
        report.seconds = time.monotonic() - began
        return report

    async def _check_documents(self, report: LoadReport) -> None:
        """Each message and file is known once, in its thread, in order."""
        passages = await self._cluster.list_passages()
        known = Counter(message for _, message in passages)
        if known != Counter(list(self._messages)):
            wrong = {each: known[each] for each in {*known, *self._messages} if known[each] != (each in self._messages)}
            report.violations.append(f"messages are known so many times: {wrong}")
        by_document: dict[str, list[str]] = {}
        for document, message in passages:
            by_document.setdefault(document, []).append(message)
        for document, messages in by_document.items():
            if messages != sorted(messages):
                report.violations.append(f"{document} is out of order: {messages}")
        for message, root in self._messages.items():
            if root and not any(document.endswith(f":thread:{root}") for document, each in passages if each == message):
                report.violations.append(f"{message} is not in the document of its thread {root}")
        files = [title for (title,) in await self._cluster.select(LIST_FILES)]
        if files != sorted(self._files):
            report.violations.append(f"the files are {files}")
