"""The table of pages: their routes, and the order of the navigation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.web.pages import documents, graph, login, oauth
from adapters.web.pages.asking import answers, ask, decisions, search, shared
from adapters.web.pages.management import channels, health, questions, sources, usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastapi import APIRouter

    from adapters.web.pages.shell import NavigationEntry

ROUTERS: Sequence[APIRouter] = (
    ask.router,
    answers.router,
    search.router,
    shared.router,
    graph.router,
    documents.router,
    decisions.router,
    channels.router,
    sources.router,
    questions.router,
    usage.router,
    health.router,
    login.router,
    oauth.router,
)
NAVIGATION: Sequence[NavigationEntry] = (
    ask.ENTRY,
    search.ENTRY,
    graph.ENTRY,
    documents.ENTRY,
    decisions.ENTRY,
    sources.ENTRY,
    channels.ENTRY,
    questions.ENTRY,
    usage.ENTRY,
    health.ENTRY,
)
