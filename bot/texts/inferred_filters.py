"""Tell which filters the language model saw in a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.filter_options import format_filter
from bot.text.markdown import sanitize_inline

if TYPE_CHECKING:
    from engine.models import InferredFilters

SEARCHED_WITH = N_(
    "I searched with {filters}, as the question seems to say. Add `filter:none` to a question to search without that."
)
NOTHING_MATCHED = N_("Nothing was found with {filters}, so I searched without.")


def describe_inferred_filters(inferred: InferredFilters) -> str:
    """The filters as they could be typed, and how to search without them; or that nothing matched them."""
    tokens = [format_filter("in", channel) for channel in inferred.channels]
    tokens += [format_filter("from", author) for author in inferred.authors]
    tokens += [f"since:{inferred.since}"] if inferred.since else []
    tokens += [f"until:{inferred.until}"] if inferred.until else []
    tokens += ["has:file"] if inferred.only_files else []
    shown = sanitize_inline(" ".join(tokens).replace("`", "'"))
    return gettext(SEARCHED_WITH if inferred.found else NOTHING_MATCHED).format(filters=f"`{shown}`")
