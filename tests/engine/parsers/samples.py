"""Small files made on the fly: PDF, DOCX, archives."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
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
    return assemble_pdf([object_.encode() for object_ in objects], extra)


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


def with_files(data: bytes, files: Mapping[str, bytes]) -> bytes:
    """An archive with further files."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        return archive({name: file.read(name) for name in file.namelist()} | dict(files), zipfile.ZIP_STORED)


def relation(name: str, target: str) -> bytes:
    """The relations of a part of an OpenXML archive: one, by its id."""
    return f'<Relationships><Relationship Id="{name}" Target="{target}"/></Relationships>'.encode()


def blip(name: str) -> str:
    """A picture of DrawingML by the id of its relation."""
    spaces = f'xmlns:a="{_OPENXML}/drawingml/2006/main" xmlns:r="{_OPENXML}/officeDocument/2006/relationships"'
    return f'<a:blip {spaces} r:embed="{name}"/>'


def bomb(size: int) -> bytes:
    """A DOCX whose document unpacks to this number of zero bytes."""
    return archive({"[Content_Types].xml": _TYPES.encode(), "word/document.xml": bytes(size)})


def pptx(slides: Sequence[str], notes: Sequence[str] = ()) -> bytes:
    """A PPTX of these shape trees, in reverse order of their part names; the notes of the first slides."""
    main, related = f"{_OPENXML}/presentationml/2006/main", f"{_OPENXML}/officeDocument/2006/relationships"
    space = f'xmlns:p="{main}" xmlns:a="{_OPENXML}/drawingml/2006/main" xmlns:r="{related}"'
    files = {"[Content_Types].xml": "<Types/>"}
    ids, relations = "", ""
    for at, shapes in enumerate(slides):
        part = f"slides/slide{len(slides) - at}.xml"
        files[f"ppt/{part}"] = f"<p:sld {space}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        ids += f'<p:sldId id="{256 + at}" r:id="r{at}"/>'
        relations += f'<Relationship Id="r{at}" Target="{part}"/>'
        if at < len(notes):
            target = f"../notesSlides/notesSlide{at}.xml"
            files[f"ppt/notesSlides/notesSlide{at}.xml"] = f"<p:notes {space}>{shape(notes[at])}</p:notes>"
            rels = f"ppt/slides/_rels/slide{len(slides) - at}.xml.rels"
            files[rels] = f'<Relationships><Relationship Id="n" Target="{target}"/></Relationships>'
    files["ppt/presentation.xml"] = f"<p:presentation {space}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    files["ppt/_rels/presentation.xml.rels"] = f"<Relationships>{relations}</Relationships>"
    return archive({name: text.encode() for name, text in files.items()})


def shape(text: str, placeholder: str = "body") -> str:
    """A text shape of PresentationML."""
    runs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f'<p:sp><p:nvPr><p:ph type="{placeholder}"/></p:nvPr><p:txBody>{runs}</p:txBody></p:sp>'


def shape_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of PresentationML."""
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    lines = ("".join(cell.format(each) for each in row) for row in rows)
    return f"<p:graphicFrame><a:tbl>{''.join(f'<a:tr>{line}</a:tr>' for line in lines)}</a:tbl></p:graphicFrame>"


_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def opendocument(kind: str, body: str) -> bytes:
    """An OpenDocument file of a kind ("spreadsheet", "presentation") with this content."""
    names = ("office", "table", "text", "draw", "presentation")
    spaces = " ".join(f'xmlns:{name}="{_ODF}:{name.replace("draw", "drawing")}:1.0"' for name in names)
    content = f"<office:document-content {spaces}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
    files = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f'<?xml version="1.0"?>{content}</office:document-content>',
        "META-INF/manifest.xml": f'<manifest xmlns="{_ODF}:manifest:1.0"/>',
    }
    return archive({name: text.encode() for name, text in files.items()}, zipfile.ZIP_STORED)


def opendocument_rows(rows: Sequence[Sequence[str | int]]) -> str:
    """Rows of an OpenDocument table; integers are numbers."""
    return "".join(f"<table:table-row>{''.join(map(_opendocument_cell, row))}</table:table-row>" for row in rows)


def _opendocument_cell(value: str | int) -> str:
    number = f' office:value="{value}"' if isinstance(value, int) else ""
    kind = "float" if isinstance(value, int) else "string"
    return f'<table:table-cell office:value-type="{kind}"{number}><text:p>{value}</text:p></table:table-cell>'


def xlsx(sheets: Mapping[str, Iterable[Sequence[str | int]]]) -> bytes:
    """A workbook of these sheets, with strings in place."""
    main, related = f"{_OPENXML}/spreadsheetml/2006/main", f"{_OPENXML}/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    types = f'<Types xmlns="{_OPENXML}/package/2006/content-types">'
    types += f'<Override PartName="/xl/workbook.xml" ContentType="{kind}"/></Types>'
    listed, relations, files = "", "", {"[Content_Types].xml": types}
    for at, (name, rows) in enumerate(sheets.items(), 1):
        listed += f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>'
        relations += f'<Relationship Id="r{at}" Type="{related}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        lines = (f'<row r="{n}">{"".join(map(_xlsx_cell, row))}</row>' for n, row in enumerate(rows, 1))
        files[f"xl/worksheets/sheet{at}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
        )
    files["xl/workbook.xml"] = f'<workbook xmlns="{main}" xmlns:r="{related}"><sheets>{listed}</sheets></workbook>'
    package = f'xmlns="{_OPENXML}/package/2006/relationships"'
    target = f'Id="w" Type="{related}/officeDocument" Target="xl/workbook.xml"'
    files["_rels/.rels"] = f"<Relationships {package}><Relationship {target}/></Relationships>"
    files["xl/_rels/workbook.xml.rels"] = f"<Relationships {package}>{relations}</Relationships>"
    return archive({name: text.encode() for name, text in files.items()})


def _xlsx_cell(value: str | int) -> str:
    return f"<c><v>{value}</v></c>" if isinstance(value, int) else f'<c t="inlineStr"><is><t>{value}</t></is></c>'


def epub(chapters: Mapping[str, str]) -> bytes:
    """A book with a table of contents: titles and bodies of its chapters."""
    items = "".join(f'<item id="c{at}" href="c{at}.xhtml"/>' for at in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    entries = "".join(f'<li><a href="c{at}.xhtml">{title}</a></li>' for at, title in enumerate(chapters))
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="book/a.opf"/></rootfiles></container>',
        "book/a.opf": f"<package><metadata><title>The Ferry</title><date>2026-05-12</date></metadata><manifest>{items}"
        f'<item id="nav" href="nav.xhtml" properties="nav"/></manifest><spine>{spine}</spine></package>',
        "book/nav.xhtml": f"<html><body><nav><ol>{entries}</ol></nav></body></html>",
    } | {f"book/c{at}.xhtml": f"<html><body>{body}</body></html>" for at, body in enumerate(chapters.values())}
    return archive({name: text.encode() for name, text in files.items()}, zipfile.ZIP_STORED)
