"""Questions of records and of texts, where no number is asked for: counts, lists, the most frequent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from operators.ask.context import Context, ShownTable
from operators.ask.rules import cues
from operators.ask.rules.apart import Parts, holds, merchant_of
from operators.ask.rules.concepts import CONCEPTS, stem
from operators.ask.rules.conditions import is_in, quoted
from operators.ask.rules.frame import Frame


def _said_text(parts: Parts, tables: Sequence[ShownTable]) -> tuple[ShownTable, str] | None:
    """The text column whose name a question says."""
    said = {stem(word) for word in re.findall(r"[^\W_]+", parts.reading.left)}
    for table in tables:
        for column in table.columns:
            if column.kind == "text" and stem(column.name.split("_")[-1]) in said:
                return table, column.name
    return None


def _of_text(parts: Parts, context: Context, asked: cues.Asked) -> Frame | None:
    """``what mood did I have most often``, ``my latest mood``, ``how many different moods``: questions of a text column."""
    said = _said_text(parts, context.tables)
    if said is None:
        return None
    table, column = said
    where = tuple(is_in(name, found) for named, name, found in parts.named if named.name == table.name)
    frame = Frame("list", table, column, where=where, periods=tuple(parts.periods), event=parts.event)
    if where and asked.counts:
        return replace(frame, operation="distinct", counted=asked.counted or "days")
    if asked.superlative or asked.how_often:
        return replace(frame, operation="pick", column=None, by=column, counted="count", largest=asked.largest)
    if asked.latest or asked.earliest:
        return replace(frame, operation="latest" if asked.latest else "first")
    if asked.many:
        return replace(frame, operation="distinct", counted=f"different {column.replace('_', ' ')}")
    return replace(frame, operation="groups", column=None, by=column, counted="count") if asked.listed else None


def text_column(asked: cues.Asked, frame: Frame) -> str | None:
    """The text column that ``which shop``, ``which items`` asks for."""
    if asked.which_of is None:
        return None
    wanted = stem(asked.which_of)
    for column in frame.table.columns:
        if column.kind != "text":
            continue
        names = {stem(word) for word in column.name.split("_")}
        concept = next((each for each in CONCEPTS if each.names & names), None)
        if wanted in names or (concept is not None and wanted in concept.words):
            return column.name
    return None


def frame_of_records(parts: Parts, context: Context, asked: cues.Asked) -> Frame | None:
    """Counts and lists of records: of the table whose values are named, or whose name is said."""
    told = _of_text(parts, context, asked)
    if told is not None:
        return told
    if parts.named and asked.when and not asked.superlative:
        named_table, column, found = parts.named[0]
        only = (is_in(column, found),)
        return Frame("list", named_table, column, when=True, where=only, periods=tuple(parts.periods), event=parts.event)
    table = _named_table(parts, context, asked)
    if table is None and asked.logged:
        table = context.tables[0]
    if table is None:
        return None
    one_day = len(parts.periods) == 1 and parts.periods[0].first == parts.periods[0].last
    if asked.logged and not asked.counts and (one_day or (parts.event is not None and parts.event.relation == "on")):
        return Frame("lookup", table, periods=tuple(parts.periods), event=parts.event)
    if not (asked.counts or asked.how_often or asked.which_of or (asked.listed and parts.named)):
        return None
    where = [is_in(column, found) for named, column, found in parts.named if named.name == table.name]
    merchant = merchant_of(table)
    if not where and merchant is not None and parts.unknown is not None:
        where.append(f"{quoted(merchant)} contains {quoted(parts.unknown)}")
    frame = Frame("count", table, where=tuple(where), periods=tuple(parts.periods), event=parts.event, counted=asked.counted)
    thing = text_column(asked, frame)
    if thing is not None:
        if asked.superlative or asked.how_often:
            return replace(frame, operation="pick", by=thing, counted="count", largest=asked.largest)
        if asked.many:
            return replace(frame, operation="distinct", column=thing, counted=asked.which_of)
        return replace(frame, operation="groups", by=thing, counted="count")
    if asked.counted in ("days", "nights"):
        return replace(frame, operation="distinct")
    return frame if asked.counts or asked.how_often else replace(frame, operation="list")


def _named_table(parts: Parts, context: Context, asked: cues.Asked) -> ShownTable | None:
    said = {stem(word) for word in re.findall(r"[^\W_]+", parts.reading.left)}
    named = [table for table, _, _ in parts.named]
    by_name = [t for t in context.tables if {stem(word) for word in t.name.split("_")} & said]
    for table in (*[t for t in named if t in by_name], *named, *by_name):
        return table
    money = [t for t in context.tables if any(c.kind == "money" and holds(c.name, "money") for c in t.columns)]
    if money and asked.receipts:
        return max(money, key=lambda table: merchant_of(table) is not None)
    return None
