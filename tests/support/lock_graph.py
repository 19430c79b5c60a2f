"""Which package of a lock needs which."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

PROJECT = "threadlore"
ENTRY = re.compile(r"^([a-z0-9._-]+)==\S+(?: ; ([^\\]*))? \\\n(?:    --hash.*\n)+    # via (.*)$", re.MULTILINE)
ELSEWHERE = re.compile(r"sys_platform == '(win32|emscripten)'")


def read_needs(locks: Iterable[Path]) -> Mapping[str, set[str]]:
    """What each package needs, and the project under its own name; without packages of other operating systems."""
    needs = defaultdict[str, set[str]](set)
    for lock in locks:
        for name, marker, parents in ENTRY.findall(lock.read_text(encoding="utf-8")):
            for parent in () if ELSEWHERE.search(marker) else parents.split(", "):
                needs[parent.partition(" ")[0]].add(name)
    return needs


def find_reachable(needs: Mapping[str, set[str]], names: Collection[str]) -> set[str]:
    """The packages, and all that they need."""
    found, rest = set[str](), list(names)
    while rest:
        if (name := rest.pop()) not in found:
            found.add(name)
            rest += needs.get(name, ())
    return found


def find_brought(needs: Mapping[str, set[str]], name: str) -> set[str]:
    """What is installed for a dependency of the project alone, itself included; nothing if others need it as well."""
    direct = needs[PROJECT]
    return find_reachable(needs, direct) - find_reachable(needs, direct - {name})
