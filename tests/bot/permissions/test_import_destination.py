"""Who reads an import is what a person says: nothing closed opens, and no id names another space."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.errors import BadSetting
from bot.permissions.import_destination import parse_destination
from bot.platform.models import Channel, Location

SERVED = ("discord", "slack")
ROOF = Channel(Location("mattermost", "town", "~roof"), "roof", "open")
VAULT = Channel(Location("mattermost", "town", "~vault"), "vault", "closed")
DIRECT = Channel(Location("mattermost", "", "@ada+bela"), "vault", "closed")


def test_open_channels_are_for_full_members_and_closed_ones_for_nobody_unless_mapped() -> None:
    destination = parse_destination("slack:T1", ["Vault=C9"], SERVED)
    assert destination.find_home(ROOF) == "slack:T1:open"
    assert destination.find_home(VAULT) == "slack:T1:C9"
    assert destination.find_home(DIRECT) == ""
    assert destination.find_home(replace(ROOF, shared=True)) == ""
    assert parse_destination("slack:T1", [], SERVED).find_home(VAULT) == ""


@pytest.mark.parametrize("channel", ["vault=open", "vault=Adult", "vault=dm", "vault=C9:open", "vault=", "vault"])
def test_a_channel_is_never_mapped_to_a_shared_space(channel: str) -> None:
    with pytest.raises(BadSetting):
        parse_destination("slack:T1", [channel], SERVED)


@pytest.mark.parametrize("into", ["slack", "slack:", "slak:T1", "mattermost:town", "slack:T1:C9"])
def test_what_is_no_served_workspace_is_refused(into: str) -> None:
    with pytest.raises(BadSetting, match="is no workspace"):
        parse_destination(into, [], SERVED)
