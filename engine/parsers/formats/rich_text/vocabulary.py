"""The words of RTF: destinations that hold no text, those with a text of their own, and signs."""

from __future__ import annotations

SKIPPED = frozenset(
    (
        *("colortbl", "info", "pict", "objdata", "objclass", "objname", "themedata", "colorschememapping", "datastore"),
        *("latentstyles", "listtable", "listoverridetable", "rsidtbl", "generator", "xmlnstbl", "bkmkstart", "bkmkend"),
        *(
            "sn",
            "sv",
            "nonshppict",
            "mmathPr",
            "filetbl",
            "revtbl",
            "pgptbl",
            "background",
            "atnref",
            "atnicn",
            "atrfstart",
        ),
        *(
            "atrfend",
            "atndate",
            "atnid",
            "atntime",
            "atnparent",
            "blipuid",
            "picprop",
            "panose",
            "fontemb",
            "falt",
            "passwordhash",
        ),
        *(
            "userprops",
            "xform",
            "wgrffmtfilter",
            "oldcprops",
            "oldpprops",
            "oldsprops",
            "oldtprops",
            "ftnsep",
            "ftnsepc",
        ),
        *("aftnsep", "aftnsepc", "aftncn", "ftncn", "tc", "xe", "htmltag", "mhtmltag", "company", "operator"),
    )
)
PARTS = {
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "Header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "Footer"),
    "footnote": "Note",
    "annotation": "Comment",
}
READ = frozenset({"shpinst", "shptxt", "shppict", "ud", "do", "dptxbxtext", "result", "nesttableprops", "pn", "pntxta"})
TEXT_OF = {
    b"par": "\n",
    b"sect": "\n",
    b"page": "\n",
    b"line": "\v",
    b"tab": "\t",
    b"emdash": "—",
    b"endash": "–",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
    b"bullet": "•",
    b"emspace": " ",
    b"enspace": " ",
    b"qmspace": " ",
    b"softline": "\v",
    b"column": "\n",
}
SYMBOLS = {b"~": " ", b"_": "-", b"\n": "\n", b"\r": "\n", b"\t": "\t"}
BYTES = frozenset({b"\\", b"{", b"}"})
DESTINATIONS = frozenset({"fonttbl", "stylesheet", "fldinst", "fldrslt", "pict", "atnauthor", *PARTS})
