"""The rows of the table of capabilities that are about the graph and its corrections."""

from __future__ import annotations

from bot.capabilities import requests
from bot.capabilities.graph import requests as graph
from bot.capabilities.kept import (
    KEPT_CORRECTION,
    KEPT_DUPLICATES,
    KEPT_ENTITY,
    KEPT_FACT,
    KEPT_READING,
    KEPT_UNDO,
)
from bot.capabilities.row import Capability, Surface, Who

CHAT, CLI, HTTP, PAGE = Surface.CHAT, Surface.CLI, Surface.HTTP, Surface.PAGE
PROGRAMS = Surface.PROGRAMS

GRAPH_ROWS = (
    Capability(
        "entity",
        requests.GetEntity,
        ".asking.queries:get_entity",
        CHAT | CLI | PROGRAMS,
        permission="read",
        kept=KEPT_ENTITY,
    ),
    Capability("names", graph.SearchEntities, ".graph.queries:search_entities", CHAT | HTTP | PAGE, permission="read"),
    Capability(
        "subgraph", graph.GetSubgraph, ".graph.queries:get_subgraph", PROGRAMS, permission="read", kept=KEPT_READING
    ),
    Capability(
        "provenance",
        graph.GetProvenance,
        ".graph.queries:get_provenance",
        HTTP | PAGE,
        permission="read",
        kept=KEPT_READING,
    ),
    Capability(
        "duplicates",
        requests.FindDuplicates,
        ".graph.corrections:find_duplicates",
        CHAT | CLI | HTTP,
        permission="read",
        kept=KEPT_DUPLICATES,
    ),
    Capability(
        "corrections",
        graph.ListCorrections,
        ".graph.queries:list_corrections",
        HTTP | PAGE,
        Who.CORRECTOR,
        "manage",
        kept=KEPT_READING,
    ),
    *(
        Capability(
            name,
            request,
            f".graph.corrections:{handler}",
            CHAT | CLI | HTTP | PAGE,
            Who.CORRECTOR,
            "manage",
            kept=KEPT_CORRECTION,
        )
        for name, request, handler in (
            ("merge", requests.Merge, "merge"),
            ("separate", requests.Separate, "separate"),
            ("split", requests.Split, "split"),
            ("describe", requests.SetDescription, "set_description"),
            ("hide", requests.Hide, "hide"),
        )
    ),
    Capability(
        "undo",
        requests.UndoCorrection,
        ".graph.corrections:undo_correction",
        CHAT | CLI | HTTP | PAGE,
        Who.CORRECTOR,
        "manage",
        kept=KEPT_UNDO,
    ),
    Capability(
        "add-fact",
        requests.AddFact,
        ".graph.corrections:add_fact",
        CHAT | CLI | HTTP,
        permission="write",
        kept=KEPT_FACT,
    ),
)
