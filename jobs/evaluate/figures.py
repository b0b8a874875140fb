"""Figures that every evaluation gives: means of groups of questions with intervals, paired differences, and their tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from jobs.evaluate.statistics import Floats, bootstrap_interval, sign_flip_p

Item = TypeVar("Item")

# --- figures --------------------------------------------------------------------------------------------------------


def group_of(values: Floats, metrics: Sequence[str], headline: str) -> dict[str, Any]:
    """The means of ``values`` (questions, metrics), at least one question, with their 95% intervals.

    ``interval`` is the headline's, ``intervals`` those of all metrics.
    """
    means = dict(zip(metrics, values.mean(axis=0).tolist(), strict=True))
    intervals = dict(zip(metrics, bootstrap_interval(values).tolist(), strict=True))
    return {"questions": len(values), **means, "interval": intervals[headline], "intervals": intervals}


def differences(values: Floats, metrics: Sequence[str]) -> dict[str, Any]:
    """Of paired differences (questions, metrics) to a reference, by metric: their mean, its interval, the sign-flip p."""
    means, intervals = values.mean(axis=0).tolist(), bootstrap_interval(values).tolist()
    return {
        metric: {"difference": means[at], "interval": intervals[at], "p": sign_flip_p(values[:, at])}
        for at, metric in enumerate(metrics)
    }


def rows_by(counted: Sequence[Item], key: Callable[[Item], str]) -> Iterator[tuple[str, list[int]]]:
    """The rows of each group; groups in the order of their names, numbers in them as numbers."""
    groups: dict[str, list[int]] = {}
    for row, one in enumerate(counted):
        groups.setdefault(key(one), []).append(row)
    yield from sorted(groups.items(), key=lambda group: _natural(group[0]))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


# --- tables ---------------------------------------------------------------------------------------------------------


def rows_of(
    figures: Mapping[str, Any], wholes: str = "by_benchmark", parts: str = "by_category"
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The groups of a configuration, or of a comparison, as they are shown: all, each whole where there are several, each
    part."""
    yield "all", figures["overall"]
    if len(figures.get(wholes, ())) > 1:
        yield from figures[wholes].items()
    yield from figures.get(parts, {}).items()


def difference_rows(comparison: Mapping[str, Any], wholes: str = "by_benchmark") -> Iterator[list[str]]:
    """A comparison for people: configuration, group, metric, difference, interval and p, a row each group and metric."""
    for group, metrics in rows_of(comparison, wholes):
        for metric, found in metrics.items():
            told = [f"{found['difference']:+.3f}", span(found["interval"]), told_p(found["p"])]
            yield [comparison["configuration"], group, metric, *told]


def comparisons_table(comparisons: Sequence[Mapping[str, Any]], wholes: str = "by_benchmark") -> str:
    """Comparisons as a table in Markdown."""
    headings = ["configuration", "questions of", "metric", "difference", "95% interval", "p"]
    return table(headings, [row for one in comparisons for row in difference_rows(one, wholes)], words=3)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table in Markdown; the first ``words`` columns are words, the others numbers."""
    rule = ["---" if at < words else "---:" for at in range(len(headings))]
    return "\n".join(line(cells) for cells in (headings, rule, *rows))


def line(cells: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cell(text) for text in cells)} |"


def cell(text: str) -> str:
    """Text as it may stand in a table in Markdown."""
    return " ".join(text.split()).replace("|", "\\|")


def span(interval: Sequence[float]) -> str:
    """An interval for people."""
    return f"{interval[0]:.3f} to {interval[1]:.3f}"


def told_p(p: float) -> str:
    """A p value for people."""
    return "< .001" if p < 0.001 else f"{p:.3f}"
