"""All sentences that the bot shows stand in golden_texts.md, so that they can be read in one sitting.

`pytest --renew-golden tests/bot/test_golden_texts.py` writes the file again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

from bot import texts
from bot.commands.help import format_command_help, format_overview
from bot.commands.table import list_commands
from bot.platform.traits import PlatformTraits
from bot.text.format import pluralize
from bot.texts import corrections
from bot.texts import review as review_texts
from tests.support.fake_platform import START, TRAITS

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("golden_texts.md")
PARTS = ("answers", "capabilities", "commands", "dispatch", "ingest", "permissions", "text")
SHOWN = {"Card", "InvalidQuestion", "InvalidDocument", "NotFound", "NotAllowed", "DocumentTooLarge"}


def render_texts() -> str:
    """The whole file."""
    lines = ["# What the bot says", "", "## Sentences", ""]
    for name, value in (vars(texts) | vars(review_texts)).items():
        if name.isupper() and isinstance(value, str):
            lines.append(f"- {name.strip('_')}: {value}")
    lines += [f"- gap {gap}: {text}" for gap, text in texts.GAP_NOTICES.items()]
    lines += [f"- nothing found, {gap}: {texts.nothing_found(gap)}" for gap in texts.GAP_NOTICES]
    lines += [f"- correction: {text}" for text in correction_texts()]
    lines += [f"- verified: {text}" for text in review_sentences()]
    lines += ["", "## Errors", ""]
    lines += [f"- {kind.__name__}: {text}" for kind, text in texts._ERROR_SENTENCES]
    commands = PlatformTraits(commands_take_files=True)
    lines += ["", "## Commands"]
    for name, command in list_commands(commands).items():
        lines += ["", format_command_help(commands, name, command)]
    lines += ["", "## Sentences in other modules", ""]
    for part in PARTS:
        for path in sorted((ROOT / "bot" / part).rglob("*.py")):
            module = path.relative_to(ROOT / "bot")
            lines += [f"- {module}: {sentence}" for sentence in shown_strings(path)]
    for name, traits in TRAITS.items():
        lines += ["", f"## Platform: {name}", "", *platform_texts(traits)]
    return "\n".join(lines) + "\n"


def correction_texts() -> Iterator[str]:
    """The confirmations of corrections."""
    yield corrections.format_merge("Ada L.", "Ada Lovelace", ["Ada L."])
    yield corrections.format_unmerge("Ada L.")
    subject = corrections.format_subject("Ada", "Charles")
    yield from (corrections.format_description(subject, text) for text in ("They wrote letters.", ""))
    yield from (corrections.format_visibility(subject, hidden=hidden) for hidden in (True, False))


def review_sentences() -> Iterator[str]:
    """The sentences about verified answers and experts with values."""
    yield review_texts.format_verified("Ada", START, "When do the tiles come?")
    yield review_texts.format_verification("When do the tiles come?")
    yield from (review_texts.format_withdrawal(START, link) for link in ("https://chat.example/m1", ""))
    yield review_texts.format_expert_request("Ada", "When do the tiles come?").replace("\n", " / ")
    yield from review_texts.EXPERT_REQUEST_REFUSED.values()


def platform_texts(traits: PlatformTraits) -> Iterator[str]:
    """The sentences that depend on the platform, and the list of commands."""
    yield f"- {texts.channel_welcome(traits, 90)}"
    yield f"- {texts.workspace_welcome(traits, ('Send Messages',))}"
    yield f"- {texts.channel_not_indexed(traits, inside=True)}"
    yield f"- {texts.channel_not_indexed(traits, inside=False)}"
    yield f"- {texts.opted_out_notice(traits)}"
    yield f"- {texts.ask_privately_hint(traits)}"
    yield from ["", format_overview(traits, list_commands(traits), manager=True)]


def shown_strings(path: Path) -> list[str]:
    """The strings of a module that may be shown: of commands all, else the arguments of cards and errors."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if "commands" in path.parts and path.name != "table.py":
        hidden = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        hidden |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        nodes = [node for node in ast.walk(tree) if id(node) not in hidden]
    else:
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in SHOWN]
        nodes = [argument for call in calls for argument in [*call.args, *(keyword.value for keyword in call.keywords)]]
    return [text for node in nodes if (text := render_string(node)).count(" ") >= 2]


def render_string(node: ast.AST) -> str:
    """A literal on one line, with a readable name in braces for each value; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " / ".join(node.value.splitlines())
    if isinstance(node, ast.JoinedStr):
        return "".join(map(render_string, node.values))
    return describe_value(node.value) if isinstance(node, ast.FormattedValue) else ""


def describe_value(node: ast.AST) -> str:
    """What a reader sees of a value: `{time}` of `format_utc(time)`, `{7 days}`, the example of a command, a choice."""
    match node:
        case ast.Call(func=ast.Attribute(attr="format_example" | "format_command"), args=[example]):
            return f"/{render_string(example)}"
        case ast.Call(func=ast.Name(id="pluralize"), args=[number, ast.Constant(value=noun)]):
            return f"{{{name_value(number)}}} {pluralize(2, str(noun)).removeprefix('2 ')}"
        case ast.IfExp(body=body, orelse=other):
            return f"{{{' | '.join(render_string(each) or name_value(each) for each in (body, other))}}}"
        case _:
            return f"{{{name_value(node)}}}"


def name_value(node: ast.AST) -> str:
    """The name of a value without the functions that format it: `message.time` is “message time”."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[joined]):
            name = f"{name_value(joined)}, …"
        case ast.Call(args=[first, *_]):
            name = name_value(first)
        case ast.Call(func=function):
            name = name_value(function)
        case ast.Attribute(value=owner, attr=attribute):
            name = f"{name_value(owner)} {attribute.strip('_')}".replace("_", " ")
        case ast.Name(id=variable):
            name = variable.strip("_").replace("_", " ").lower()
        case (
            ast.GeneratorExp(elt=inner)
            | ast.Subscript(value=inner)
            | ast.BinOp(left=inner)
            | ast.BoolOp(values=[inner, *_])
        ):
            name = name_value(inner)
        case ast.IfExp(body=body, orelse=other):
            name = f"{name_value(body)} | {name_value(other)}"
        case _:
            name = render_string(node) or "…"
    return name


def test_all_sentences_are_in_the_golden_file(compare_with_golden: Callable[[Path, str], None]) -> None:
    compare_with_golden(GOLDEN, render_texts())
