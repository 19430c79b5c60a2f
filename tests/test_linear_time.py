"""Patterns and scanners that see foreign text cost no more than twice as much for twice the text.

Both are found by walking the modules: every compiled pattern of a module or class, and every public function of a
module without I/O whose arguments can be made of a text alone. Each is tried on one of SHARE hostile texts, another one
for another name; on all of them with --thorough.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import itertools
import pkgutil
import re
import signal
import time
import types
import typing
from collections import abc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import adapters
import bot
import engine
from engine.text.patterns import LatePattern
from tests.support.source_trees import ROOT, list_imports, list_modules, list_nodes, relative_name

_parser: Any = importlib.import_module("re._parser")
SIZE, SHORTEST = 1_000, 250  # characters
QUICK = 0.0006  # seconds; the square of SIZE in steps of a pattern takes several times as long
LONG = 2 * QUICK  # a slow call is measured on texts that take about as long
MOST = 2.5**2  # times as long for twice the text twice over: over two doublings, chance counts less
CONFIRMED = 11.0  # times as long for four times the text again: a line takes 4, a square 16
CHANCES = 2, 4, 9  # calls in each of the measurements that must all say so: the machine may be busy
TICK = 0.004  # seconds
LATE = 3.0  # seconds after which one call has failed
SHARE = 72  # one in so many texts is tried

SINGLE = "aA1é字 \t\n\r.,;:!?-_'\"`~*#@&$%/\\|<>()[]{}=+^€\u00a0\u2028’“–\x00\x1f\u200b。"
REPEATED = (
    *SINGLE,
    "a ", "A ", "Aa ", "a.", "a-", "a,", "a\n", "a:", "a: ", "a@", "a)", "(a", "1.", "1 ", "1,", "[1", "[a", "](",
    "a](", "[]", "()", "((", "[[", "\\[", "<a", "<@", "<@a|", "</", "<!--", "<|", "|>", "<script", "<a href='", "![",
    "&#1;", "&a;", "```", "~~~", "`a`", "``", "**", "- ", "* ", " \n", "  \n", "\n\n", "\n ", "\r\n", "\n---\n",
    "a:b\n", ". ", "? ", "' ", '" ', "|-", "-|", ":-", ":-:|", "| a ", "https://", "www.", "www.a", "http://a/(",
    "a.example ", "\\\\'", " and ", "\tand", "Ada (2026-05-18 09:20): ", "[2026-05-18 09:20] Ada: x\n", "how many ",
    "what did he ", "@here ", "<t:1:R>", '{"a":', '["[', '{"a": ["', "&#91;", "[1,",
)  # fmt: skip
IO = {"asyncio", "aiohttp", "aiosqlite", "sqlite3", "os", "shutil", "socket", "subprocess", "tempfile", "threading"}
SANDBOXED = "engine.parsers."  # parsers run in a process of their own, with a limit of time; their patterns are tested
IO |= {"kreuzberg", "kuzu", "lancedb", "discord", "slack_bolt", "slack_sdk", "litellm", "matplotlib", "typer", "signal"}


class Late(Exception):
    pass


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@cache
def modules() -> tuple[types.ModuleType, ...]:
    """All modules of the product; importing them takes seconds, so no test is collected from them."""
    packages = (pkgutil.walk_packages(each.__path__, f"{each.__name__}.") for each in (engine, bot, adapters))
    names = (found.name for found in itertools.chain(*packages))
    return tuple(importlib.import_module(name) for name in names if not name.endswith("__main__"))


def took(call: Callable[[str], object], text: str) -> float:
    """Seconds of one call; endless if it is too late. What it raises is its answer.

    On some machines the processor's clock counts in steps of TICK, and the wall's goes on while others run.
    """
    gc.disable()  # a collection of what other tests left takes longer than most calls
    start, start_cpu = time.perf_counter(), time.thread_time()
    try:
        with limited(LATE):
            result = call(text)
            if isinstance(result, abc.Iterator):
                for _ in result:
                    pass
    except Late:
        return float("inf")
    except Exception:  # noqa: BLE001  - what it refuses is refused in time
        pass
    finally:
        spent = min(time.perf_counter() - start, time.thread_time() - start_cpu + TICK)
        gc.enable()
    return spent


def texts(size: int, literals: Iterable[str], ends: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Hostile texts by name: of `size` characters, of 4 and of 16 times as many. A run may end at something else."""
    sizes = (size, 4 * size, 16 * size)
    for unit, end in itertools.product((*REPEATED, *literals), ends):
        yield f"{unit!r} … {end!r}", [unit * (each // len(unit) + 1) + end for each in sizes]
    for literal, unit in itertools.product(literals, (" ", "a", "1", ".", "\n", "-", "(", "a ")):
        yield f"{literal!r} + {unit!r}", [literal + unit * (each // len(unit)) for each in sizes]


def choose_texts(name: str, *, thorough: bool) -> slice:
    """Which of the texts are tried for a name: all, or one in SHARE from a place that depends on the name."""
    return slice(None) if thorough else slice(crc32(name.encode()) % SHARE, None, SHARE)


def growth(
    call: Callable[[str], object], those: slice, literals: Iterable[str] = (), ends: Iterable[str] = ("",)
) -> str:
    """The first of `those` texts on which the call grows faster than the text, with the factor; empty if there is none.

    A slow call is measured on shorter texts. Only a text that takes much longer than plain words is measured again.
    """
    plain = "plain words "
    cost = min(took(call, plain * (SIZE // len(plain))) for _ in range(2)) / SIZE
    size = SIZE if cost * SIZE < LONG else max(SHORTEST, int(LONG / cost))
    for name, (short, long, longest) in itertools.islice(
        texts(size, literals, ends), those.start, those.stop, those.step
    ):
        if took(call, long) < max(2 * QUICK, 16 * cost * size):
            continue
        for repeats in CHANCES:
            once, more = (min(took(call, text) for _ in range(repeats)) for text in (short, long))
            if more == float("inf"):
                return f"{name}: no end"
            if more < 2 * QUICK or more <= MOST * once:
                break
            pairs = [(took(call, long), took(call, longest)) for _ in range(repeats)]
            more, most = (min(each) for each in zip(*pairs, strict=True))  # splitting a text over a limit costs once
            if most <= CONFIRMED * more:
                break
        else:
            return f"{name}: {more * 1000:.0f} ms, ×{most / more:.1f} for four times the text"
    return ""


def compiled(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, LatePattern):
        yield value.compile()
    elif isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, dict):
        for each in itertools.chain(value.keys(), value.values()):
            yield from compiled(each, depth + 1)
    elif depth < 4 and isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from compiled(each, depth + 1)


def area_of(name: str) -> str:
    """The package of something, and the folder or module below it."""
    return ".".join(name.split(".")[:2])


AREAS = sorted({area_of(".".join(path.relative_to(ROOT).with_suffix("").parts)) for path in list_modules()})
every_area = pytest.mark.parametrize("area", AREAS)


@cache
def patterns() -> dict[re.Pattern[Any], str]:
    found: dict[re.Pattern[Any], str] = {}
    for module in modules():
        for name, value in vars(module).items():
            inner = vars(value).items() if isinstance(value, type) and value.__module__ == module.__name__ else ()
            for where, each in [(name, value), *((f"{name}.{inside}", each) for inside, each in inner)]:
                for pattern in compiled(each):
                    found.setdefault(pattern, f"{module.__name__}.{where}")
    return found


def literals_of(pattern: re.Pattern[Any]) -> list[str]:
    """The words that stand in a pattern, by which its inner parts are reached."""
    found: set[str] = set()

    def walk(parsed: Any) -> None:
        word = ""
        for name, value in [*parsed, (None, None)]:
            if name is _parser.LITERAL:
                word += chr(value)
                continue
            found.update({word} - {""})
            word = ""
            if name is _parser.BRANCH:
                for branch in value[1]:
                    walk(branch)
            elif isinstance(value, tuple):
                for part in value:
                    if isinstance(part, _parser.SubPattern):
                        walk(part)
            elif isinstance(value, _parser.SubPattern):
                walk(value)

    walk(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    return sorted(found)[:8]


def search(pattern: re.Pattern[Any]) -> Callable[[str], object]:
    def run(text: str) -> None:
        subject = text.encode() if isinstance(pattern.pattern, bytes) else text
        pattern.fullmatch(subject)
        for _ in pattern.finditer(subject):
            pass

    return run


@pytest.mark.share(4)
@every_area
def test_patterns_are_linear(area: str, *, thorough: bool) -> None:
    growths = [
        (name, growth(search(each), choose_texts(name, thorough=thorough), literals_of(each), ends=("", "x")))
        for each, name in patterns().items()
        if area_of(name) == area
    ]
    assert [(name, wrong) for name, wrong in growths if wrong] == []


def test_every_fixed_pattern_stands_in_a_module_where_this_test_finds_it() -> None:
    """One that is made of parts known only at run time is exempt if all its text is fixed or escaped."""
    wrong = []
    for path in list_modules():
        for function in list_nodes(path) if ("re", "") in list_imports(path) else ():
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    match node:
                        case ast.Call(ast.Attribute(ast.Name("re"), name), [ast.Constant() | ast.BinOp(), *_]):
                            if name != "escape":
                                wrong.append(f"{relative_name(path)}:{node.lineno}")
    assert wrong == []


class Unmade(Exception):
    pass


@cache
def names() -> dict[str, Any]:
    """All that annotations may mean, also what is imported for them alone."""
    found: dict[str, Any] = vars(typing) | vars(abc) | {"datetime": datetime, "date": date, "Path": Unmade}
    for module in modules():
        found |= {name: value for name, value in vars(module).items() if isinstance(value, type)}
    return found


COLLECTIONS: dict[Any, Callable[[list[Any]], Any]] = {
    **dict.fromkeys((tuple, abc.Sequence, abc.Iterable, abc.Collection), tuple),
    list: list,
    set: set,
    frozenset: frozenset,
    abc.Set: frozenset,
    abc.Iterator: iter,
}


def made(hint: Any, text: str, depth: int = 0) -> Any:
    """A value of that type which holds the text wherever it can."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if depth > 4:
        raise Unmade
    if hint in (str, Any, bytes, int, float, bool, type(None), datetime):
        day = datetime(2026, 11, 20, tzinfo=UTC)
        return {bytes: text.encode(), int: 100, float: 1.0, bool: True, type(None): None, datetime: day}.get(hint, text)
    if origin in (typing.Union, types.UnionType):
        return made(inner[0], text, depth)
    if origin is typing.Literal:
        return inner[0]
    if origin is abc.Callable:
        return len if inner[-1] in (int, float) else lambda *_: made(inner[-1], text, depth + 1)
    return collection(hint, text, depth + 1)


def collection(hint: Any, text: str, depth: int) -> Any:
    """A collection of one such value, a fixed tuple, or a record."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return tuple(made(each, text, depth) for each in inner)
    if origin in COLLECTIONS:
        return COLLECTIONS[origin]([made(inner[0], text, depth)])
    if not (isinstance(hint, type) and is_dataclass(hint)):
        raise Unmade
    hints = typing.get_type_hints(hint, names(), names())
    needed = (f for f in fields(hint) if f.init and f.default is MISSING and f.default_factory is MISSING)
    return hint(**{f.name: made(hints[f.name], text, depth) for f in needed})


@cache
def scanners() -> dict[str, Callable[[str], object]]:
    found: dict[str, Callable[[str], object]] = {}
    for module in modules():
        imported = {name.partition(".")[0] for name, _ in list_imports(Path(str(module.__file__)))}
        if imported & IO or module.__name__.startswith(SANDBOXED):
            continue
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("_") and function.__module__ == module.__name__ and (call := scanner(function)):
                found[f"{module.__name__}.{name}"] = call
    return found


def scanner(function: Callable[..., Any]) -> Callable[[str], object] | None:
    """The function as one of a text; None if its arguments cannot be made of one, or hold none."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return None
    try:
        hints = typing.get_type_hints(function, names(), names())
        needed = {
            name: hints[name]
            for name, parameter in inspect.signature(inspect.unwrap(function)).parameters.items()
            if parameter.default is inspect.Parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        }
        if "xyzzy" not in repr([made(hint, "xyzzy") for hint in needed.values()]):
            return None
    except Exception:  # noqa: BLE001  - of other arguments than texts and records
        return None
    positional = inspect.signature(inspect.unwrap(function)).parameters

    def run(text: str) -> object:
        values = {name: made(hint, text) for name, hint in needed.items()}
        args = [values.pop(name) for name in needed if positional[name].kind is positional[name].POSITIONAL_ONLY]
        return function(*args, **values)

    return run


@pytest.mark.share(4)
@every_area
def test_scanners_are_linear(area: str, *, thorough: bool) -> None:
    growths = [
        (name, growth(call, choose_texts(name, thorough=thorough)))
        for name, call in scanners().items()
        if area_of(name) == area
    ]
    assert [(name, wrong) for name, wrong in growths if wrong] == []


def test_the_walk_finds_patterns_and_scanners() -> None:
    assert len(patterns()) > 80
    assert len(scanners()) > 150
