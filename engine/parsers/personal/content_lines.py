"""Read the fields of calendars and contacts (RFC 5545, RFC 6350, and vCard 2.1): unfolded and decoded. Pure."""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.parsers.encodings.decoding import decode_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FOLD = re.compile(r"\n[ \t]")
_SOFT_BREAK = re.compile(r"=\n[ \t]?")
_QUOTED_PRINTABLE = re.compile(r"^[^:\n]{0,200};(?:ENCODING=)?QUOTED-PRINTABLE[;:]", re.IGNORECASE | re.MULTILINE)
# The name, then parameters with values that may be quoted, then the value.
_NAME = re.compile(r"(?:([A-Za-z0-9-]{1,60})\.)?([A-Za-z0-9-]{1,60})(?=[;:])")
_PARAMETER = re.compile(r";([^=;:\"]{0,60})(=(?:\"[^\"]*\"|[^;:\",]*)(?:,(?:\"[^\"]*\"|[^;:\",]*))*)?")
_ESCAPES = re.compile(r"\\([\\,;:nN])")
_SEPARATORS = re.compile(r"\\.|[;,]", re.DOTALL)
_MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its upper-case name, its group ("item1"), its parameters, and its value as it was written."""

    name: str
    value: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    group: str = ""

    @property
    def text(self) -> str:
        """The value without its escapes."""
        return unescape(self.value)

    @property
    def is_binary(self) -> bool:
        """Whether the value is a file, such as a photo."""
        is_encoded = self.parameters.get("ENCODING", "").upper() in {"B", "BASE64"}
        return is_encoded or self.value.lower().startswith("data:")

    @property
    def content(self) -> bytes:
        """The bytes of a file; none if they are damaged."""
        try:
            return base64.b64decode(self.value.partition("base64,")[2] or "".join(self.value.split()))
        except (binascii.Error, ValueError):
            return b""


@dataclass(slots=True)
class Component:
    """What stands between BEGIN and END: its fields and the components within it."""

    name: str
    fields: list[Field] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)

    def find(self, *names: str) -> str:
        """The text of the first field with one of the names, or an empty string."""
        return next((text for line in self.fields if line.name in names and (text := line.text.strip())), "")

    def find_all(self, name: str) -> list[Field]:
        """The fields with a name."""
        return [line for line in self.fields if line.name == name]


def read_components(data: bytes) -> list[Component]:
    """The outermost components; one whose end is missing ends with the file. Raises CorruptFile if it is not text."""
    root = Component("")
    open_components = [root]
    for field_ in _read_fields(decode_text(data)):
        name = field_.value.strip().upper()
        if field_.name == "BEGIN" and len(open_components) < _MAX_DEPTH:
            inner = Component(name)
            open_components[-1].components.append(inner)
            open_components.append(inner)
        elif field_.name == "END" and name in {open_one.name for open_one in open_components[1:]}:
            while open_components.pop().name != name:
                pass  # one inside of it whose end is missing ends too
        else:
            open_components[-1].fields.append(field_)
    return root.components


def unescape(value: str) -> str:
    """The value with its commas, semicolons and line ends as they are meant."""
    return _ESCAPES.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def split_value(value: str, separator: str) -> list[str]:
    """The parts of a value between separators that are not escaped, each as it is meant."""
    parts, start = list[str](), 0
    for match in _SEPARATORS.finditer(value):
        if match[0] == separator:
            parts.append(value[start : match.start()])
            start = match.end()
    return [unescape(part).strip() for part in [*parts, value[start:]]]


def _read_fields(text: str) -> Iterator[Field]:
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if _QUOTED_PRINTABLE.search(text):
        text = _SOFT_BREAK.sub("", text)
    for line in _FOLD.sub("", text).split("\n"):
        if match := _NAME.match(line):
            yield _read_field(line, match)


def _read_field(line: str, name: re.Match[str]) -> Field:
    parameters: dict[str, str] = {}
    at = name.end()
    while (match := _PARAMETER.match(line, at)) and match.end() > at:
        key, value = match[1].strip().upper(), (match[2] or "")[1:].replace('"', "")
        if not match[2]:  # vCard 2.1 leaves out the name: TEL;HOME:
            key, value = ("ENCODING" if key in {"QUOTED-PRINTABLE", "BASE64"} else "TYPE"), key
        parameters[key] = f"{parameters[key]},{value}" if key in parameters else value
        at = match.end()
    value = line[at:].partition(":")[2]
    if parameters.get("ENCODING", "").upper() == "QUOTED-PRINTABLE":
        value = _decode_quoted(value, parameters.get("CHARSET", ""))
    return Field(name[2].upper(), value, parameters, name[1] or "")


def _decode_quoted(value: str, charset: str) -> str:
    decoded = quopri.decodestring(value.encode("utf-8", "replace"))
    try:
        text = decoded.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = decode_text(decoded)
    return text.replace("\r\n", "\\n").replace("\n", "\\n")
