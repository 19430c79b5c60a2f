"""The requests of managers, and what carries them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.capabilities.contradictions import requests as disputes
from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.management import requests
from bot.commands.management import answers, channels, contradictions, faq, questions, report, upkeep
from bot.commands.management.manager import Manager

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from bot.capabilities.contradictions.requests import ContradictionRequests
    from bot.capabilities.management.requests import ManagementRequest
    from bot.capabilities.results import OperationResult
    from bot.commands.context import BotServices
    from bot.store import Subject

HANDLERS: Mapping[type, Callable[[Manager, Any], Awaitable[OperationResult]]] = {
    requests.ListChannels: channels.list_channels,
    requests.GetChannel: channels.get_channel,
    requests.ChangeChannel: channels.change_channel,
    requests.ListQuestions: questions.list_questions,
    requests.GetAnswerActions: answers.list_actions,
    requests.AskExpert: answers.ask_expert,
    requests.VerifyAnswer: questions.verify_answer,
    requests.PinAnswer: questions.pin_answer,
    requests.ListVerified: questions.list_verified,
    requests.RemoveVerified: questions.remove_answer,
    requests.ForgetChannel: upkeep.forget,
    requests.BackfillChannel: upkeep.backfill,
    requests.SchedulePersonalDigest: upkeep.schedule_own,
    requests.ScheduleChannelDigest: upkeep.schedule_for_channel,
    requests.ListExperts: upkeep.list_channel_experts,
    requests.AddExpert: upkeep.name_expert,
    requests.RemoveExpert: upkeep.end_expert,
    requests.GetReport: report.get_report,
    requests.ScheduleReport: report.schedule_report,
    GetFaq: faq.get_faq,
    disputes.SettleContradiction: contradictions.settle,
    disputes.DismissContradiction: contradictions.dismiss,
}


async def perform_management(
    services: BotServices, subject: Subject, request: ManagementRequest | ContradictionRequests | GetFaq
) -> AsyncGenerator[OperationResult]:
    """Yield the result of a request of a person who manages their workspace."""
    manager = Manager(services, subject)
    yield await HANDLERS[type(request)](manager, request)
