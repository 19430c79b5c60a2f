"""What people are told of who answers: that answers are written automatically, the privacy policy, and a contact."""

from __future__ import annotations

from dataclasses import dataclass

from bot.i18n import N_, gettext
from bot.text.markdown import is_web_link, sanitize_inline

WRITTEN_AUTOMATICALLY = N_("My answers are written automatically by a program (AI): check their sources.")
PRIVACY = N_("Privacy: {address}")
CONTACT = N_("Contact: {contact}")


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The address of the privacy policy, and whom to ask; "" for nothing."""

    privacy_url: str = ""
    contact: str = ""

    @property
    def contact_link(self) -> str:
        """The address of the contact; "" for a contact in other words."""
        if _is_mail_address(self.contact):
            return f"mailto:{self.contact}"
        return self.contact if is_web_link(self.contact) else ""

    def describe(self) -> str:
        """All of it as one line in the active language."""
        parts = [gettext(WRITTEN_AUTOMATICALLY)]
        if self.privacy_url:
            parts.append(gettext(PRIVACY).format(address=self.privacy_url))
        if self.contact:
            shown = self.contact if self.contact_link else sanitize_inline(self.contact)
            parts.append(gettext(CONTACT).format(contact=shown))
        return " · ".join(parts)


def _is_mail_address(text: str) -> bool:
    """Whether a text is one e-mail address, as far as can be seen."""
    person, _, host = text.partition("@")
    return bool(person) and "." in host.strip(".") and "@" not in host and text == "".join(text.split())
