"""Keep litellm small: it loads a tokenizer of 40 MiB at its first call, and keeps the parsed form of another.

Both serve to count tokens where a provider reports none. The first is loaded once it is used; the second is also kept
as text.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

ENCODING_MODULE = "litellm.litellm_core_utils.default_encoding"
ENCODING_NAME = "cl100k_base"


class LazyEncoding:
    """litellm's default encoding, loaded when anything but its name is used."""

    name = ENCODING_NAME

    def __getattr__(self, attribute: str) -> Any:
        return getattr(_load_module().encoding, attribute)


class LazyEncodingModule(ModuleType):
    """Takes the place of the module that loads the encoding at its import."""

    def __init__(self) -> None:
        super().__init__(ENCODING_MODULE)
        self.encoding = LazyEncoding()

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # what the import system asks of any module
            raise AttributeError(attribute)
        return getattr(_load_module(), attribute)


def defer_encoding() -> None:
    """Let litellm load its default encoding when it counts tokens. Call it before litellm is imported."""
    sys.modules.setdefault(ENCODING_MODULE, LazyEncodingModule())


def release_parsed_tokenizer() -> None:
    """Free the parsed file of the tokenizer that litellm keeps as text. Call it after litellm is imported."""
    utils: Any = sys.modules.get("litellm.utils")
    if utils is not None and isinstance(getattr(utils, "claude_json_str", None), str):
        utils.json_data = None


def _load_module() -> Any:
    if isinstance(sys.modules.get(ENCODING_MODULE), LazyEncodingModule):
        del sys.modules[ENCODING_MODULE]
    return importlib.import_module(ENCODING_MODULE)
