from __future__ import annotations

from dataclasses import dataclass, field
from inspect import Parameter

from bot.text.signature import list_parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    shown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Base):
    name: str
    words: list[str] = field(default_factory=lambda: ["a"])


def test_a_field_is_required_only_if_nothing_makes_its_value() -> None:
    found = {parameter.name: parameter.default for parameter in list_parameters(Sample)}
    assert found == {"name": Parameter.empty, "words": ["a"], "shown": False}
    assert list(found) == ["name", "words", "shown"]
