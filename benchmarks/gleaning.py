"""What a second pass over a text finds, and its price: `python -m benchmarks.gleaning --data DATA [--stores FOLDER …]`.

Reads recorded replies of models, the first and the second one to each text (`lightrag_covid/openie.jsonl`, and the
folders of LightRAG stores), and prints by the number of facts of the first reply: texts, facts, new facts of the second
reply, how many of the new names stand in the text, and the price of a fact of each pass at given prices of a million
tokens, with the prompts of the product.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from engine.llm.formats.tuple_extraction import merge_gleaning, parse_tuples
from engine.llm.prompts import render_extract, render_glean
from engine.models import Excerpt, Extraction
from engine.text.tokenizer import O200kTokenizer

REPLIES = Path("lightrag_covid") / "openie.jsonl"
BUCKETS = (0, 10, 25, 50)  # facts of the first reply, from each of these on
PRICES = 0.15, 0.60  # dollars for a million tokens of input and output: gpt-4o-mini


@dataclass(frozen=True, slots=True)
class Text:
    """A text with the facts of both replies; tokens sent and written by both passes; its new names that stand in it."""

    first: int
    added: int
    tokens: tuple[tuple[int, int], tuple[int, int]]
    new_names: int
    stated_names: int


def count_facts(found: Extraction) -> int:
    """The distinct names and pairs."""
    return len({m.name.casefold() for m in found.mentions}) + len(
        {frozenset((x.source.casefold(), x.target.casefold())) for x in found.links}
    )


def measure(text: str, replies: Sequence[str], tokenizer: O200kTokenizer) -> Text:
    """Both passes over one text."""
    first, second = (parse_tuples(reply) for reply in replies[:2])
    messages = render_extract(Excerpt(text), "tuples")
    further = [*messages, *render_glean(replies[0], "tuples")]
    sent = [sum(tokenizer.count(message.content) for message in each) for each in (messages, further)]
    written = [tokenizer.count(reply) for reply in replies[:2]]
    known = {m.name.casefold() for m in first.mentions}
    new = {m.name.casefold() for m in second.mentions} - known
    facts = count_facts(first), count_facts(merge_gleaning(first, second))
    stated = sum(name in text.casefold() for name in new)
    passes = (sent[0], written[0]), (sent[1], written[1])
    return Text(facts[0], facts[1] - facts[0], passes, len(new), stated)


def read_stores(folders: Sequence[Path]) -> Iterator[tuple[str, Sequence[str]]]:
    """The texts of LightRAG stores, each with its replies in the order of their times."""
    for folder in folders:
        cached = json.loads((folder / "kv_store_llm_response_cache.json").read_text(encoding="utf-8"))
        for chunk in json.loads((folder / "kv_store_text_chunks.json").read_text(encoding="utf-8")).values():
            rows = [cached[key] for key in chunk.get("llm_cache_list", ()) if key in cached]
            found = sorted((row for row in rows if row["cache_type"] == "extract"), key=itemgetter("create_time"))
            yield chunk["content"], [row["return"] for row in found]


def read_records(path: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """The texts of a data set with their replies."""
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        yield record["text"], record["replies"]


def report(texts: Sequence[Text]) -> str:
    """One line of a table for some texts."""
    facts, added = sum(text.first for text in texts), sum(text.added for text in texts)
    new, stated = sum(text.new_names for text in texts), sum(text.stated_names for text in texts)
    prices = [
        sum(text.tokens[number][0] * PRICES[0] + text.tokens[number][1] * PRICES[1] for text in texts)
        for number in (0, 1)
    ]
    return (
        f"{len(texts):5} {facts:6} {added:6} {added / max(facts, 1):+6.0%} {stated / max(new, 1):8.0%}"
        f" {prices[0] / max(facts, 1):9.1f} {prices[1] / max(added, 1):9.1f} {prices[1] / prices[0]:+6.0%}"
    )


def main() -> None:
    """Print a table for the data set, and one for the stores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--stores", type=Path, nargs="*", default=[], help="folders of LightRAG stores")
    arguments = parser.parse_args()
    tokenizer = O200kTokenizer()
    for name, records in (("data", read_records(arguments.data / REPLIES)), ("stores", read_stores(arguments.stores))):
        if texts := [measure(text, replies, tokenizer) for text, replies in records if len(replies) > 1]:
            print_table(name, texts)


def print_table(name: str, texts: Sequence[Text]) -> None:
    """The texts by the number of facts of their first reply, and all of them."""
    print(name)
    print("facts  texts  first    new    new in text  $/million facts: first   new   price of the pass")
    for low, high in zip(BUCKETS, [*BUCKETS[1:], 10_000], strict=True):
        if some := [text for text in texts if low <= text.first < high]:
            print(f"{low:3}-   {report(some)}")
    print(f"all    {report(texts)}")


if __name__ == "__main__":
    main()
