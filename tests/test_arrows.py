from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).parents[1]
FORBIDDEN = {"engine": ("bot", "adapters", "tests"), "bot": ("adapters", "tests"), "adapters": ("tests",)}

# These speak to libraries that can be told some things through the environment only; they read nothing of ours.
ENVIRONMENT = {
    "bot/settings.py",
    "engine/text/tokenizer.py",
    "engine/storage/vectors/lance.py",
    "engine/llm/client/provider_process.py",
    "engine/llm/client/litellm.py",
}
# The addresses know URL schemes.
PLATFORM_NAMES = {"engine/answers/links/addresses.py"}
TOUCHES = {"environ", "environb", "getenv", "putenv"}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it; `import_module("a.b")` counts too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {
                each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
            }
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_only_inwards(package: str) -> None:
    wrong = {str(path): imported(path) & set(FORBIDDEN[package]) for path in modules(package)}
    assert {path: names for path, names in wrong.items() if names} == {}


def test_the_engine_has_never_heard_of_a_platform() -> None:
    names = {name for path in [*modules("engine"), *modules("bot")] for name in imported(path)}
    assert names.isdisjoint({"slack_sdk", "slack_bolt", "discord", "prompt_toolkit"})


def test_bot_and_engine_name_no_platform() -> None:
    named = {
        str(path.relative_to(ROOT))
        for path in [*modules("engine"), *modules("bot")]
        if re.search("slack|discord", path.read_text(encoding="utf-8"), re.IGNORECASE)
    }
    assert named <= PLATFORM_NAMES


def test_only_the_settings_read_the_environment() -> None:
    touching = set()
    for path in [path for package in FORBIDDEN for path in modules(package)]:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if any(isinstance(node, ast.Attribute) and node.attr in TOUCHES for node in nodes):
            touching.add(str(path.relative_to(ROOT)))
    assert touching <= ENVIRONMENT


@pytest.mark.parametrize("package", FORBIDDEN)
def test_no_file_has_more_than_three_hundred_lines(package: str) -> None:
    long = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules(package)}
    assert {path: lines for path, lines in long.items() if lines > 300} == {}


FOLDERS = sorted({path.parent for package in FORBIDDEN for path in modules(package)})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_holds_at_most_twelve_modules_and_says_what_it_is_for(folder: Path) -> None:
    names = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(names) <= 12
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))


# Which part of the engine may import which: a part is a folder below engine/, or a module beside them.
LEAVES = {"errors", "models", "usage"}
ENGINE_ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "usage": set(),
    "memory": set(),
    "models": set(),
    "process": {"errors"},
    "boundary": {"errors"},
    "data_dir": {"errors", "storage"},
    "text": LEAVES,
    "options": {*LEAVES, "text"},
    "bounds": {*LEAVES, "options"},
    "knowledge": {*LEAVES, "options", "text"},
    "scheduling": {*LEAVES},
    "parsers": {*LEAVES, "options", "text", "process"},
    "llm": {*LEAVES, "options", "text", "process", "scheduling", "memory", "boundary"},
    "storage": {*LEAVES, "options", "text", "knowledge", "scheduling", "memory"},
    "runtime": {*LEAVES, "options", "text", "scheduling", "llm", "storage"},
    "projection": {*LEAVES, "options", "text", "knowledge", "scheduling", "llm", "storage", "runtime", "data_dir"},
    "retrieval": {*LEAVES, "options", "text", "knowledge", "scheduling", "llm", "storage", "runtime"},
    "ingest": {*LEAVES, "options", "text", "knowledge", "scheduling", "llm", "storage", "runtime", "projection"},
    "answers": {
        *LEAVES,
        "options",
        "text",
        "scheduling",
        "llm",
        "storage",
        "runtime",
        "retrieval",
        "bounds",
        "boundary",
    },
    "document_input": {*LEAVES, "boundary", "parsers"},
    "maintenance": {*LEAVES, "options", "scheduling", "storage", "runtime", "projection", "ingest"},
}
# The same of the bot: a part is a folder below bot/, or a module beside them.
_BASE = {"errors", "platform", "text", "texts"}
BOT_ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "text": set(),
    "log_config": set(),
    "monitoring": {"errors"},
    "env_file": {"errors"},
    "settings": {"errors", "env_file"},
    "texts": {"errors", "platform", "text"},
    "platform": {"errors", "text"},
    "store": {"platform"},
    "graph_image": {"platform", "text"},
    "permissions": {*_BASE, "store"},
    "engine_context": {"store"},
    "context": {"errors", "platform", "store", "permissions", "engine_context", "settings"},
    "ingest": {*_BASE, "store", "permissions", "context"},
    "answers": {*_BASE, "store", "permissions", "context", "ingest", "monitoring"},
    "admin": {*_BASE, "store", "permissions", "engine_context", "context", "settings", "ingest"},
    "commands": {*_BASE, "store", "permissions", "context", "settings", "ingest", "answers", "graph_image"},
    "dispatch": {*_BASE, "store", "permissions", "context", "ingest", "answers", "commands", "monitoring"},
    "bot": {
        *{*_BASE, "store", "permissions", "engine_context", "context", "settings", "ingest", "answers", "commands"},
        *{"dispatch", "monitoring"},
    },
    "plugins": {"admin", "bot", "settings"},
    "bootstrap": {"engine_context", "errors", "settings", "store"},
    "server": {"admin", "bootstrap", "bot", "engine_context", "errors", "monitoring", "plugins", "settings", "store"},
    "cli": {"admin", "errors", "log_config", "plugins", "server", "settings", "text", "texts"},
    "__main__": {"cli"},
}
# Which parts of the bot an adapter may import.
_PLATFORM_ADAPTER = {"bot", "commands", "errors", "platform", "settings", "text", "texts"}
ADAPTER_ARROWS: dict[str, set[str]] = {
    "common": {"errors", "platform", "settings", "text"},
    "console": {"admin", "cli", "settings", "text"},
    "discord": _PLATFORM_ADAPTER,
    "slack": _PLATFORM_ADAPTER,
}
COMMAND_TABLE = "bot.commands.table"  # all that an adapter may import of the commands

ABOVE = {"engine", "__init__"}  # the class that opens the engine, and its door, import whatever they need


def part(module: str) -> str:
    """The part of its top-level package that a module belongs to."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


def arrows(package: str, target_package: str = "") -> dict[tuple[str, str], str]:
    """What the parts of a package import of each other or of another package, each with one example.

    Type-only imports count too.
    """
    found: dict[tuple[str, str], str] = {}
    imports_own = not target_package
    for path in modules(package):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for target in imported_modules(path, target_package or package):
            if not imports_own or part(name) != part(target):
                found[part(name), part(target)] = f"{name} imports {target}"
    return found


def imported_modules(path: Path, package: str) -> set[str]:
    """The modules of a package that a file imports."""
    return {
        f"{node.module}.{alias.name}" if node.module == package else node.module or ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package
        for alias in node.names
    }


def test_parts_of_the_engine_import_only_what_lies_below_them() -> None:
    wrong = {
        example
        for (source, target), example in arrows("engine").items()
        if source not in ABOVE and target not in ENGINE_ARROWS[source]
    }
    assert wrong == set()


def test_parts_of_the_bot_import_only_what_the_table_allows() -> None:
    wrong = {example for (source, target), example in arrows("bot").items() if target not in BOT_ARROWS[source]}
    assert wrong == set()


def test_adapters_import_only_the_parts_of_the_bot_that_the_table_allows() -> None:
    wrong = {
        example
        for (source, target), example in arrows("adapters", "bot").items()
        if target not in ADAPTER_ARROWS[source]
    }
    assert wrong == set()


def test_adapters_import_the_command_table_only() -> None:
    found = {module for path in modules("adapters") for module in imported_modules(path, "bot")}
    assert {module for module in found if part(module) == "commands"} <= {COMMAND_TABLE}


@pytest.mark.parametrize("table", [ENGINE_ARROWS, BOT_ARROWS], ids=["engine", "bot"])
def test_a_table_of_arrows_has_no_circle(table: dict[str, set[str]]) -> None:
    tuple(TopologicalSorter(table).static_order())  # raises CycleError


@pytest.mark.parametrize("package", ["bot", "adapters"])
def test_programs_enter_the_engine_by_its_door_only(package: str) -> None:
    inside = {
        f"{path.relative_to(ROOT)}: {node.module}"
        for path in modules(package)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engine.")
        if node.module != "engine.errors"
        if not ((node.module or "").startswith("engine.storage.sqlite") and is_store(path))
    }
    assert inside == set()


def test_the_door_offers_types_and_values_alike() -> None:
    tree = ast.parse((ROOT / "engine" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert typed == {(module, name) for module, names in engine._EXPORTS.items() for name in names}
    assert all(hasattr(engine, name) for name in dir(engine))


def is_store(path: Path) -> bool:
    """Whether a module belongs to the bot's store, which shares the engine's SQLite layer."""
    return path.is_relative_to(ROOT / "bot" / "store")


# The parts of the ledger that the rest of the engine may import, and the modules that may know SQL.
LEDGER_DOORS = {"engine.storage.ledger", "engine.storage.ledger.api", "engine.storage.ledger.records"}
SQL_ROOMS = ("engine/storage/", "bot/store/")
SQL_LIBRARIES = {"sqlite3", "aiosqlite"}
SQL_STATEMENT = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE (VIRTUAL )?TABLE|PRAGMA \w+)\b",
    re.DOTALL,
)
OUTSIDE = [
    path for package in FORBIDDEN for path in modules(package) if not str(path.relative_to(ROOT)).startswith(SQL_ROOMS)
]


def test_the_ledger_is_entered_by_its_doors_only() -> None:
    inside = {
        f"{path.relative_to(ROOT)}: {node.module}.{alias.name}"
        for path in OUTSIDE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engine.storage.ledger")
        for alias in node.names
        if node.module not in LEDGER_DOORS or alias.name not in import_module(node.module or "").__all__
    }
    assert inside == set()


def test_only_the_stores_know_sql() -> None:
    libraries = {f"{path.relative_to(ROOT)}: {name}" for path in OUTSIDE for name in imported(path) & SQL_LIBRARIES}
    statements = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in OUTSIDE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_STATEMENT.search(node.value)
    }
    assert libraries | statements == set()
