"""No task and no thread of the program may die unseen: whoever starts one is supervised, or awaits its end."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.support.source_trees import PACKAGES, ROOT, list_modules, list_nodes, name_of

STARTERS = {"create_task", "ensure_future", "TaskGroup", "run_coroutine_threadsafe", "start_new_thread"}
THREADS = {"Thread", "Timer"}
AWAITED = {"gather", "shield", "to_thread", "run_in_executor", "wait_for"}

# Where tasks may be started without a supervisor, and who learns of their failures.
REASONS = {
    "engine/scheduling/supervisor.py": "the supervisor itself, and tasks whose owner awaits them before it ends",
    "engine/storage/search_gate.py": "everyone who joined the search awaits it to its end",
    "engine/text/tokenizer.py": "whoever needs what it loads loads it again, and is told",
    "engine/storage/sqlite/database.py": "whoever takes the reader awaits it, or the next one opens another",
    "engine/storage/memory_copy.py": "the next read raises the failure of a load; an improvement logs its own",
    "engine/storage/postgres/connection.py": "the statement's caller awaits it, or the release of its connection",
    "engine/storage/postgres/database.py": "the holder of the connection awaits it",
    "engine/storage/postgres/pool.py": "it closes what nobody uses any more",
    "engine/storage/postgres/process_registry.py": "awaited in the same call",
    "engine/projection/projector.py": "the next step, or the end, awaits the delivery",
    "engine/llm/client/subprocess_main.py": "every task answers with its failure; the thread's end ends the process",
    "engine/llm/client/subprocess.py": "its end is told to all who wait, and awaited when the process is ended",
    "bot/platform/ttl_cache.py": "whoever asks is told of the failure; what was not foreseen is logged",
    "bot/permissions/shared_audiences.py": "the comparison that ends the suspension awaits it first",
    "bot/monitoring/watchdog.py": "without it the process ends",
    "bot/rpc/lifecycle.py": "its end cancels the block, and the timer ends the process",
    "bot/monitoring/probes.py": "whoever asks is told of the failure",
    "bot/rpc/socket.py": "its failure ends the server, which awaits it",
    "bot/rpc/session.py": "its end is observed, and raised in the block",
    "bot/capabilities/maintenance/archive_key.py": "its failure is raised where the stream is read or closed",
    "bot/capabilities/ingest/ingest.py": "every result is taken, or awaited at the end",
    "bot/ingest/sync/queue.py": "its end is awaited, and raises what failed",
    "bot/answers/delivery.py": "failures of writes are logged, and the end of the answer awaits it",
    "bot/answers/attachments.py": "the answer awaits it",
    "adapters/discord/interactions/interactions.py": "awaited in the same call",
    "adapters/console/terminal_input.py": "a failure ends the prompt, which raises it",
}


def started(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The calls that start a task or a thread, with their lines."""
    for node in nodes:
        if isinstance(node, ast.Call) and name_of(node) in STARTERS | THREADS:
            yield f"{name_of(node)} in line {node.lineno}"


def dropped(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The calls whose results are thrown away though failures come with them."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and name_of(node.value) in AWAITED:
            yield f"{name_of(node.value)} in line {node.lineno}"


@pytest.mark.parametrize("package", PACKAGES)
def test_tasks_and_threads_are_started_by_the_supervisor_or_for_a_reason(package: str) -> None:
    found = {str(path.relative_to(ROOT)): list(started(list_nodes(path))) for path in list_modules(package)}
    assert {path: calls for path, calls in found.items() if calls and path not in REASONS} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_that_can_fail_is_begun_and_dropped(package: str) -> None:
    found = {str(path.relative_to(ROOT)): list(dropped(list_nodes(path))) for path in list_modules(package)}
    assert {path: calls for path, calls in found.items() if calls} == {}


def test_every_reason_is_needed() -> None:
    idle = {path for path in REASONS if not (ROOT / path).exists() or not list(started(list_nodes(ROOT / path)))}
    assert idle == set()


@pytest.mark.parametrize(
    "code", ["asyncio.create_task(x())", "loop.create_task(x())", "TaskGroup()", "threading.Thread(target=x).start()"]
)
def test_a_bare_start_is_noticed(code: str) -> None:
    assert list(started(ast.walk(ast.parse(code))))


def test_a_dropped_result_is_noticed() -> None:
    assert list(dropped(ast.walk(ast.parse("asyncio.gather(x(), y())"))))
    assert not list(dropped(ast.walk(ast.parse("async def f(): await asyncio.gather(x(), y())"))))
