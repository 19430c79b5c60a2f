"""Run the suite on other days, in other places and orders: `python -m scripts.other_days [--random 2] [DAY …]`.

Every Python process of the tests with their environment gets a clock that is ahead by the same time, through a file in
the virtual environment that Python reads at its start. PostgreSQL, Chromium, file systems and the workers of parsers
keep the machine's. Each run has a time zone, a language of this machine, an order of the files and a hash seed of its
own, no home directory, and, where namespaces can be had, no network but loopback.

A day is one of the list, or a moment with a zone, such as 2031-03-30T00:58@Europe/Berlin. A run that failed prints what
runs it again.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import subprocess
import sys
import sysconfig
import time
from calendar import isleap, monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SHIFT = "TEST_CLOCK_SHIFT"  # seconds by which the clock of a test run is ahead
STARTUP = (
    f"import os; {SHIFT!r} in os.environ and __import__('time_machine').travel("
    f"__import__('time').time() + float(os.environ[{SHIFT!r}]), tick=True).start()\n"
)
RANDOM_DAYS = 3_650  # how far ahead a random day is at most
ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns", "Pacific/Apia", "Pacific/Pago_Pago", "Africa/Casablanca")
LOOPBACK = ("sh", "-c", 'ip link set lo up && exec "$@"', "sh")


@dataclass(frozen=True, slots=True)
class Day:
    """When a run of the suite begins, and in which time zone."""

    name: str
    begins: datetime
    zone: str = "UTC"


def list_days(now: datetime) -> dict[str, Day]:
    """The days of a whole run, by name; the changes of clocks happen two minutes after the run began."""
    spring = _last_sunday(now, 3) + timedelta(minutes=58)
    autumn = _last_sunday(now, 10) + timedelta(minutes=58)
    days = (
        Day("200-days", now + timedelta(days=200)),
        Day("1-year", now + timedelta(days=365)),
        Day("5-years", now + timedelta(days=5 * 365)),
        Day("new-year", datetime(now.year, 12, 31, 23, 58, tzinfo=UTC)),
        Day("leap-day", _next_leap_day(now)),
        Day("spring", spring, "Europe/Berlin"),
        Day("autumn", autumn, "Europe/Berlin"),
        Day("auckland", now + timedelta(days=40), "Pacific/Auckland"),
    )
    return {day.name: day for day in days}


def _last_sunday(now: datetime, month: int) -> datetime:
    """Midnight of the next last Sunday of a month, on which European clocks change at 1:00."""
    for year in (now.year, now.year + 1):
        last = datetime(year, month, monthrange(year, month)[1], tzinfo=UTC)
        if (sunday := last - timedelta(days=(last.weekday() + 1) % 7)) > now:
            return sunday
    raise AssertionError("the month of the next year is ahead")


def _next_leap_day(now: datetime) -> datetime:
    year = next(
        number
        for number in range(now.year, now.year + 9)
        if isleap(number) and datetime(number, 2, 29, tzinfo=UTC) > now
    )
    return datetime(year, 2, 29, 12, tzinfo=UTC)


def draw_days(now: datetime, count: int, draw: random.Random) -> list[Day]:
    """Days, times of day and zones at random."""
    ahead = [timedelta(seconds=draw.uniform(0, RANDOM_DAYS * 86_400)) for _ in range(count)]
    return [Day(f"random-{number}", now + each, draw.choice(ZONES)) for number, each in enumerate(ahead, 1)]


def parse_day(words: str, days: Mapping[str, Day]) -> Day:
    """A day of the list by its name, or a moment of UTC with a zone. Raises ValueError."""
    if words in days:
        return days[words]
    moment, _, zone = words.partition("@")
    return Day(words, datetime.fromisoformat(moment).replace(tzinfo=UTC), zone or "UTC")


def list_languages() -> list[str]:
    """The locales of this machine."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False)
    return listed.stdout.split() or ["C"]


def isolate(user: int, group: int) -> tuple[str, ...]:
    """The command that runs another one with loopback alone, as the same user.

    Root needs no namespace of users, in which the account of the PostgreSQL server would be missing.
    """
    if user == 0:
        return ("unshare", "--net", *LOOPBACK)
    same = ("unshare", f"--map-user={user}", f"--map-group={group}")
    return ("unshare", "--map-root-user", "--net", *LOOPBACK, *same)


def run_suite(day: Day, seed: int, language: str, arguments: list[str]) -> int:
    """Run the suite on this day; gives the exit code of pytest."""
    environment = {name: value for name, value in os.environ.items() if name not in {"HOME", "LANGUAGE"}}
    environment |= {
        SHIFT: str((day.begins - datetime.now(UTC)).total_seconds()),
        "TZ": day.zone,
        "LC_ALL": language,
        "LANG": language,
        "PYTHONHASHSEED": str(seed),
    }
    print(f"{day.name}: {day.begins:%Y-%m-%d %H:%M} UTC, {day.zone}, {language}, seed {seed}", flush=True)
    alone = isolate(os.getuid(), os.getgid())
    can_isolate = subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0
    command = [*(alone if can_isolate else ()), sys.executable, "-m", "pytest", "-q", f"--shuffle={seed}", *arguments]
    began = time.monotonic()
    code = subprocess.run(command, env=environment, check=False).returncode
    print(f"{day.name}: {'failed' if code else 'passed'} in {time.monotonic() - began:.0f} s", flush=True)
    if code:
        again = f"{day.begins:%Y-%m-%dT%H:%M}@{day.zone} --suite-seed {seed} --language {language}"
        print(f"Again: python -m scripts.other_days {again}", flush=True)
    return code


def main() -> int:
    now = datetime.now(UTC)
    days, languages = list_days(now), list_languages()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("days", nargs="*", metavar="DAY", help=f"a moment, or of {', '.join(days)}; all by default")
    parser.add_argument("--random", type=int, default=0, help="so many days at random, besides those that are named")
    parser.add_argument("--suite-seed", type=int, help="of the order and the hashes, for all runs")
    parser.add_argument("--language", choices=languages, help="for all runs")
    parser.add_argument("--tests", default="--workers 6", help="arguments of pytest")
    options = parser.parse_args()
    draw = random.Random()
    chosen = [parse_day(words, days) for words in options.days or (() if options.random else days)]
    chosen += draw_days(now, options.random, draw)
    startup = Path(sysconfig.get_path("purelib"), "threadlore_test_clock.pth")
    startup.write_text(STARTUP, encoding="utf-8")
    failed = []
    try:
        for day in chosen:
            seed = draw.randrange(2**32) if options.suite_seed is None else options.suite_seed
            if run_suite(day, seed, options.language or draw.choice(languages), shlex.split(options.tests)):
                failed.append(day.name)
    finally:
        startup.unlink()
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
