"""Import of LanceDB without the REST client of its cloud, whose generation takes most of a second."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

REST_CLIENT = "lance_namespace_urllib3_client.api"


class _Placeholder(ModuleType):
    """A module of the REST client whose classes have no methods."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _PlaceholderFinder(MetaPathFinder, Loader):
    """Finds placeholders for the modules of the REST client."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        is_client = fullname == REST_CLIENT or fullname.startswith(f"{REST_CLIENT}.")
        return ModuleSpec(fullname, self, is_package=fullname == REST_CLIENT) if is_client else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


def import_lancedb() -> Any:
    """Import the library with placeholders for its REST client, which an embedded store never calls.

    A program that needs LanceDB's cloud in the same process imports `lancedb` first.
    """
    finder = _PlaceholderFinder()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lancedb")
    finally:
        sys.meta_path.remove(finder)
