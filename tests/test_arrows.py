"""The layers: which part of the product may import which, and who may know the environment, platforms and SQL."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import engine
from tests.support.source_trees import (
    PACKAGES,
    ROOT,
    list_imports,
    list_modules,
    list_nodes,
    parse_module,
    relative_name,
)

OURS = {"tests", "benchmarks"}
FORBIDDEN = {"engine": {"bot", "adapters", *OURS}, "bot": {"adapters", *OURS}, "adapters": OURS}
PLATFORM_LIBRARIES = {"slack_sdk", "slack_bolt", "discord", "prompt_toolkit"}
every_package = pytest.mark.parametrize("package", PACKAGES)

# These speak to libraries that can be configured through the environment only; they read nothing of ours.
ENVIRONMENT = {
    "bot/settings.py",
    "engine/text/tokenizer.py",
    "engine/storage/vectors/lance.py",
    "engine/llm/client/subprocess.py",
    "engine/llm/client/litellm.py",
    "engine/llm/minilm/__init__.py",
    "adapters/sources/git_program.py",
}
# The addresses know URL schemes.
PLATFORM_NAMES = {"engine/answers/links/addresses.py"}
TOUCHES = {"environ", "environb", "getenv", "putenv"}


def imported_packages(path: Path) -> set[str]:
    return {module.partition(".")[0] for module, _ in list_imports(path)}


@every_package
def test_imports_point_only_inwards(package: str) -> None:
    wrong = {relative_name(path): imported_packages(path) & FORBIDDEN[package] for path in list_modules(package)}
    assert {path: names for path, names in wrong.items() if names} == {}


def test_bot_and_engine_know_no_platform() -> None:
    modules = list_modules("engine", "bot")
    assert {name for path in modules for name in imported_packages(path)}.isdisjoint(PLATFORM_LIBRARIES)
    named = {path for path in modules if re.search("slack|discord", path.read_text(encoding="utf-8"), re.IGNORECASE)}
    assert set(map(relative_name, named)) <= PLATFORM_NAMES


def test_only_the_settings_read_the_environment() -> None:
    touching = {
        relative_name(path)
        for path in list_modules()
        if any(isinstance(node, ast.Attribute) and node.attr in TOUCHES for node in list_nodes(path))
    }
    assert touching <= ENVIRONMENT


def test_only_the_embedder_imports_onnxruntime() -> None:
    """Its package switches off the telemetry of onnxruntime; so no other module may load it."""
    importing = {relative_name(path) for path in list_modules() if "onnxruntime" in imported_packages(path)}
    assert importing
    assert {Path(name).parent.as_posix() for name in importing} == {"engine/llm/minilm"}


@every_package
def test_no_file_has_more_than_four_hundred_lines(package: str) -> None:
    lines = {relative_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in list_modules(package)}
    assert {path: count for path, count in lines.items() if count > 400} == {}


@pytest.mark.parametrize("folder", sorted({path.parent for path in list_modules()}), ids=relative_name)
def test_a_folder_holds_at_most_twelve_modules_and_says_what_it_is_for(folder: Path) -> None:
    names = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(names) <= 12
    assert ast.get_docstring(parse_module(folder / "__init__.py"))


# Which part of a package may import which: a part is a folder below it, or a module beside them. The words of a line
# are parts; LEAVES, BASE and PLATFORM stand for several.
LEAVES, BASE = "clock errors models usage", "errors i18n platform text texts"
PLATFORM = f"{BASE} bot commands settings"
ENGINE_TABLE = f"""
clock:
errors:
usage:
memory:
models:
process: errors
boundary: {LEAVES} options
data_dir: errors storage
text: {LEAVES}
options: {LEAVES} text
knowledge: {LEAVES} options text
scheduling: {LEAVES}
parsers: {LEAVES} options text process
llm: {LEAVES} options text process scheduling memory boundary
storage: {LEAVES} options text knowledge scheduling memory
runtime: {LEAVES} options text scheduling llm storage
projection: {LEAVES} options text knowledge scheduling llm storage runtime data_dir
retrieval: {LEAVES} options text knowledge scheduling llm storage runtime projection
ingest: {LEAVES} options text knowledge scheduling llm storage runtime projection boundary
answers: {LEAVES} options text scheduling llm storage runtime retrieval boundary
maintenance: {LEAVES} options scheduling storage runtime projection ingest
parts: {LEAVES} boundary text knowledge parsers storage runtime projection retrieval ingest maintenance
"""
BOT_TABLE = f"""
errors:
i18n:
text: i18n
listeners: errors
monitoring: errors listeners
settings: errors
texts: errors i18n platform text
platform: errors i18n text
store: platform text
audit: errors store
graph_image: i18n platform text
permissions: {BASE} store
context: errors i18n platform store permissions settings monitoring texts
ingest: {BASE} store permissions context
answers: {BASE} store permissions context ingest monitoring audit
capabilities: {BASE} store permissions context settings ingest answers monitoring audit
rpc: {BASE} store permissions context settings model_setup monitoring capabilities bootstrap
commands: {BASE} store permissions context settings ingest answers graph_image capabilities audit
dispatch: {BASE} store permissions context ingest answers commands monitoring capabilities
bot: {BASE} store permissions context settings ingest answers commands dispatch monitoring capabilities
plugins: capabilities rpc bot platform settings
model_setup: context errors settings text
setup: errors model_setup platform plugins settings
bootstrap: capabilities context errors ingest model_setup permissions platform settings store text
server: rpc capabilities bootstrap bot context dispatch errors model_setup monitoring plugins settings setup store
leaks: answers {BASE} store permissions context settings ingest commands dispatch monitoring capabilities bootstrap \
bot model_setup plugins rpc
cli: capabilities rpc errors i18n leaks model_setup monitoring plugins server settings setup text texts
__main__: cli
"""
ADAPTER_TABLE = f"""
chats: platform
common: errors i18n platform settings text
console: capabilities rpc cli i18n settings text
discord: {PLATFORM} store
mattermost: platform
slack: {PLATFORM} store listeners
sources: errors platform
mcp: capabilities rpc errors settings text
web: capabilities rpc errors listeners monitoring settings setup text texts
"""  # parts of the bot
COMMAND_TABLE = "bot.commands.table"  # all that an adapter may import of the commands
ABOVE = {"engine", "__init__"}  # the class that opens the engine, and its door, import what they need


def parse_table(text: str) -> dict[str, set[str]]:
    rows = (line.partition(":") for line in text.split("\n") if line)
    return {part: set(allowed.split()) for part, _, allowed in rows}


def part_of(module: str) -> str:
    """The part of its top-level package that a module belongs to."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


def imported_modules(path: Path, package: str) -> set[str]:
    """The modules of a package that a file imports; type-only imports count too."""
    imports = [(module, name) for module, name in list_imports(path) if name and module.split(".")[0] == package]
    return {f"{module}.{name}" if module == package else module for module, name in imports}


@pytest.mark.parametrize(
    ("package", "target", "table"),
    [("engine", "engine", ENGINE_TABLE), ("bot", "bot", BOT_TABLE), ("adapters", "bot", ADAPTER_TABLE)],
    ids=["engine", "bot", "adapters"],
)
def test_parts_import_only_what_the_table_allows(package: str, target: str, table: str) -> None:
    allowed, wrong = parse_table(table), set()
    for path in list_modules(package):
        name = relative_name(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        source = part_of(name)
        if package == "engine" and source in ABOVE:
            continue
        for module in imported_modules(path, target):
            if not (package == target and part_of(module) == source) and part_of(module) not in allowed[source]:
                wrong.add(f"{name} imports {module}")
    assert wrong == set()


def test_adapters_import_the_command_table_only() -> None:
    found = {module for path in list_modules("adapters") for module in imported_modules(path, "bot")}
    assert {module for module in found if part_of(module) == "commands"} <= {COMMAND_TABLE}


@pytest.mark.parametrize("table", [ENGINE_TABLE, BOT_TABLE], ids=["engine", "bot"])
def test_a_table_has_no_circle(table: str) -> None:
    tuple(TopologicalSorter(parse_table(table)).static_order())  # raises CycleError


STORE_LAYERS = ("engine.storage.sql", "engine.storage.postgres")  # the first also begins engine.storage.sqlite


def is_store(path: Path) -> bool:
    """Whether a module belongs to the bot's store, which shares the layers of databases with the engine."""
    return path.is_relative_to(ROOT / "bot" / "store")


# What our programs import of the engine beside its public names: tools and values that they share with it, and what
# opens models and parsers. None of these modules indexes, searches or answers. A row: the part, and its modules.
SHARED_TABLE = """
answers: links.addresses links.stream
boundary:
clock:
data_dir:
ingest: estimate
knowledge: duplicates.report
llm: builtin_models checked_embedder client.protocol client.subprocess config e5.spoken embedder \
 offline.contradictions.coverage offline.contradictions.finding \
 offline.points.open_questions offline.points.register offline.points.watched offline.points.weights \
 offline.quoting.notices \
 offline.supersession.history \
offline.supersession.sources offline.words picture_describer remote_model \
traits.model_check traits.prefixes traits.reasoning traits.remembered
memory:
models:
options:
parsers: base chat_export converted.service dates registry sandbox.origins sandbox.probe sandbox.state
scheduling: feature_breaker indexing_budget processes supervisor
storage: disk files journal ledger ledger.records sqlite.database
text: cleanup conversations.disentanglement conversations.small_talk names languages.detection languages.unspaced \
overviews patterns stream_rewriter time_spans word_lists
usage:
"""
SHARED_MODULES = {
    ".".join(filter(None, ("engine", part, module)))
    for part, modules in parse_table(SHARED_TABLE.replace("\\\n", "")).items()
    for module in modules or {""}
}
MAX_PUBLIC_NAMES = 60


def list_engine_imports() -> list[tuple[str, str, str]]:
    """File, module and name of each import of the engine by our programs; their store uses the layers of databases."""
    return [
        (relative_name(path), module, name)
        for path in list_modules("bot", "adapters")
        for module, name in list_imports(path)
        if name and module.startswith("engine.") and module != "engine.errors"
        if not (module.startswith(STORE_LAYERS) and is_store(path))
    ]


def test_programs_import_what_is_public_and_the_modules_that_they_share_with_the_engine() -> None:
    assert {module for _, module, _ in list_engine_imports()} == SHARED_MODULES


def test_programs_import_public_names_as_everybody_does() -> None:
    assert [row for row in list_engine_imports() if engine._MODULES.get(row[2]) == row[1]] == []


def test_the_engine_has_few_public_names() -> None:
    assert len(dir(engine)) <= MAX_PUBLIC_NAMES


def test_the_door_offers_types_and_values_alike() -> None:
    tree = parse_module(ROOT / "engine" / "__init__.py")
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert typed == {(module, name) for module, names in engine._EXPORTS.items() for name in names}
    assert all(hasattr(engine, name) for name in dir(engine))


# The parts of the ledger that the rest of the engine may import, and the modules that may know SQL.
LEDGER_DOORS = {"engine.storage.ledger", "engine.storage.ledger.records"}
SQL_ROOMS = ("engine/storage/", "bot/store/")
SQL_LIBRARIES = {"sqlite3", "aiosqlite", "psycopg", "psycopg_pool"}
SQL_STATEMENT = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE (VIRTUAL )?TABLE|PRAGMA \w+)\b",
    re.DOTALL,
)
OUTSIDE = [path for path in list_modules() if not relative_name(path).startswith(SQL_ROOMS)]


def test_the_ledger_is_entered_by_its_doors_only() -> None:
    inside = {
        f"{relative_name(path)}: {module}.{name}"
        for path in OUTSIDE
        for module, name in list_imports(path)
        if name and module.startswith("engine.storage.ledger")
        if module not in LEDGER_DOORS or name not in import_module(module).__all__
    }
    assert inside == set()


# Reads the database that another program writes, which is an export.
FOREIGN_DATABASE = "adapters/slack/workspace/slackdump_archive.py"


def test_only_the_stores_know_sql() -> None:
    others = [path for path in OUTSIDE if relative_name(path) != FOREIGN_DATABASE]
    libraries = {
        f"{relative_name(path)}: {name}" for path in others for name in imported_packages(path) & SQL_LIBRARIES
    }
    statements = {
        f"{relative_name(path)}:{node.lineno}"
        for path in others
        for node in list_nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_STATEMENT.search(node.value)
    }
    assert libraries | statements == set()
