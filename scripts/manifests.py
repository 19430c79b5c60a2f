"""Write the commands of the chat into the manifests of the Slack app: `python -m scripts.manifests`."""

from __future__ import annotations

import json
import re
from pathlib import Path

from adapters.slack.settings import TRAITS
from bot.commands.table import list_commands

FOLDER = Path(__file__).parent.parent / "adapters" / "slack"
HINT = re.compile(r'"usage_hint": "[^"]*"')
ASK = "ask"  # words after it are a question, no command of the table


def build_usage_hint() -> str:
    """The names of all commands, as Slack shows them beside the slash command."""
    return " | ".join((ASK, *list_commands(TRAITS)))


def main() -> None:
    """Rewrite the manifests."""
    for path in sorted(FOLDER.glob("manifest*.json")):
        path.write_text(HINT.sub(f'"usage_hint": {json.dumps(build_usage_hint())}', path.read_text()))


if __name__ == "__main__":
    main()
