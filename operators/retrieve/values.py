"""What a search is done with: every number and switch of retrieval, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from operators.errors import UsageError

TextSignal = Literal["dense", "dense-context", "dense-session", "bm25", "bm25-round", "bm25-context", "bm25-session"]
ImageSignal = Literal["visual", "caption-dense", "caption-bm25"]
Fusion = Literal["standardised", "reciprocal-rank"]
Placement = Literal["runs", "tail", "interleave", "none"]
Items = Literal["rounds", "units"]
Case = Literal["text_to_text", "text_to_image", "picture_to_text", "picture_to_image"]
Lane = Literal["text", "image"]

CASES: tuple[Case, ...] = get_args(Case)
LANE_NAMES: tuple[Lane, ...] = get_args(Lane)
TEXT_SIGNALS: tuple[TextSignal, ...] = get_args(TextSignal)
IMAGE_SIGNALS: tuple[ImageSignal, ...] = get_args(ImageSignal)

MOST_WEIGHT = 1_000_000
"""Beyond it a sum of squares could overflow."""

TEXT: Mapping[TextSignal, float] = {
    "dense": 2.0,
    "dense-context": 1.0,
    "dense-session": 0.25,
    "bm25-round": 1.0,
    "bm25-context": 1.0,
    "bm25-session": 0.75,
}
IMAGE: Mapping[ImageSignal, float] = {"visual": 2.0, "caption-dense": 2.0, "caption-bm25": 1.0}
LANES: Mapping[Case, Mapping[Lane, float]] = {
    "text_to_text": {"text": 1.0, "image": 0.0},
    "text_to_image": {"text": 1.0, "image": 1.0},
    "picture_to_text": {"text": 0.3, "image": 1.0},
    "picture_to_image": {"text": 0.0, "image": 1.0},
}


@dataclass(frozen=True)
class SearchValues:
    """The defaults are what ``mnemosaic evaluate retrieval`` found best: see BENCHMARKS.md.

    ``text`` and ``image``: the signals of each lane that take part, and their weights. ``lanes``: the weight of each
    lane in each case of routing; without ``routing`` both lanes answer whatever is asked. ``image_rounds``: where a
    picture is asked for in words, a round stays if it or one so near holds a picture (None: all stay).
    ``fold_captions``: whether captions are text too. ``dates``: whether the words of a round's date are. ``context``:
    what a neighbour's score adds to a round's in the signals of context. ``nameless``: what the query without names of
    speakers adds to the query's vector. ``spread``: what a chosen round takes from those whose neighbours it shows
    already, where text is asked for in words. ``aggregation``: whether questions for many things get ``aggregation_k``
    rounds without neighbours. ``items``: whether rounds are ranked, or units, each by itself. ``kappa`` and ``pool`` are
    of reciprocal rank fusion.
    """

    k: int = 12
    neighbours: int = 1
    placement: Placement = "runs"
    fusion: Fusion = "standardised"
    kappa: int = 60
    pool: int = 20
    items: Items = "rounds"
    text: Mapping[TextSignal, float] = field(default_factory=lambda: dict(TEXT))
    image: Mapping[ImageSignal, float] = field(default_factory=lambda: dict(IMAGE))
    routing: bool = True
    lanes: Mapping[Case, Mapping[Lane, float]] = field(default_factory=lambda: {case: dict(LANES[case]) for case in CASES})
    image_rounds: int | None = 1
    fold_captions: bool = True
    dates: bool = True
    context: float = 1.0
    nameless: float = 1 / 3
    spread: float = 1.2
    aggregation: bool = False
    aggregation_k: int = 30

    def check(self) -> None:
        """UsageError for a value out of range; nothing asked for is ever ignored."""
        whole = (("k", 1), ("neighbours", 0), ("kappa", 0), ("pool", 1), ("aggregation_k", 1))
        for name, least in whole:
            _require_whole(name, getattr(self, name), least)
        if self.image_rounds is not None:
            _require_whole("image_rounds", self.image_rounds, 0)
        _require_signals("text", dict(self.text), TEXT_SIGNALS)
        _require_signals("image", dict(self.image), IMAGE_SIGNALS)
        if not any(weight > 0 for weight in self.text.values()):
            raise UsageError(f"text must give some signal a weight above 0: {', '.join(TEXT_SIGNALS)}")
        for name in ("context", "nameless", "spread"):
            _require_weight(name, getattr(self, name))
        for case, lanes in self.lanes.items():
            _require_lanes(case, lanes)
        for name in ("routing", "fold_captions", "dates", "aggregation"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} must be true or false, not {getattr(self, name)!r}")
        for name, given, known in (
            ("placement", self.placement, get_args(Placement)),
            ("fusion", self.fusion, get_args(Fusion)),
            ("items", self.items, get_args(Items)),
        ):
            if given not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, not {given!r}")

    def lanes_of(self, case: Case) -> Mapping[Lane, float]:
        """The weight of each lane in a case; without routing both count alike."""
        return self.lanes.get(case, LANES[case]) if self.routing else {"text": 1.0, "image": 1.0}


def _require_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value!r}")


def _require_signals(lane: str, given: Mapping[Any, float], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(f"the {lane} lane has no signal {unknown[0]!r}; it has {', '.join(known)}")
    for name, weight in given.items():
        _require_weight(f"the weight of {name}", weight)


def _require_lanes(case: str, lanes: Mapping[Any, float]) -> None:
    if case not in CASES:
        raise UsageError(f"there is no case {case!r}; there are {', '.join(CASES)}")
    if set(lanes) != set(LANE_NAMES):
        raise UsageError(
            f"lanes.{case} must give the weights of {' and '.join(LANE_NAMES)}, not of {', '.join(map(str, lanes))}"
        )
    for lane, weight in lanes.items():
        _require_weight(f"lanes.{case}.{lane}", weight)
    if not any(lanes.values()):
        raise UsageError(f"lanes.{case} must give some lane a weight above 0")


def _require_weight(name: str, weight: object) -> None:
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= MOST_WEIGHT:
        raise UsageError(f"{name} must be a number of at least 0 and at most {MOST_WEIGHT:,}, not {weight!r}")
