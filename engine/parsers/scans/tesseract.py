"""Recognize the text of a picture with the program tesseract."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, EmptyDocument
from engine.parsers.sandbox.cpu_time import extend_cpu_time

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits


def recognize(picture: bytes, limits: ParserLimits) -> str:
    """The text of a picture; empty if there is none. Raises CorruptFile if it is not a picture."""
    command = [limits.ocr_program, "stdin", "stdout", "-l", limits.ocr_languages]
    environment = {"OMP_THREAD_LIMIT": "1", "OPENSSL_CONF": os.devnull}  # the settings of the system are out of reach
    with extend_cpu_time(limits):
        done = subprocess.run(  # noqa: S603 - the program and its languages are settings
            command, input=picture, capture_output=True, check=False, env=environment
        )
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace")
    message = done.stderr.decode("utf-8", "replace")
    if "language" in message.lower():
        raise EmptyDocument(
            f"There is no text in it, and tesseract does not know the language {limits.ocr_languages}.",
            hint="Install the language, or set THREADLORE_OCR_LANGUAGES.",
        )
    raise CorruptFile("The picture is damaged, or its format is not known to tesseract.")
