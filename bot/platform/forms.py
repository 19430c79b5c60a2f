"""Forms: what a person fills in. The bot builds one from an interaction, and an adapter shows it at once. Pure.

Nothing of an open form is stored: a submission carries what it is about, and is checked like any other event.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from bot.i18n import gettext

if TYPE_CHECKING:
    from collections.abc import Mapping

ON, OFF = "on", "off"  # the values of a switch
FieldKind = Literal["text", "long_text", "choice", "switch", "channel"]


@dataclass(frozen=True, slots=True)
class FormOption:
    """An option of a choice."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class FormField:
    """A field. `value`: what it shows at first: a text, the value of an option, "on" or "off", or a channel's id.

    `options`: of a choice or a switch. `hint`: a sentence below it. `max_length`: of texts; the platform may allow
    fewer characters.
    """

    name: str
    label: str
    kind: FieldKind = "text"
    value: str = ""
    options: tuple[FormOption, ...] = ()
    hint: str = ""
    required: bool = False
    max_length: int = 3000


@dataclass(frozen=True, slots=True)
class Form:
    """A form. `name`: its kind; `value`: what it is about, which comes back in a FormSubmitted.

    `text`: plain text above the fields. `submit`, `cancel`: the labels of its buttons. `handles_event`: the interaction
    that opens it has an effect of its own, such as a vote. `part`, `parts`: which part of a form with too many fields
    it is.
    """

    name: str
    title: str
    fields: tuple[FormField, ...]
    value: str = ""
    text: str = ""
    submit: str = field(default_factory=lambda: gettext("Save"))
    cancel: str = field(default_factory=lambda: gettext("Cancel"))
    handles_event: bool = False
    part: int = 1
    parts: int = 1

    def get_part(self, number: int, max_fields: int) -> Form:
        """The part of the form with this number, from 1 on. `max_fields`: of one part, to which a text counts."""
        size = max(1, max_fields - bool(self.text))
        parts = max(1, -(-len(self.fields) // size))
        number = min(max(number, 1), parts)
        shown = self.fields[(number - 1) * size : number * size]
        return replace(self, fields=shown, part=number, parts=parts)

    @property
    def numbered_title(self) -> str:
        """The title, with the number of the part if there are several."""
        return self.title if self.parts == 1 else f"{self.title} ({self.part}/{self.parts})"


def list_switch_options() -> tuple[FormOption, ...]:
    """The two answers of a field that is on or off, in the language of the form."""
    return FormOption(ON, gettext("On")), FormOption(OFF, gettext("Off"))


def find_errors(fields: tuple[FormField, ...], answers: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with the answers, by the name of the field; fields that were not shown are not checked."""
    return {
        form_field.name: error
        for form_field in fields
        if form_field.name in answers and (error := _find_error(form_field, answers[form_field.name]))
    }


def _find_error(field: FormField, answer: str) -> str:
    if field.required and not answer.strip():
        return gettext("This is needed.")
    if field.kind in ("text", "long_text") and len(answer) > field.max_length:
        return gettext("Use at most {length} characters.").format(length=field.max_length)
    if field.kind == "choice" and answer and answer not in {option.value for option in field.options}:
        return gettext("Choose one of the options.")
    if field.kind == "switch" and answer not in (ON, OFF):
        return gettext("Choose on or off.")
    return ""
