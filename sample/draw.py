"""The sample's pictures, drawn with simple shapes: dashboards, receipts and scenes of a few kilobytes each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

INK, PAPER, MUTED = "#1d2733", "#fdfcf8", "#7a8794"

Canvas = ImageDraw.ImageDraw


def dashboard(path: Path, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """A health dashboard: a title and one tile a value."""
    image = Image.new("RGB", (420, 90 + 74 * len(rows)), "#eef3f7")
    pen = ImageDraw.Draw(image)
    pen.text((24, 22), title, fill=INK, font=_font(26))
    for index, (label, value) in enumerate(rows):
        top = 72 + 74 * index
        pen.rounded_rectangle((20, top, 400, top + 62), radius=10, fill="white")
        pen.text((36, top + 20), label, fill=MUTED, font=_font(20))
        pen.text((384, top + 16), value, fill=INK, font=_font(26), anchor="ra")
    _save_png(image, path)


def receipt(path: Path, shop: str, lines: Sequence[tuple[str, str]], total: str, date: str) -> None:
    """A till receipt as a JPEG: shop, items, total, date."""
    image = Image.new("RGB", (360, 210 + 30 * len(lines)), PAPER)
    pen = ImageDraw.Draw(image)
    pen.text((180, 24), shop, fill=INK, font=_font(24), anchor="ma")
    for index, (label, price) in enumerate(lines):
        pen.text((24, 78 + 30 * index), label, fill=INK, font=_font(18))
        pen.text((336, 78 + 30 * index), price, fill=INK, font=_font(18), anchor="ra")
    bottom = 90 + 30 * len(lines)
    pen.line((24, bottom, 336, bottom), fill=MUTED, width=2)
    pen.text((24, bottom + 12), "TOTAL EUR", fill=INK, font=_font(22))
    pen.text((336, bottom + 12), total, fill=INK, font=_font(22), anchor="ra")
    pen.text((24, bottom + 60), f"Date {date}", fill=INK, font=_font(18))
    image.save(path, format="JPEG", quality=60)


def scene(path: Path, name: str) -> None:
    """One of ``SCENES``."""
    image = Image.new("RGB", (320, 240), "#dfe9ef")
    SCENES[name](ImageDraw.Draw(image))
    _save_png(image, path)


def _cat(pen: Canvas) -> None:
    pen.ellipse((90, 110, 230, 230), fill="#8b8f94")
    pen.ellipse((110, 50, 210, 140), fill="#9a9ea3")
    pen.polygon([(118, 75), (122, 30), (150, 58)], fill="#9a9ea3")
    pen.polygon([(202, 75), (198, 30), (170, 58)], fill="#9a9ea3")
    for left in (132, 172):
        pen.ellipse((left, 82, left + 16, 102), fill="#d9c24a")
        pen.ellipse((left + 6, 84, left + 10, 100), fill=INK)
    for offset in (0, 14, 28):
        pen.arc((105, 140 + offset, 215, 180 + offset), 200, 340, fill="#5d6166", width=4)


def _cat_cone(pen: Canvas) -> None:
    _cat(pen)
    pen.polygon([(70, 30), (250, 30), (200, 150), (120, 150)], outline="#4a7fb5", width=5)


def _xray(pen: Canvas) -> None:
    pen.rectangle((0, 0, 320, 240), fill="#0d1116")
    pen.line((110, 240, 130, 110), fill="#c9d4dc", width=22)
    pen.line((165, 240, 160, 110), fill="#c9d4dc", width=22)
    pen.line((112, 150, 142, 140), fill="#0d1116", width=4)
    for index, left in enumerate((95, 125, 155, 185)):
        pen.line((140, 100, left, 20 + 6 * (index % 2)), fill="#aebbc5", width=12)


def _route(pen: Canvas) -> None:
    pen.polygon([(0, 150), (90, 170), (200, 140), (320, 180), (320, 240), (0, 240)], fill="#7fb2d9")
    points = [(40, 130), (90, 145), (150, 120), (220, 118), (280, 150)]
    pen.line(points, fill="#d0462f", width=5)
    pen.text((24, 96), "Cascais", fill=INK, font=_font(18))
    pen.text((230, 90), "Guincho", fill=INK, font=_font(18))
    pen.text((24, 20), "21.1 km   2:03:41", fill=INK, font=_font(22))


def _bike(pen: Canvas) -> None:
    for left in (30, 190):
        pen.ellipse((left, 110, left + 100, 210), outline=INK, width=5)
    pen.line([(80, 160), (130, 90), (210, 90), (150, 160), (80, 160)], fill="#2f7d5b", width=6)
    pen.line([(130, 90), (150, 160)], fill="#2f7d5b", width=6)
    pen.line([(240, 160), (205, 70), (225, 62)], fill="#2f7d5b", width=6)
    pen.ellipse((138, 148, 162, 172), fill="#d0462f")


def _garden(pen: Canvas) -> None:
    pen.rectangle((20, 20, 300, 220), fill="#b98f63", outline=INK, width=3)
    for index, (label, colour) in enumerate((("beans", "#5a8f3c"), ("potatoes", "#7d9b4e"), ("chard", "#a33b4f"))):
        top = 36 + 60 * index
        pen.rectangle((36, top, 284, top + 46), fill=colour)
        pen.text((48, top + 12), label, fill="white", font=_font(20))


def _mountains(pen: Canvas) -> None:
    pen.polygon([(0, 240), (70, 80), (120, 150), (180, 50), (250, 150), (320, 100), (320, 240)], fill="#8d8a86")
    pen.polygon([(180, 50), (160, 84), (180, 78), (202, 88)], fill="white")
    pen.rectangle((130, 190, 190, 220), fill="#7a4a2b")
    pen.polygon([(122, 190), (160, 165), (198, 190)], fill="#b5382a")


def _score(pen: Canvas) -> None:
    pen.rectangle((0, 0, 320, 240), fill=PAPER)
    pen.text((160, 12), "Clair de Lune", fill=INK, font=_font(20), anchor="ma")
    for staff in (60, 150):
        for line in range(5):
            pen.line((20, staff + 10 * line, 300, staff + 10 * line), fill=INK)
        for index in range(9):
            top = staff + 5 * ((index * 5) % 8) - 4
            pen.ellipse((36 + 28 * index, top, 47 + 28 * index, top + 9), fill=INK)


def _dog(pen: Canvas) -> None:
    pen.ellipse((80, 120, 240, 225), fill="#c9803f")
    pen.ellipse((100, 40, 220, 150), fill="#d18d4b")
    pen.polygon([(105, 80), (108, 24), (145, 52)], fill="#b06c2f")
    pen.polygon([(215, 80), (212, 24), (175, 52)], fill="#b06c2f")
    pen.ellipse((130, 90, 190, 148), fill="#f4e6d2")
    pen.ellipse((150, 98, 170, 114), fill=INK)


def _leak(pen: Canvas) -> None:
    pen.rectangle((0, 0, 320, 90), fill="#f2f0ea")
    pen.ellipse((90, 15, 240, 80), fill="#c7a873")
    pen.ellipse((125, 30, 205, 68), fill="#a98450")
    for top in (100, 140, 180):
        pen.ellipse((160, top, 170, top + 18), fill="#5b93c4")


def _bread(pen: Canvas) -> None:
    pen.ellipse((40, 90, 280, 200), fill="#a8682f")
    pen.ellipse((60, 98, 260, 180), fill="#c98c4c")
    for left in (100, 150, 200):
        pen.line((left, 110, left + 24, 165), fill="#f0d9b0", width=6)


def _blossoms(pen: Canvas) -> None:
    pen.line((0, 200, 320, 60), fill="#5c4033", width=10)
    for index in range(14):
        left, top = 12 + 22 * index, 190 - 10 * index + 18 * (index % 3 - 1)
        pen.ellipse((left, top, left + 24, top + 24), fill="#f3b6c6")
        pen.ellipse((left + 9, top + 9, left + 15, top + 15), fill="#d46a88")


SCENES: dict[str, Callable[[Canvas], None]] = {
    "cat": _cat,
    "cat-cone": _cat_cone,
    "xray": _xray,
    "route": _route,
    "bike": _bike,
    "garden": _garden,
    "mountains": _mountains,
    "score": _score,
    "dog": _dog,
    "leak": _leak,
    "bread": _bread,
    "blossoms": _blossoms,
}


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _save_png(image: Image.Image, path: Path) -> None:
    image.quantize(colors=48).save(path, format="PNG", optimize=True)
