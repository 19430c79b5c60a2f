"""Signatures of functions that are made of rows and values, for libraries which read parameters from a signature."""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def give_signature(function: Callable[..., Any], parameters: Iterable[Parameter], returns: Any = None) -> None:
    """Let a function that takes any keywords be read as one with these parameters; `returns`: the type of its value."""
    signature = Signature(list(parameters), return_annotation=returns)
    function.__signature__ = signature  # type: ignore[attr-defined]
    annotations = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
    function.__annotations__ = {**annotations, "return": returns}


def list_parameters(options: type) -> Iterator[Parameter]:
    """The fields of a dataclass as parameters: its own, then those of the classes that it extends."""
    defaults = {field.name: field.default for field in fields(options)}
    kinds = get_type_hints(options, include_extras=True)
    for name in dict.fromkeys(name for each in options.__mro__ for name in vars(each).get("__annotations__", {})):
        yield build_parameter(name, kinds[name], Parameter.empty if defaults[name] is MISSING else defaults[name])


def build_parameter(name: str, kind: Any, default: Any = Parameter.empty) -> Parameter:
    """A parameter that is given by its name; `kind`: its type."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
