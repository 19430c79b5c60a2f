"""What a PDF holds beside the text of its pages: forms, notes and attached files."""

from __future__ import annotations

from engine.models import Omission
from engine.parsers.base import NO_OCR
from engine.parsers.pdf import parse
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
    assert [(each.label, each.text) for each in parsed.passages] == [
        ("p. 1, form", "Name of the ship: Gull\ninsured: yes"),
        ("p. 1, note by Ada", "Ask the harbor first."),
        ("p. 1, note", "Valid until May"),
    ]
    assert len({each.key for each in parsed.passages}) == 3


def test_attached_files_are_attachments() -> None:
    [attached] = parse("form.pdf", form_pdf(), "application/pdf").attachments
    assert (attached.name, attached.data) == ("crew.csv", b"Name,Oar\nAda,2")


def test_a_picture_page_is_named_where_nothing_reads_pictures() -> None:
    assert name_pages([2, 4, 5, 6], NO_OCR) == [Omission("p. 2", NO_OCR), Omission("pp. 4–6", NO_OCR)]
