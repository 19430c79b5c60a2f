from __future__ import annotations

import pytest

from engine.answers.links.link_syntax import SHORT_TEXT, AllowedAddresses

TEXT = "See https://ok.com/A_(b)., www.notes.org, (Plan.md) and https://www.ok.com/c&amp;d."


@pytest.mark.parametrize("padding", ["", " word" * SHORT_TEXT])
def test_what_one_answer_may_show_another_without_the_text_may_not(padding: str) -> None:
    for _ in range(2):  # the second time from the text read before
        both = AllowedAddresses([TEXT + padding, f"https://secret.example/x{padding}"], ["Notes.txt"])
        assert [both.find_link(link) for link in ("https://OK.com/A_(b)", "https://secret.example/x")] == [
            "https://ok.com/A_(b)",
            "https://secret.example/x",
        ]
        assert both.find_link("https://www.ok.com/c&d") == "https://www.ok.com/c&d"
        names = ["plan.md", "Plan.md", "www.ok.com/c&d", "www.notes.org", "Notes.txt"]
        assert [both.find_name(name) for name in names] == [
            "Plan.md",
            "Plan.md",
            "www.ok.com/c&d",
            "www.notes.org",
            "Notes.txt",
        ]
        one = AllowedAddresses([TEXT + padding])
        assert one.find_link("https://ok.com/A_(b)")
        assert (one.find_link("https://secret.example/x"), one.find_name("Notes.txt")) == ("", "")


def test_of_two_spellings_the_first_is_shown() -> None:
    assert (
        AllowedAddresses(["https://Ok.com/a", "https://ok.com/a"]).find_link("https://OK.com/a") == "https://Ok.com/a"
    )
    assert (
        AllowedAddresses(["https://ok.com/a", "https://Ok.com/a"]).find_link("https://OK.com/a") == "https://ok.com/a"
    )
