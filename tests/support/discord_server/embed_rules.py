"""What the platform takes as embeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.discord_server.errors import bad_length, invalid_form, missing_field, too_long

if TYPE_CHECKING:
    from tests.support.discord_server.model import Json

MOST_EMBEDS = 10
MOST_FIELDS = 25
MOST_TOGETHER = 6000
SCHEMES = ("http://", "https://", "attachment://")


def check_embeds(embeds: Any, path: str = "embeds") -> list[Json]:
    """The embeds as they are stored; refuses what is too long, too many or empty."""
    if not isinstance(embeds, list):
        raise invalid_form(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    if len(embeds) > MOST_EMBEDS:
        raise invalid_form(path, "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_EMBEDS} or fewer in length.")
    kept = [_embed(embed, f"{path}.{index}") for index, embed in enumerate(embeds)]
    if sum(map(embed_length, kept)) > MOST_TOGETHER:
        raise invalid_form(
            path, "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {MOST_TOGETHER} characters"
        )
    return kept


def embed_length(embed: Json) -> int:
    """The characters that count towards the 6,000."""
    fields = embed.get("fields", [])
    return (
        len(embed.get("title") or "")
        + len(embed.get("description") or "")
        + len((embed.get("footer") or {}).get("text") or "")
        + len((embed.get("author") or {}).get("name") or "")
        + sum(len(field["name"]) + len(field["value"]) for field in fields)
    )


def _embed(embed: Any, path: str) -> Json:
    if not isinstance(embed, dict):
        raise invalid_form(path, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
    kept = {key: value for key, value in embed.items() if value not in (None, "", [])} | {"type": "rich"}
    for name, most in (("title", 256), ("description", 4096)):
        if name in kept:
            kept[name] = check_text(kept[name], f"{path}.{name}", most)
    if (footer := kept.get("footer")) is not None:
        kept["footer"] = footer | {"text": check_text(footer.get("text") or "", f"{path}.footer.text", 2048)}
    if (author := kept.get("author")) is not None:
        kept["author"] = author | {"name": check_text(author.get("name") or "", f"{path}.author.name", 256)}
    if kept.get("color", 0) not in range(0x1000000):
        raise invalid_form(f"{path}.color", "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.")
    check_url(kept.get("url"), f"{path}.url")
    for name in ("image", "thumbnail"):
        check_url((kept.get(name) or {}).get("url"), f"{path}.{name}.url")
    if "fields" in kept:
        kept["fields"] = _fields(kept["fields"], f"{path}.fields")
    return kept


def _fields(fields: list[Json], path: str) -> list[Json]:
    if len(fields) > MOST_FIELDS:
        raise invalid_form(path, "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_FIELDS} or fewer in length.")
    return [_field(field, f"{path}.{index}") for index, field in enumerate(fields)]


def _field(field: Json, path: str) -> Json:
    for name in ("name", "value"):
        if not str(field.get(name) or "").strip():
            raise missing_field(f"{path}.{name}")
    return {
        "name": check_text(field["name"], f"{path}.name", 256),
        "value": check_text(field["value"], f"{path}.value", 1024),
        "inline": bool(field.get("inline", False)),
    }


def check_text(value: Any, path: str, most: int, least: int = 0) -> str:
    """A text, trimmed, of an allowed length."""
    if not isinstance(value, str):
        raise invalid_form(path, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    trimmed = value.strip()
    if len(trimmed) > most or len(trimmed) < least:
        raise bad_length(path, least, most) if least else too_long(path, most)
    return trimmed


def check_url(url: str | None, path: str) -> None:
    """Refuse an address that is none."""
    if url is not None and not url.startswith(SCHEMES):
        raise invalid_form(
            path, "URL_TYPE_INVALID_SCHEME", f'Scheme "{url.split(":")[0]}" is not supported. Scheme must be one of …'
        )
