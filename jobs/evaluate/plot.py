"""A picture of a report: recall by category with its intervals, configurations side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SHOWN = {"recall@12": "R@12", "recall@12+n": "R@12 with neighbours"}

_BARS = 0.8
"""Of the room between two groups, what their bars take."""


def draw(report: Mapping[str, Any], path: Path) -> None:
    """Write the picture; its format is that of the path's ending."""
    configurations = report["configurations"]
    groups = ["all", *report["by_category"]]
    width = max(6.0, 1.5 + 0.35 * len(groups) * (1 + len(configurations)))
    figure = Figure(figsize=(width, 3.2 * len(SHOWN)), layout="constrained")
    for axes, (metric, title) in zip(figure.subplots(len(SHOWN), 1, sharex=True), SHOWN.items(), strict=True):
        _draw_metric(axes, metric, configurations)
        axes.set(title=title, ylim=(0, 1), xticks=range(len(groups)))
        axes.set_xticklabels(groups, rotation=30 if len(groups) > 6 else 0)
        axes.grid(axis="y", alpha=0.3)
    if len(configurations) > 1:
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=120)


def _draw_metric(axes: Axes, metric: str, configurations: Mapping[str, Any]) -> None:
    width = _BARS / len(configurations)
    for number, (name, found) in enumerate(configurations.items()):
        groups = [found["overall"], *found["by_category"].values()]
        heights = np.array([group[metric] for group in groups])
        spans = np.array([group["intervals"][metric] for group in groups]).T
        # A percentile interval need not hold the mean; a whisker has no length below 0.
        whiskers = np.maximum([heights - spans[0], spans[1] - heights], 0)
        at = np.arange(len(groups)) - _BARS / 2 + width * (number + 0.5)
        axes.bar(at, heights, width, yerr=whiskers, capsize=2, label=name)
