"""Read the values of forms, the notes and the attached files of a PDF through PDFium."""

from __future__ import annotations

import ctypes
import html
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.models import Omission
from engine.parsers.base import DAMAGED, Attachment
from engine.parsers.formats.pdf.xfa import read_xfa_values
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pypdfium2 import PdfDocument, PdfPage

# Of PDFium's public headers.
_NOTES = frozenset({1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})  # kinds of annotations in which people type
_FILE, _WIDGET, _SIGNATURE = 17, 20, 7
_CHECK_BOX, _RADIO = 2, 3
_CHOICES = frozenset({4, 5})
_FIELD_KINDS = frozenset({_CHECK_BOX, _RADIO, *_CHOICES, 6})
_ON, _OFF = frozenset({"yes", "on", "1", "true", ""}), frozenset({"off", ""})
_BUTTON = "Btn"  # a field that is checked or not
_MAX_ANNOTATIONS, _MAX_ATTACHMENTS = 20_000, 200
_MANY_LINES = 30
_TAG = re.compile(r"<[^<>]*>")
_LARGE_SHARE, _SHORT_TEXT = 0.5, 80  # of a page that is a scan with a stamp or a page number as text

_Frame = tuple[float, float, float, float]  # left, bottom, right, top


@dataclass(slots=True)
class PdfObjects:
    """Texts of forms and notes by page with their labels, attached files, and pages that are pictures or have some."""

    texts: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    attachments: list[Attachment] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    pictures: set[int] = field(default_factory=set)
    drawn: set[int] = field(default_factory=set)


def read_objects(data: bytes) -> PdfObjects:
    """All that; what is damaged is left out and named, a damaged document has nothing."""
    import pypdfium2  # noqa: PLC0415  - loads slowly

    found = PdfObjects()
    with suppress(pypdfium2.PdfiumError):
        document = pypdfium2.PdfDocument(data)
        try:
            _read_document(document, found)
        finally:
            document.close()
    return found


def _read_document(document: PdfDocument, found: PdfObjects) -> None:
    import pypdfium2  # noqa: PLC0415  - loads slowly

    form = document.formenv.raw if document.init_forms() or document.formenv else None
    for number in range(1, len(document) + 1):
        try:
            page = document[number - 1]
        except pypdfium2.PdfiumError:
            found.omissions.append(Omission(f"p. {number}", DAMAGED))
            continue
        frames = _read_page(page, number, form, found)
        page.close()
        if frames:
            found.texts.setdefault(number, []).extend(_read_signatures(document, number, frames))
    is_read = any(label == "form" for texts in found.texts.values() for label, _ in texts)
    if not is_read and (values := read_xfa_values(document)):
        found.texts.setdefault(1, []).append(("form", values))
    for at in range(min(document.count_attachments(), _MAX_ATTACHMENTS)):
        try:
            attached = document.get_attachment(at)
            name = clean_single_line(attached.get_name()) or f"attachment {at + 1}"
        except pypdfium2.PdfiumError:
            found.omissions.append(Omission(f"attachment {at + 1}", DAMAGED))
        else:
            _add_attachment(found, name, attached.raw)


def _read_page(page: PdfPage, number: int, form: Any, found: PdfObjects) -> list[_Frame]:
    """Read the annotations of a page, and whether it is a picture; returns where it is signed."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    values: list[str] = []
    frames: list[_Frame] = []
    for at in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, at)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == _WIDGET and form and pdfium.FPDFAnnot_GetFormFieldType(form, annotation) == _SIGNATURE:
            frames += _frame_of(annotation)
        elif kind == _WIDGET:
            is_known = form and pdfium.FPDFAnnot_GetFormFieldType(form, annotation) > 0
            line = _field_line(form, annotation) if is_known else _lone_line(annotation)
            values += [line] if line and line not in values else []
        elif kind in _NOTES and (note := _read_note(annotation)):
            author = clean_single_line(_annotation_text(annotation, b"T"))
            found.texts.setdefault(number, []).append((f"note by {author}" if author else "note", note))
        elif kind == _FILE:
            _add_attachment(found, "", pdfium.FPDFAnnot_GetFileAttachment(annotation))
        pdfium.FPDFPage_CloseAnnot(annotation)
    if values:
        found.texts.setdefault(number, []).insert(0, ("form", "\n".join(values)))
    if _is_picture(page):
        found.pictures.add(number)
    if number in found.pictures or _is_drawn(page):
        found.drawn.add(number)
    return frames


def _frame_of(annotation: Any) -> list[_Frame]:
    """Where an annotation is shown; nothing if it is not."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    frame = pdfium.FS_RECTF()
    is_shown = pdfium.FPDFAnnot_GetRect(annotation, frame) and frame.right > frame.left and frame.top > frame.bottom
    return [(frame.left, frame.bottom, frame.right, frame.top)] if is_shown else []


def _read_signatures(document: PdfDocument, number: int, frames: list[_Frame]) -> Iterator[tuple[str, str]]:
    """What a page shows where it is signed, such as who signed it when; that is part of the page once it is flat."""
    import pypdfium2  # noqa: PLC0415  - loads slowly
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    with suppress(pypdfium2.PdfiumError):
        page = document[number - 1]
        before = [page.get_textpage().get_text_bounded(*frame) for frame in frames]
        pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
        page.close()
        page = document[number - 1]
        for frame, printed in zip(frames, before, strict=True):
            text = clean_multiline(page.get_textpage().get_text_bounded(*frame))
            if text and text != clean_multiline(printed):
                yield "signature", text
        page.close()


def _field_line(form: Any, annotation: Any) -> str:
    """A field that is filled in, as "name: value"."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind not in _FIELD_KINDS:
        return ""
    if kind in {_CHECK_BOX, _RADIO}:
        if not pdfium.FPDFAnnot_IsChecked(form, annotation):
            return ""
        chosen = _read_text(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation)
        value = "yes" if chosen.casefold() in _ON else chosen
    else:
        value = _read_choice(form, annotation) if kind in _CHOICES else ""
        value = value or clean_multiline(_read_text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation))
    name = _read_text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = clean_single_line(name or _read_text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation))
    return f"{name}: {value}" if name and value else value


def _lone_line(annotation: Any) -> str:
    """A field that is filled in, and that the form of the file does not list, such as on a page taken out of it."""
    value = clean_multiline(_annotation_text(annotation, b"V"))
    if _annotation_text(annotation, b"FT") == _BUTTON:
        state = clean_single_line(_annotation_text(annotation, b"AS"))
        value = "" if state.casefold() in _OFF else "yes" if state.casefold() in _ON else state
    name = clean_single_line(_annotation_text(annotation, b"TU") or _annotation_text(annotation, b"T"))
    return f"{name}: {value}" if name and value else value


def _read_choice(form: Any, annotation: Any) -> str:
    """The chosen options as they are shown."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    options = range(min(max(0, pdfium.FPDFAnnot_GetOptionCount(form, annotation)), _MAX_ANNOTATIONS))
    chosen = (at for at in options if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, at))
    labels = (_read_text(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, at) for at in chosen)
    return ", ".join(filter(None, map(clean_single_line, labels)))


def _read_note(annotation: Any) -> str:
    """What somebody typed; some programs keep it with its looks alone, as a piece of a page."""
    plain = _annotation_text(annotation, b"Contents")
    return clean_multiline(plain or html.unescape(_TAG.sub(" ", _annotation_text(annotation, b"RC"))))


def _annotation_text(annotation: Any, key: bytes) -> str:
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    return _read_text(pdfium.FPDFAnnot_GetStringValue, annotation, key)


def _read_text(function: Callable[..., int], *arguments: Any) -> str:
    """The UTF-16 text that a function of PDFium writes into a buffer; its length includes two zero bytes."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    size = function(*arguments, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")


def _add_attachment(found: PdfObjects, name: str, raw: Any) -> None:
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    if not raw:
        return
    name = name or clean_single_line(_read_text(pdfium.FPDFAttachment_GetName, raw))
    name = name or f"attachment {len(found.attachments) + 1}"
    size = ctypes.c_ulong(0)
    pdfium.FPDFAttachment_GetFile(raw, None, 0, size)
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    if not size.value or not pdfium.FPDFAttachment_GetFile(raw, buffer, size.value, size):
        found.omissions.append(Omission(f"attachment {name}", DAMAGED))
    elif (attached := Attachment(name, buffer.raw[: size.value])) not in found.attachments:
        found.attachments.append(attached)


def _is_picture(page: PdfPage) -> bool:
    """Whether one picture covers most of a page."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    width, height = page.get_size()
    return any(
        (right - left) * (top - bottom) > _LARGE_SHARE * width * height
        for left, bottom, right, top in _picture_boxes(page, pdfium.FPDF_PAGEOBJ_IMAGE)
    )


def _is_drawn(page: PdfPage) -> bool:
    """Whether a page has a picture, or so many lines that they may be letters."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    count = pdfium.FPDFPage_CountObjects(page.raw)
    if count >= _MANY_LINES:
        return True
    kinds = (pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page.raw, at)) for at in range(count))
    return any(kind in {pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM} for kind in kinds)


def _picture_boxes(page: PdfPage, kind: int) -> Iterator[tuple[float, float, float, float]]:
    import pypdfium2  # noqa: PLC0415  - loads slowly

    with suppress(pypdfium2.PdfiumError):
        for object_ in page.get_objects(filter=[kind], max_depth=2):
            with suppress(pypdfium2.PdfiumError):
                yield object_.get_bounds()


def is_stamp(text: str) -> bool:
    """Whether a text is too short to be that of a page: a stamp or a page number upon a scan."""
    return len(text.strip()) < _SHORT_TEXT
