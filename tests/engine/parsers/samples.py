"""Small files made on the fly: PDF, DOCX, archives."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

_OPENXML = "http://schemas.openxmlformats.org"
_TYPES = (
    f'<?xml version="1.0"?><Types xmlns="{_OPENXML}/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_CORE = (
    '<?xml version="1.0"?><cp:coreProperties xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi='
    f'"http://www.w3.org/2001/XMLSchema-instance" xmlns:cp="{_OPENXML}/package/2006/metadata/core-properties">'
    '<dcterms:modified xsi:type="dcterms:W3CDTF">{}</dcterms:modified></cp:coreProperties>'
)
_RELATIONS = (
    f'<?xml version="1.0"?><Relationships xmlns="{_OPENXML}/package/2006/relationships"><Relationship Id="r1" '
    f'Target="word/document.xml" Type="{_OPENXML}/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)


def pdf(pages: Sequence[Sequence[str]], *, locked: bool = False, saved: str = "") -> bytes:
    """A PDF with one line of Helvetica below the other; `locked` with keys that no password opens.

    `saved` is its creation time as PDF writes it.
    """
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} /MediaBox [0 0 595 842] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, lines in enumerate(pages):
        content = f"BT /F1 12 Tf 14 TL 40 780 Td {' '.join(f'({line}) Tj T*' for line in lines)} ET"
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * at} 0 R {fonts} >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    extra = ""
    if locked:
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'11' * 32}> /U <{'22' * 32}> >>")
        extra = f" /Encrypt {len(objects)} 0 R /ID [<00><00>]"
    if saved:
        objects.append(f"<< /CreationDate (D:{saved}) >>")
        extra += f" /Info {len(objects)} 0 R"
    return assemble_pdf([each.encode() for each in objects], extra)


def assemble_pdf(objects: Sequence[bytes], extra: str = "") -> bytes:
    """A PDF of these objects; `extra` are entries of its trailer."""
    data = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    return data + f"{end}<< /Size {len(objects) + 1} /Root 1 0 R{extra} >>\nstartxref\n{len(data)}\n%%EOF\n".encode()


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of WordprocessingML."""
    kind = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{kind}<w:r><w:t>{text}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of WordprocessingML."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(*body: str, saved: str = "") -> bytes:
    """A DOCX of these paragraphs and tables; `saved` is the time of its last change."""
    space = f'xmlns:w="{_OPENXML}/wordprocessingml/2006/main"'
    document = f'<?xml version="1.0"?><w:document {space}><w:body>{"".join(body)}</w:body></w:document>'
    parts = {"[Content_Types].xml": _TYPES, "_rels/.rels": _RELATIONS, "word/document.xml": document}
    core = {"docProps/core.xml": _CORE.format(saved)} if saved else {}
    return archive({name: text.encode() for name, text in (parts | core).items()})


def archive(files: Mapping[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of these files."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w", packing) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return target.getvalue()


def bomb(size: int) -> bytes:
    """A DOCX whose document unpacks to this number of zero bytes."""
    return archive({"[Content_Types].xml": _TYPES.encode(), "word/document.xml": bytes(size)})
