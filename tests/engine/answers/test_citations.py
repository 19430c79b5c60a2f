"""What a model writes is shown with the numbers it was given, with addresses that are known, and calls nobody."""

from __future__ import annotations

import re
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.answers.citations import CitationFilter
from engine.text.stream_rewriter import MAX_HELD_CHARACTERS

KNOWN = "https://ok.com/a"
TEXTS = (
    f"see {KNOWN} and <https://ok.com/slack|here>, [a](https://ok.com/b_(c)) or https://www.ok.com/d?x=1&y=2.",
    "ada@ok.com ok.com notes.md",
)
QUESTION = "What do <@U1> and <#C1|general> say of https://asked.com/page?"
NO_WIDTH = "\u200b"
JOINER = "\u2060"

WORDS = [
    *"[](){}<>@!:,;-–. |\"'\\`~\n",
    *(
        "1",
        "2",
        "9",
        "99",
        "2026",
        "[1]",
        "[2]",
        "[9]",
        "[1, 2]",
        "[1-3]",
        "【1】",
        "［9］",
        "†",
        "source ",
        "^",
        "\\[",
        "\\]",
    ),
    *("word", " ", "  ", "\t", "```", "~~~", "``", "\n\n", "> ", "- "),
    *("https", "://", "//", "www.", "w", "evil.com", KNOWN, "https://evil.com/x", "ok.com/a", "HTTP", "。", NO_WIDTH),
    *(
        "[t](",
        "![",
        "](",
        f"]({KNOWN})",
        f"![p]({KNOWN})",
        "](https://evil.com)",
        "[r]: ",
        f'({KNOWN} "t")',
        "/a",
        "?q",
    ),
    *("everyone", "here", "@every", "<!channel>", "<!", "<@U1>", "<@U2|ada>", "<@&7>", "<#C1>", "<!subteam^S1|@devs>"),
]
SOUP = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
CODELESS = st.lists(st.sampled_from([word for word in WORDS if "`" not in word and "~" not in word]), max_size=30).map(
    "".join
)


def citing(numbers: tuple[int, ...] = (1, 2, 3, 4, 5)) -> CitationFilter:
    return CitationFilter(numbers, TEXTS, QUESTION)


def shown(text: str, numbers: tuple[int, ...] = (1, 2, 3, 4, 5)) -> str:
    machine = citing(numbers)
    return machine.feed(text) + machine.close()


@given(SOUP, st.lists(st.integers(0, 200), max_size=12))
@example("x [9[9]9] `a", [3, 5])
@example(f"www.{KNOWN}`x`", [1, 2, 3])
def test_the_result_is_independent_of_how_the_text_is_cut(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    whole, pieces, letters = citing(), citing(), citing()
    expected = whole.feed(text) + whole.close()
    cut = "".join(pieces.feed(text[a:b]) for a, b in pairwise(edges)) + pieces.close()
    assert cut == expected
    assert "".join(map(letters.feed, text)) + letters.close() == expected
    assert pieces.used_numbers == letters.used_numbers == whole.used_numbers


@given(CODELESS)
def test_no_number_is_shown_that_was_not_given(text: str) -> None:
    machine = citing((1, 2))
    output = machine.feed(text) + machine.close()
    brackets = re.findall(r"[\[【［][\s\u200b\\^]*(\d[\d\s\u200b,;–\\-]*)[\]】］]", output)
    numbers = [int(content) if content.isdigit() else 0 for content in brackets if content.strip() != "2026"]
    assert set(numbers) <= set(range(1, len(machine.used_numbers) + 1))
    assert sorted(set(numbers), key=numbers.index) == sorted(set(numbers))
    assert set(machine.used_numbers) <= {1, 2}


@given(SOUP)
def test_no_unknown_address_is_alive(text: str) -> None:
    output = re.sub(rf"\]\({re.escape(KNOWN)}(?: [^()]*)?\)", "] ", shown(text))
    for run in re.findall(
        r"(?:[A-Za-z][A-Za-z0-9+-]*://|(?<![A-Za-z0-9])www\.(?=\w))[^\s<>|`]+", output, re.IGNORECASE
    ):
        assert re.fullmatch(rf"{re.escape(KNOWN)}[^\w/?&=#%]*", run), (run, output)


@given(SOUP)
def test_nobody_is_called_who_was_not_in_the_question(text: str) -> None:
    output = shown(text)
    assert not re.search(r"@(everyone|here|channel)|<!(channel|here|everyone|subteam)|<@&", output, re.IGNORECASE)
    assert set(re.findall(r"<([@#]\w+)[|>]", output)) <= {"@U1", "#C1"}


@given(CODELESS)
@example(f"!![p]({KNOWN})")
def test_no_picture_is_shown(text: str) -> None:
    assert not re.search(r"!\[[^\[\]\n]*\]\(", shown(text))


@given(
    st.text(
        alphabet=st.characters(
            blacklist_characters="[]【［`~<@:./&!\\\u2028\u2029",
            blacklist_categories=["Cs", "Cc", "Cf", "No", "So"],
            max_codepoint=0x2FFF,
        ).filter(lambda character: "." not in unicodedata.normalize("NFKC", character))
    )
)
@example("two\nlines\tand — dashes · “quotes” \u00a0 ümläute | bars > quotes")
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\n* **bold** _it_ ~~no~~ a[i] [ ] [x] [] [[wiki]] a < b > c 10:03 & w/o www",
        "[2026-11-20 10:03] Ada: it was [2019], I think",
        "`a[1]` and ``b[9] c`` and\n```py\nrow[7] = [1, 2]\n```\n1. x\n   ```\n   a[9] = b.at\n   ```\n`user.name`",
        f"<{KNOWN}>, <{KNOWN}> and (<{KNOWN}>). **<{KNOWN}>** [t]({KNOWN}) [u] <https://ok.com/b_(c)>!",
        "<@U1> in <#C1> wrote to ada@ok.com (see www.ok.com/d?x=1&y=2, ok.com and notes.md).",
        "e.g. 1.2.3, 3.14, i.e. p.m. ../a/b.txt ./c settings.json x=1;y=2 5:30 a/b and/or C# @ada #1 {a: b} ... …",
        "你好。然后，我们看看。",
        "| a | b |\n|---|---|\n| ![ | @ada |".replace("![", "!"),
        "if (!x) { y<int> z; } // w",
    ],
)
def test_what_is_not_meant_stays_as_it_is(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "expected", "used"),
    [
        ("a [3] b [1], c [3][2].", "a [1] b [2], c [1][3].", (3, 1, 2)),
        ("a [99], b[99]. [99] c", "a, b. c", ()),
        ("[1, 99, 4]", "[1][2]", (1, 4)),
        ("[2-4] [5–9] [7-9]", "[1][2][3] [4]", (2, 3, 4, 5)),
        ("【2】［1］【4:0†file】【9】", "[1][2][3]", (2, 1, 4)),
        ("[^2] [source 1] [Sources: 1, 3] \\[4\\]", "[1] [2] [2][3] [4]", (2, 1, 3, 4)),
        ("half [1", "half", ()),
        ("half [", "half [", ()),
        ("[ 2 ] [2\u200b] [２]", "[1] [1] [1]", (2,)),
    ],
)
def test_citations_are_checked_and_numbered_anew(text: str, expected: str, used: tuple[int, ...]) -> None:
    machine = citing()
    assert machine.feed(text) + machine.close() == expected
    assert machine.used_numbers == used


@pytest.mark.parametrize(
    "text", ["[[99]1]", "[1, [99]2]", "[9[99]9]", "[ [99] 1]", "[" + " " * 300 + "9]", "[source [99]9]"]
)
def test_a_dropped_number_does_not_make_another_one(text: str) -> None:
    assert "·" in shown(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{KNOWN}?key=1", "https[:]//ok[.]com/a?key=1"),
        ("https://ok.com", "https[:]//ok[.]com"),
        ("https://evil.com/x.", "https[:]//evil[.]com/x."),
        (f"{KNOWN}, ({KNOWN}). **{KNOWN}**", f"<{KNOWN}>, (<{KNOWN}>). **<{KNOWN}>**"),
        ("<https://evil.com>", f"<{NO_WIDTH}https[:]//evil[.]com>"),
        ("<https://evil.com|bank>", f"<{NO_WIDTH}https[:]//evil[.]com|bank>"),
        ("<https://ok.com/slack|over there>", "[over there](https://ok.com/slack)"),
        ("[bank](https://evil.com)", "[bank] (https[:]//evil[.]com)"),
        ("[bank](javascript:go.to())", "[bank] (javascript[:]go[.]to())"),
        (f"[https://evil.com]({KNOWN})", f"[https[:]//evil[.]com]({KNOWN})"),
        (f"[{KNOWN}]({KNOWN}) []({KNOWN})", f"<{KNOWN}> <{KNOWN}>"),
        (f'[t]({KNOWN} "The page")', f"[t]({KNOWN})"),
        ("[t](https://ok.com/b_(c))", "[t] (<https://ok.com/b_(c)>)"),
        (f"[r]: {KNOWN}\n[text][r]", f"[r]{NO_WIDTH}: <{KNOWN}>\n[text][r]"),
        ("www.evil.com WWW.evil.com", "www[.]evil[.]com WWW[.]evil[.]com"),
        ("evil.com/x bob@evil.com SECRET.evil.io", "evil[.]com/x bob[@]evil[.]com SECRET[.]evil[.]io"),
        ("other.md user.name", f"other.{JOINER}md user.{JOINER}name"),
        ("`https://evil.com` ```\nhttps://evil.com\n```", "`https[:]//evil[.]com` ```\nhttps[:]//evil[.]com\n```"),
        (f"`curl {KNOWN}` `{KNOWN}x`", f"`curl {KNOWN}` `https[:]//ok[.]com/ax`"),
        ("ftp://evil.com slack://evil", "ftp[:]//evil[.]com slack[:]//evil"),
        (f"![p]({KNOWN}) ![]({KNOWN}) ![p][r] wow![1]", f"[p]({KNOWN}) <{KNOWN}> [p][r] wow! [1]"),
        ("![p](https://evil.com/?secret)", "[p] (https[:]//evil[.]com/?secret)"),
        (f"{KNOWN}[1] [2]({KNOWN})", f"<{KNOWN}> [1] [2] (<{KNOWN}>)"),
        (f"见{KNOWN}，then", f"见<{KNOWN}>， then"),
        ("https:/[99]/evil.com", "https[:]//evil[.]com"),
        (r"[form\]](https:\//evil.com/x)", r"[form\]] (https[:]//evil[.]com/x)"),
        ("https&#58;//evil.com h\u200bttps&amp;colon;//evil.com", "https[:]//evil[.]com https[:]//evil[.]com"),
        ("<https:evil.com/x>", f"<{NO_WIDTH}https[:]evil[.]com/x>"),
        ("[m](mailto:x@evil.com?body=x)", "[m] (mailto[:]x[@]evil[.]com?body=x)"),
        ("text ```\nhttps://evil.com bob.evil.com", "text ```\nhttps[:]//evil[.]com bob[.]evil[.]com"),
        *(
            (f"{KNOWN}{grown}x", f"<{KNOWN}> {grown.strip()}x".replace("> >", ">> "))
            for grown in ("\x1c", ".!?}", ">", "'")
        ),
        (f"{KNOWN}\u00a0x {KNOWN}\u2028x", f"<{KNOWN}> \u00a0x <{KNOWN}> x"),
        ('<a href="//evil.com/x">', f'<{NO_WIDTH}a href="/{JOINER}/evil[.]com/x">'),
        ("https://" + "e" * 3000, "https[:]//" + "e" * 3000),
    ],
)
def test_only_addresses_that_stand_in_a_source_or_the_question_are_links(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@everyone and @Here", f"@{NO_WIDTH}everyone and @{NO_WIDTH}Here"),
        ("<!channel> <!here|here> <!subteam^S1|@devs>", f"@{NO_WIDTH}channel @{NO_WIDTH}here @{NO_WIDTH}devs"),
        (
            "<@U2> <@U2|ada> <@!12> <@&3> <#C2|x>",
            " ".join(f"{s[0]}{NO_WIDTH}{s[1:]}" for s in ("@U2", "@ada", "@12", "@3", "#x")),
        ),
        ("<@U1> <@U1|@everyone> <#C1>", "<@U1> <@U1> <#C1>"),
        ("<!channel|" + "x" * 3000 + ">", f"<{NO_WIDTH}!channel|" + "x" * 3000 + ">"),
        ("@every[99]one `@here`", f"@{NO_WIDTH}everyone `@{NO_WIDTH}here`"),
        ("<@U2|https://evil.com>", "@https[:]//evil[.]com"),
    ],
)
def test_mentions_become_names(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "filler", ["a", " ", "`", "1,", "[", "(", "<x", "~", "w", "@", "![a](", "https://", "\\", "a b"]
)
@pytest.mark.parametrize("opening", ["", "[a](", "<!x|", "https://", "```", "![", "\n[r]:"])
def test_what_is_held_back_is_bounded_and_comes_out_at_the_end(opening: str, filler: str) -> None:
    machine = citing()
    machine.feed(opening)
    for _ in range(3):
        machine.feed(filler * 1400)
        assert len(machine.rewriter.buffer) + len(machine.link_filter.buffer) <= MAX_HELD_CHARACTERS
    machine.close()
    assert machine.rewriter.buffer == machine.link_filter.buffer == ""


def test_words_come_out_as_they_come_in_but_for_a_last_letter() -> None:
    machine = citing()
    deltas = ("The ", "boat [", "2", "] is", " red.", " It")
    assert [machine.feed(delta) for delta in deltas] == ["Th", "e boa", "", "t [1] i", "s ", "red. I"]


def test_a_title_makes_names_known_and_no_addresses() -> None:
    machine = CitationFilter((), (), "", ("old.minutes.md › https://ok.com/t",))
    text = machine.feed("old.minutes.md https://ok.com/t new.md") + machine.close()
    assert text == f"old.minutes.md https[:]//ok[.]com/t new.{JOINER}md"


def test_a_word_of_an_unknown_script_is_not_waited_for_long() -> None:
    assert len(citing().feed("漢" * 200)) >= 100


@pytest.mark.parametrize("opening", ["```\n", "text ``` ", "`", "~~~\n", "    ", "> ```\n", "```\n```\n", "\\`"])
def test_a_number_that_was_not_given_goes_also_behind_code_that_is_not_closed(opening: str) -> None:
    assert "99" not in shown(f"{opening}the boat is red [99] and new [1]")


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "a",
        "`",
        "[",
        "](",
        "<",
        "a.",
        "&amp;",
        "\\",
        "[x](https://ok.com/a ",
        "https://ok.com/a'",
        "```\n",
        "<a|",
        "@",
        "![",
    ],
)
@pytest.mark.parametrize("delta", [7, 10_000])
def test_the_cost_grows_with_the_text(unit: str, delta: int) -> None:
    def cost(length: int) -> float:
        text = (unit * length)[:length]
        machine = citing()
        began = time.process_time()
        for at in range(0, length, delta):
            machine.feed(text[at : at + delta])
        machine.close()
        return time.process_time() - began

    assert any(cost(16_000) <= 2.5 * cost(8_000) + 0.02 for _ in range(3))  # the machine may be busy


@pytest.mark.parametrize(
    "text",
    [
        "www.ok.com/\u200b\u200c\u200bd?x=1&y=2",
        "www.ok.com/ｄ?x=1&y=2",
        "WWW.OK.com/d?x=1&y=2",
        "`www.ok.com/ｄ?x=1&y=2`",
        "`www.ok.com/\u200bd?x=1&y=2`",
        "aDA@ok.com",
        "ADA@ok.com",
        "ada@\u200bok.com",
        "noteｓ.md",
    ],
)
def test_the_spelling_of_a_known_name_says_nothing(text: str) -> None:
    known = ("www.ok.com/d?x=1&y=2", "ada@ok.com", "notes.md")
    machine = CitationFilter((), (" ".join(known),), "")
    output = machine.feed(text) + machine.close()
    dead = "[.]" in output or "[@]" in output or f".{JOINER}" in output
    assert dead or output.strip("`") in known


@pytest.mark.parametrize("closers", ["]]", "»", "}}}”", "**", "|", "，", ",.", "'»"])
def test_a_known_name_does_not_grow_by_what_closes_a_sentence(closers: str) -> None:
    assert shown(f"www.ok.com/d?x=1&y=2{closers} x").startswith(
        ("www.ok.com/d?x=1&y=2 ", "www.ok.com/d?x=1&y=2' "),
    )


def test_balanced_parentheses_belong_to_a_known_address() -> None:
    machine = CitationFilter((), ("https://ok.com/wiki/A_(b).",), "")
    output = machine.feed("https://ok.com/wiki/A_ https://ok.com/wiki/A_(b https://ok.com/wiki/A_(b)") + machine.close()
    assert output == "https[:]//ok[.]com/wiki/A_ https[:]//ok[.]com/wiki/A_(b <https://ok.com/wiki/A_(b)>"


@pytest.mark.parametrize("link", [KNOWN, f"<{KNOWN}>", f"[t]({KNOWN})>", f"`{KNOWN}`>"])
def test_an_angle_bracket_that_begins_nothing_does_not_take_a_link_in(link: str) -> None:
    for opening in ("<!date^1^{d}^;kestrel77/", "a<kestrel77\n", "<kestrel77"):
        assert not re.search(r"<[^: >]*kestrel77[^: >]*:/[^ >]+>", shown(opening + link))
