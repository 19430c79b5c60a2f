from __future__ import annotations

from pathlib import Path

import pytest

from engine.llm.e5.spoken import (
    FILE_NAME,
    SpokenLanguages,
    choose_languages,
    describe_languages,
    load_spoken,
    save_spoken,
)


@pytest.mark.parametrize(
    ("former", "counts", "chosen"),
    [
        ((), {"en": 95, "de": 5}, ("en",)),
        ((), {"en": 80, "de": 20}, ("en", "de")),
        (("de", "en"), {"en": 95, "de": 5}, ("en", "de")),  # it stays
        (("de", "en"), {"en": 98, "de": 2}, ("en",)),
        (("de", "en"), {"en": 30}, ("de", "en")),  # too few lines
        ((), {"en": 50, "xx": 50}, ("en",)),  # the embedder does not know it
        ((), {"en": 40, "other": 60}, ("other", "en")),
        ((), {"en": 95, "other": 5}, ("en",)),
        (
            (),
            dict.fromkeys(["nl", "it", "hu", "fr", "fi", "es", "en", "el", "de", "da", "cs"], 8),
            ("cs", "da", "de", "el"),
        ),
    ],
)
def test_a_language_is_taken_late_and_dropped_later(
    former: tuple[str, ...], counts: dict[str, int], chosen: tuple[str, ...]
) -> None:
    assert choose_languages(former, counts) == chosen


def test_a_count_is_kept_in_a_file(tmp_path: Path) -> None:
    assert load_spoken(tmp_path) is None
    spoken = SpokenLanguages(("de", "en"), ("de", "en"), {"de": 0.7, "en": 0.3}, 200, 1.5)
    save_spoken(tmp_path, spoken)
    assert load_spoken(tmp_path) == spoken
    (tmp_path / FILE_NAME).write_text('{"chosen": 3}')
    assert load_spoken(tmp_path) is None


def test_a_count_is_told_with_what_follows() -> None:
    spoken = SpokenLanguages(("de",), ("de",), {"de": 0.71, "en": 0.29}, 1200, 0.0)
    assert describe_languages((), None) == (
        "None is set: the embedder knows English only. What is said was not counted yet."
    )
    assert describe_languages(("de",), spoken) == "In force: de. Of 1,200 lines that were told: de 71%, en 29%."
    assert describe_languages((), spoken).endswith("THREADLORE_LANGUAGES=auto takes de at the next start.")
    waiting = SpokenLanguages((), ("de",), {"de": 1.0}, 99, 0.0)
    assert describe_languages((), waiting).endswith("For de install the weights: threadlore setup.")
