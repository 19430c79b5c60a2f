"""The lines of `threadlore check`."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from bot.cli.doctor.models import render_checks
from engine.llm.traits.model_check import ModelCheck, Problem


def test_a_problem_of_a_model_is_told_once_though_several_roles_have_it() -> None:
    missing = Problem("No key is there.", "Set one.")
    roles = ("answers", "extraction")
    checks = [ModelCheck(role, "openai/small", problems=(missing,)) for role in roles]
    shown = StringIO()
    Console(file=shown, width=100).print(render_checks([*checks, ModelCheck("vision", "b/c", problems=(missing,))]))
    assert shown.getvalue().count("No key is there.") == 2
    assert all(role in shown.getvalue() for role in roles)
    assert shown.getvalue().count("The same as above.") == 1
