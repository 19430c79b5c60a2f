"""Fields of records that show what others wrote; without characters that control what is shown or in which order."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict

from bot.text.markdown import clean_line
from bot.text.terminal import strip_control_chars


def clean_prose(text: str) -> str:
    """A text without characters that control what is shown; ends of lines and tabs stay."""
    return "\t".join(map(strip_control_chars, text.split("\t")))


Line = Annotated[str, AfterValidator(clean_line)]  # a name, a title, a heading
Prose = Annotated[str, AfterValidator(clean_prose)]  # a text of several lines


class Record(BaseModel):
    """A record that can be made from an object: the attributes of its names, or of their aliases, are its fields."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, found: object) -> Self:
        """The record of an object."""
        return cls.model_validate(found)
