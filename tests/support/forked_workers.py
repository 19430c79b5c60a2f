"""Workers of a test run, forked from the process that has imported and collected all tests.

pytest-xdist collects in each worker: a tenth of the processor time of the whole suite. Its reports and crashes are
those of pytest, so that all that reads them (the terminal, `--last-failed`, `-x`) works as without workers.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from tempfile import TemporaryFile
from typing import Any, Literal, NoReturn

import pytest

WORKER = "TEST_WORKER"  # the variable with the number of a worker, in its environment
PAUSE = 1.0  # seconds after which to look whether workers have ended
GRACE = 10.0  # seconds in which a worker that is stopped can tear down what its tests share
Group = Sequence[int]  # places of tests among those of the session
When = Literal["call", "teardown"]


def is_worker() -> bool:
    """Whether this process is a worker, or a child of one."""
    return WORKER in os.environ


@dataclass(eq=False)
class Worker:
    """A child process that runs groups of tests, as its parent knows it."""

    pid: int
    pipe: Connection
    left: list[int] = field(default_factory=list)  # of its group
    running: bool = False  # the first of them
    last: int | None = None  # that it finished
    is_done: bool = False  # with all tests, and with what they share


class ForkedWorkers:
    """Give the groups of tests in their order to workers; a worker that crashes is replaced."""

    def __init__(self, session: pytest.Session, groups: Iterable[Group], count: int) -> None:
        self._session = session
        self._groups = deque(groups)
        self._count = min(count, len(self._groups))
        self._selector = selectors.DefaultSelector()
        self._started = 0

    def run(self) -> None:
        """Run all groups; returns when each worker has ended."""
        self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        try:
            for _ in range(self._count):
                self._start()
            while self._selector.get_map():
                ready = {key.data for key, _ in self._selector.select(timeout=PAUSE)}
                for worker in ready or self._find_ended():
                    self._read(worker)
                self._check_session()
        finally:
            self._stop([key.data for key in self._selector.get_map().values()])
            self._selector.close()

    def _start(self) -> None:
        ours, theirs = Pipe()
        number, self._started = self._started, self._started + 1
        if (pid := os.fork()) == 0:
            ours.close()
            for key in self._selector.get_map().values():
                key.data.pipe.close()
            work(self._session, number, theirs)
        theirs.close()
        self._selector.register(ours, selectors.EVENT_READ, Worker(pid, ours))

    def _stop(self, workers: Sequence[Worker]) -> None:
        """Let workers tear down, so that no server or browser of a test remains; end those that take too long."""
        for worker in workers:
            os.kill(worker.pid, signal.SIGINT)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline and any(map(is_running, workers)):
            time.sleep(0.05)
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)
            self._remove(worker)

    def _read(self, worker: Worker) -> None:
        match receive(worker):
            case None:
                self._remove(worker)
                self._replace(worker)
            case ("next", _):
                worker.left = [*self._groups.popleft()] if self._groups else []
                with suppress(BrokenPipeError):  # it has ended
                    worker.pipe.send(worker.left)
            case ("start", _):
                worker.running = True
            case ("finish", _):
                worker.running = False
                worker.last = worker.left.pop(0)
            case ("end", _):
                worker.is_done = True
            case ("report", data):
                hook = self._session.config.hook
                report = hook.pytest_report_from_serializable(config=self._session.config, data=data)
                hook.pytest_runtest_logreport(report=report)
            case ("error", text):
                raise RuntimeError(f"a worker failed: {text}")

    def _find_ended(self) -> list[Worker]:
        """Workers that have ended, though a process that they started keeps their pipe open."""
        workers: list[Worker] = [key.data for key in self._selector.get_map().values()]
        return [each for each in workers if not is_running(each)]

    def _remove(self, worker: Worker) -> None:
        self._selector.unregister(worker.pipe)
        worker.pipe.close()
        os.waitpid(worker.pid, 0)

    def _replace(self, worker: Worker) -> None:
        """Report the test with which a worker ended, and leave the others of its group to a new one."""
        if worker.running:
            self._report_end(worker.left.pop(0), "call")
        elif not worker.left and not worker.is_done and worker.last is not None:
            self._report_end(worker.last, "teardown")
        if worker.left:
            self._groups.appendleft(worker.left)
        if self._groups:
            self._start()

    def _report_end(self, place: int, when: When) -> None:
        report = report_failure(self._session.items[place], "it ended its worker process", when)
        self._session.config.hook.pytest_runtest_logreport(report=report)

    def _check_session(self) -> None:
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)


def is_running(worker: Worker) -> bool:
    """Whether the process of a worker has not ended."""
    return os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def receive(worker: Worker) -> tuple[str, Any] | None:
    """The next message of a worker; None if it has ended, also amid a message."""
    with suppress(EOFError, OSError):
        if worker.pipe.poll():
            message: tuple[str, Any] = worker.pipe.recv()
            return message
    return None


def report_failure(item: pytest.Item, text: str, when: When) -> pytest.TestReport:
    """The report of a failure that is no exception of the test itself."""
    return pytest.TestReport(item.nodeid, item.location, dict.fromkeys(item.keywords, 1), "failed", text, when)


class Reporter:
    """Send what happens in a worker to its parent."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self._config, self._pipe = config, pipe

    def pytest_runtest_logstart(self) -> None:
        self._pipe.send(("start", None))

    def pytest_runtest_logfinish(self) -> None:
        self._pipe.send(("finish", None))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._pipe.send(("report", data))


class BetweenGroups:
    """Stands for the next test while it is not known: what belongs to the whole session stays."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def listchain(self) -> list[pytest.Session]:
        return [self._session]


def work(session: pytest.Session, number: int, pipe: Connection) -> NoReturn:
    """Run groups of tests as a worker, until there are none; ends the process."""
    status, items = 1, list[pytest.Item]()
    try:
        become_worker(session.config, number, pipe)
        while group := ask_for_group(pipe):
            items = [session.items[place] for place in group]
            run_tests(session, items)
        if items:
            end_session(session, items[-1])
        pipe.send(("end", None))
        status = 0
    except KeyboardInterrupt:  # also how the parent stops it
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with suppress(BaseException):
            session._setupstate.teardown_exact(None)
    except BaseException:  # noqa: BLE001 - the parent raises it
        with suppress(OSError):
            pipe.send(("error", traceback.format_exc()))
    finally:
        os._exit(status)  # the parent does what is done at the end of a program


def become_worker(config: pytest.Config, number: int, pipe: Connection) -> None:
    """Separate what a process and its parent would share: the terminal, captured output, temporary folders."""
    os.environ[WORKER] = str(number)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / f"worker{number}"
    factory._basetemp.mkdir()
    plugins: Any = config.pluginmanager
    plugins.unregister(name="terminalreporter")
    separate_captured_output(plugins.getplugin("capturemanager"))
    plugins.register(Reporter(config, pipe))


def separate_captured_output(manager: Any) -> None:
    """Give a process files of its own for captured output; libraries hold the objects that write to them."""
    captures = manager._global_capturing
    for capture in (captures.out, captures.err) if captures else ():
        if hasattr(capture, "targetfd"):
            with TemporaryFile(buffering=0) as own:
                os.dup2(own.fileno(), capture.tmpfile.fileno(), inheritable=False)


def ask_for_group(pipe: Connection) -> Group:
    """The next group; it is empty if there is none."""
    pipe.send(("next", None))
    group: Group = pipe.recv()
    return group


def run_tests(session: pytest.Session, items: Sequence[pytest.Item]) -> None:
    """Run the tests of a group."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        hook = session.config.hook
        hook.pytest_runtest_protocol(item=item, nextitem=following or BetweenGroups(session))


def end_session(session: pytest.Session, last: pytest.Item) -> None:
    """Tear down what belongs to the whole session; a failure is that of the last test."""
    try:
        session._setupstate.teardown_exact(None)
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - it is reported
        report = report_failure(last, traceback.format_exc(), "teardown")
        session.config.hook.pytest_runtest_logreport(report=report)


def form_groups(items: Iterable[pytest.Item], find_name: Callable[[pytest.Item], str]) -> list[list[int]]:
    """The places of tests by the name of their group, in the order of their first ones."""
    groups = dict[str, list[int]]()
    for place, item in enumerate(items):
        groups.setdefault(find_name(item), []).append(place)
    return [*groups.values()]
