"""Sentences of the engine's errors that people see in the chat, so that catalogs contain them.

`describe_error` translates what it is given; sentences with values, such as a size, are shown in English.
"""

from __future__ import annotations

from bot.i18n import N_

FILE_ERRORS = (
    N_("A page of the PDF is damaged."),
    N_("Add a copy without protection."),
    N_("Check that the file was saved or uploaded completely."),
    N_("Download the file again while you are logged in."),
    N_("Rename it with the extension of its real format."),
    N_("Save it as DOCX and add that."),
    N_("Save it in a current format and add that."),
    N_("The PDF is damaged or incomplete."),
    N_("The PDF is locked with a password."),
    N_("The archive is locked with a password."),
    N_("The file is compressed by a method that its format does not permit."),
    N_("The book is damaged or incomplete."),
    N_("The book is protected against copying."),
    N_("The file does not say in which encoding its letters are."),
    N_("The file holds binary data, not text."),
    N_("The file is a damaged or incomplete archive."),
    N_("The file is damaged, incomplete, or not in the format of its extension."),
    N_("The file is damaged: a part of it cannot be unpacked."),
    N_("The file is damaged: a part of it is not XML."),
    N_("The file is in an old Office format."),
    N_("The file is incomplete: a part of it is missing."),
    N_("The file is locked with a password."),
    N_("The picture could not be described."),
    N_("The picture has too many pixels."),
    N_("The picture is damaged, or its format is not known to tesseract."),
    N_("The picture is damaged."),
    N_("The workbook is damaged or incomplete."),
    N_("The workbook is locked with a password."),
)
QUESTION_ERRORS = (
    N_("Messages are not searched or summarized by who wrote them here."),
    N_("Ask about the subject instead."),
    N_("No facts about people are kept here."),
    N_("Whoever runs the bot decides that."),
    N_("Ask again with the full name."),
    N_("Check the type or the document. A name that was split off is split again at the name where it comes from."),
    N_("Enter a question."),
    N_("Give a type, or a document."),
    N_("I don't know what belongs to the second name."),
    N_("I don't know anything here yet."),
    N_("Only merged names can be separated."),
    N_("Remove one of them with unmerge."),
    N_("Share the long text as a file and ask about it."),
    N_("The question is empty."),
    N_("The statement contains no fact."),
    N_("This correction is not there any more: somebody changed or undid it."),
    N_("Use the name shown above their messages."),
    N_("Use two names that both occur in the same channels."),
)
