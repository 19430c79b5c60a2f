"""Add uploaded files: to a space of the terminal, or to what a person shared with the bot alone."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.capabilities.documents.lookup import LOCAL_SPACE, build_scope
from bot.capabilities.documents.requests import UploadPlace, UploadResult
from bot.capabilities.results import ProgressUpdate
from bot.errors import NotPermitted, file_write_error
from engine import Document
from engine.boundary import repair_surrogates
from engine.errors import InvalidDocument, NotFound
from engine.parsers.base import read_file_content
from engine.parsers.dates import plausible_time
from engine.storage.journal import remove_unused

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.documents.requests import AddUpload, PrepareUpload
    from bot.capabilities.results import OperationResult
    from bot.ingest.personal_files import PersonalFile
    from bot.store import Subject
    from engine import DocumentInfo

MAX_NAME_LENGTH = 200  # characters
POLL_SECONDS = 0.2  # between two looks at the state of a document
WAIT_SECONDS = 60 * 60.0  # for a file to become searchable; it goes on without its uploader
UPLOAD_ROOM = "files"
_ESCAPES = str.maketrans({character: quote(character) for character in "%:#"})  # what separates the parts of a key


async def prepare_upload(deps: Deps, caller: Caller, _request: PrepareUpload) -> AsyncGenerator[OperationResult]:
    """Yield where an upload is stored. Raises NotPermitted if its subject may not add files."""
    await _open_target(deps, caller.subject, "")
    deps.engine.maintenance.check_room()
    folder = deps.context.upload_dir
    await asyncio.to_thread(_prepare_folder, folder)
    yield UploadPlace(str(folder), deps.context.parser_limits.max_file_size)


async def add_upload(deps: Deps, caller: Caller, request: AddUpload) -> AsyncGenerator[OperationResult]:
    """Yield progress until an uploaded file is searchable or failed, and its documents. Raises InvalidDocument."""
    path, name = _check_path(deps, request.path), clean_name(request.name)
    target = await _open_target(deps, caller.subject, name)
    data = await asyncio.to_thread(read_file_content, path, deps.context.parser_limits.max_file_size)
    keys, is_changed = list[str](), False
    async with aclosing(deps.context.parser.stream(name, data, origin=target.space)) as documents:
        async for parsed in documents:
            key = f"{target.key}#{parsed.key}" if parsed.key else target.key
            title = parsed.title if parsed.key else name
            stated = plausible_time(parsed.time, deps.clock.now(), parsed.day)
            added = replace(
                Document(key, target.space, target.room, title or name, parsed.passages, stated),
                omissions=parsed.omissions,
                coverage=parsed.coverage,
            )
            is_changed |= await target.add(added)
            keys += [] if key in keys else [key]
            yield ProgressUpdate("parsing", len(keys))
    is_changed |= await target.finish(keys)
    async with aclosing(_wait_until_searchable(deps, target, keys)) as steps:
        async for step in steps:
            yield step
    yield UploadResult(tuple(await _list_added(deps, target, keys)), is_changed)


def clean_name(name: str) -> str:
    """The last part of a file name, without what could not be shown or would lead elsewhere. Raises InvalidDocument."""
    last = repair_surrogates(name).replace("\\", "/").rpartition("/")[2]
    shown = "".join(character for character in last if character.isprintable()).strip()
    if not shown.strip("."):
        raise InvalidDocument("The file has no name.", hint="Give it a name with an extension, such as minutes.pdf.")
    if len(shown) <= MAX_NAME_LENGTH:
        return shown
    suffix = Path(shown).suffix[:20]
    return shown[: MAX_NAME_LENGTH - len(suffix)] + suffix


def build_key(space: str, name: str) -> str:
    """The key of an upload to a space of the terminal; no two spaces or files share one, as keys are unique."""
    parts = [name] if space == LOCAL_SPACE else [space, name]
    return ":".join(["upload", *(part.translate(_ESCAPES) for part in parts)])


async def _open_target(deps: Deps, subject: Subject, name: str) -> PersonalFile | _SpaceTarget:
    """Where the files of a subject are added. Raises NotPermitted and NotConnected."""
    if subject.space:
        return _SpaceTarget(deps, subject.space, name)
    parts = await deps.parts.open()
    parts.require_management(subject.platform)
    return await parts.ingest.open_personal_file(subject, name)


class _SpaceTarget:
    """Adds the documents of one file to a space of the terminal."""

    room = UPLOAD_ROOM

    def __init__(self, deps: Deps, space: str, name: str) -> None:
        self._deps = deps
        self.space = space
        self.key = build_key(space, name)

    async def add(self, document: Document) -> bool:
        """Add a document of the file; returns whether anything changed."""
        return await self._deps.replace_document(document)

    async def finish(self, keys: Collection[str]) -> bool:
        """Forget what an earlier version had besides these documents; returns whether there was any."""
        listed = await self._deps.engine.documents.list(build_scope([self.space]))
        old = [text.key for text in listed if text.key.startswith(f"{self.key}#") and text.key not in keys]
        for key in old:
            await self._deps.forget_document(key)
        return bool(old)


def _prepare_folder(folder: Path) -> None:
    """Create the folder, and delete what an ended program left in it. Raises DiskError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise file_write_error(folder, error) from error
    remove_unused(folder)


def _check_path(deps: Deps, path: str) -> Path:
    """The path of a file in the folder of uploads. Raises NotPermitted."""
    file, folder = Path(path), deps.context.upload_dir
    if file.parent != folder or file.is_symlink() or not file.is_file():
        raise NotPermitted("This is not an uploaded file.")
    return file


@dataclass(frozen=True, slots=True)
class _State:
    """How many documents of a file can be found, or failed."""

    done: int
    trouble: str


async def _wait_until_searchable(
    deps: Deps, target: PersonalFile | _SpaceTarget, keys: list[str]
) -> AsyncGenerator[ProgressUpdate]:
    """Yield each change of how many documents of a file are searchable, until all are, or a long time has passed."""
    seen, clock = None, deps.clock
    deadline = clock.monotonic() + WAIT_SECONDS
    while clock.monotonic() < deadline:
        state = await _look_up(deps, target, keys)
        if state != seen:
            yield ProgressUpdate("indexing", state.done, len(keys), state.trouble)
        if state.done >= len(keys):
            return
        seen = state
        await asyncio.sleep(POLL_SECONDS)


async def _look_up(deps: Deps, target: PersonalFile | _SpaceTarget, keys: list[str]) -> _State:
    engine, scope = deps.engine, build_scope([target.space])
    done = 0
    for key in keys:
        try:
            done += (await engine.documents.get_status(key, scope)).status != "pending"
        except NotFound:  # forgotten meanwhile
            done += 1
    return _State(done, "" if engine.maintenance.indexing_error is None else "The index waits for a model.")


async def _list_added(deps: Deps, target: PersonalFile | _SpaceTarget, keys: list[str]) -> list[DocumentInfo]:
    order = {key: number for number, key in enumerate(keys)}
    listed = await deps.engine.documents.list(build_scope([target.space]))
    found = sorted((text for text in listed if text.key in order), key=lambda each: order[each.key])
    if not found:
        raise NotFound("The file was forgotten while it was indexed.")
    return found
