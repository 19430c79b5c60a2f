"""What a PDF holds beside the text of its pages: forms, notes and attached files."""

from __future__ import annotations

import pytest

from engine.models import Omission
from engine.parsers.base import NO_OCR
from engine.parsers.formats.pdf.parser import parse
from engine.parsers.scans.pages import name_pages
from tests.engine.parsers.samples import assemble_pdf

_FIELDS = (
    b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (ship) /TU (Name of the ship) /V (Gull) /Rect [9 9 99 29] >>",
    b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (empty) /Rect [9 39 99 59] >>",
    (
        b"<< /Type /Annot /Subtype /Widget /FT /Btn /T (insured) /V /Yes /AS /Yes /AP << /N << /Yes 12 0 R >> >>"
        b" /Rect [9 69 99 89] >>"
    ),
    b"<< /Type /Annot /Subtype /Text /T (Ada) /Contents (Ask the harbor first.) /Rect [9 99 99 119] >>",
    b"<< /Type /Annot /Subtype /FreeText /Contents (Valid until May) /Rect [9 99 99 119] >>",
)


def form_pdf() -> bytes:
    """A page with two filled fields, an empty one, two notes, and an attached file."""
    return assemble_pdf(
        [
            (
                b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R 6 0 R 7 0 R] >>"
                b" /Names << /EmbeddedFiles << /Names [(crew.csv) 10 0 R] >> >> >>"
            ),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            (
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
                b" /Annots [5 0 R 6 0 R 7 0 R 8 0 R 9 0 R] /Resources << >> >>"
            ),
            b"<< /Length 0 >>\nstream\n\nendstream",
            *_FIELDS,
            b"<< /Type /Filespec /F (crew.csv) /UF (crew.csv) /EF << /F 11 0 R >> >>",
            b"<< /Type /EmbeddedFile /Length 14 >>\nstream\nName,Oar\nAda,2\n\nendstream",
            b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0 >>\nstream\n\nendstream",
        ]
    )


def test_values_of_forms_and_notes_are_passages_of_their_page() -> None:
    parsed = parse("form.pdf", form_pdf(), "application/pdf")
    assert [(passage.label, passage.text) for passage in parsed.passages] == [
        ("p. 1, form", "Name of the ship: Gull\ninsured: yes"),
        ("p. 1, note by Ada", "Ask the harbor first."),
        ("p. 1, note", "Valid until May"),
    ]
    assert len({passage.key for passage in parsed.passages}) == 3


@pytest.mark.parametrize("fields", [b"", b"/AcroForm << /Fields [] >>"])
def test_values_of_fields_that_no_form_lists_are_read(fields: bytes) -> None:
    whole = form_pdf()
    listed = b"/AcroForm << /Fields [5 0 R 6 0 R 7 0 R] >>"
    assert listed in whole
    parsed = parse("form.pdf", whole.replace(listed, fields.ljust(len(listed))), "application/pdf")
    assert (parsed.passages[0].label, parsed.passages[0].text) == (
        "p. 1, form",
        "Name of the ship: Gull\ninsured: yes",
    )


def test_attached_files_are_attachments() -> None:
    [attached] = parse("form.pdf", form_pdf(), "application/pdf").attachments
    assert (attached.name, attached.data) == ("crew.csv", b"Name,Oar\nAda,2")


def signed_pdf() -> bytes:
    """A page that is signed once, with two attached files of one name."""
    shown = b"BT /F1 9 Tf 4 8 Td (Approved by Solveig on 3 May) Tj ET"
    file = b"<< /Type /Filespec /F (log.txt) /UF (log.txt) /EF << /F %d 0 R >> >>"
    return assemble_pdf(
        [
            (
                b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R] /SigFlags 3 >>"
                b" /Names << /EmbeddedFiles << /Names [(a) 8 0 R (b) 9 0 R] >> >> >>"
            ),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            (
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots [5 0 R]"
                b" /Resources << /Font << /F1 7 0 R >> >> >>"
            ),
            b"<< /Length 45 >>\nstream\nBT /F1 12 Tf 50 700 Td (Lease of berth 4) Tj ET\nendstream",
            (
                b"<< /Type /Annot /Subtype /Widget /FT /Sig /T (Tenant) /Rect [50 50 250 80] /F 4"
                b" /V << /Type /Sig /Filter /Adobe.PPKLite >> /AP << /N 6 0 R >> >>"
            ),
            (
                b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 30] /Resources << /Font << /F1 7 0 R >> >>"
                b" /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown)
            ),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            file % 10,
            file % 11,
            b"<< /Type /EmbeddedFile /Length 9 >>\nstream\nDepth 2 m\nendstream",
            b"<< /Type /EmbeddedFile /Length 9 >>\nstream\nDepth 3 m\nendstream",
        ]
    )


def test_what_is_shown_where_a_page_is_signed_is_read() -> None:
    parsed = parse("lease.pdf", signed_pdf(), "application/pdf")
    assert ("p. 1, signature", "Approved by Solveig on 3 May") in [
        (passage.label, passage.text) for passage in parsed.passages
    ]
    assert sum("Approved" in passage.text for passage in parsed.passages) == 1


def test_attached_files_of_one_name_are_all_read() -> None:
    attached = parse("lease.pdf", signed_pdf(), "application/pdf").attachments
    assert [(attachment.name, attachment.data) for attachment in attached] == [
        ("log.txt", b"Depth 2 m"),
        ("log.txt", b"Depth 3 m"),
    ]


def test_a_picture_page_is_named_where_nothing_reads_pictures() -> None:
    assert name_pages([2, 4, 5, 6], NO_OCR) == [Omission("p. 2", NO_OCR), Omission("pp. 4–6", NO_OCR)]
