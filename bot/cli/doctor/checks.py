"""The checks. To add one, write a function and add it to `CHECKS`."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import structlog

from bot.capabilities.requests import CheckHealth
from bot.cli.doctor.data import check_backups, check_database, check_encryption
from bot.cli.doctor.finding import Finding
from bot.cli.doctor.services import (
    check_languages,
    check_model_roles,
    check_parser_service,
    check_platforms,
    check_running,
    check_versions,
)
from bot.errors import BadSetting, PortInUse
from bot.monitoring.health import ServerHealth, serve_monitoring
from bot.monitoring.metrics import Metrics
from bot.monitoring.port import UNSERVED
from bot.monitoring.report import HealthState
from bot.rpc.socket import find_service
from engine import ParserLimits
from engine.errors import EngineError
from engine.parsers.sandbox.probe import SandboxProbe

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bot.cli.doctor.finding import Check, CheckContext
    from bot.settings import Settings

log = structlog.get_logger(__name__)

GIB = 2**30
MIN_FREE_BYTES, FEW_FREE_BYTES = GIB // 10, 2 * GIB
MAX_AHEAD_SECONDS = 24 * 3600.0  # by which a file may be newer than the clock
ANSWER_SECONDS = 5.0  # for the process that holds the data directory
OTHERS = stat.S_IRWXG | stat.S_IRWXO
SANDBOX_HINT = (
    "Landlock needs Linux 5.13 or later with Landlock switched on (lsm=…,landlock); seccomp needs x86-64 or arm64; a"
    " container must permit both."
)


async def check_data_dir(context: CheckContext) -> Finding:
    """Whether the data directory can be written, and read by its owner only."""
    name, path = "data directory", context.settings.data_path
    if not path.exists():
        parent = _find_existing(path)
        if os.access(parent, os.W_OK | os.X_OK):
            return Finding(name, "ok", f"{path} does not exist yet, and can be created.")
        return Finding(name, "failed", f"{path} cannot be created.", f"Make {parent} writable, or choose another one.")
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding(name, "failed", f"{path} cannot be written.", "Give this user the rights to it.")
    found = path.stat()
    if found.st_uid != os.getuid() and os.getuid() != 0:
        return Finding(name, "failed", f"{path} belongs to another user.", "Run the program as that user.")
    if found.st_mode & OTHERS:
        return Finding(name, "warning", f"Other users can open {path}.", f"chmod go-rwx {path}")
    return Finding(name, "ok", f"{path} is private, and can be written.")


async def check_disk_space(context: CheckContext) -> Finding:
    """Whether there is space for data."""
    name, path = "disk space", _find_existing(context.settings.data_path)
    free = shutil.disk_usage(path).free
    text, hint = f"{free / GIB:.1f} GiB are free for the data directory.", "Free some space, or move the directory."
    if free < MIN_FREE_BYTES:
        return Finding(name, "failed", text, hint)
    return Finding(name, "warning", text, hint) if free < FEW_FREE_BYTES else Finding(name, "ok", text)


async def check_clock(context: CheckContext) -> Finding:
    """Whether the clock runs behind the newest file of the data directory."""
    now, path = context.clock.now(), context.settings.data_path
    ahead = max(_list_times(path), default=0.0) - now.timestamp()
    if ahead > MAX_AHEAD_SECONDS:
        text = f"It is {now:%Y-%m-%d %H:%M} UTC by the clock, and a file is {ahead / 86400:.0f} days newer."
        return Finding("clock", "failed", text, "Set the clock of the machine; deleting by age would follow it.")
    return Finding("clock", "ok", f"It is {now:%Y-%m-%d %H:%M} UTC.")


def _list_times(folder: Path) -> list[float]:
    """The times of the entries of a folder; one that vanishes meanwhile is left out, and a link is not followed."""
    times = list[float]()
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            times.append(path.lstat().st_mtime)
    return times


async def check_sandbox(context: CheckContext) -> Finding:
    """Whether all of the boundary around parsers is there, and needed."""
    state = await SandboxProbe(ParserLimits()).get_state()
    details = ", ".join(f"{name} {what}" for name, what in state.list_mechanisms())
    if state.is_complete:
        return Finding("sandbox", "ok", f"Parsers of files reach nothing else ({details}).")
    is_required = context.settings.require_sandbox
    text = f"Parsers of files lack {' and '.join(state.missing)} ({details})."
    return Finding("sandbox", "failed" if is_required else "warning", text, SANDBOX_HINT)


async def check_probes(context: CheckContext) -> Finding:
    """Whether the probes and metrics are or can be served on their port."""
    settings = context.settings
    name, address = "probes", f"{settings.monitoring_host}:{settings.monitoring_port}"
    if not settings.monitoring_port:
        return Finding(name, "ok", "None are served, because THREADLORE_MONITORING_PORT is not set.")
    try:
        async with serve_monitoring(settings.monitoring_host, settings.monitoring_port, _unread_health(context)):
            return Finding(name, "ok", f"{address} is free.")
    except BadSetting as error:
        return Finding(name, "failed", str(error), error.hint)
    except PortInUse as error:
        if (found := await _find_health(settings)) is None:
            return Finding(name, "warning", f"Another program has {address}.", error.hint)
        if unserved := next((reason for reason in found.reasons if reason.startswith(UNSERVED)), ""):
            return Finding(name, "warning", unserved, error.hint)
        return Finding(name, "ok", f"The running process serves them at {address}.")


def _unread_health(context: CheckContext) -> ServerHealth:
    return ServerHealth(Metrics(context.clock))


async def _find_health(settings: Settings) -> HealthState | None:
    """What the process that holds the data directory says; None if there is none, or it does not answer."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            if (running := await find_service(settings.data_path)) is not None:
                async with aclosing(running.perform(CheckHealth())) as results:
                    async for result in results:
                        if isinstance(result, HealthState):
                            return result
    except (EngineError, TimeoutError):
        pass
    return None


def _find_existing(path: Path) -> Path:
    """The path itself, or the nearest folder above it that exists."""
    return next(parent for parent in (path, *path.parents) if parent.exists())


async def run_checks(context: CheckContext, checks: Mapping[str, Check] | None = None) -> list[Finding]:
    """What all checks find; one that cannot be finished is a finding, too, and the others still run."""
    found = [await _run_guarded(name, check, context) for name, check in (checks or CHECKS).items()]
    return [finding for some in found for finding in some]


async def _run_guarded(name: str, check: Check, context: CheckContext) -> list[Finding]:
    try:
        found = await check(context)
    except Exception as error:  # the other checks still say what they find
        log.debug("doctor.check_failed", exc_info=True)
        hint = getattr(error, "hint", "") or "Run it again with threadlore --debug doctor."
        return [Finding(name, "failed", f"The check could not be finished: {_describe(error)}", hint)]
    return found if isinstance(found, list) else [found]


def _describe(error: Exception) -> str:
    """What went wrong, in a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}."
    text = str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"
    return text if text.endswith(".") else f"{text}."


CHECKS: Mapping[str, Check] = {
    "versions": check_versions,
    "data directory": check_data_dir,
    "disk space": check_disk_space,
    "encryption": check_encryption,
    "clock": check_clock,
    "database": check_database,
    "backups": check_backups,
    "bot": check_running,
    "platforms": check_platforms,
    "models": check_model_roles,
    "languages": check_languages,
    "parser service": check_parser_service,
    "sandbox": check_sandbox,
    "probes": check_probes,
}
