from __future__ import annotations

from itertools import combinations

import pytest

from bot.graph_image.layout import Size, arrange_boxes, image_size
from bot.graph_image.model import GraphModel, build_graph_model
from tests.bot.graph_image.town import around

LONG = Size(190, 40)


def drawn(first: int, behind: int) -> GraphModel:
    names = [f"Name {n:02}" for n in range(first)]
    return build_graph_model(
        around("Middle", names), [around(name, [f"{name} b", f"{name} c"]) for name in names[:behind]]
    )


def sizes(of: GraphModel) -> dict[str, Size]:
    return {node.key: Size(60 + 23 * (place % 7), 24 + 16 * (place % 2)) for place, node in enumerate(of.nodes)}


@pytest.mark.parametrize(
    ("first", "behind"), [(1, 0), (2, 0), (3, 0), (9, 0), (10, 0), (24, 0), (8, 8), (24, 8), (39, 0)]
)
def test_no_name_lies_on_another_or_leaves_the_picture(first: int, behind: int) -> None:
    made = drawn(first, behind)
    boxes = sizes(made)
    room = image_size(list(boxes.values()), max(node.ring for node in made.nodes))
    spots = arrange_boxes(made, boxes, room)
    for one, other in combinations(spots, 2):
        across = abs(spots[one][0] - spots[other][0]) - (boxes[one].width + boxes[other].width) / 2
        up = abs(spots[one][1] - spots[other][1]) - (boxes[one].height + boxes[other].height) / 2
        assert max(across, up) > 0, (one, other)
    for key, (x, y) in spots.items():
        assert boxes[key].width / 2 - 0.01 <= x <= room.width - boxes[key].width / 2 + 0.01
        assert boxes[key].height / 2 - 0.01 <= y <= room.height - boxes[key].height / 2 + 0.01


def test_forty_long_names_find_room_too() -> None:
    made = drawn(39, 0)
    boxes = {node.key: LONG for node in made.nodes}
    spots = arrange_boxes(made, boxes, image_size(list(boxes.values()), 1))
    for one, other in combinations(spots.values(), 2):
        assert abs(one[0] - other[0]) > LONG.width - 0.5 or abs(one[1] - other[1]) > LONG.height - 0.5


def test_the_name_that_was_asked_for_stays_in_the_middle() -> None:
    made = drawn(24, 8)
    room = image_size(list(sizes(made).values()), 2)
    assert arrange_boxes(made, sizes(made), room)["middle"] == (room.width / 2, room.height / 2)


def test_the_same_names_stand_in_the_same_places() -> None:
    made = drawn(12, 5)
    room = image_size(list(sizes(made).values()), 2)
    assert arrange_boxes(made, sizes(made), room) == arrange_boxes(made, sizes(made), room)
