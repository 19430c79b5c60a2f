"""Discord's PlatformTraits: what the bot needs to know about Discord."""

from __future__ import annotations

from bot.platform.traits import PlatformTraits

TRAITS = PlatformTraits(
    argument_names={
        "learn": ("file",),
        "forget": ("what",),
        "graph": ("name",),
        "catch-up": ("since",),
        "help": ("topic",),
        "settings": ("setting", "value"),
        "backfill": ("days",),
        "correct": ("correction", "words"),
    },
    private_ask_hint="with /ask and its option “private”",
    reads_by_default=False,
    commands_take_files=True,
    manager_name="Someone with Manage Server",
    features=("`/ask` – an answer for everyone here; with `private`, only for you, from everything you can read",),
)
