"""The bodies that the API takes as models, and the codes with which it refuses what breaks their limits."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from tests.support.discord_server.errors import ApiError, invalid_form
from tests.support.discord_server.model import File, Json, MessageFlag

MAX_FILE = 10 * 1024 * 1024
MAX_COMMAND_TEXT = 8000
CODES = {
    "string_too_long": "BASE_TYPE_MAX_LENGTH",
    "too_long": "BASE_TYPE_MAX_LENGTH",
    "string_too_short": "BASE_TYPE_BAD_LENGTH",
    "too_short": "BASE_TYPE_BAD_LENGTH",
    "missing": "BASE_TYPE_REQUIRED",
}
T = TypeVar("T")


def check(kind: type[T], body: Any) -> T:
    """Check a body. Raises ApiError for the first field that breaks a limit."""
    try:
        return TypeAdapter(kind).validate_python(body)
    except ValidationError as refused:
        first = refused.errors()[0]
        path = ".".join(map(str, first["loc"]))
        raise invalid_form(path, CODES.get(first["type"], first["type"]), first["msg"]) from None


def refusal(code: str) -> PydanticCustomError:
    return PydanticCustomError(code, "This is not allowed")


class Body(BaseModel):
    """A part of a body: texts are trimmed, other fields are kept."""

    model_config = ConfigDict(extra="allow", str_strip_whitespace=True, coerce_numbers_to_str=True)

    def has(self, name: str) -> bool:
        """Whether the client sent a field."""
        return name in self.model_fields_set

    def raw(self, name: str) -> list[Json]:
        """A list field as the client sent it."""
        return [part.model_dump(exclude_unset=True) for part in getattr(self, name) or []]


class ButtonBody(Body):
    """A button that the app answers; one that is a link has no custom id."""

    label: str | None = Field(default=None, max_length=80)
    custom_id: str = Field(min_length=1, max_length=100)


class ButtonRow(Body):
    components: list[ButtonBody] = Field(min_length=1, max_length=5)


class AllowedMentions(Body):
    """Whom a message may ping; without it everybody that it names."""

    parse: list[str] = []
    users: list[int] = []
    replied_user: bool = False


class AttachmentBody(Body):
    description: str = Field(default="", max_length=1024)


class Draft(Body):
    """A message to send, or the changes of an edit; with `attachments` its files replace those of the message."""

    content: str | None = Field(default=None, max_length=2000)
    embeds: list[Json] = Field(default=[], max_length=0)  # the app suppresses embeds, so none would be seen
    components: list[ButtonRow] | None = Field(default=None, max_length=5)
    flags: int | None = 0
    nonce: str = Field(default="", max_length=25)
    enforce_nonce: bool = False
    allowed_mentions: AllowedMentions | None = None
    message_reference: Json | None = None
    attachments: list[AttachmentBody] | None = Field(default=None, max_length=10)
    files: list[File] = []

    @field_validator("components")
    @classmethod
    def _check_components(cls, rows: list[ButtonRow] | None) -> list[ButtonRow] | None:
        ids = [button.custom_id for row in rows or [] for button in row.components]
        if len(ids) > len(set(ids)):
            raise refusal("COMPONENT_CUSTOM_ID_DUPLICATED")
        return rows

    @property
    def suppresses_embeds(self) -> bool:
        return MessageFlag.SUPPRESS_EMBEDS in MessageFlag(self.flags or 0)

    @property
    def ephemeral(self) -> bool:
        return MessageFlag.EPHEMERAL in MessageFlag(self.flags or 0)

    @property
    def empty(self) -> bool:
        return not (self.content or self.components or self.files)


def parse_draft(body: Json, files: dict[int, File]) -> Draft:
    """Check the body of a message and add its files."""
    draft = check(Draft, body)
    if any(len(file.data) > MAX_FILE for file in files.values()):
        raise ApiError(40005)
    draft.files = [file for _, file in sorted(files.items())]
    return draft


class ThreadBody(Body):
    name: str = Field(min_length=1, max_length=100)


class Choice(Body):
    name: str = Field(min_length=1, max_length=100)
    value: Any = None


class Option(Body):
    name: str = Field(min_length=1, max_length=32)
    description: str = Field(min_length=1, max_length=100)
    choices: list[Choice] = Field(default=[], max_length=25)


class Command(Body):
    """A command; the rules that discord.py checks itself are not checked again."""

    type: Literal[1, 2, 3] = 1
    name: str = Field(min_length=1, max_length=32)
    description: str = Field(default="", max_length=100)
    options: list[Option] = Field(default=[], max_length=25)

    @model_validator(mode="after")
    def _check(self) -> Self:
        texts = [self.name + self.description, *(option.name + option.description for option in self.options)]
        texts += [f"{choice.name}{choice.value}" for option in self.options for choice in option.choices]
        if sum(map(len, texts)) > MAX_COMMAND_TEXT:
            raise refusal("APPLICATION_COMMAND_TOO_LARGE")
        return self


class CommandSet(Body):
    """All commands of the app."""

    commands: list[Command] = Field(max_length=100)


class SelectOption(Body):
    label: str = Field(min_length=1, max_length=100)
    value: str = Field(min_length=1, max_length=100)


class FieldBody(Body):
    """A text input or a select."""

    type: Literal[3, 4, 8]
    custom_id: str = Field(min_length=1, max_length=100)
    value: str = Field(default="", max_length=4000)
    max_length: int = Field(default=4000, ge=1, le=4000)
    options: list[SelectOption] = Field(default=[], max_length=25)


class FieldLabel(Body):
    """A field with its label."""

    type: Literal[18]
    label: str = Field(min_length=1, max_length=45)
    description: str | None = Field(default=None, max_length=100)
    component: FieldBody


class TextDisplay(Body):
    type: Literal[10]
    content: str = Field(min_length=1, max_length=4000)


class Modal(Body):
    """A form: at most five components, of which labels hold the fields."""

    custom_id: str = Field(min_length=1, max_length=100)
    title: str = Field(min_length=1, max_length=45)
    components: list[TextDisplay | FieldLabel] = Field(min_length=1, max_length=5)


class Suggestions(Body):
    """What is offered while somebody types."""

    choices: list[Choice] = Field(max_length=25)
