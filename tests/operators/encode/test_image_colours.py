"""Colours of pictures as vectors."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.encode.image_colours import HISTOGRAM_DIM, LAYOUT_DIM, histograms, layouts

SIDE = 224
COLOUR = st.tuples(*[st.integers(0, 255)] * 3)


def halves(left: tuple[int, ...], right: tuple[int, ...]) -> np.ndarray:
    pixels = np.empty((1, SIDE, SIDE, 3), np.uint8)
    pixels[:, :, : SIDE // 2], pixels[:, :, SIDE // 2 :] = left, right
    return pixels


@settings(deadline=None, max_examples=30)
@given(COLOUR, COLOUR)
def test_rows_have_unit_length_and_a_mirror_changes_places_alone(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    one, mirrored = halves(left, right), halves(right, left)
    for pixels in (one, mirrored):
        assert histograms(pixels).shape == (1, HISTOGRAM_DIM)
        assert layouts(pixels).shape == (1, LAYOUT_DIM)
        assert np.isclose(np.linalg.norm(histograms(pixels)), 1, atol=1e-5)
    assert np.allclose(histograms(one), histograms(mirrored), atol=1e-5)


def test_a_little_more_light_moves_little_and_another_colour_much() -> None:
    blue, lighter, green = (halves((250, 245, 230), colour) for colour in ((48, 160, 224), (53, 165, 229), (32, 128, 64)))
    near, far = (float((histograms(blue) @ histograms(other).T).item()) for other in (lighter, green))
    assert near > 0.99
    assert far < 0.9
    assert (layouts(blue) @ layouts(lighter).T).item() > 0.99


def test_grey_has_no_layout() -> None:
    assert (layouts(np.full((1, SIDE, SIDE, 3), 128, np.uint8)) == 0).all()
