"""Run the real demo in a pseudo-terminal, and draw what stood on it as docs/demo.svg.

python scripts/record_demo.py [docs/demo.svg]
"""

from __future__ import annotations

import codecs
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
COLUMNS, ROWS = 100, 40
LEAVE = b"\x04"
SEQUENCE = re.compile(r"\x1b\[([?>]?)([\d;]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>()][0-9A-Z]?")
WHERE = "\x1b[6n"
OPEN = "quits."
FONTS = re.compile(r"\s*@font-face \{.*?\}(?=\s)", re.DOTALL)  # those of the reader's machine do; no server is asked


@dataclass
class Paper:
    """A terminal that forgets nothing: cells of (character, colors), and where the cursor is."""

    lines: list[list[tuple[str, str]]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0
    colors: str = ""

    def write(self, text: str) -> None:
        """Obey the text."""
        at = 0
        while at < len(text):
            match = SEQUENCE.match(text, at)
            if match:
                self.obey(match)
                at = match.end()
            else:
                self.put(text[at])
                at += 1

    def put(self, character: str) -> None:
        """Write one character, or move as it says."""
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.move(1)
        elif character >= " ":
            line = self.lines[self.row]
            line += [(" ", "")] * (self.column + 1 - len(line))
            line[self.column] = (character, self.colors)
            self.column += 1

    def move(self, rows: int) -> None:
        """Go up or down; below the last line is a new one."""
        self.row = max(0, self.row + rows)
        self.lines += [[] for _ in range(self.row + 1 - len(self.lines))]

    def obey(self, match: re.Match[str]) -> None:
        """Colors, moves and erasures; everything else shows nothing."""
        private, numbers, letter = match.groups()
        first = int(numbers.split(";")[0] or 0) if numbers else 0
        if private or letter is None:
            return
        if letter == "m":
            self.colors = "" if numbers in {"", "0"} else f"{self.colors}\x1b[{numbers}m"
        elif letter in "AB":
            self.move((first or 1) * (1 if letter == "B" else -1))
        elif letter in "CD":
            self.column = max(0, self.column + (first or 1) * (1 if letter == "C" else -1))
        elif letter == "G":
            self.column = max(0, first - 1)
        elif letter == "K":
            del self.lines[self.row][0 if first == 2 else self.column :]
        elif letter == "J":
            del self.lines[self.row][self.column :], self.lines[self.row + 1 :]

    def text(self) -> Text:
        """All that was written."""
        drawn = ["".join(f"\x1b[0m{colors}{character}" for character, colors in line) for line in self.lines]
        return Text("\n").join(Text.from_ansi(line) if line else Text() for line in drawn)


def record() -> Paper:
    """What the demo writes until its conversation is open; then the person leaves."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    settings = {name: value for name, value in os.environ.items() if not name.startswith("THREADLORE_")}
    environment = {**settings, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(ROWS)}
    command = [sys.executable, "-m", "bot", "demo"]
    child = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    paper, decode, left = Paper(), codecs.getincrementaldecoder("utf-8")(), False
    while chunk := read(leader):
        text = decode.decode(chunk)
        paper.write(text)
        if WHERE in text:
            os.write(leader, f"\x1b[{ROWS};1R".encode())
        if not left and OPEN in "".join(character for line in paper.lines[-6:] for character, _ in line):
            os.write(leader, LEAVE)
            left = True
    if child.wait():
        sys.exit(f"The demo ended with exit code {child.returncode}.")
    return paper


def read(leader: int) -> bytes:
    """The next bytes; none once the other side is gone."""
    try:
        return os.read(leader, 65536)
    except OSError:
        return b""


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "demo.svg"
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ make demo", "bold"))
    drawn = record().text()
    drawn.rstrip()
    console.print(drawn)
    target.parent.mkdir(exist_ok=True)
    drawing = console.export_svg(title="threadlore demo", unique_id="demo")
    target.write_text(FONTS.sub("", drawing), encoding="utf-8")
    print(f"{target}: {target.stat().st_size / 1024:.0f} KiB")
    print(drawn.plain)


if __name__ == "__main__":
    main()
