"""Files as other programs write them: with other names of parts, as one XML file, under endings of other formats."""

from __future__ import annotations

import base64
import zipfile
import zlib
from io import BytesIO
from urllib.parse import quote

import pytest

from engine import FileParser, ParserLimits
from engine.errors import CorruptFile, UnsupportedFormat
from engine.models import Omission
from engine.parsers.detection import detect_format
from engine.parsers.formats.epub import parse as parse_epub
from engine.parsers.formats.opendocument.content import NO_DOCUMENT
from engine.parsers.formats.opendocument.flat import parse as parse_flat
from engine.parsers.formats.row_passages import repeat_merged
from engine.parsers.formats.xml_text import parse as parse_xml
from tests.engine.parsers.samples import archive, docx, opendocument, paragraph

LIMITS = ParserLimits()
FLAT = (
    '<?xml version="1.0"?><office:document xmlns:office="o" xmlns:text="t" xmlns:table="b" office:mimetype='
    '"application/vnd.oasis.opendocument.{kind}"><office:body>{body}</office:body></office:document>'
)
NOTED = (
    '<table:table table:name="Tolls"><table:table-row><table:table-cell><office:annotation><text:p>{note}</text:p>'
    "</office:annotation><text:p>Cart</text:p></table:table-cell></table:table-row></table:table>"
)


async def read(parser: FileParser, name: str, data: bytes) -> str:
    parsed = await parser.parse(name, data)
    return "\n".join(passage.text for passage in parsed.passages)


@pytest.mark.asyncio(loop_scope="module")
async def test_flat_opendocument_and_templates_are_read_like_documents(parser: FileParser) -> None:
    text = "<text:p>The eel trap</text:p>"
    assert await read(parser, "a.fodt", FLAT.format(kind="text", body=text).encode()) == "The eel trap"
    assert await read(parser, "a.ott", opendocument("text-template", text)) == "The eel trap"
    rows = NOTED.format(note="For sheep") + NOTED.format(note="For geese")
    found = await read(parser, "a.fods", FLAT.format(kind="spreadsheet", body=rows).encode())
    assert found.split("\n") == ["Cart", "row 1: Comment: For sheep", "Cart", "row 1: Comment: For geese"]
    with pytest.raises(CorruptFile):
        await read(parser, "a.fodt", FLAT.format(kind="unheard", body=text).encode())


def test_pictures_and_objects_of_flat_opendocument_are_read_once() -> None:
    inner = "<office:document><office:body><text:p>Tide table</text:p></office:body></office:document>"
    formula = "<m:math><m:mi>depth</m:mi></m:math>"
    picture = f"<office:binary-data>{base64.b64encode(b'bytes of it').decode()}</office:binary-data>"
    shown = f"<d:object>{inner}</d:object><d:object>{formula}</d:object><d:image>{picture}</d:image>"
    foreign = f"<d:object-ole>{picture}</d:object-ole>"
    body = f'<text:p xmlns:d="d" xmlns:m="m">The eel trap<d:frame>{shown}{foreign}</d:frame></text:p>'
    parsed = parse_flat("a.fodt", FLAT.format(kind="text", body=body).encode())
    words = " ".join(passage.text for passage in parsed.passages).split()
    assert words == ["The", "eel", "trap", "Tide", "table", "depth"]
    assert [picture.data for picture in parsed.embedded] == [b"bytes of it"]
    assert [omission.reason for omission in parsed.omissions] == [NO_DOCUMENT]


SHEET_2003 = """<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="s1"><NumberFormat ss:Format="0.0%"/></Style></Styles><Worksheet ss:Name="Tolls"><Table><Row>
<Cell><Data ss:Type="String">Who</Data></Cell><Cell><Data ss:Type="String">Age
</Data></Cell><Cell><Data ss:Type="String">Since</Data></Cell></Row><Row><Cell><Data ss:Type="String">Ada</Data><Comment
 ss:Author="Mo"><Data>Ask her</Data></Comment></Cell><Cell ss:StyleID="s1"><Data ss:Type="Number">0.125</Data></Cell>
<Cell ss:Index="3"><Data ss:Type="DateTime">2026-03-02T00:00:00.000
</Data></Cell></Row></Table></Worksheet></Workbook>"""
WORD_2003 = """<?xml version="1.0"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml">
<w:body><w:p><w:r><w:t>The eel </w:t></w:r>
<w:r><w:t>trap</w:t><w:footnote><w:p><w:r><w:t>Leaks.</w:t></w:r></w:p></w:footnote>
</w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>Ada</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc><w:tc><w:p><w:r><w:t>5</w:t>
</w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:wordDocument>"""


@pytest.mark.parametrize("name", ["a.xml", "a.xls", "a.doc"])
def test_workbooks_and_documents_of_office_2003_are_read_by_rows_and_paragraphs(name: str) -> None:
    assert detect_format(name, SHEET_2003.encode(), LIMITS) == "xml"
    sheet, document = (parse_xml(name, text.encode()) for text in (SHEET_2003, WORD_2003))
    assert [passage.text for passage in sheet.passages] == [
        "Who | Age | Since\n--- | --- | ---\nAda | 12.5% | 2026-03-02",
        "row 2: Comment by Mo: Ask her",
    ]
    found = "\n".join(passage.text for passage in document.passages)
    assert [line for line in found.split("\n") if line] == ["The eel trap", "Leaks.", "Ada |  | 5", "--- | --- | ---"]


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        *(("@", "7", "7"), ("Yes/No", "990", "990"), ("True/False", "1", "1"), ("On/Off", "0", "0"), ("0", "7", "7")),
        *(("Short Date", "45000", "45000"), ("Fixed", "7", "7.00"), ("Standard", "7000", "7,000.00")),
        *(("Currency", "-7000.5", "-$7,000.50"), ("Euro Currency", "7", "€7.00"), ("Scientific", "7000", "7.00E+03")),
        *(("#,##0.00 [$kg]", "7000", "7,000.00 kg"), ("d/m/yyyy", "45000", "15/3/2023")),
    ],
)
def test_numbers_of_excel_2003_stay_whatever_the_name_of_their_format(code: str, value: str, shown: str) -> None:
    found = SHEET_2003.replace("0.0%", code).replace("0.125", value)
    assert f"| {shown} |" in parse_xml("a.xml", found.encode()).passages[0].text


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ('<Cell ss:StyleID="s1"', '<Cell ss:StyleID="s2"', "12.5%"),
        ('<Cell ss:StyleID="s1"', "<Cell", "0.125"),
        ("<Table>", '<Table ss:StyleID="s2">', "12.5%"),
        ("<Table>", '<Table><Column ss:Index="2" ss:Span="2" ss:StyleID="s2"/>', "12.5%"),
        ("<Table>", '<Table><Column ss:StyleID="s2"/>', "0.125"),
        ("<Row>", '<Row ss:StyleID="s2">', "12.5%"),
    ],
)
def test_a_cell_of_excel_2003_has_the_style_of_what_it_is_in(old: str, new: str, shown: str) -> None:
    found = SHEET_2003.replace("</Styles>", '<Style ss:ID="s2" ss:Parent="s1"/></Styles>').replace(old, new)
    found = found.replace('<Cell ss:StyleID="s1"', "<Cell")
    assert f"| {shown} |" in parse_xml("a.xml", found.encode()).passages[0].text


def test_a_row_of_excel_2003_counts_those_that_it_spans() -> None:
    spanned = SHEET_2003.replace("</Row><Row>", '</Row><Row ss:Index="3" ss:Span="4"/><Row>')
    sheet = parse_xml("a.xml", spanned.encode())
    assert [passage.label for passage in sheet.passages] == ["sheet Tolls, row 8", "sheet Tolls, notes"]
    assert sheet.passages[1].text.startswith("row 8: Comment")


@pytest.mark.parametrize("words", ["Hello", ""])
def test_pictures_and_objects_of_word_2003_are_read_or_named(words: str) -> None:
    pieces = (("wordml://1.png", b"\x89PNG 1"), ("wordml://2.wmz", b"drawn"), ("", b""))
    data = "".join(f'<w:binData w:name="{at}">\n{base64.b64encode(found).decode()}</w:binData>' for at, found in pieces)
    text = (
        '<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:o="o">'
        f"<o:DocumentProperties><o:Title>Eel traps</o:Title><o:Author>Odo</o:Author></o:DocumentProperties>"
        f"<w:body><w:p><w:r><w:t>{words}</w:t></w:r></w:p><w:p><w:r><w:pict>{data}</w:pict></w:r></w:p></w:body>"
        '<w:docOleData><w:binData w:name="oledata.mso">0M8R</w:binData></w:docOleData></w:wordDocument>'
    )
    parsed = parse_xml("a.xml", text.encode())
    assert [passage.text for passage in parsed.passages] == (
        ["Hello", "Title: Eel traps\nAuthor: Odo"] if words else []
    )
    assert [picture.data for picture in parsed.embedded] == [b"\x89PNG 1"]
    assert [omission.part for omission in parsed.omissions] == ["2.wmz", "data 3", "oledata.mso"]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_word_file_whose_main_part_has_another_name_is_read_as_usual(parser: FileParser) -> None:
    moved = '<w:p><w:moveFrom w:id="1"><w:r><w:t>Old place</w:t></w:r></w:moveFrom></w:p>'
    usual = docx(paragraph("The eel trap", "Heading1"), moved, paragraph("It leaks."))
    with zipfile.ZipFile(BytesIO(usual)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    before, after = "word/document.xml", "word/document2.xml"
    renamed = archive({n.replace(before, after): d.replace(before.encode(), after.encode()) for n, d in parts.items()})
    texts = [await read(parser, "a.docx", data) for data in (usual, renamed)]
    assert texts[0] == texts[1]
    assert "It leaks." in texts[0]
    assert "Old place" not in texts[0]


@pytest.mark.asyncio(loop_scope="module")
async def test_the_words_that_stand_for_a_picture_are_read(parser: FileParser) -> None:
    drawn = (
        '<w:p><w:r><w:drawing><wp:docPr xmlns:wp="p" id="1" name="1" descr="Eels in a basket"/></w:drawing></w:r></w:p>'
    )
    assert "Picture: Eels in a basket" in await read(parser, "a.docx", docx(paragraph("Trap"), drawn))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.xls", "Name\tFee\nOdo\t12\n", ["Odo | 12"]),
        ("a.xls", "<html><table><tr><td>Odo</td><td>12</td></tr></table></html>", ["Odo | 12"]),
        ("a.doc", "The eel trap leaks.\n", ["The eel trap leaks."]),
        (
            "a.doc",
            '<html xmlns:o="urn:schemas-microsoft-com:office:office"><p>The eel trap</p></html>',
            ["The eel trap"],
        ),
        ("1.emlx", "35\nFrom: a@b.example\nSubject: X\n\nTrap.\n\n<plist><dict/></plist>", ["Trap."]),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_text_with_the_ending_of_an_office_file_is_text(
    parser: FileParser, name: str, text: str, words: list[str]
) -> None:
    found = await read(parser, name, text.encode())
    assert all(each in found for each in words)
    assert "<" not in found


@pytest.mark.asyncio(loop_scope="module")
async def test_a_login_page_is_no_office_file_and_a_mail_store_says_what_to_do(parser: FileParser) -> None:
    with pytest.raises(CorruptFile, match="login page"):
        await read(parser, "a.xls", b"<html><table><tr><td><input type='password'></td></tr></table></html>")
    with pytest.raises(UnsupportedFormat, match="Outlook") as caught:
        await read(parser, "mail.pst", b"!BDN" + bytes(600))
    assert "mbox" in caught.value.hint


@pytest.mark.asyncio(loop_scope="module")
async def test_data_within_xml_are_named_and_packed_drawings_read(parser: FileParser) -> None:
    data = base64.b64encode(bytes(range(256))).decode()
    parsed = await parser.parse("a.xml", f'<?xml version="1.0"?><a><b>Trap</b><c>{data}</c></a>'.encode())
    assert [passage.text for passage in parsed.passages] == ["b: Trap"]
    assert parsed.omissions == (Omission("<c> in line 1", "it is data, not text"),)
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    words = "Mend the eel trap before the flood comes to the lower mill"
    drawing = f'<mxGraphModel><root><mxCell value="{words}"/></root></mxGraphModel>'
    packed = base64.b64encode(packer.compress(quote(drawing).encode()) + packer.flush()).decode()
    found = await read(parser, "a.drawio", f"<mxfile><diagram>{packed}</diagram></mxfile>".encode())
    assert words in found


@pytest.mark.asyncio(loop_scope="module")
async def test_utf16_without_a_mark_is_known_by_its_script(parser: FileParser) -> None:
    text = "Ключ от склада лежит у моста.\n"
    assert [await read(parser, "a.txt", text.encode(name)) for name in ("utf-16-le", "utf-16-be")] == [text.strip()] * 2


@pytest.mark.parametrize(
    ("encoding", "text"), [("cp1250", "Klíč od skladu má Žofie"), ("mac-cyrillic", "Ключ от склада лежит у Марфы")]
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_short_text_is_read_in_the_likelier_language(parser: FileParser, encoding: str, text: str) -> None:
    assert await read(parser, "a.txt", text.encode(encoding)) == text


@pytest.mark.asyncio(loop_scope="module")
async def test_a_paragraph_with_a_tab_or_a_link_is_read_once_and_its_words_stay_apart(parser: FileParser) -> None:
    tabbed = "<w:p><w:r><w:t>Odo</w:t><w:tab/><w:t>12 crowns</w:t></w:r></w:p>"
    found = await read(parser, "a.docx", docx(paragraph("Fees"), tabbed))
    assert found.split() == ["Fees", "Odo", "12", "crowns"]


def test_merged_cells_are_repeated_except_those_of_a_title() -> None:
    rows = [["Boats", "", ""], ["Region", "Barrels", ""], ["", "In", "Out"], ["North", "5", "6"], ["", "7", "8"]]
    merged = [((0, 0), (0, 2)), ((1, 0), (2, 0)), ((1, 1), (1, 2)), ((3, 0), (4, 0)), ((9, 0), (9, 5))]
    assert [row for _, row in repeat_merged(enumerate(rows, 1), merged)] == [
        ["Boats", "", ""],
        ["Region", "Barrels", "Barrels"],
        ["Region", "In", "Out"],
        ["North", "5", "6"],
        ["North", "7", "8"],
    ]


def test_elements_that_end_a_line_part_words() -> None:
    subtitles = b'<tt xmlns="http://www.w3.org/ns/ttml"><p>Bell rings<br/>thrice</p></tt>'
    assert parse_xml("a.ttml", subtitles).passages[0].text == "p: Bell rings thrice"


def test_a_drawing_among_the_chapters_of_a_book_has_words() -> None:
    files = {
        "META-INF/container.xml": b'<container><rootfile full-path="a.opf"/></container>',
        "a.opf": b'<package><manifest><item id="p" href="p.svg"/></manifest>'
        b'<spine><itemref idref="p"/></spine></package>',
        "p.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><text>Plate one</text></svg>',
    }
    assert "Plate one" in parse_epub("a.epub", archive(files), "").passages[0].text
