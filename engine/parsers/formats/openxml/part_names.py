"""Give the parts of a workbook their usual names: some programs choose others, which few libraries find. Pure."""

from __future__ import annotations

import zipfile
from io import BytesIO

from engine.errors import CorruptFile
from engine.parsers.base import ZIP_ERRORS
from engine.parsers.formats.openxml.parts import PartReader
from engine.parsers.formats.xml_tree import XmlArchive

_WORKBOOK, _TYPES = "xl/workbook.xml", "[Content_Types].xml"


def with_usual_names(data: bytes) -> bytes:
    """The workbook as it is if its parts have their usual names, else with them. Raises CorruptFile."""
    archive = XmlArchive(data)
    if _WORKBOOK in archive.names and _TYPES in archive.names:
        return data
    names = {name: name.replace("\\", "/") for name in archive.names}
    names |= {name: _TYPES for name in names if name.lower() == _TYPES.lower()}
    if names != {name: name for name in names}:
        data = _repack(archive, names, [])
        archive = XmlArchive(data)
    relations = PartReader(archive).relations("")
    main = next((relation.target for relation in relations if relation.type == "officeDocument"), _WORKBOOK)
    if main == _WORKBOOK or main not in archive.names:
        return data
    folder, _, file = main.rpartition("/")
    prefix = f"{folder}/" if folder else ""
    moved = {
        name: "xl/" + name.removeprefix(prefix).replace(file, "workbook.xml")
        for name in archive.names
        if name.startswith(prefix) and (prefix or name not in {_TYPES, "_rels/.rels"})
    }
    changes = [(f'"/{main}"', f'"/{_WORKBOOK}"'), (f'"{main}"', f'"{_WORKBOOK}"'), (f'"/{prefix}', '"/xl/')]
    return _repack(archive, {name: moved.get(name, name) for name in archive.names}, changes)


def _repack(archive: XmlArchive, names: dict[str, str], changes: list[tuple[str, str]]) -> bytes:
    """The archive with other names; `changes` are made in what refers to parts."""
    target = BytesIO()
    try:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for before, after in sorted(names.items()):
                if before.endswith(("/", "\\")):
                    continue
                content = archive.read(before)
                if after == _TYPES or after.endswith(".rels"):
                    for old, new in changes:
                        content = content.replace(old.encode(), new.encode())
                file.writestr(after, content)
    except ZIP_ERRORS as error:
        raise CorruptFile("The workbook is damaged or incomplete.") from error
    return target.getvalue()
