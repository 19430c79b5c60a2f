"""The form of a receipt: what was asked for, how much went, and names of it that only this installation can compute.

Of what was erased, a receipt holds neither a word nor a hash that somebody could guess. Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bot.i18n import N_, gettext
from bot.ingest.erasure.keys import compute_key_id, is_signed
from bot.text.format import format_list, pluralize
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.ingest.erasure.keys import InstallationKey

    Receipt = Mapping[str, Any]

FORMAT, VERSION = "threadlore-erasure-receipt", 1
NO_RECEIPT = N_("That is no receipt of an erasure.")
CHANGED = N_("The receipt was changed: its signature does not fit.")
FIELDS = ("format", "version", "id", "time", "key", "action", "asked", "counts", "erased", "gone_by", "audit")
KINDS = ("documents", "messages", "answers")


def sign_receipt(receipt: Receipt, key: InstallationKey) -> dict[str, Any]:
    """The receipt with its key and signature."""
    unsigned = {**receipt, "format": FORMAT, "version": VERSION, "key": key.id}
    return {**unsigned, "signature": key.sign(dump_canonical(unsigned))}


def dump_canonical(receipt: Receipt) -> bytes:
    """What is signed: the receipt without its signature, as JSON with sorted names and no spaces."""
    unsigned = {name: value for name, value in receipt.items() if name != "signature"}
    return json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def dump_receipt(receipt: Receipt) -> str:
    """A receipt as people keep it: JSON of several lines."""
    return json.dumps(receipt, sort_keys=True, indent=2, ensure_ascii=True) + "\n"


def parse_receipt(text: str) -> dict[str, Any]:
    """The receipt of a text, its signature unchecked. Raises InvalidQuestion for what is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidQuestion(gettext(NO_RECEIPT)) from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InvalidQuestion(gettext(NO_RECEIPT))
    if found.get("version") != VERSION:
        raise InvalidQuestion(gettext(NO_RECEIPT), hint=gettext("It may be from a later version."))
    if set(found) != {*FIELDS, "signature"} or not all(isinstance(found[name], str) for name in ("key", "signature")):
        raise InvalidQuestion(gettext(CHANGED))
    return found


def check_signature(receipt: Receipt, public_key: str) -> None:
    """Raise InvalidQuestion for a receipt that another key signed, or that was changed since."""
    expected = compute_key_id(public_key)
    if receipt["key"] != expected:
        raise InvalidQuestion(
            gettext("Another installation signed the receipt: {found}, not {expected}.").format(
                found=str(receipt["key"])[: len(expected)], expected=expected
            )
        )
    if not is_signed(dump_canonical(receipt), receipt["signature"], public_key):
        raise InvalidQuestion(gettext(CHANGED))


def list_names(receipt: Receipt, kind: str) -> frozenset[str]:
    """The names of what was erased of a kind (`KINDS`), of a receipt whose signature was checked."""
    return frozenset(receipt["erased"].get(kind, ()))


def describe_counts(counts: Mapping[str, int]) -> str:
    """How much goes or went, for people: "2 documents, 5 passages and 1 answer"; "" for nothing."""
    profiles = sum(counts.get(name, 0) for name in ("profiles", "profiles_removed", "profiles_rebuilt"))
    number = {**counts, "profiles": profiles}.get
    kinds = (
        pluralize(number("documents", 0), "{count} document", "{count} documents"),
        pluralize(number("passages", 0), "{count} message or page", "{count} messages and pages"),
        pluralize(number("facts", 0), "{count} fact", "{count} facts"),
        pluralize(profiles, "{count} entry of the graph", "{count} entries of the graph"),
        pluralize(number("answers", 0), "{count} answer", "{count} answers"),
        pluralize(number("verified_answers", 0), "{count} verified answer", "{count} verified answers"),
    )
    names = ("documents", "passages", "facts", "profiles", "answers", "verified_answers")
    return format_list([words for name, words in zip(names, kinds, strict=True) if number(name, 0)])
