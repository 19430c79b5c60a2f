"""What doors do differently on purpose, and why; docs/capabilities.md shows it."""

from __future__ import annotations

KEPT_ASK = (
    "Questions at the terminal and of spaces are not limited: whoever asks there pays for them. In the chat, the place"
    " of an overview is the channel where it was asked; other doors have no place."
)
KEPT_SEARCH = "The chat has a search of its own, and answers questions; tools get the context of a question."
KEPT_SUMMARIZE = "The chat sums up what a person missed in a channel; programs say what of."
KEPT_DOCUMENTS = "The chat tells how much there is (status): a list of documents does not fit into a message."
KEPT_UPLOAD = (
    "A file shared in a channel is for its readers, an uploaded one for its person or space, and one that the owner"
    " ingests for any space: where it goes is a part of what is done. The checks are the same."
)
KEPT_FORGET = (
    "Paths are words of the terminal. The link to a message means the message for people, who see no conversations. A"
    " page shows its button only where the visitor can surely forget a document."
)
KEPT_DUPLICATES = "Only the owner has names compared that were not; for others that runs in the background."
KEPT_CORRECTION = (
    "The chat replies at once, programs and the terminal once a correction is visible everywhere: nobody waits in a"
    " channel. The owner may name what does not occur yet, since nobody else learns of it."
)
KEPT_UNDO = "People type the id of a change, programs send the change itself: they need not ask for it in 30 days."
KEPT_FACT = "The owner and spaces have no channel: their facts go to their space."
KEPT_CHANNEL = "Spaces of the terminal have no channels. Direct messages have settings, for their person."
KEPT_ENTITY = "The chat draws a picture, and lists 8 of the relations below it."
KEPT_VERIFIED = "The chat completes the start of an id, as it lists them; programs name all of it."
KEPT_FILTERS = "The chat completes names while a question is typed, and asks the platform which channels it shows."
KEPT_READING = "The chat shows sources with excerpts, and one name at a time; whole texts and lists do not fit there."
KEPT_STEP = "It is a step of an upload by programs."
KEPT_OPERATION = (
    "Channels are no place for it; the status in the chat tells managers what fails, and their page has this."
)
KEPT_OWNER = "Who may do this has the data directory, and no other door leads there."
KEPT_ACCESS = "A token cannot make, list or end others; a login is made by the page alone."
KEPT_MY_DATA = "The chat sends it as a file, which the person alone gets."
KEPT_AUDIT = "An auditor sees the entries of their workspace, the owner of the data all of them."
KEPT_PROBE = "Whoever watches the server asks without a token, and is told nothing of the data."
