from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from bot.__main__ import app
from bot.capabilities.table import ROWS
from bot.cli.options import SpaceOptions, add_command


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions(SpaceOptions):
    name: Annotated[str, typer.Argument()]
    often: Annotated[int, typer.Option("--times", min=1)] = 2


def test_the_fields_of_a_value_are_the_options_of_a_command() -> None:
    seen, sample = list[SampleOptions](), typer.Typer()
    sample.callback()(lambda: None)
    add_command(sample, "greet", SampleOptions, lambda _, given: seen.append(given), "Greet.")
    runner = CliRunner()
    assert runner.invoke(sample, ["greet", "Ada", "--times", "3", "--space", "s"]).exit_code == 0
    assert runner.invoke(sample, ["greet", "Bob"]).exit_code == 0
    assert runner.invoke(sample, ["greet", "Bob", "--times", "0"]).exit_code == 2
    assert runner.invoke(sample, ["greet"]).exit_code == 2
    assert seen == [SampleOptions(name="Ada", often=3, space="s"), SampleOptions(name="Bob")]


def test_own_options_are_listed_before_those_that_all_commands_have() -> None:
    sample = typer.Typer()
    add_command(sample, "greet", SampleOptions, lambda *_: None)
    names = [parameter.name for parameter in _get_parameters(sample.registered_commands[0].callback)]
    assert names == ["context", "name", "often", "space", "as_json"]


def test_a_command_of_a_row_asks_for_fields_of_its_request() -> None:
    rows, found = {row.name: row for row in ROWS}, 0
    for group in (app, *(each.typer_instance for each in app.registered_groups)):
        for command in group.registered_commands if group else []:
            callback: Any = command.callback
            if row := getattr(callback, "row", ""):
                asked = {parameter.name for parameter in _get_parameters(callback)}
                own = {field.name: field for field in fields(rows[row].request)}
                assert asked - {"context", "space", "as_json"} <= own.keys(), row
                required = {name for name, each in own.items() if each.default is each.default_factory is MISSING}
                assert required <= asked | callback.fixed.keys(), row
                found += 1
    assert found > 25


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        ("decisions --kind nope", "'decision', 'task'"),
        ("decisions --state nope", "'open', 'replaced'"),
        ("documents --status nope", "'pending', 'searchable', 'indexed', 'failed', 'partial'"),
        ("settle-contradiction x nope", "'older', 'newer'"),
    ],
)
def test_another_choice_is_refused_with_those_that_there_are(words: str, choices: str) -> None:
    refused = CliRunner().invoke(app, words.split(), env={"COLUMNS": "400"})
    assert refused.exit_code == 2
    assert f"'nope' is not one of {choices}." in refused.output


def _get_parameters(callback: Any) -> list[Any]:
    return list(callback.__signature__.parameters.values())
