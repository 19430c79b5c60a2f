"""Signatures of functions that are made of rows and values, for libraries which read parameters from a signature."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
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
    defaults = {field.name: _get_default(field) for field in fields(options)}
    kinds = get_type_hints(options, include_extras=True)
    for name in dict.fromkeys(name for base in options.__mro__ for name in vars(base).get("__annotations__", {})):
        yield build_parameter(name, kinds[name], defaults[name])


def build_parameter(name: str, kind: Any, default: Any = Parameter.empty) -> Parameter:
    """A parameter that is given by its name; `kind`: its type."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _get_default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default
