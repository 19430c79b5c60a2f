"""A robots.txt is understood as RFC 9309 says, whatever a server writes into it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import PageNotRead
from bot.ingest.links.robots import MAX_RULES, Rule, may_read, parse_robots

SITE = "https://town.example"


def allows(robots: str, path: str) -> bool:
    return may_read(parse_robots(robots, "Threadlore"), SITE + path)


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/a", True),
        ("Disallow:", "/a", True),
        ("Disallow: /", "", False),
        ("Disallow: /*", "/a", False),
        ("Allow: /\nDisallow: /private", "/private/a", False),  # the longest rule wins, not the first one
        ("Disallow: /private\nAllow: /private/open", "/private/open/a", True),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /*.pdf$", "/plans/roof.pdf", False),
        ("Disallow: /*.pdf$", "/plans/roof.pdf?page=1", True),
        ("Disallow: /*?", "/search?q=roof", False),
        ("Disallow: /*/draft/*/old", "/a/draft/b/old", False),
        ("Disallow: /*/draft/*/old", "/a/draft/old", True),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a*a$", "/a", True),
        ("Disallow: /café", "/caf%c3%A9/menu", False),
        ("Disallow: /%7eada", "/~ada", False),
        ("Disallow: /a%2Fb", "/a/b", True),
        ("disallow : /a # not this", "/a", False),
        ("Crawl-delay: ²\nDisallow: //[\nSitemap: x", "/a", True),
    ],
)
def test_rules(rules: str, path: str, allowed: object) -> None:
    assert allows(f"User-agent: *\n{rules}", path) is allowed


def test_the_rules_of_the_program_come_before_those_for_all() -> None:
    robots = "User-agent: *\nDisallow: /\n\nUser-Agent: other\nUser-agent: THREADLORE/1.0\nDisallow: /private"
    assert allows(robots, "/open")
    assert not allows(robots, "/private")
    assert not allows(f"{robots}\n\nUser-agent: threadlore\nDisallow: /open", "/open")  # groups of one name are one
    assert allows("User-agent: other\nDisallow: /", "/open")
    assert allows("Disallow: /", "/open")  # a rule of nobody


def test_too_many_rules_are_refused() -> None:
    lines = [f"Disallow: /{number}" for number in range(MAX_RULES + 1)]
    parse_robots("\n".join(["User-agent: *", *lines[1:]]), "Threadlore")
    with pytest.raises(PageNotRead, match="too many rules"):
        parse_robots("\n".join(["User-agent: *", *lines]), "Threadlore")


@given(st.text(alphabet="ab/*$", max_size=12), st.text(alphabet="ab/$", max_size=12))
def test_a_pattern_matches_as_its_regular_expression_does(pattern: str, path: str) -> None:
    body = pattern.removesuffix("$")
    expression = ".*".join(map(re.escape, body.split("*"))) + (r"\Z" if pattern.endswith("$") else "")
    assert Rule(pattern, is_allowed=True).matches(path) == bool(re.match(expression, path))


_ANY_TEXT = st.text(st.characters(), max_size=80)  # with lone surrogates


@given(_ANY_TEXT, _ANY_TEXT)
def test_no_text_is_an_error(robots: str, path: str) -> None:
    allows(f"User-agent: *\nAllow: {robots}\n{robots}", "/" + path)
