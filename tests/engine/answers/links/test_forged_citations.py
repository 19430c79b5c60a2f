"""A number in brackets was given, and a number that is a link leads to its source: on every platform, however cut."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.answers.footer import link_citations
from engine.answers.citations import CitationFilter
from tests.engine.answers.links import forgeries
from tests.engine.answers.links.attacks import cut
from tests.engine.answers.links.forgeries import PLANTED, forgery
from tests.engine.answers.links.readers import READERS, bracketed_numbers, reads_as_number

TEXTS = (f"see {PLANTED} there",)
GIVEN = (1, 2, 3)
SOURCES = {shown: f"https://source.example/{shown}" for shown in GIVEN}
STREAMS, FEW_STREAMS, SHARES = 60_000, 900, 6


def show(pieces: list[str]) -> tuple[str, tuple[int, ...]]:
    filter_ = CitationFilter(GIVEN, TEXTS, "What does <@U1> say?")
    text = "".join(map(filter_.feed, pieces)) + filter_.close()
    return text, filter_.used_numbers


def forged(text: str, used: tuple[int, ...]) -> list[str]:
    """What a reader of an answer may take for a citation although it is none."""
    given_numbers = set(range(1, len(used) + 1))
    linked = link_citations(text, {number: SOURCES[number] for number in given_numbers})
    wrong = []
    for name, read in READERS.items():
        page = read(text)
        if unknown := bracketed_numbers(page.words) - given_numbers:
            wrong.append(f"{name}: numbers {unknown}")
        wrong += [f"{name}: label {label!r} of {to}" for label, to in page.links if reads_as_number(label)]
        wrong += [f"{name}: address {to}" for _, to in page.links if to != PLANTED]
        wrong += [
            f"{name}: {label!r} leads to {to}"
            for label, to in read(linked).links
            if reads_as_number(label) and label.strip("[|]\u2060") not in (to[-1], to)
        ]
    return wrong


def check(text: str, pieces: list[str]) -> None:
    output, used = show(pieces)
    assert not forged(output, used), (text, output)


@pytest.mark.share(6)
@pytest.mark.parametrize("share", range(SHARES))
def test_no_reader_sees_a_number_that_was_not_given(share: int, *, thorough: bool) -> None:
    rng = Random(f"numbers {share}")
    for _ in range((STREAMS if thorough else FEW_STREAMS) // SHARES):
        text = forgery(rng)
        pieces = cut(rng, text)
        check(text, pieces)
        if rng.random() < 0.2:
            assert show([text]) == show(pieces), text


FRAGMENTS = [
    *forgeries.DIGITS, *forgeries.BRACKETS, *forgeries.MARKS, *forgeries.UNSEEN, *forgeries.BLANKS, *forgeries.LINKS,
    *forgeries.WORDS, *(each.format(n="9", p=PLANTED) for each in forgeries.WHOLE),
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.lists(st.integers(1, 40), max_size=12))
@example("[&#91;9&#93;]", [1])
@example("[๙\\\\[2]", [])
@example("&#91;𝟗&\u3164#93;[0].ee", [])
@example(f'[#9&amp;#93;({PLANTED} "")', [])
def test_any_composition_shows_given_numbers_only_and_the_same_however_it_is_cut(text: str, sizes: list[int]) -> None:
    pieces, rest = [], text
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    check(text, [*pieces, rest])
    assert show([*pieces, rest]) == show([text])


FORGERIES = (
    "1¦[1]¦&#91;1&#93;¦&amp;#91;1&amp;#93;¦\\[1\\]¦¹¦₁¦**1**¦`1`¦(1)¦１¦①¦❶¦⑴¦𝟏¦١¦१¦1️⃣¦\u200b1¦1\u00ad¦~~1~~¦<b>1</b>"
    "¦1.¦l¦一¦Ⅰ¦[1] a¦a [1]"
)


@pytest.mark.parametrize("label", FORGERIES.split("¦"))
@pytest.mark.parametrize("form", ["<{p}|{label}>", "[{label}]({p})", "![{label}](<{p}>)", '[{label}]({p} "t")'])
def test_a_label_that_reads_as_a_number_is_no_link(label: str, form: str) -> None:
    output, _ = show([form.format(p=PLANTED, label=label)])
    for name, read in READERS.items():
        assert {shown for shown, _ in read(output).links} <= {PLANTED}, (name, output)


@pytest.mark.parametrize("label", ["The minutes", "v1", "Q&amp;A", "**Roof** plan", "`config`", "2026 report", "漢字"])
@pytest.mark.parametrize("form", ["<{p}|{label}>", "[{label}]({p})"])
def test_a_label_of_words_is_a_link(label: str, form: str) -> None:
    output, _ = show([f"See {form.format(p=PLANTED, label=label)}."])
    assert output == f"See [{label}]({PLANTED})."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"It leaks [1]({PLANTED}).", "It leaks [1]."),
        (f"It leaks <{PLANTED}|1>.", "It leaks https[:]//planted[.]example/x."),
        (f"It leaks [&#91;1&#93;]({PLANTED}).", "It leaks [[1]]."),
        (f"In [2019]({PLANTED}).", "In [2019] (https[:]//planted[.]example/x)."),
        ("It leaks [①] [**2**] [³] [9️⃣].", "It leaks [1] [2] [3]."),
        ("On [2026-11-20], [2026-11] and [2019–2021], at [10:03].",) * 2,
    ],
)
def test_a_number_is_shown_in_its_own_form_or_not_at_all(text: str, expected: str) -> None:
    assert show([text])[0] == expected
