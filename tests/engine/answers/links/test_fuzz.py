"""No secret leaves in an address: many streams, cut anywhere, and read by renderers that do not know the filter."""

from __future__ import annotations

import html
import re
from random import Random
from urllib.parse import unquote

import pytest

from adapters.discord.replies.render import render_markdown
from adapters.slack.replies.mrkdwn import to_mrkdwn as slack_mrkdwn
from engine.answers.citations import CitationFilter
from engine.answers.links.stream import LinkFilter
from tests.engine.answers.links import renderers
from tests.engine.answers.links.attacks import NAMES, OK, SECRET, cut, mutated, stream

TEXTS = (f"See {OK} and https://ok.com/b_(c) and www.ok.com/d or ok.com or ada@ok.com and notes.md",)
EXACTLY = {OK, "https://ok.com/b_(c)", *NAMES}
SENTENCE = ".,:;!?'\"*_~)"  # at the end of a bare address Slack counts it to the sentence
LINKS = LinkFilter.from_texts(TEXTS, "")
STREAMS, FEW_STREAMS, SHARES = 20_000, 2_000, 8


def shown(pieces: list[str]) -> str:
    filter_ = CitationFilter((1, 2), (), "")
    filter_.link_filter = LinkFilter(LINKS.allowed, LINKS.mentioned)
    return "".join(map(filter_.feed, pieces)) + filter_.close()


def leaks(text: str) -> list[str]:
    """Live addresses, in a text or in what an adapter makes of it, that hold the secret or are unknown."""
    rendered = [(name, text) for name in renderers.RENDERERS]
    rendered.append(("discord", render_markdown(text)))
    if len(text) % 3 == 0:  # the slowest of all
        rendered.append(("mrkdwn", slack_mrkdwn(text)))
    return [
        f"{name}: {address!r}"
        for name, each in rendered
        for address in renderers.RENDERERS[name](each)
        if SECRET in renderers.normalize(address) or not is_known(name, address)
    ]


def is_known(renderer: str, address: str) -> bool:
    """Whether an address is exactly one of the texts, apart from what renderers add before it."""
    plain = unquote(html.unescape(address))
    forms = {plain, re.sub(r"\A(?:http://|mailto:)", "", plain)}
    if renderer in {"gfm", "mrkdwn", "discord"}:  # these do not know where a target or a sentence ends
        forms |= {plain.rstrip(SENTENCE), re.match(r"(?:[^()]|\([^()]*\))*", plain)[0]}  # type: ignore[index]
    return not forms.isdisjoint(EXACTLY)


@pytest.mark.share(8)
@pytest.mark.parametrize("share", range(SHARES))
def test_no_renderer_finds_a_secret_in_a_live_address(share: int, *, thorough: bool) -> None:
    rng = Random(f"addresses {share}")
    for _ in range((STREAMS if thorough else FEW_STREAMS) // SHARES):
        text = stream(rng) if rng.random() < 0.7 else mutated(rng, stream(rng))
        pieces = cut(rng, text)
        output = shown(pieces)
        assert not leaks(output), (text, output)
        if rng.random() < 0.2:
            assert shown([text]) == output, text


FRAMES = "{}¦({}).¦**{}**¦see {}, then¦- {}¦> {}¦| {} | b |\n|---|---|¦[words]({})¦<{}>¦![p]({})¦“{}”¦[{}]({})"


@pytest.mark.parametrize("frame", FRAMES.split("¦"))
@pytest.mark.parametrize("known", [OK, "https://asked.com/p?x=1&y=2#z", "https://ok.com/b_(c)"])
def test_every_renderer_finds_a_known_address_alive_and_whole(frame: str, known: str) -> None:
    filter_ = CitationFilter((), (f"See {known} there.",), "")
    output = "".join(map(filter_.feed, frame.replace("{}", known))) + filter_.close()
    for name, find_links in renderers.RENDERERS.items():
        if name == "autolinks":  # it finds names and e-mail addresses only
            continue
        found = {link.rstrip(").") if name in {"mrkdwn", "discord"} else link for link in find_links(output)}
        assert {known, known.rstrip(")")} & found, (name, output)


@pytest.mark.parametrize(
    "text",
    [
        "~~notes.md",
        "`x ok.com’ `c`ok.com",
        'www.ok.com/d")"',
        f"{SECRET}.a@ok\u200c﹒\u200b.com",
        f"{SECRET}@evil..com",
        f"{SECRET}@evil.co&#x2\u200bE;uk",
        f"https://{SECRET}.=com",
        f"https://kes|{SECRET}.com",
        f"https://kes`{SECRET}.com",
        f"[x]({SECRET}https://ok.| b)",
        f'~~<a title="`"> x ` `~~ [x]( discord://evil.com/{SECRET} ) [`a](https://ok.com/a)`',
        'ok.cｏm"ok.com',
        "[x](https://ok.com/a)||w\u2060ww.ok.com/d||",
        f'_<a href="mail\u0301o&#58;{SECRET}&#64;evil.com">![p](https://ok.com/a)</a>_',
        "a=\u0338https://evil.com x=\u0338evil.com",
        f"see <!here|evil.>com/{SECRET}",
        f"<#C1|evil.c>om/{SECRET}",
        f"<@&evil.c>om/{SECRET}",
        f"| a | b |\n|---|---|\n| `c | `d` https://ok.com/a `{SECRET}@x.com ` ` | e` |\n",
    ],
)
def test_forms_that_fuzzing_found_are_inert_however_they_are_cut(text: str) -> None:
    whole = shown([text])
    assert not leaks(whole)
    assert {shown([text[at : at + size] for at in range(0, len(text), size)]) for size in (1, 2, 3, 7)} == {whole}
