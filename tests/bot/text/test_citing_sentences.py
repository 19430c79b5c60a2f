"""Sentences that stay word for word when another source of their answer goes."""

from __future__ import annotations

import pytest

from bot.text.citing_sentences import keep_explained, keep_sentences, renumber

KNOWN = {1: "Kiln: the kiln is lit on Tuesday by Orla", 3: "Clay: 40 kg of clay are in the cellar"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The kiln is lit on Tuesday [1]. The glaze is blue [2].", "The kiln is lit on Tuesday [1]."),
        ("The glaze is blue. [2] The kiln is lit on Tuesday. [1]", "The kiln is lit on Tuesday. [1]"),
        ("- The glaze is blue [2]\n- The kiln is lit on Tuesday [1]", "- The kiln is lit on Tuesday [1]"),
        ("- The glaze is blue [2]. Orla lights the kiln [1].", "- Orla lights the kiln [1]."),
        ("The kiln is lit on Tuesday [1] and the glaze is blue [2].", ""),
        ("The kiln is lit on Tuesday [1][2].", ""),
        (
            "It is settled. The kiln is lit on Tuesday [1].",
            "It is settled. The kiln is lit on Tuesday [1].",
        ),
        ("The kiln is lit on Tuesday [1]. The glaze is blue.", "The kiln is lit on Tuesday [1]."),
        ("The kiln is lit on Tuesday by Bram [1].", ""),
        ("There are 90 kg of clay in the cellar [3].", ""),
        ("There are 40 kg of clay in the cellar [3].", "There are 40 kg of clay in the cellar [3]."),
        ("The glaze is blue.", ""),
        ("| Day | What |\n|---|---|\n| Tuesday | kiln [1] |", ""),
        ("```\nkiln on Tuesday [1]\n```", ""),
        ("", ""),
    ],
)
def test_a_sentence_stays_if_all_that_it_cites_is_known_and_says_it(text: str, kept: str) -> None:
    assert keep_explained(text, KNOWN) == kept


def test_no_word_of_a_removed_text_stays() -> None:
    text = "The kiln is lit secretly on Tuesday [1]."
    assert keep_explained(text, KNOWN, "The glaze is blue") == text
    assert keep_explained(text, KNOWN, "It is done secretly") == ""


def test_sentences_of_unspaced_scripts_are_told_apart() -> None:
    text = "窯は火曜日です。[1]釉薬は青です。[2]"
    assert keep_sentences(text, lambda _, cited: cited == {1}) == "窯は火曜日です。[1]"


def test_citations_get_other_numbers_and_links_do_not() -> None:
    assert (
        renumber("Blue [2][3], see [4](https://example.org).", {2: 5, 4: 9})
        == "Blue [5][3], see [4](https://example.org)."
    )
