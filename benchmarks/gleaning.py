"""What a second pass over a text finds, and its price: `python -m benchmarks.gleaning --data DATA [--stores FOLDER …]`.

Reads recorded replies of models, the first and the second one to each text (`lightrag_covid/openie.jsonl`, and the
folders of LightRAG stores), and prints by the number of facts of the first reply: texts, facts, new facts of the second
reply, how many of the new names stand in the text, and the price of a fact of each pass at given prices of a million
tokens, with the prompts of the product. Then it compares rules for a second pass: each on two halves of all texts, by
the hash of a text, with the interval of the difference of its price of a new fact from that of the default.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from pathlib import Path

from engine.llm.formats.tuple_extraction import merge_gleaning, parse_tuples
from engine.llm.prompts import render_extract, render_glean
from engine.models import Excerpt, Extraction
from engine.text.tokenizer import O200kTokenizer

REPLIES = Path("lightrag_covid") / "openie.jsonl"
BUCKETS = (0, 10, 25, 50)  # facts of the first reply, from each of these on
RULES = {  # the second pass for first replies with as many facts, from one number on and below another
    "all": (0, 10_000),
    **{f"from {least}": (least, 10_000) for least in (5, 10, 15, 20, 25, 50)},
    **{f"below {most}": (0, most) for most in (10, 25, 50)},
    **{f"{least} to {most - 1}": (least, most) for least, most in ((5, 25), (5, 50), (8, 50), (10, 25), (10, 50))},
}
DEFAULT_RULE = "from 10"
SAMPLES, TAIL = 2_000, 50  # bootstrap samples, and of these beside an interval of 95 %
PRICES = 0.15, 0.60  # dollars for a million tokens of input and output: gpt-4o-mini


@dataclass(frozen=True, slots=True)
class Text:
    """A text with the facts of both replies; tokens sent and written by both passes; its new names that stand in it."""

    first: int
    added: int
    tokens: tuple[tuple[int, int], tuple[int, int]]
    new_names: int
    stated_names: int
    half: int = 0

    def price(self, number: int) -> float:
        """The price of its first (0) or second (1) pass in millionths of a dollar."""
        sent, written = self.tokens[number]
        return sent * PRICES[0] + written * PRICES[1]


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
    half = sha256(text.strip().encode()).digest()[0] % 2
    return Text(facts[0], facts[1] - facts[0], passes, len(new), stated, half)


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
    prices = [sum(text.price(number) for text in texts) for number in (0, 1)]
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
    tokenizer, every, seen = O200kTokenizer(), list[Text](), set[str]()
    for name, records in (("data", read_records(arguments.data / REPLIES)), ("stores", read_stores(arguments.stores))):
        texts = list[Text]()
        for text, replies in records:
            if len(replies) > 1 and text.strip() not in seen:  # stores have texts in common
                seen.add(text.strip())
                texts.append(measure(text, replies, tokenizer))
        if texts:
            print_table(name, texts)
        every += texts
    print_rules(every)


def print_table(name: str, texts: Sequence[Text]) -> None:
    """The texts by the number of facts of their first reply, and all of them."""
    print(name)
    print("facts  texts  first    new    new in text  $/million facts: first   new   price of the pass")
    for low, high in zip(BUCKETS, [*BUCKETS[1:], 10_000], strict=True):
        if some := [text for text in texts if low <= text.first < high]:
            print(f"{low:3}-   {report(some)}")
    print(f"all    {report(texts)}")


def price_new(texts: Sequence[Text], rule: str) -> float:
    """Dollars for a million new facts, if the rule says which texts get a second pass."""
    low, high = RULES[rule]
    looked = [text for text in texts if low <= text.first < high]
    return sum(text.price(1) for text in looked) / max(1, sum(text.added for text in looked))


def print_rules(texts: Sequence[Text]) -> None:
    """What each rule finds, and its price, on both halves of the texts."""
    for half in (0, 1):
        some = [text for text in texts if text.half == half]
        print(f"half {half}: {len(some)} texts")
        print(
            "rule      texts  of new facts  of the price of the first pass  $/million new  against the default [95 %]"
        )
        for rule, (low, high) in RULES.items():
            looked = [text for text in some if low <= text.first < high]
            share = sum(text.added for text in looked) / max(1, sum(text.added for text in some))
            price = sum(text.price(1) for text in looked) / max(1.0, sum(text.price(0) for text in some))
            measured = f"{len(looked):5} {share:8.0%} {price:+8.0%} {price_new(some, rule):8.1f}"
            print(f"{rule:9} {measured}  {compare(some, rule)}")


def compare(texts: Sequence[Text], rule: str) -> str:
    """The difference of a rule's price of a new fact from that of the default, with its interval."""
    chance, apart = random.Random(0), list[float]()
    for _ in range(SAMPLES):
        drawn = chance.choices(texts, k=len(texts))
        apart.append(price_new(drawn, rule) - price_new(drawn, DEFAULT_RULE))
    apart.sort()
    found = price_new(texts, rule) - price_new(texts, DEFAULT_RULE)
    return f"{found:+.1f} [{apart[TAIL]:+.1f}, {apart[-TAIL - 1]:+.1f}]"


if __name__ == "__main__":
    main()
