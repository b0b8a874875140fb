"""Which names are one attribute: a pure function of the names, what kind of values they have, and how alike they mean.

Names meet in three ways. Their telling words are the same and so is the dimension of their values (``time asleep`` and
``sleep duration``, seconds). A bare number joins the one dimension that its words have (``steps: 8000`` and ``8000 steps``).
Or an encoder finds them alike, they measure in the same unit, share no word, and never stand in one record: words that
share a head (``deep sleep``, ``light sleep``) are kinds of a thing, and what one record tells twice is two things.

Nothing depends on the order in which names came.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from operators.induce.names import DATES, UNNAMED, core_words, normal_name

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to unit vectors (n, dim)."""

NOTHING = ""


class Name(NamedTuple):
    """An attribute as the counts know it: normal name, kind of its values, their unit where they are numbers of one."""

    name: str
    kind: str
    unit: str = NOTHING

    def key(self) -> str:
        """The name as one string, as ``records.COUNTS`` holds it."""
        return "\t".join(self)


def name_of(attribute: str, kind: str, unit: str | None) -> Name:
    """The name under which an observation counts. Currencies are no part of it: they stand beside each value."""
    told = unit if unit and kind == "number" else NOTHING
    return Name(normal_name(attribute), kind, told)


def name_of_key(key: str) -> Name:
    """The inverse of ``Name.key``."""
    return Name(*key.split("\t"))


def dimension_of(name: Name) -> str:
    """What its values measure: a base unit, ``money``, ``%``, ``ratio``, ``number`` (of nothing said), or another kind."""
    if name.kind == "number":
        return name.unit or "number"
    return {"duration": "s", "percent": "%"}.get(name.kind, name.kind)


_KINDS = {"s": "duration", "money": "money", "%": "percent", "ratio": "ratio", "date": "date", "time": "time",
          "bool": "bool", "text": "text"}  # fmt: skip
_UNITLESS = ("money", "ratio", "date", "time", "bool", "text", "number")
_WORDY = ("date", "time", "bool", "text")
"""Dimensions that no bare number joins."""


@dataclass(frozen=True)
class Attribute:
    """One attribute: its column ``label``, the kind and unit of its values, the names that are it, and why they are."""

    label: str
    kind: str
    unit: str | None
    names: tuple[Name, ...]
    why: str

    @property
    def dates_record(self) -> bool:
        """Whether it tells the day of its record."""
        return self.kind == "date" and (self.label in DATES or any(name.name in DATES for name in self.names))


def canonical(
    names: Iterable[Name],
    *,
    overrides: Mapping[str, str] | None = None,
    embed: Embed | None = None,
    alike_at: float = 0.8,
    together: Collection[Collection[Name]] = (),
) -> tuple[Attribute, ...]:
    """The attributes that the names are, sorted by label; each name is in exactly one.

    ``overrides``: a name and the name it stands for, before anything else is looked at. ``embed`` with ``alike_at`` (a
    cosine): names alike in meaning join too; ``together``: the sets of names of single records, which keep these apart.
    """
    told = _resolved({normal_name(key): normal_name(value) for key, value in sorted((overrides or {}).items())})
    groups = _by_words(sorted(set(names)), told)
    if embed is not None:
        groups = _joined_alike(groups, embed, alike_at, together)
    return tuple(sorted(_labelled(groups, set(told.values())), key=lambda each: each.label))


def _resolved(told: Mapping[str, str]) -> dict[str, str]:
    """Each name with what it stands for in the end; names that stand for each other in a circle stand for the next."""
    found: dict[str, str] = {}
    for name, meant in told.items():
        seen = {name}
        while meant in told and meant not in seen:
            seen.add(meant)
            meant = told[meant]
        found[name] = meant
    return found


@dataclass(frozen=True)
class _Group:
    dimension: str
    words: tuple[str, ...]
    names: tuple[Name, ...]
    why: str
    said: tuple[str, ...]
    told: bool

    def label(self) -> str:
        return min((text for text in self.said), key=lambda text: (len(text), text))


def _by_words(names: Sequence[Name], told: Mapping[str, str]) -> list[_Group]:
    said = {name: told.get(name.name, name.name) for name in names}
    found: dict[tuple[str, tuple[str, ...]], list[Name]] = {}
    bare: list[Name] = []
    for name in names:
        dimension = dimension_of(name)
        if dimension == "number":
            bare.append(name)
        else:
            found.setdefault((dimension, core_words(said[name], dimension)), []).append(name)
    measured = [key for key in found if key[0] not in _WORDY]
    loose: dict[tuple[str, tuple[str, ...]], list[Name]] = {}
    for name in bare:
        fitting = [key for key in measured if core_words(said[name], key[0]) == key[1]]
        if len(fitting) == 1:
            loose.setdefault(fitting[0], []).append(name)
        else:
            loose.setdefault(("number", core_words(said[name], "number")), []).append(name)
    groups = []
    for key in sorted({*found, *loose}):
        members = tuple(sorted([*found.get(key, []), *loose.get(key, [])]))
        texts = tuple(said[name] for name in members)
        by_settings = any(name.name in told or said[name] in told.values() for name in members)
        groups.append(_Group(key[0], key[1], members, _why(key, members, told), texts, by_settings))
    return groups


def _why(key: tuple[str, tuple[str, ...]], members: Sequence[Name], told: Mapping[str, str]) -> str:
    dimension, words = key
    if any(name.name in told for name in members):
        return "as the settings say"
    if len({name.name for name in members}) == 1:
        return "one name"
    measured = dimension if dimension in _UNITLESS else f"in {dimension}"
    return f"the same words ({' '.join(words)}), {measured}"


def _joined_alike(
    groups: Sequence[_Group], embed: Embed, alike_at: float, together: Collection[Collection[Name]]
) -> list[_Group]:
    """Groups of one unit, joined where the encoder finds them alike; where one of a joined lot must not, none is."""
    apart = _apart(groups, together)
    alike = {pair: cosine for pair, cosine in _alike(groups, embed, alike_at).items() if pair not in apart}
    joined: list[_Group] = []
    for lot in _linked(len(groups), alike):
        inner = list(combinations(lot, 2))
        if len(lot) > 1 and all(_may_join(groups[a], groups[b]) and (a, b) not in apart for a, b in inner):
            least = min(alike[pair] for pair in inner if pair in alike)
            why = f"alike in meaning ({least:.2f}), in {groups[lot[0]].dimension}"
            joined.append(_merged([groups[at] for at in lot], why))
        else:
            joined += [groups[at] for at in lot]
    return joined


def _alike(groups: Sequence[_Group], embed: Embed, alike_at: float) -> dict[tuple[int, int], float]:
    """The pairs of groups that may join and mean as much the same as is asked, with the cosine of their labels."""
    lots: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        if group.dimension not in ("number", "money", *_WORDY) and not group.told:
            lots.setdefault(group.dimension, []).append(at)
    found: dict[tuple[int, int], float] = {}
    for lot in lots.values():
        lot = [at for at in lot if any(_may_join(groups[at], groups[other]) for other in lot)]
        if not lot:
            continue
        vectors = embed([groups[at].label() for at in lot])
        # Rounded: the last bits of a cosine differ between machines.
        cosines = np.round(np.asarray(vectors, np.float64) @ np.asarray(vectors, np.float64).T, 3)
        for first, second in np.argwhere(np.triu(cosines >= alike_at, 1)).tolist():
            if _may_join(groups[lot[first]], groups[lot[second]]):
                found[lot[first], lot[second]] = float(cosines[first, second])
    return found


def _may_join(first: _Group, second: _Group) -> bool:
    return first.dimension == second.dimension and not set(first.words) & set(second.words)


def _apart(groups: Sequence[_Group], together: Collection[Collection[Name]]) -> set[tuple[int, int]]:
    of = {name: at for at, group in enumerate(groups) for name in group.names}
    found: set[tuple[int, int]] = set()
    for names in together:
        places = sorted({of[name] for name in names if name in of})
        found.update(combinations(places, 2))
    return found


def _linked(count: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    root = list(range(count))

    def top(at: int) -> int:
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    for first, second in links:
        root[top(second)] = top(first)
    lots: dict[int, list[int]] = {}
    for at in range(count):
        lots.setdefault(top(at), []).append(at)
    return list(lots.values())


def _merged(groups: Sequence[_Group], why: str) -> _Group:
    return _Group(
        groups[0].dimension,
        groups[0].words,
        tuple(sorted(name for group in groups for name in group.names)),
        why,
        tuple(text for group in groups for text in group.said),
        False,
    )


def _labelled(groups: Sequence[_Group], preferred: Collection[str]) -> list[Attribute]:
    """Attributes with labels that differ: where two groups have one, what is measured is told in the later one's."""
    taken: set[str] = set()
    found: list[Attribute] = []
    for group in sorted(groups, key=lambda each: (each.dimension in _WORDY, -len(each.names), each.dimension, each.words)):
        wanted = [text for text in group.said if text in preferred] or [group.label()]
        label = column_name(min(wanted))
        kind = _KINDS.get(group.dimension, "number")
        unit = None if group.dimension in _UNITLESS else group.dimension
        for suffix in ("", f"_{column_name(unit or kind)}", *(f"_{number}" for number in range(2, len(groups) + 2))):
            if label + suffix not in taken:
                break
        taken.add(label + suffix)
        found.append(Attribute(label + suffix, kind, unit, group.names, group.why))
    return found


RESERVED = frozenset(("order", "time", "day", "session_id", "round_id", "record", "week", "month", "year"))
"""Columns that every table has, and what records are grouped by; an attribute of such a name is ``time_told``."""


def column_name(text: str) -> str:
    """A name as a column is called: words joined by ``_``."""
    name = "_".join(text.replace(".", " ").split()) or UNNAMED
    return f"{name}_told" if name in RESERVED else name
