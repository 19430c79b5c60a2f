"""The files that a parser needs: of Python, of its libraries, and of the program that recognizes text."""

from __future__ import annotations

import re
import struct
import sys
import sysconfig
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from engine.parsers.sandbox.kernel.landlock import EXECUTE, LIST, READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

# What parsers import, for installations that keep packages outside of Python's own folders.
_PACKAGES = (
    *(
        "PIL",
        "chardet",
        "kreuzberg",
        "markdown_it",
        "mdurl",
        "olefile",
        "oxmsg",
        "pydantic",
        "pydantic_core",
    ),
    *("pypdfium2", "pypdfium2_raw", "python_calamine", "typing_extensions", "yaml"),
)
_PACKAGE_FOLDERS = frozenset({"site-packages", "dist-packages", "lib-dynload"})
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64")
_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "/opt/homebrew/share/fonts")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom")
# Each package is a folder of its own there, and all are public.
_PACKAGE_STORES = (Path("/nix/store"), Path("/gnu/store"), Path("/home/linuxbrew/.linuxbrew"))
_OCR_DATA = ("tessdata", "tesseract-ocr", "tesseract")
_READ_ALL = READ | LIST
_SCRIPT = re.compile(rb"#![ \t]*([^\s]+)")
_ELF, _HEADER_OF_PROGRAMS, _COUNT_OF_PROGRAMS, _INTERPRETER = b"\x7fELF\x02\x01", 32, 54, 3


def list_readable(ocr_program: str) -> Iterator[tuple[Path, int]]:
    """Files and folders with the rights on them (`landlock`); those that do not exist may be among them."""
    yield Path(__file__).parents[3], _READ_ALL
    yield from _list_python()
    for name in (*_LIBRARY_FOLDERS, *_FONTS, *_SYSTEM_FILES):
        yield Path(name), _READ_ALL
    yield Path("/dev/null"), READ | WRITE
    programs = [Path(sys.executable).resolve()]
    if ocr_program:
        program = Path(ocr_program).resolve()
        programs.append(program)
        yield from _list_program(program)
    for store in _PACKAGE_STORES:
        if any(file.is_relative_to(store) for file in programs):
            yield store, _READ_ALL | (EXECUTE if ocr_program else 0)


def _list_python() -> Iterator[tuple[Path, int]]:
    """Python's library and the packages: of other folders on the search path, those alone that parsers import."""
    for path in {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}:
        yield path, _READ_ALL
    for prefix in {Path(sys.prefix), Path(sys.base_prefix)}:
        yield from ((prefix / name, _READ_ALL) for name in ("lib", "lib64"))
    for folder in map(Path, filter(None, sys.path)):
        is_library = folder.suffix == ".zip" or folder.name in _PACKAGE_FOLDERS
        yield folder, _READ_ALL if is_library else LIST
    for name in _PACKAGES:
        with suppress(ImportError, ValueError):
            if spec := find_spec(name):
                yield from ((Path(place), _READ_ALL) for place in spec.submodule_search_locations or ())
                yield from [(Path(spec.origin), READ)] if spec.has_location and spec.origin else []


def _list_program(program: Path) -> Iterator[tuple[Path, int]]:
    """A program, what loads it, its libraries and its data."""
    folder = program.parent
    for file in _list_interpreters(program):
        yield file, READ | EXECUTE
    for prefix in (folder.parent, Path("/usr"), Path("/usr/local")):
        yield from ((prefix / name, _READ_ALL) for name in ("lib", "lib64"))
        yield from ((prefix / "share" / name, _READ_ALL) for name in _OCR_DATA)


def _list_interpreters(program: Path, depth: int = 3) -> Iterable[Path]:
    """A program, and the files that the kernel starts to run it: the loader of its libraries, or of a script."""
    yield program
    with suppress(OSError, struct.error), program.open("rb") as file:
        head = file.read(512)
        script = _SCRIPT.match(head)
        name = script[1] if script else _find_loader(file, head)
        if name and depth:
            yield from _list_interpreters(Path(name.decode()).resolve(), depth - 1)


def _find_loader(file: BinaryIO, head: bytes) -> bytes:
    """The path of the dynamic loader in a 64-bit ELF file, empty if there is none."""
    if not head.startswith(_ELF):
        return b""
    (offset,) = struct.unpack_from("<Q", head, _HEADER_OF_PROGRAMS)
    size, count = struct.unpack_from("<HH", head, _COUNT_OF_PROGRAMS)
    for number in range(count):
        file.seek(offset + number * size)
        kind, _, place, _, _, length = struct.unpack("<IIQQQQ", file.read(40))
        if kind == _INTERPRETER:
            file.seek(place)
            return file.read(length).rstrip(b"\0")
    return b""
