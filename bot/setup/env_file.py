"""Change variables of a settings file, and keep every other line as it is."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from dotenv.parser import parse_stream

from bot.errors import BadSetting, file_write_error
from bot.settings import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER = "# Settings of Threadlore, written by `threadlore init`. Keep this file to yourself: it holds secrets.\n"
_PLAIN = re.compile(r"[\w.:/@%+,=~?!*&-]*", re.ASCII)  # read the same by readers that know no quotes
_COMMENT, _COMMENT_AFTER_QUOTES = re.compile(r"[ \t]#[^\n]*"), re.compile(r"[ \t]*#[^\n]*")
_QUOTED = re.compile(r"""\s*=\s*(?:'(?:\\'|[^'])*'|"(?:\\"|[^"])*")""")


def name_variable(setting: str) -> str:
    """The variable of a setting."""
    return f"{PREFIX}{setting}".upper()


def change_lines(text: str, values: Mapping[str, str]) -> str:
    """A settings file with other values of these variables: in their place, or at its end. Pure."""
    waiting, parts = dict(values), list[str]()
    for binding in parse_stream(StringIO(text)):
        if binding.key not in values:
            parts.append(binding.original.string)
        elif binding.key in waiting:  # of a variable that is set twice one line remains
            parts.append(_replace_value(binding.original.string, binding.key, waiting.pop(binding.key)))
    if parts and not parts[-1].endswith("\n"):
        parts.append("\n")
    return "".join([*parts, *(f"{name}={_quote(value)}\n" for name, value in waiting.items())])


def _replace_value(line: str, name: str, value: str) -> str:
    """A line with another value, and with what stands before the name and in a comment after the value."""
    before, _, after = line.partition(name)
    if before.endswith("'") and after.startswith("'"):  # a name may be quoted, too
        before, after = before[:-1], after[1:]
    if quoted := _QUOTED.match(after):
        comment = _COMMENT_AFTER_QUOTES.match(after[quoted.end() :])
    else:
        comment = _COMMENT.search(after)
    return f"{before}{name}={_quote(value)}{' ' + comment[0].strip() if comment else ''}\n"


def write_env_file(path: Path, values: Mapping[str, str]) -> None:
    """Change the file, or create it, at once and for its owner only. Raises BadSetting or DiskError."""
    path = path.resolve()  # a link stays a link
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        present = path.read_text(encoding="utf-8") if path.exists() else HEADER
        _replace(path, change_lines(present, values))
    except UnicodeDecodeError as error:
        raise BadSetting(f"{path} is not UTF-8.", hint="Save it as UTF-8, or move it away.") from error
    except OSError as error:
        raise file_write_error(path, error) from error


def _replace(path: Path, text: str) -> None:
    """Write a file beside it, which only its owner can read, and put it in its place; the owner stays."""
    number, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileNotFoundError, PermissionError):
                present = path.stat()
                os.fchown(file.fileno(), present.st_uid, present.st_gid)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _quote(value: str) -> str:
    """The value as every reader of such files takes it; quotes only where it needs them."""
    if _PLAIN.fullmatch(value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
