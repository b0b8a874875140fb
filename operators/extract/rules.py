"""The rules extractor: rounds, and the texts of their pictures, to observations. No model, nothing learnt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

import pyarrow as pa

from operators.extract.finding import LOOKED_BACK, Finding, records_of, takes_back
from operators.extract.page import Box, PictureText, part_box
from operators.extract.pictures import observe_picture
from operators.extract.text import observe_text
from operators.extract.values import Style
from operators.records import (
    ATTRIBUTE,
    BOX,
    CONFIDENCE,
    CORRECTED_BY,
    CORRECTS,
    DOUBT,
    END,
    EXTRACTOR,
    IMAGE,
    IMAGES,
    KIND,
    MEASURE,
    MEDIA,
    MESSAGE,
    MESSAGES,
    NAMED,
    NUMBER,
    OBSERVATION,
    OBSERVATIONS,
    OFFSET,
    ORDER,
    PARSED,
    RECORD,
    ROUND,
    SESSION,
    SPEAKER,
    START,
    TENANT,
    TIME,
    USER,
    VALUE,
    local_day,
    observation_id,
)

RULES_VERSION = 3
"""Raised with every change that makes the rules find something else: what was found before is then found anew."""

NAME = f"rules-{RULES_VERSION}"

_SCOPE = (TENANT, USER, SESSION, ROUND, ORDER)
_ROLES = frozenset(("user", "assistant", "system", "tool", "other", ""))
_AT_ONCE = 2048


class Extractor(Protocol):
    """Finds the observations of rounds."""

    @property
    def fingerprint(self) -> str:
        """Names the extractor and its version: rounds are extracted anew where it is another."""
        ...

    def observe(self, rounds: pa.Table, pictures: Mapping[str, PictureText]) -> pa.Table:
        """``records.OBSERVATIONS`` of ``records.ROUNDS``, in their order; ``pictures``: what was read in each, by media."""
        ...


class RulesExtractor:
    """See the module. What an assistant says is no observation: it repeats, advises or guesses."""

    @property
    def fingerprint(self) -> str:
        """``rules-`` and the version of the rules."""
        return NAME

    def observe(self, rounds: pa.Table, pictures: Mapping[str, PictureText]) -> pa.Table:
        """See ``Extractor``."""
        parts = [OBSERVATIONS.empty_table()]
        for start in range(0, len(rounds), _AT_ONCE):
            rows = [row for told in rounds.slice(start, _AT_ONCE).to_pylist() for row in observe_round(told, pictures)]
            parts.append(pa.Table.from_pylist(rows, OBSERVATIONS))
        return pa.concat_tables(parts).combine_chunks()


@dataclass(frozen=True)
class _Pointed:
    """A finding of a round and where it stands."""

    finding: Finding
    value: str
    message: int
    speaker: str
    image: int | None = None
    media: str | None = None
    box: Box | None = None


def observe_round(told: Mapping[str, Any], pictures: Mapping[str, PictureText]) -> list[dict[str, Any]]:
    """Rows of ``OBSERVATIONS`` of a row of ``ROUNDS``: its messages in order, after each the pictures sent with it."""
    people = _people(told[MESSAGES])
    pointed: list[_Pointed] = []
    for at, message in enumerate(told[MESSAGES]):
        said = _day(message) or _day(told)
        if people[at]:
            found = observe_text(message["text"], Style(said=said))
            pointed += _placed(pointed, [_in_text(finding, message["text"], at, message[SPEAKER]) for finding in found])
        for number, image in enumerate(told[IMAGES]):
            if image[MESSAGE] == at and image[MEDIA] in pictures:
                shown = _in_picture(pictures[image[MEDIA]], Style(said=said), at, message[SPEAKER], number, image[MEDIA])
                pointed += _placed(pointed, list(shown))
    return [_row(told, index, each) for index, each in enumerate(_corrected(pointed))]


def observe_alone(picture: PictureText) -> list[dict[str, Any]]:
    """Rows of ``OBSERVATIONS`` of a picture by itself, of no user and no round."""
    told = {TENANT: "", USER: "", SESSION: "", ROUND: "", ORDER: 0}
    found = _in_picture(picture, Style(), 0, "", 0, "")
    return [{**_row(told, index, each), MEDIA: None} for index, each in enumerate(found)]


def _people(messages: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Which messages are a person's: all but an assistant's, unless everyone goes by a name, as where two people talk."""
    named = all(message[SPEAKER].lower() not in _ROLES for message in messages)
    return [message["role"] in ("user", "other") or (named and message["role"] == "assistant") for message in messages]


def _day(row: Mapping[str, Any]) -> date | None:
    """The day of a message or round on its writer's clock."""
    return None if row[TIME] is None else local_day(row[TIME], row[OFFSET])


def _in_text(finding: Finding, text: str, message: int, speaker: str) -> _Pointed:
    return _Pointed(finding, text[finding.start : finding.end], message, speaker)


def _in_picture(
    picture: PictureText, style: Style, message: int, speaker: str, image: int, media: str
) -> Iterator[_Pointed]:
    for shown in observe_picture(picture, style):
        finding = shown.finding
        text = picture.lines[shown.line].text[finding.start : finding.end]
        box = part_box(picture, shown.line, finding.start, finding.end)
        yield _Pointed(finding, text, message, speaker, image, media, box)


def _placed(before: Sequence[_Pointed], found: Sequence[_Pointed]) -> list[_Pointed]:
    """The same with records counted on from those of the round before."""
    first = records_of([each.finding for each in before])
    return [replace(each, finding=replace(each.finding, record=each.finding.record + first)) for each in found]


def _corrected(pointed: Sequence[_Pointed]) -> list[_Pointed]:
    """A correction in a later message of the round takes the place of what it corrects."""
    kept: list[_Pointed] = []
    for each in pointed:
        back = range(len(kept) - 1, max(-1, len(kept) - LOOKED_BACK), -1) if each.finding.corrects else ()
        at = next(
            (at for at in back if kept[at].speaker == each.speaker and takes_back(each.finding, kept[at].finding)), None
        )
        if at is None or kept[at].image is not None:
            kept.append(each)
            continue
        earlier = kept[at].finding
        finding = replace(each.finding, attribute=earlier.attribute, record=earlier.record, corrects=earlier.corrects)
        kept[at] = replace(each, finding=finding)
    return kept


def _row(told: Mapping[str, Any], index: int, each: _Pointed) -> dict[str, Any]:
    finding, parsed = each.finding, each.finding.parsed
    shown = each.image is not None
    return {
        **{name: told[name] for name in _SCOPE},
        OBSERVATION: observation_id(told[SESSION], told[ROUND], index),
        RECORD: finding.record,
        ATTRIBUTE: finding.attribute,
        VALUE: each.value,
        KIND: parsed.kind,
        NUMBER: parsed.number,
        MEASURE: parsed.unit,
        PARSED: parsed.text,
        DOUBT: parsed.doubt,
        SPEAKER: each.speaker,
        MESSAGE: each.message,
        START: None if shown else finding.start,
        END: None if shown else finding.end,
        IMAGE: each.image,
        MEDIA: each.media,
        BOX: None if each.box is None else list(each.box),
        EXTRACTOR: NAME,
        CONFIDENCE: finding.confidence,
        NAMED: bool(finding.attribute),
        CORRECTS: "" if finding.corrects else None,
        CORRECTED_BY: None,
    }
