"""An edited copy of a picture is found among many by the packaged encoder: cropped, resized, brighter, darker, compressed.

The pictures are drawn here: scenes, charts, patterns, pages of text, and dashboards that differ by their digits alone.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance, ImageFont

from operators.encode.image import load_image_encoder
from operators.encode.image_pixels import exposed

WORDS = [
    "river",
    "notice",
    "ticket",
    "garden",
    "invoice",
    "train",
    "kitchen",
    "summer",
    "violin",
    "window",
    "paper",
    "coffee",
    "doctor",
    "route",
    "winter",
    "market",
]
FOUND = 12
"""Rounds that a search returns unless it is told otherwise."""

Draw = Callable[[random.Random], Image.Image]


def colour(dice: random.Random, low: int = 0, high: int = 255) -> tuple[int, int, int]:
    return dice.randint(low, high), dice.randint(low, high), dice.randint(low, high)


def scene(dice: random.Random) -> Image.Image:
    """Sky, a sun, hills, houses and trees."""
    width, height = dice.choice([(640, 480), (480, 640), (500, 500)])
    top, bottom = np.array(colour(dice, 90)), np.array(colour(dice, 90))
    steps = np.linspace(0, 1, height)[:, None, None]
    image = Image.fromarray((top * (1 - steps) + bottom * steps).repeat(width, axis=1).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    left, up, size = dice.randint(0, width), dice.randint(0, height // 3), dice.randint(40, 120)
    pen.ellipse([left, up, left + size, up + size], fill=colour(dice, 180))
    for layer in range(3):
        ridge = [(x, height * (0.45 + 0.15 * layer) + dice.uniform(-60, 60)) for x in range(0, width + 40, 40)]
        pen.polygon([(0, height), *ridge, (width, height)], fill=colour(dice, 20, 160))
    for _ in range(5):
        x, y, size = dice.randint(0, width), dice.randint(height // 2, height), dice.randint(30, 110)
        if dice.random() < 0.5:
            pen.rectangle([x, y - size, x + size, y], fill=colour(dice))
            pen.polygon([(x - 8, y - size), (x + size // 2, y - size * 3 // 2), (x + size + 8, y - size)], fill=colour(dice))
        else:
            pen.ellipse([x, y - size, x + size, y], fill=colour(dice, 0, 180))
    return image


def chart(dice: random.Random) -> Image.Image:
    """Bars or a line under a title, of random heights."""
    image = Image.new("RGB", (640, 420), "white")
    pen, shade = ImageDraw.Draw(image), colour(dice, 0, 200)
    pen.text((20, 10), " ".join(dice.sample(WORDS, 3)), "black", ImageFont.load_default(24))
    heights = [dice.randint(10, 290) for _ in range(dice.randint(5, 11))]
    step = 530 / len(heights)
    if dice.random() < 0.5:
        pen.line([(70 + at * step, 370 - value) for at, value in enumerate(heights)], shade, 5)
    else:
        for at, value in enumerate(heights):
            pen.rectangle([70 + at * step, 370 - value, 70 + (at + 0.7) * step, 370], fill=shade)
    pen.line([(60, 60), (60, 370), (610, 370)], "black", 2)
    return image


def pattern(dice: random.Random) -> Image.Image:
    """Triangles, blots of noise, or a grid of dots."""
    which, seed = dice.randrange(3), dice.randrange(1 << 30)
    if which == 0:
        cells = np.random.default_rng(seed).integers(0, 255, (dice.randint(4, 20),) * 2 + (3,), np.uint8)
        return Image.fromarray(cells).resize((480, 480), Image.Resampling.BICUBIC)
    image = Image.new("RGB", (480, 480), colour(dice))
    pen = ImageDraw.Draw(image)
    for at in range(60):
        if which == 1:
            pen.polygon([(dice.randint(0, 480), dice.randint(0, 480)) for _ in range(3)], fill=colour(dice))
        else:
            left, top = 60 * (at % 8), 60 * (at // 8)
            pen.ellipse([left, top, left + dice.randint(20, 55), top + dice.randint(20, 55)], fill=colour(dice))
    return image


def page(dice: random.Random) -> Image.Image:
    """A page of words, dark or light, with a coloured head."""
    width, height = dice.choice([(420, 700), (700, 500)])
    back, front = dice.choice([("#1b1b1f", "#e8e8ee"), ("#ffffff", "#1d1d20"), ("#f6efdc", "#3a2a10")])
    image = Image.new("RGB", (width, height), back)
    pen, size = ImageDraw.Draw(image), dice.choice([16, 20, 26])
    pen.rectangle([0, 0, width, 60], fill=colour(dice, 0, 200))
    for top in range(80, height - 40, int(size * dice.choice([1.5, 2.2]))):
        words = " ".join(dice.choices(WORDS, k=dice.randint(1, width // size // 3)))
        pen.text((24, top), words, front, ImageFont.load_default(size))
    return image


def dashboard(dice: random.Random) -> Image.Image:
    """A day's numbers: the same picture every day but for its digits."""
    image = Image.new("RGB", (400, 560), "#f4f4f8")
    pen = ImageDraw.Draw(image)
    for at, name in enumerate(("Steps", "Time asleep", "Resting heart rate", "Distance")):
        pen.rounded_rectangle([20, 20 + at * 130, 380, 135 + at * 130], 16, fill="white")
        pen.text((40, 34 + at * 130), name, "#777", ImageFont.load_default(20))
        pen.text((40, 68 + at * 130), f"{dice.randint(40, 14000):,}", "black", ImageFont.load_default(40))
    return image


def crop(left: float, top: float, right: float, bottom: float) -> Callable[[Image.Image], Image.Image]:
    """Cuts off these parts of width and height."""

    def cut(image: Image.Image) -> Image.Image:
        width, height = image.size
        return image.crop((int(width * left), int(height * top), int(width * (1 - right)), int(height * (1 - bottom))))

    return cut


def scaled(by: float, wide: float = 1.0) -> Callable[[Image.Image], Image.Image]:
    return lambda image: image.resize((int(image.width * by * wide), int(image.height * by)))


def lit(by: float) -> Callable[[Image.Image], Image.Image]:
    return lambda image: ImageEnhance.Brightness(image).enhance(by)


EDITS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "crop 10%": crop(0.05, 0.05, 0.05, 0.05),
    "crop 20% off centre": crop(0.15, 0.0, 0.05, 0.1),
    "half": scaled(0.5),
    "a third": scaled(0.34),
    "stretched": scaled(1.0, 0.8),
    "darker": lit(0.6),
    "brighter": lit(1.3),
    "JPEG 20": lambda image: image,
    "all at once": lambda image: lit(0.8)(scaled(0.5)(crop(0.05, 0.1, 0.05, 0.0)(image))),
}
QUALITY = {"JPEG 20": 20, "all at once": 50}
APART: dict[str, tuple[Draw, int]] = {
    "scene": (scene, 14),
    "chart": (chart, 10),
    "pattern": (pattern, 12),
    "page": (page, 6),
}


def encoded(image: Image.Image, quality: int = 0) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG" if quality else "PNG", **({"quality": quality} if quality else {}))
    return buffer.getvalue()


def places(pictures: list[Image.Image]) -> dict[str, np.ndarray]:
    """By edit: at which place, from 0, each picture stands when its edited copy is looked for among all."""
    encoder = load_image_encoder()
    stored = encoder.encode([encoded(image) for image in pictures]).vectors.astype(np.float16).astype(np.float32)
    found = {}
    for name, edit in EDITS.items():
        copies = encoder.encode([encoded(edit(image), QUALITY.get(name, 0)) for image in pictures]).vectors
        scores = copies @ stored.T
        found[name] = (scores > np.diag(scores)[:, None]).sum(axis=1)
    return found


@pytest.fixture(scope="module")
def apart() -> dict[str, np.ndarray]:
    drawn = [draw(random.Random(f"{kind} {at}")) for kind, (draw, many) in APART.items() for at in range(many)]
    return places(drawn)


def test_an_edited_copy_leads_to_its_original(apart: dict[str, np.ndarray]) -> None:
    first = {name: float((place == 0).mean()) for name, place in apart.items()}
    assert np.mean(list(first.values())) >= 0.95, first
    assert min(first.values()) >= 0.9, first


def test_no_edit_puts_the_original_out_of_what_is_returned(apart: dict[str, np.ndarray]) -> None:
    returned = {name: float((place < FOUND).mean()) for name, place in apart.items()}
    assert min(returned.values()) >= 0.95, returned


def test_pictures_that_differ_by_their_digits_alone_are_found_with_their_siblings() -> None:
    drawn = [dashboard(random.Random(at)) for at in range(8)] + [
        draw(random.Random(kind)) for kind, (draw, _) in APART.items()
    ]
    found = places(drawn)
    siblings = np.concatenate([place[:8] for place in found.values()])
    assert (siblings < 8).mean() >= 0.99  # none of another kind comes before the eight
    for name in ("half", "darker", "JPEG 20"):
        assert (found[name][:8] == 0).mean() >= 0.7, (name, found[name])


def test_a_darker_copy_is_exposed_as_its_original() -> None:
    pixels = np.asarray(scene(random.Random(5)).resize((64, 64)))
    darker = (pixels * 0.5).astype(np.uint8)
    assert np.abs(exposed(darker).astype(int) - exposed(pixels).astype(int)).max() <= 4
    black = np.zeros((4, 4, 3), np.uint8)
    assert (exposed(black) == 0).all()
