"""What every test shares: no network but loopback, and a home of its own."""

from __future__ import annotations

import gc
import itertools
import os
import random
import shutil
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
import structlog
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests.support.forked_workers import ForkedWorkers, form_groups, is_worker
from tests.support.rewritten_tests import rewrite_modules

if TYPE_CHECKING:
    from engine import Engine
    from tests.support.postgres_server import PostgresServer

LOOPBACK = ("127.", "::1", "localhost")

# Every library that could ask the network at import is told not to, before anything imports it.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# Each commit waits for its disk, which is two thirds of the time of a test; a file system in memory does not.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# How fast a machine is, and what it loads first, is no fact about the code. A change of the code decides whether
# the suite passes, never a new seed; `make fuzz` draws new examples.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("random", deadline=None)
settings.load_profile("repeatable")

# By default structlog draws each trace with all local variables, which takes seconds.
structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)
LOGGING = structlog.get_config()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, metavar="N", help="run files in so many processes at once")
    parser.addoption("--renew-golden", action="store_true", help="write the golden files again")
    parser.addoption("--database", choices=["files", "postgres"], default="files", help="where data is kept")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the files in an order drawn with this seed")
    parser.addoption("--share", type=int, default=1, metavar="N", help="run one in N tests, the same ones each time")
    parser.addoption("--long", action="store_true", help="run only what takes long")
    parser.addoption("--thorough", action="store_true", help="try all cases where tests otherwise try a share")


@pytest.hookimpl(trylast=True)  # once a profile is chosen
def pytest_configure(config: pytest.Config) -> None:
    if settings.get_current_profile_name() == "repeatable":
        # Else examples hold constants of what a worker happened to import, for which it parses all modules: 4 seconds.
        pytest.MonkeyPatch().setattr(providers, "_get_local_constants", lambda: providers._local_constants)
    config.addinivalue_line("markers", "files: is about the files of a data directory, also with --database=postgres")
    config.addinivalue_line("markers", "thorough: set on tests that try more cases with --thorough")
    config.addinivalue_line("markers", "share(n): one in n of its parameters runs always, the others are long")
    config.addinivalue_line(
        "markers", "long: takes many seconds; runs with --long or --thorough, or if its file is named"
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that ask for `thorough`, so that `make fuzz` selects them."""
    if "thorough" in getattr(item, "fixturenames", ()):
        item.add_marker("thorough")


# A test that uses one of these parses the source code, which takes four seconds. One worker does.
SOURCE_TREE_READERS = frozenset({"list_modules", "list_nodes", "list_imports", "extract_messages"})

# Tests that load LiteLLM, which takes four seconds of processor time. One worker loads it.
_LLM = "tests/engine/llm"
LITELLM_FILES = {
    *(f"{_LLM}/client/test_{name}.py" for name in ("client", "litellm", "retries")),
    *(f"{_LLM}/test_{name}.py" for name in ("remote_answers", "remote_model", "reranker", "picture_describer")),
    *(f"{_LLM}/replies/test_{name}.py" for name in ("extraction", "texts")),
    *(f"{_LLM}/wire/test_{name}.py" for name in ("reply_parts", "unsent_calls")),
    *(f"{_LLM}/test_embedder.py", f"{_LLM}/traits/test_refused_parameters.py"),
    *("tests/engine/ingest/test_outages.py", "tests/engine/ingest/test_outcomes.py", "tests/test_model_blocks.py"),
    "tests/bot/model_setup/test_checks.py",
    "tests/adapters/web/test_openai_api.py",  # the client of OpenAI, which LiteLLM loads
}

# Files of few, long tests. They start first, so that at the end no worker runs them alone.
LONG_FILES = (
    *("test_leak_test.py", "test_forked_workers.py", "test_copies.py", "test_deletion.py", "test_kills.py"),
    *("test_both_databases.py", "test_accessibility.py", "test_login.py", "test_entered_files.py", "test_ask.py"),
    *("test_golden_texts.py", "test_sequences.py", "test_source_template.py", "test_train.py", "test_watchdog.py"),
    *("test_outages.py", "test_linear_time.py", "test_bot_killed.py", "test_graph_contract.py", "test_downtime.py"),
    *("test_processes.py", "test_many_engines.py", "test_vectors_contract.py", "test_damaged_files.py"),
    *("test_crash.py", "test_demo_town.py", "test_archive_databases.py", "test_examples.py", "test_commands.py"),
    *("test_slack_many_channels.py", "test_corrections.py", "test_subprocess.py", "test_history_import.py"),
    *("test_crash_safety.py", "test_papers.py", "test_demo_days.py", "test_litellm_memory.py"),
    *("test_hostile_working_dir.py", "test_postgres.py", "test_visibility_changes.py", "test_adapter_template.py"),
    *("test_api_visibility.py", "test_hostile_replies.py", "test_event_delivery.py", "test_capability.py"),
    *("test_maintenance.py", "test_doctor.py", "test_journal.py", "test_uploads.py", "test_answers_withdrawn.py"),
    *("test_sources.py", "test_state.py", "test_checks.py", "test_full_disk.py", "test_room_moves.py"),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out long tests, and order files: those that take long, those with many tests; or all by `--shuffle`."""
    mark_shares(items)
    if not config.getoption("--thorough"):
        named = find_named_files(config.args, config.invocation_params.dir)
        only_long = config.getoption("--long")
        left_out = {
            item
            for item in items
            if (item.get_closest_marker("long") is None) is only_long and (only_long or item.path not in named)
        }
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    if (share := config.getoption("--share")) > 1:
        items[:] = [item for item in items if crc32(item.name.encode()) % share == 0]
    counts = Counter(item.path for item in items)
    rank = {name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: (rank.get(item.path.name, len(rank)), -counts[item.path], item.path))
    if (seed := config.getoption("--shuffle")) is not None:
        shuffle_files(items, random.Random(seed))


def mark_shares(items: Iterable[pytest.Item]) -> None:
    """Of the parameters of a test that is marked `share(n)`, mark all but each n-th as long."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("share") and not item.get_closest_marker("long"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, cases in tests.items():
        share = next(mark.args[0] for mark in cases[0].iter_markers("share"))
        drawn = crc32(name.encode()) % min(share, len(cases))
        for place, case in enumerate(cases):
            if place % share != drawn:
                case.add_marker("long")


def is_drawn(test: str, one_in: int) -> bool:
    """Whether a test is one of those that run always, of which there is one in so many."""
    return crc32(test.encode()) % one_in == 0


def find_named_files(arguments: Iterable[str], folder: Path) -> set[Path]:
    """The files that a command line names, by themselves or with a test in them; folders do not count."""
    paths = ((folder / argument.split("::")[0]).resolve() for argument in arguments)
    return {path for path in paths if path.is_file()}


def name_group(item: pytest.Item) -> str:
    """The group of a test: its file, or all files that look at the same large thing."""
    file = item.nodeid.partition("::")[0]
    if isinstance(item, pytest.Function) and not SOURCE_TREE_READERS.isdisjoint(vars(item.module)):
        return "source trees"
    return "litellm" if file in LITELLM_FILES else file


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Give groups of tests to several workers, if there shall be some."""
    workers = session.config.getoption("--workers")
    if workers <= 1 or session.config.option.collectonly or session.testsfailed or not hasattr(os, "fork"):
        return None
    load_tables()
    ForkedWorkers(session, form_groups(session.items, name_group), workers).run()
    return True


def load_tables() -> None:
    """Load once for all workers what most tests use and takes a while; it has no threads, which a fork would end."""
    from bot.i18n import TRANSLATIONS, load_catalog  # noqa: PLC0415 - after the environment is set
    from bot.text.speech.kinds.weights import read_weights  # noqa: PLC0415
    from engine.llm.formats.thinking import strip_thinking  # noqa: PLC0415
    from engine.text.tokenizer import O200kTokenizer  # noqa: PLC0415

    O200kTokenizer().encode("one")
    strip_thinking("<think>two</think> three")
    read_weights()
    for language in TRANSLATIONS:
        load_catalog(language)


def shuffle_files(items: list[pytest.Item], draw: random.Random) -> None:
    """Draw an order of the files, and of the tests within each; tests of a file stay together."""
    place = {path: draw.random() for path in dict.fromkeys(item.path for item in items)}
    items.sort(key=lambda item: (place[item.path], draw.random()))


# What is loaded for all tests lives until the end. A full search for garbage would look at all of it each time, which
# takes a third of the processor time of the tests.
@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Look for no garbage during collection, and afterwards not in what lives until the end."""
    if hasattr(os, "fork"):
        rewrite_modules(session.config, min(session.config.getoption("--workers"), os.cpu_count() or 1))
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


class NetworkForbiddenError(RuntimeError):
    """A test tried to leave the machine."""


@pytest.fixture(scope="session", autouse=True)
def only_loopback() -> Iterator[None]:
    """Connections to anything but this machine fail."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not str(address[0]).startswith(LOOPBACK):
            raise NetworkForbiddenError(f"a test tried to reach {address!r}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(scope="session")
def home_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for tests that have none of their own; to make one for each of ten thousand takes a while."""
    base = tmp_path_factory.mktemp("home_folders")
    return (base / str(number) for number in itertools.count())


# One fixture without others below it: each costs a tenth of the time of a small test.
@pytest.fixture(autouse=True)
def own_home(request: pytest.FixtureRequest, home_folders: Iterator[Path]) -> Iterator[None]:
    """No test sees the settings or the data of the person who runs it, and none sets up a log for those after it."""
    home = request.getfixturevalue("tmp_path") / "home" if "tmp_path" in request.fixturenames else next(home_folders)
    before = take_settings()
    os.environ["THREADLORE_DATA_DIR"] = str(home)
    os.environ["THREADLORE_DISK_RESERVE_MB"] = "0"  # many home_folders at once
    yield
    take_settings()
    os.environ.update(before)
    structlog.configure(**LOGGING)


def take_settings() -> dict[str, str]:
    """Remove the settings of the program from the environment."""
    return {name: os.environ.pop(name) for name in [*os.environ] if name.startswith("THREADLORE_")}


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Whether to try all cases, as `make fuzz` does, or the fixed share of them that the whole suite tries."""
    return bool(pytestconfig.getoption("--thorough"))


@pytest.fixture(scope="session", autouse=True)
def shared_minilm() -> Iterator[None]:
    """Embedders of a worker share the loaded model."""
    from tests.support.shared_minilm import load_minilm_once  # noqa: PLC0415 - after the environment is set

    with load_minilm_once():
        yield


@pytest.fixture(scope="session", autouse=True)
def empty_databases() -> Iterator[None]:
    """New databases of a worker are copies."""
    from tests.support.empty_databases import copy_new_databases  # noqa: PLC0415 - after the environment is set

    with copy_new_databases():
        yield


@pytest.fixture
def compare_with_golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file, or write the file again with --renew-golden."""
    from tests.support import golden  # noqa: PLC0415 - most tests need none

    return partial(golden.compare_with_golden, renew=bool(request.config.getoption("--renew-golden")))


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The PostgreSQL server that all workers of this run share; it starts with the first test that asks for it."""
    from tests.support.postgres_server import share_server  # noqa: PLC0415 - most tests need none

    base = tmp_path_factory.getbasetemp()
    server = share_server(base.parent if is_worker() else base)
    yield server
    server.release()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of a fresh, empty PostgreSQL database with pgvector."""
    from tests.support.postgres_server import fresh_database  # noqa: PLC0415 - most tests need none

    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(autouse=True)
def database(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --database=postgres, every data directory of a test has a database of the server, unless it is `files`."""
    if request.config.getoption("--database") == "files" or request.node.get_closest_marker("files"):
        yield
        return
    from tests.support.databases import use_server  # noqa: PLC0415 - most tests need none

    with use_server(request.getfixturevalue("postgres_server")):
        yield


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on the real stores, in a folder of its own."""
    from tests.support.engine_fixture import open_engine  # noqa: PLC0415 - most tests need no engine

    async with open_engine(tmp_path / "engine") as opened:
        yield opened
