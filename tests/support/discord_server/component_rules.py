"""What the platform takes as components: rows of buttons and menus, and the second version's layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.discord_server.embed_rules import check_text
from tests.support.discord_server.errors import bad_length, invalid_form, missing_field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.discord_server.model import Json

ROW, BUTTON, STRING_MENU = 1, 2, 3
MENUS = {3, 5, 6, 7, 8}
LINK = 5
MOST_ROWS = 5
MOST_IN_ROW = 5
MOST_V2 = 40
MOST_V2_TEXT = 4000


def check_components(components: Any, *, layout: bool) -> list[Json]:
    """The components as they are stored; `layout` = the message bears the flag of the second version."""
    if not isinstance(components, list):
        raise invalid_form("components", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    if layout:
        _check_layout(components)
    else:
        if len(components) > MOST_ROWS:
            raise bad_length("components", 1, MOST_ROWS)
        for index, row in enumerate(components):
            if not isinstance(row, dict) or row.get("type") != ROW:
                raise invalid_form(
                    f"components.{index}", "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (1,).'
                )
            _check_row(row, f"components.{index}")
    seen: set[str] = set()
    for component in walk(components):
        custom = component.get("custom_id")
        if custom is not None and custom in seen:
            raise invalid_form(
                "components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated"
            )
        if custom is not None:
            seen.add(custom)
    return components


def walk(components: list[Json]) -> Iterator[Json]:
    """Every component, those inside of others too."""
    for component in components:
        yield component
        yield from walk(component.get("components") or [])
        if isinstance(accessory := component.get("accessory"), dict):
            yield from walk([accessory])


def _check_row(row: Json, path: str) -> None:
    inside = row.get("components")
    if not isinstance(inside, list) or not 1 <= len(inside) <= MOST_IN_ROW:
        raise bad_length(f"{path}.components", 1, MOST_IN_ROW)
    width = 0
    for index, component in enumerate(inside):
        here = f"{path}.components.{index}"
        if component.get("type") == BUTTON:
            width += 1
            _check_button(component, here)
        elif component.get("type") in MENUS:
            width += MOST_IN_ROW
            _check_menu(component, here)
        else:
            raise invalid_form(here, "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (2, 3, 5, 6, 7, 8).')
    if width > MOST_IN_ROW:
        raise invalid_form(path, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")


def _check_button(button: Json, path: str) -> None:
    style = button.get("style")
    if style not in range(1, 7):
        raise invalid_form(f"{path}.style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
    if "label" in button and button["label"] is not None:
        check_text(button["label"], f"{path}.label", 80)
    if not button.get("label") and not button.get("emoji") and style != 6:
        raise invalid_form(path, "BUTTON_COMPONENT_EMPTY", "A button must have a label or an emoji")
    if style == LINK:
        url = button.get("url")
        if not url:
            raise missing_field(f"{path}.url")
        if len(url) > 512:
            raise bad_length(f"{path}.url", 1, 512)
        if not url.startswith(("http://", "https://", "discord://")):
            raise invalid_form(f"{path}.url", "URL_TYPE_INVALID_SCHEME", "Scheme is not supported")
        if button.get("custom_id") is not None:
            raise invalid_form(
                path, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", "A button cannot have both a custom id and a url"
            )
    elif style != 6:
        _check_custom(button, path)


def _check_menu(menu: Json, path: str) -> None:
    _check_custom(menu, path)
    if menu.get("placeholder"):
        check_text(menu["placeholder"], f"{path}.placeholder", 150)
    if menu["type"] != STRING_MENU:
        return
    options = menu.get("options") or []
    if not 1 <= len(options) <= 25:
        raise bad_length(f"{path}.options", 1, 25)
    for index, option in enumerate(options):
        for name in ("label", "value"):
            check_text(option.get(name), f"{path}.options.{index}.{name}", 100, 1)
        if option.get("description"):
            check_text(option["description"], f"{path}.options.{index}.description", 100)


def _check_custom(component: Json, path: str) -> None:
    custom = component.get("custom_id")
    if not isinstance(custom, str) or not custom:
        raise missing_field(f"{path}.custom_id")
    if len(custom) > 100:
        raise bad_length(f"{path}.custom_id", 1, 100)


def _check_layout(components: list[Json]) -> None:
    every = list(walk(components))
    if not 1 <= len(every) <= MOST_V2:
        raise bad_length("components", 1, MOST_V2)
    if sum(len(component.get("content") or "") for component in every if component.get("type") == 10) > MOST_V2_TEXT:
        raise invalid_form("components", "COMPONENT_MAX_TOTAL_TEXT", f"Total text exceeds {MOST_V2_TEXT} characters")
    for index, component in enumerate(every):
        if component.get("type") == ROW:
            _check_row(component, f"components.{index}")
