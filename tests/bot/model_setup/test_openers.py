from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.capabilities.maintenance import archive
from bot.errors import BadSetting
from bot.model_setup.openers import read_languages, read_wanted_languages, split_languages
from bot.settings import Settings
from bot.store import BotStore
from engine.clock import SYSTEM_CLOCK
from engine.engine import Engine
from engine.llm.builtin_models import choose_builtin
from engine.llm.e5.embedder import E5Embedder
from engine.llm.e5.spoken import FILE_NAME, SpokenLanguages, save_spoken
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.options import EngineOptions
from tests.support.fake_embedder import HashEmbedder


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ()),
        ("de,en", ("de", "en")),
        (" EN , de-AT, pt_BR ,de", ("en", "de", "pt")),
        ("ja,", ("ja",)),
        ("en,other", ("en", "other")),
    ],
)
def test_languages_are_codes_in_their_order(text: str, codes: tuple[str, ...]) -> None:
    assert split_languages(text) == codes


@pytest.mark.parametrize("text", ["xx", "de,klingon", "german", "de;en"])
def test_an_unknown_code_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(BadSetting, match="THREADLORE_LANGUAGES cannot be") as error:
        split_languages(text)
    assert " de " in error.value.hint
    assert " en " in error.value.hint


@pytest.mark.parametrize(
    ("languages", "embedder"),
    [((), MiniLMEmbedder), (("en",), MiniLMEmbedder), (("de", "en"), E5Embedder), (("ja",), E5Embedder)],
)
def test_another_language_than_english_chooses_the_multilingual_embedder(
    languages: tuple[str, ...], embedder: type
) -> None:
    assert choose_builtin(languages) is embedder


def test_auto_takes_what_was_counted_last(tmp_path: Path) -> None:
    chosen = Settings(data_dir=tmp_path, languages=" Auto")
    assert read_languages(chosen) == ()
    save_spoken(tmp_path, SpokenLanguages(("fr", "en"), ("fr", "en", "de"), {"fr": 1.0}, 90))
    assert read_languages(chosen) == ("fr", "en")
    assert read_wanted_languages(chosen) == ("fr", "en", "de")
    assert read_languages(Settings(data_dir=tmp_path, languages="ja")) == ("ja",)
    shared = Settings(data_dir=tmp_path, languages="auto", database=SecretStr("postgresql://host/name"))
    assert read_languages(shared) == ()  # its processes must agree


async def test_auto_without_a_count_takes_the_languages_in_force_before(tmp_path: Path) -> None:
    home, restored = tmp_path / "home", tmp_path / "restored"
    chosen = Settings(data_dir=home, languages="auto")
    options = EngineOptions(languages=("de", "en"))
    async with (
        Engine.open(home, embedder=HashEmbedder(), options=options) as engine,
        BotStore.open(home / archive.BOT_FILE, SYSTEM_CLOCK),
    ):
        assert read_languages(chosen) == ("de", "en")
        await archive.create_backup(engine, tmp_path / "backup")
    assert read_languages(chosen) == ("de", "en")
    (home / FILE_NAME).write_text("damaged")
    assert read_languages(chosen) == ("de", "en")
    archive.restore_backup(tmp_path / "backup", restored)
    assert read_languages(Settings(data_dir=restored, languages="auto")) == ("de", "en")
    save_spoken(home, SpokenLanguages(("fr",), ("fr",), {"fr": 1.0}, 90))
    assert read_languages(chosen) == ("fr",)
