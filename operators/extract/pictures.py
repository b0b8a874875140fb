"""One picture's text to findings: a receipt by what receipts are, anything else by its layout."""

from __future__ import annotations

from operators.extract.layout import Shown, observe_layout
from operators.extract.page import PictureText, cells_of
from operators.extract.receipts import is_receipt, observe_receipt
from operators.extract.values import Style

MOST_LINES = 2_000
"""Lines of a picture that are looked at."""


def observe_picture(picture: PictureText, style: Style) -> list[Shown]:
    """The findings of a picture, by record and place; none where it is no form, dashboard, table or receipt."""
    cells = cells_of(picture)[:MOST_LINES]
    found = observe_receipt(cells, style) if is_receipt(cells) else observe_layout(cells, style)
    return sorted(found, key=lambda shown: (shown.finding.record, shown.line, shown.finding.start))
