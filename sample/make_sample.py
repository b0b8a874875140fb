"""Makes the shipped sample: histories of three invented people, as JSONL and pictures. The same output every time.

Run from the repository root: ``python sample/make_sample.py [FOLDER]`` (default ``sample/histories``).
What people tell once is in ``stories/``; what they log week after week (sleep, receipts, practice) is counted out here.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import draw
import yaml

HERE = Path(__file__).parent


@dataclass
class Turn:
    """One message; ``picture`` is the file name of the picture sent with it."""

    role: str
    text: str
    time: datetime
    picture: str | None = None


@dataclass
class Talk:
    """One session and how to draw its pictures."""

    user: str
    name: str
    turns: list[Turn] = field(default_factory=list)
    drawings: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def say(self, time: datetime, asked: str, answered: str, picture: str | None = None) -> None:
        """One round: a message and, a minute later, its answer."""
        self.turns.append(Turn("user", asked, time, picture))
        self.turns.append(Turn("assistant", answered, time + timedelta(minutes=1)))

    @property
    def session_id(self) -> str:
        """Day and name: ``2026-01-14-broken-wrist``."""
        return f"{self.turns[0].time:%Y-%m-%d}-{self.name}"


def main(folder: Path) -> None:
    """Write the sample into ``folder``, replacing what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pictures").mkdir(parents=True)
    for user, talks in histories().items():
        lines = [json.dumps(as_session(talk), ensure_ascii=False) for talk in talks]
        (folder / f"{user}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for talk in talks:
            for kind, arguments in talk.drawings:
                name, *rest = arguments
                getattr(draw, kind)(folder / "pictures" / name, *rest)


def histories() -> dict[str, list[Talk]]:
    """Every user's sessions in the order of their beginning."""
    logs = {"mira": sleep_logs, "tomas": grocery_logs, "aiko": practice_logs}
    found = {}
    for user, log in logs.items():
        told, zone = stories(user)
        found[user] = sorted([*told, *log(user, zone)], key=lambda talk: talk.turns[0].time)
    return found


def as_session(talk: Talk) -> dict[str, Any]:
    """The JSONL line of a session."""
    return {
        "user_id": talk.user,
        "session_id": talk.session_id,
        "messages": [
            {"role": turn.role, "content": _content(turn), "timestamp": turn.time.isoformat()} for turn in talk.turns
        ],
    }


def _content(turn: Turn) -> str | list[dict[str, Any]]:
    if turn.picture is None:
        return turn.text
    picture = {"type": "image_url", "image_url": {"url": f"pictures/{turn.picture}"}}
    return [{"type": "text", "text": turn.text}, picture]


# --- what is told once ------------------------------------------------------------------------------------------


def stories(user: str) -> tuple[list[Talk], ZoneInfo]:
    """The sessions of ``stories/<user>.yaml`` and the user's time zone."""
    told = yaml.safe_load((HERE / "stories" / f"{user}.yaml").read_text(encoding="utf-8"))
    zone = ZoneInfo(told["timezone"])
    return [_story(user, zone, session) for session in told["sessions"]], zone


def _story(user: str, zone: ZoneInfo, session: dict[str, Any]) -> Talk:
    talk = Talk(user, session["name"])
    time = _local(session["at"], zone)
    for turn in session["turns"]:
        if "at" in turn:
            time = _local(turn["at"], zone)
        role = "user" if "user" in turn else "assistant"
        picture = None
        if "picture" in turn:
            picture = f"{user}-{turn['picture']}.png"
            talk.drawings.append(("scene", (picture, turn["picture"])))
        talk.turns.append(Turn(role, turn[role], time, picture))
        time += timedelta(minutes=1 if role == "user" else 4)
    return talk


def _local(text: str | datetime, zone: ZoneInfo) -> datetime:
    return datetime.fromisoformat(str(text)).replace(tzinfo=zone)


# --- what is logged again and again -----------------------------------------------------------------------------


def weekly(first: date, weeks: int) -> Iterator[date]:
    """The same weekday, ``weeks`` times."""
    return (first + timedelta(weeks=week) for week in range(weeks))


def sleep_logs(user: str, zone: ZoneInfo) -> list[Talk]:
    """Mira, Monday and Thursday mornings: sleep, resting heart rate, steps of the day before; every fourth as a picture."""
    dice = random.Random("mira")
    days = sorted([*weekly(date(2025, 11, 3), 26), *weekly(date(2025, 11, 6), 25)])
    talks: list[Talk] = []
    before: int | None = None
    for index, day in enumerate(days):
        injured = date(2026, 1, 14) < day < date(2026, 2, 9)
        minutes = dice.randint(335, 430) if injured else dice.randint(375, 500)
        heart = dice.randint(59, 65) if injured else dice.randint(52, 60)
        steps = dice.randint(1800, 5200) if injured else dice.randint(5200, 15800)
        talks.append(_sleep_log(user, zone, day, (minutes, heart, steps), before, as_picture=index % 4 == 2))
        before = minutes
    return talks


def _sleep_log(
    user: str, zone: ZoneInfo, day: date, values: tuple[int, int, int], before: int | None, *, as_picture: bool
) -> Talk:
    minutes, heart, steps = values
    slept = f"{minutes // 60}h {minutes % 60:02d}m"
    talk = Talk(user, "log")
    time = datetime(day.year, day.month, day.day, 7, 40 + day.day % 15, tzinfo=zone)
    if as_picture:
        picture = f"{user}-{day}-dashboard.png"
        rows = (("Time asleep", slept), ("Resting heart rate", f"{heart} bpm"), ("Steps yesterday", f"{steps:,}"))
        talk.drawings.append(("dashboard", (picture, f"Health {day:%d %b %Y}", rows)))
        talk.say(time, "Morning! Here is the dashboard of my watch.", "Thanks, I filed the dashboard for today.", picture)
        return talk
    if before is None:
        answer = "Logged. I will compare it with the next entries."
    elif minutes == before:
        answer = "Logged. Exactly as long as in your last entry."
    else:
        word = "more" if minutes > before else "less"
        answer = f"Logged. That is {abs(minutes - before)} minutes {word} sleep than in your last entry."
    talk.say(time, f"Slept {slept}, resting heart rate {heart} bpm, {steps:,} steps yesterday.", answer)
    return talk


GOODS = {
    "Bread": (289, 449),
    "Oat milk": (119, 219),
    "Eggs (10)": (249, 399),
    "Apples 1 kg": (199, 349),
    "Rice 1 kg": (179, 299),
    "Cheese": (279, 549),
    "Lentils": (149, 249),
    "Coffee 500 g": (599, 899),
    "Carrots": (99, 179),
    "Olive oil": (699, 1099),
    "Yoghurt": (99, 199),
    "Onions": (89, 159),
}
"""Groceries and the range of their price, cents."""

SHOPS = ("Kaufgut", "Marktkiste", "Bioladen Lindenau")


def grocery_logs(user: str, zone: ZoneInfo) -> list[Talk]:
    """Tomas, every Saturday: the till receipt, every second one as a picture."""
    dice = random.Random("tomas")
    talks = []
    for index, day in enumerate(weekly(date(2025, 11, 8), 25)):
        shop = dice.choice(SHOPS)
        names = dice.sample(sorted(GOODS), dice.randint(4, 8))
        prices = [(name, dice.randint(*GOODS[name]) // 10 * 10 + 9) for name in names]
        talks.append(_grocery_log(user, zone, day, shop, prices, as_picture=index % 2 == 1))
    return talks


def _grocery_log(
    user: str, zone: ZoneInfo, day: date, shop: str, prices: list[tuple[str, int]], *, as_picture: bool
) -> Talk:
    total = _euros(sum(price for _, price in prices))
    talk = Talk(user, "groceries")
    time = datetime(day.year, day.month, day.day, 12, 5 + day.day, tzinfo=zone)
    if as_picture:
        picture = f"{user}-{day}-receipt.jpg"
        lines = tuple((name, _euros(price)) for name, price in prices)
        talk.drawings.append(("receipt", (picture, shop, lines, total, f"{day:%d.%m.%Y}")))
        talk.say(time, "Back from shopping, here is the receipt.", "Got it, the receipt is filed under groceries.", picture)
        return talk
    items = ", ".join(f"{name.lower()} {_euros(price)}" for name, price in prices)
    asked = f"Groceries at {shop} today: {items}. Total {total} euros."
    within = sum(price for _, price in prices) <= 6000
    talk.say(time, asked, f"Filed. {'Within' if within else 'Above'} your 60 euros a week." if day.year > 2025 else "Filed.")
    return talk


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def practice_logs(user: str, zone: ZoneInfo) -> list[Talk]:
    """Aiko, every Sunday: minutes and tempo of her piano practice, and what Mochi weighs."""
    dice = random.Random("aiko")
    talks = []
    tempo, grams = 48, 9000
    for index, day in enumerate(weekly(date(2025, 11, 9), 24)):
        minutes = dice.randrange(90, 300, 5)
        tempo += dice.choice((0, 0, 2))
        grams += dice.randint(-90, -20) if day > date(2026, 3, 5) else dice.randint(-40, 60)
        talk = Talk(user, "practice")
        time = datetime(day.year, day.month, day.day, 20, 10 + index, tzinfo=zone)
        talk.say(
            time,
            f"This week I practised {minutes} minutes. Clair de Lune is at tempo {tempo} now.",
            f"{minutes} minutes at tempo {tempo}, noted.",
        )
        kilos = f"{grams / 1000:.2f} kg"
        if index % 5 == 4:
            picture = f"{user}-{day}-scale.png"
            talk.drawings.append(("dashboard", (picture, f"Mochi {day:%d %b %Y}", (("Weight", kilos),))))
            talk.say(time + timedelta(minutes=4), "And the scale says this about Mochi.", "Filed with his weights.", picture)
        else:
            talk.say(time + timedelta(minutes=4), f"Mochi weighs {kilos}.", f"Mochi: {kilos} on {day:%d %B}.")
        talks.append(talk)
    return talks


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "histories")
