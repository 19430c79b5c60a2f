"""Run the suite on other days, in other places and orders: `python -m scripts.other_days [--random 2] [DAY …]`.

Every process of the tests gets a clock that is ahead by the same time, through a file in the virtual environment that
Python reads at its start. Each run has a time zone, a language, an order of the files and a hash seed of its own, and
no home directory.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import sysconfig
import time
from calendar import isleap, monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

SHIFT = "TEST_CLOCK_SHIFT"  # seconds by which the clock of a test run is ahead
STARTUP = (
    f"import os; {SHIFT!r} in os.environ and __import__('time_machine').travel("
    f"__import__('time').time() + float(os.environ[{SHIFT!r}]), tick=True).start()\n"
)
RANDOM_DAYS = 3_650  # how far ahead a random day is at most
ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns", "Pacific/Apia", "Pacific/Pago_Pago", "Africa/Casablanca")
LANGUAGES = ("C", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.UTF-8")


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
    return {each.name: each for each in days}


def _last_sunday(now: datetime, month: int) -> datetime:
    """Midnight of the next last Sunday of a month, on which European clocks change at 1:00."""
    for year in (now.year, now.year + 1):
        last = datetime(year, month, monthrange(year, month)[1], tzinfo=UTC)
        if (sunday := last - timedelta(days=(last.weekday() + 1) % 7)) > now:
            return sunday
    raise AssertionError("the month of the next year is ahead")


def _next_leap_day(now: datetime) -> datetime:
    year = next(
        each for each in range(now.year, now.year + 9) if isleap(each) and datetime(each, 2, 29, tzinfo=UTC) > now
    )
    return datetime(year, 2, 29, 12, tzinfo=UTC)


def draw_days(now: datetime, count: int, draw: random.Random) -> list[Day]:
    """Days, times of day and zones at random."""
    ahead = [timedelta(seconds=draw.uniform(0, RANDOM_DAYS * 86_400)) for _ in range(count)]
    return [Day(f"random-{number}", now + each, draw.choice(ZONES)) for number, each in enumerate(ahead, 1)]


def run_suite(day: Day, draw: random.Random, arguments: list[str]) -> int:
    """Run the suite on this day; gives the exit code of pytest."""
    seed, language = draw.randrange(2**32), draw.choice(LANGUAGES)
    environment = {name: value for name, value in os.environ.items() if name not in {"HOME", "LANGUAGE"}}
    environment |= {
        SHIFT: str((day.begins - datetime.now(UTC)).total_seconds()),
        "TZ": day.zone,
        "LC_ALL": language,
        "LANG": language,
        "PYTHONHASHSEED": str(seed),
    }
    print(f"{day.name}: {day.begins:%Y-%m-%d %H:%M} UTC, {day.zone}, {language}, --shuffle {seed}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", f"--shuffle={seed}", *arguments]
    began = time.monotonic()
    code = subprocess.run(command, env=environment, check=False).returncode
    print(
        f"{day.name}: {'passed' if code == 0 else f'exit code {code}'} in {time.monotonic() - began:.0f} s", flush=True
    )
    return code


def main() -> int:
    now = datetime.now(UTC)
    days = list_days(now)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("days", nargs="*", metavar="DAY", help=f"of {', '.join(days)}; all without --random")
    parser.add_argument("--random", type=int, default=0, help="so many days at random, besides those that are named")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of what is random")
    parser.add_argument("--tests", default="-n 4 --dist loadfile --no-loadscope-reorder", help="arguments of pytest")
    options = parser.parse_args()
    if unknown := set(options.days) - set(days):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    draw = random.Random(options.seed)
    print(f"--seed {options.seed}", flush=True)
    chosen = [days[name] for name in options.days or (() if options.random else days)]
    chosen += draw_days(now, options.random, draw)
    Path(sysconfig.get_path("purelib"), "threadlore_test_clock.pth").write_text(STARTUP, encoding="utf-8")
    failed = [each.name for each in chosen if run_suite(each, draw, options.tests.split())]
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
