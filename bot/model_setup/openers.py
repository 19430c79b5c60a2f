"""Open the embedder of the settings, for the languages that are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import BadSetting
from bot.model_setup.roles import embedding_model_settings, embedding_prefixes
from engine import LiteLLMEmbedder
from engine.data_dir import DataDir
from engine.llm.builtin_models import choose_builtin
from engine.llm.e5.spoken import LANGUAGES, OTHER, load_spoken
from engine.llm.embedder import PrefixedEmbedder
from engine.llm.traits.remembered import load_facts
from engine.storage.ledger import load_languages

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from bot.settings import Settings
    from engine import Embedder, ModelClient
    from engine.parsers.converted.service import ParserService


VARIABLE = "THREADLORE_LANGUAGES"
AUTO = "auto"
OTHER_CODES = {"nb": "no", "nn": "no"}


def check_weights(settings: Settings) -> None:
    """Check that the weights of the built-in embedder are there if it is used. Raises ModelNotInstalled, BadSetting."""
    languages = read_languages(settings)
    if not settings.embedding_model:
        choose_builtin(languages).find_weights()


async def open_embedder(
    settings: Settings, calls: ModelClient, stack: AsyncExitStack, *, is_check: bool = False
) -> Embedder:
    """The embedder of the settings; its dimension is set, remembered, or found with one call. Raises ModelError.

    `is_check`: what is remembered is not used, so that it can be corrected.
    """
    if not settings.embedding_model:
        return open_builtin_embedder(settings, stack)
    model, max_tokens = embedding_model_settings(settings), settings.embedding_max_input_tokens
    prefixes, remembered = embedding_prefixes(settings), load_facts(settings.data_path)
    dimensions = settings.embedding_dimensions or (0 if is_check else remembered.find_dimension(model))
    if not prefixes.is_plain:
        return await PrefixedEmbedder.open(model, calls, dimensions, prefixes, max_tokens=max_tokens)
    if dimensions:
        return LiteLLMEmbedder(model, calls, dimensions, max_tokens=max_tokens)
    return await LiteLLMEmbedder.open(model, calls, max_tokens=max_tokens)


def open_builtin_embedder(settings: Settings, stack: AsyncExitStack) -> Embedder:
    """The built-in embedder of the languages that are set; `stack` closes it. Raises BadSetting."""
    builtin = choose_builtin(read_languages(settings))()
    stack.callback(builtin.close)
    return builtin


def open_parser_service(settings: Settings) -> ParserService | None:
    """The service that converts some files, None if none is set."""
    if not settings.parser_service:
        return None
    from engine.parsers.converted.service import ParserService, ParserServiceConfig  # noqa: PLC0415 - loads the parsers

    return ParserService(
        ParserServiceConfig(
            settings.parser_service,
            settings.parser_service_url,
            frozenset(settings.parser_service_extensions.split(",")),
            settings.parser_service_timeout_seconds,
            settings.parser_service_key.get_secret_value(),
        )
    )


def read_languages(settings: Settings) -> tuple[str, ...]:
    """The ISO 639-1 codes that are set, in their order; empty if none is. Raises BadSetting.

    "auto": those that were counted last in what is said, or were in force when the data was opened last. Processes with
    one database must agree: there none are taken.
    """
    if not is_auto(settings.languages):
        return split_languages(settings.languages)
    if settings.database.get_secret_value():
        return ()
    spoken = load_spoken(settings.data_path)
    return (spoken.chosen if spoken is not None else ()) or load_languages(DataDir(settings.data_path).ledger_path)


def read_wanted_languages(settings: Settings) -> tuple[str, ...]:
    """As `read_languages`, but those for which the weights are not installed yet. Raises BadSetting."""
    spoken = load_spoken(settings.data_path) if is_auto(settings.languages) else None
    return spoken.wanted if spoken is not None else read_languages(settings)


def is_auto(text: str) -> bool:
    """Whether the choice is left to what is counted."""
    return text.strip().casefold() == AUTO


def split_languages(text: str) -> tuple[str, ...]:
    """The codes of a list such as "de, en"; "de-AT" means "de", "auto" none. Raises BadSetting for an unknown one."""
    if is_auto(text):
        return ()
    listed = [code.strip().casefold().replace("_", "-").partition("-")[0] for code in text.split(",")]
    codes = [OTHER_CODES.get(code, code) for code in listed]
    unknown = [code for code in codes if code and code not in {*LANGUAGES, OTHER}]
    if unknown:
        raise BadSetting(
            f"{VARIABLE} cannot be “{', '.join(unknown)}”: it is a list of ISO 639-1 codes, such as de,en, or {AUTO}.",
            hint=f"Known are {' '.join(sorted(LANGUAGES))}, and {OTHER} for all others.",
        )
    return tuple(dict.fromkeys(code for code in codes if code))
