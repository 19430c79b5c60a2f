"""The fields of a channel's settings: what each is for, and which values it takes. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from bot.i18n import N_, gettext
from bot.permissions.askers import MANAGERS, MEMBERS, parse_mentions
from bot.store import FILES_ONLY, MESSAGES_ONLY
from engine import RetrievalMode
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.settings import Settings
    from bot.store import ChannelSettings

DEFAULT_VALUE = "default"  # resets a setting
EVERYONE = "everyone"
ALL_CONTENT = "all"
MAX_VALUE_LENGTH = 200  # characters of a style or a language
MAX_MENTIONS_LENGTH = 1000  # characters of the people and groups who may ask


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting: its name as typed, what it is for, and its values (empty: free text).

    `group`: the form that contains it; what is read applies to channels only. `unset`: the value that is stored as an
    empty one, DEFAULT_VALUE where that means the bot's own setting.
    """

    name: str
    description: str
    choices: tuple[str, ...] = ()
    group: Literal["answers", "reading"] = "answers"
    unset: str = DEFAULT_VALUE

    @property
    def is_text(self) -> bool:
        """Whether it is free text."""
        return not self.choices

    @property
    def attribute(self) -> str:
        """The field of ChannelSettings."""
        return self.name.replace("-", "_")


FIELDS: Mapping[str, SettingField] = {
    field.name: field
    for field in (
        SettingField("mode", N_("how sources are searched"), (*get_args(RetrievalMode), DEFAULT_VALUE)),
        SettingField("style", N_("how answers are written, in your own words")),
        SettingField("language", N_("the language of answers")),
        SettingField("model", N_("the language model that answers"), (DEFAULT_VALUE,)),
        SettingField(
            "reply-to",
            N_("what I reply to: mention, thread (also questions in my threads) or all (any question)"),
            ("mention", "thread", "all", DEFAULT_VALUE),
        ),
        SettingField(
            "suggestions", N_("whether I suggest further questions below answers"), ("on", "off", DEFAULT_VALUE)
        ),
        SettingField(
            "askers",
            N_("who may ask me here: everyone, members (no guests), managers, or whom you mention"),
            (EVERYONE, MEMBERS, MANAGERS),
            "reading",
            EVERYONE,
        ),
        SettingField("ingest", N_("whether I read this channel"), ("on", "off"), "reading"),
        SettingField(
            "content",
            N_("what I read here: all, messages or files"),
            (ALL_CONTENT, MESSAGES_ONLY, FILES_ONLY),
            "reading",
            ALL_CONTENT,
        ),
        SettingField(
            "bot-messages", N_("whether I also read what other bots post here"), ("on", "off", DEFAULT_VALUE), "reading"
        ),
        SettingField(
            "links", N_("whether I read the public web pages that messages here link to"), ("on", "off"), "reading"
        ),
    )
}
LABELS: Mapping[str, str] = {
    "mode": N_("Search mode"),
    "style": N_("Style of answers"),
    "language": N_("Language of answers"),
    "model": N_("Language model"),
    "reply-to": N_("What I reply to"),
    "suggestions": N_("Suggested questions"),
    "askers": N_("Who may ask"),
    "ingest": N_("Read this channel"),
    "content": N_("What I read"),
    "bot-messages": N_("Messages of other bots"),
    "links": N_("Linked pages"),
}
FORM_TITLES: Mapping[str, str] = {"answers": N_("Answers"), "reading": N_("Reading and asking")}  # by group
SWITCHES = ("ingest", "links")  # stored as true or false


def list_choices(field: SettingField, settings: Settings) -> tuple[str, ...]:
    """The values of a field; models are those that the bot's own settings name."""
    return (*settings.selectable_models, DEFAULT_VALUE) if field.name == "model" else field.choices


def get_value(now: ChannelSettings, field: SettingField) -> str:
    """The value of a field as it is typed, DEFAULT_VALUE or empty (of free text) for the bot's own setting."""
    stored = getattr(now, field.attribute)
    if field.name in SWITCHES:
        return "on" if stored else "off"
    return str(stored) or (field.unset if field.choices else "")


def apply_value(now: ChannelSettings, name: str, value: str, settings: Settings) -> ChannelSettings:
    """Parse a value and return the changed settings. Raises InvalidQuestion."""
    field = FIELDS.get(name)
    if field is None:
        raise InvalidQuestion(
            gettext("There is no setting “{name}”.").format(name=name),
            hint=gettext("Settings: {settings}.").format(settings=", ".join(FIELDS)),
        )
    if name == "model" and not settings.selectable_models and value.casefold() != DEFAULT_VALUE:
        raise InvalidQuestion(
            gettext("There are no models to choose from."),
            hint=gettext("Whoever runs this bot can set THREADLORE_ANSWER_MODELS."),
        )
    parsed = _parse_value(field, value, list_choices(field, settings))
    kept: dict[str, Any] = {field.attribute: parsed == "on" if name in SWITCHES else parsed}
    return replace(now, **kept)


def _parse_value(field: SettingField, value: str, choices: tuple[str, ...]) -> str:
    chosen = next((choice for choice in choices if choice.casefold() == value.casefold()), "")
    if not choices and value.casefold() == DEFAULT_VALUE:
        chosen = DEFAULT_VALUE
    if chosen:
        return "" if chosen == field.unset else chosen
    mentions = parse_mentions(value) if field.name == "askers" else ""
    if not value or (choices and not mentions):
        raise InvalidQuestion(
            gettext("“{value}” is not a value of “{name}”.").format(value=value, name=field.name)
            if value
            else gettext("What should “{name}” be?").format(name=field.name),
            hint=_value_hint(field, choices),
        )
    limit = MAX_MENTIONS_LENGTH if mentions else MAX_VALUE_LENGTH
    if len(mentions or value) > limit:
        raise InvalidQuestion(
            gettext("The value of “{name}” is too long.").format(name=field.name),
            hint=gettext("At most {limit} characters.").format(limit=limit),
        )
    return mentions or value


def _value_hint(field: SettingField, choices: tuple[str, ...]) -> str:
    if field.name == "askers":
        return gettext("Choose one of {choices}, or mention people and groups.").format(choices=", ".join(choices))
    return (
        gettext("Choose one of {choices}.").format(choices=", ".join(choices))
        if choices
        else gettext("Use a few words; “{default_value}” resets it.").format(default_value=DEFAULT_VALUE)
    )
