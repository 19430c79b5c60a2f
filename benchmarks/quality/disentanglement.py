"""How well messages are linked to those they answer: `python -m benchmarks.quality.disentanglement --data DATA`.

Link F1 and one-to-one overlap of conversations against the annotations of the IRC disentanglement corpus, beside the
rule "each message answers the one before". The data is read in place: `irc_threads/**/NAME.ascii.txt`, a message a
line, and `NAME.annotation.txt`, with lines `a b -` for a link between the messages of both numbers.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import networkx as nx

from engine.parsers.chat_export import CONVERSATION_GAP
from engine.text.conversations.disentanglement import Disentangler, Utterance

_LINE = re.compile(r"(?:\S+ \d{4}-\d\d-\d\d )?\[(\d\d):(\d\d)(?::\d\d)?\]\s*(?:<([^>]*)>|\* ?(\S+))\s?(.*)")
_START = datetime(2020, 1, 1, tzinfo=UTC)
_MIDNIGHT = timedelta(hours=10)  # a clock that goes back as far has passed midnight


@dataclass(frozen=True, slots=True)
class Log:
    """A channel's log: messages by line, and the annotated lines with the earlier lines that each answers."""

    name: str
    utterances: Sequence[Utterance]
    links: Mapping[str, frozenset[str]]


def load_log(path: Path) -> Log:
    """Load a log with its annotation. A message that is linked to itself starts a conversation."""
    links: defaultdict[str, set[str]] = defaultdict(set)
    for line in path.with_name(path.name.replace(".ascii.", ".annotation.")).read_text().splitlines():
        earlier, later = sorted(map(int, line.split()[:2]))
        links[str(later)].add(str(earlier))
    utterances = list(_parse_lines(path.read_text(errors="replace").split("\n")))
    return Log(path.name, utterances, {key: frozenset(found) for key, found in links.items()})


def _parse_lines(lines: Iterable[str]) -> Iterable[Utterance]:
    latest = _START
    for number, line in enumerate(lines):
        if found := _LINE.fullmatch(line):
            hour, minute, user, actor, text = found.groups()
            time = latest.replace(hour=int(hour), minute=int(minute))
            latest = max(latest, time + timedelta(days=1) if latest - time > _MIDNIGHT else time)
            yield Utterance(str(number), user or actor, text, latest)


def predict(log: Log) -> dict[str, str]:
    """The line that each annotated message answers; itself if it starts a conversation."""
    disentangler = Disentangler(CONVERSATION_GAP)
    found = {utterance.id: disentangler.link(utterance) for utterance in log.utterances}
    return {key: target.id if target else key for key, target in found.items() if key in log.links}


def predict_previous(log: Log) -> dict[str, str]:
    """The line before, for each annotated message."""
    pairs = zip(log.utterances, log.utterances[1:], strict=False)
    return {later.id: earlier.id for earlier, later in pairs if later.id in log.links}


def link_f1(log: Log, predicted: Mapping[str, str]) -> float:
    """Harmonic mean of precision and recall of the links."""
    right = sum(target in log.links[key] for key, target in predicted.items())
    return 2 * right / (len(predicted) + sum(len(log.links[key]) for key in predicted))


def one_to_one(log: Log, predicted: Mapping[str, str]) -> float:
    """The largest share of messages that both divisions have in conversations matched one to one."""
    annotated = _divide({(key, each) for key in predicted for each in log.links[key]}, predicted)
    ours = _divide(set(predicted.items()), predicted)
    graph = nx.Graph()
    for (left, right), size in Counter((annotated[key], ours[key]) for key in predicted).items():
        graph.add_edge(("annotated", left), ("ours", right), weight=size)
    matched = nx.max_weight_matching(graph)
    return float(sum(graph.edges[edge]["weight"] for edge in matched)) / len(predicted)


def _divide(links: Iterable[tuple[str, str]], messages: Iterable[str]) -> dict[str, int]:
    """The number of the conversation of each message."""
    messages = set(messages)
    graph = nx.Graph((a, b) for a, b in links if {a, b} <= messages)
    graph.add_nodes_from(messages)
    return {key: number for number, group in enumerate(nx.connected_components(graph)) for key in group}


def print_row(name: str, logs: Sequence[Log]) -> None:
    """Print the averages over the messages of some logs, in percent."""
    total = f1 = ours = previous = 0.0
    for log in logs:
        predicted = predict(log)
        total += len(predicted)
        f1 += len(predicted) * link_f1(log, predicted)
        ours += len(predicted) * one_to_one(log, predicted)
        previous += len(predicted) * one_to_one(log, predict_previous(log))
    scores = [100 * each / total for each in (f1, ours, previous)]
    print("{:28}{:9.0f}{:9.1f}{:7.1f}{:24.1f}".format(name, total, *scores))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each folder of logs."""
    parser = argparse.ArgumentParser(description="Measure conversation disentanglement.")
    parser.add_argument("--data", type=Path, help="the folder with irc_threads")
    options = parser.parse_args(arguments)
    paths = sorted((options.data / "irc_threads").glob("*/*.ascii.txt")) if options.data else []
    if not paths:
        print("Skipped: conversation disentanglement needs DATA with irc_threads/*/*.ascii.txt.")
        return 0
    by_folder: defaultdict[str, list[Log]] = defaultdict(list)
    for path in paths:
        by_folder[path.parent.name].append(load_log(path))
    print(f"\nConversation disentanglement\n{'':28}{'messages':>9}{'link F1':>9}{'1-1':>7}   previous message: 1-1")
    for folder, logs in by_folder.items():
        print_row(folder, logs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
