"""Open pictures, and make them small enough to be sent to a model."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge
from engine.parsers.base import ParsedFile

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF")
MAX_SIDE = 1568  # pixels; providers scale larger pictures down themselves
_MAX_PIXELS = 80_000_000  # of a picture before it is made smaller: 240 MB
_QUALITY = 85
_WHITE = (255, 255, 255, 255)


def parse(name: str, data: bytes) -> ParsedFile:  # noqa: ARG001 - the bytes are read as a scan
    """The picture as a page without text."""
    return ParsedFile(name, (), unread_pages=(0,))


def open_picture(data: bytes) -> Image:
    """The first frame, upright. Raises CorruptFile or DocumentTooLarge."""
    from PIL import Image, ImageOps  # noqa: PLC0415 - needed for pictures only

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its size and damaged metadata
            picture = Image.open(BytesIO(data), formats=_FORMATS)
            if picture.width * picture.height > _MAX_PIXELS:
                raise DocumentTooLarge(f"The picture has {picture.width} × {picture.height} pixels.")
            picture.draft("RGB", (MAX_SIDE, MAX_SIDE))  # decodes a large JPEG at a fraction of its size
            return ImageOps.exif_transpose(picture)
    except (Image.DecompressionBombError, MemoryError) as error:
        raise DocumentTooLarge("The picture has too many pixels.") from error
    except (OSError, ValueError, SyntaxError, TypeError, IndexError, KeyError, ArithmeticError) as error:
        raise CorruptFile("The picture is damaged.") from error


def encode_picture(picture: Image) -> bytes:
    """A JPEG of at most MAX_SIDE pixels a side, on white and without metadata, such as the place of a photograph."""
    from PIL import Image  # noqa: PLC0415 - needed for pictures only

    picture.thumbnail((MAX_SIDE, MAX_SIDE))
    if picture.mode in {"1", "L", "RGB", "CMYK", "YCbCr"}:
        flat = picture.convert("RGB")
    else:
        layer = picture.convert("RGBA")
        flat = Image.alpha_composite(Image.new("RGBA", layer.size, _WHITE), layer).convert("RGB")
    file = BytesIO()
    flat.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()
