"""Reading the text of pictures, by RapidOCR (PP-OCR models inside its package; nothing is fetched)."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from statistics import median
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from operators.errors import ExtractorError
from operators.extract.page import Box, PictureText, TextLine

_FEWEST_TURNED = 3
_LEAST_SIDE = 8
"""Pixels below which a picture holds no letters."""
_MOST_THIN = 4
"""Times a picture may be as long as it is wide before it is padded."""


class PictureReader(Protocol):
    """Reads the text of one picture at a time."""

    @property
    def fingerprint(self) -> str:
        """Names the reader and what it was made with: other words for a picture mean another name."""
        ...

    def read(self, data: bytes) -> PictureText:
        """The text of an encoded picture; no lines where there is none. ExtractorError where it cannot be decoded."""
        ...


class RapidReader:
    """RapidOCR on ONNX Runtime with a fixed number of threads. Loads its models when first used."""

    def __init__(self, threads: int, max_side: int) -> None:
        self._threads = threads
        self._max_side = max_side
        self._engine: Any = None

    @property
    def fingerprint(self) -> str:
        """``rapidocr`` with its version and the size pictures are read at."""
        from importlib.metadata import version

        return f"rapidocr-{version('rapidocr')}-{self._max_side}"

    def read(self, data: bytes) -> PictureText:
        """See ``PictureReader``."""
        pixels = _pixels(data)
        height, width = pixels.shape[:2]
        if min(height, width) < _LEAST_SIDE:
            return PictureText(width, height, ())
        scale = min(1.0, self._max_side / max(width, height))
        small = _resized(pixels, scale)
        turn = 0
        quads, texts, scores, flipped = self._run(small)
        if _sideways(quads):
            turn = 90
            quads, texts, scores, flipped = self._run(_turned(small, turn))
        if flipped:  # short lines are told apart badly: the whole is turned and read again
            turn = (turn + 180) % 360
            quads, texts, scores, _ = self._run(_turned(small, turn))
        lines = [
            TextLine(text, _box_back(quad, turn, small.shape, scale), round(float(score), 4))
            for quad, text, score in zip(quads, texts, scores, strict=True)
        ]
        return PictureText(width, height, tuple(lines), turn, _tilt(quads))

    def _run(self, pixels: NDArray[np.uint8]) -> tuple[list[NDArray[np.float64]], list[str], list[float], bool]:
        """Quads (4, 2), texts and scores of a picture, and whether most of its lines stand upside down."""
        engine = self._loaded()
        pixels = _padded(pixels)
        image, record = engine.preprocess_img(pixels)
        found, directions, read, crops = engine.run_ocr_steps(image, record)
        result = engine.build_final_output(pixels, found, directions, read, crops, record)
        if getattr(result, "txts", None) is None or result.boxes is None:
            return [], [], [], False
        flips = [label == "180" and score > 0.9 for label, score in (directions.cls_res or [])]
        turned = len(flips) >= _FEWEST_TURNED and sum(flips) * 2 > len(flips)
        return [np.asarray(box, np.float64) for box in result.boxes], list(result.txts), list(result.scores), turned

    def _loaded(self) -> Any:
        if self._engine is None:
            try:
                from rapidocr import RapidOCR
            except ImportError as error:
                raise ExtractorError("the package rapidocr is not installed: pip install mnemosaic") from error
            logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
            self._engine = RapidOCR(
                params={
                    "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": self._threads,
                    "Global.log_level": "critical",
                    "Global.max_side_len": self._max_side,
                }
            )
        return self._engine


def _pixels(data: bytes) -> NDArray[np.uint8]:
    """The picture as it is to be seen, (height, width, 3), blue first; transparent parts are white."""
    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = ImageOps.exif_transpose(opened)
            if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
                image = image.convert("RGBA")
                image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
            return np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ExtractorError(f"the picture cannot be decoded ({type(error).__name__})") from error


def _resized(pixels: NDArray[np.uint8], scale: float) -> NDArray[np.uint8]:
    if scale >= 1:
        return pixels
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    return np.ascontiguousarray(np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS)))


def _sideways(quads: Sequence[NDArray[np.float64]]) -> bool:
    """Whether most lines of text stand on end."""
    tall = [bool(np.ptp(quad[:, 1]) > 1.5 * np.ptp(quad[:, 0])) for quad in quads]
    return len(tall) >= _FEWEST_TURNED and int(sum(tall)) * 2 > len(tall)


def _tilt(quads: Sequence[NDArray[np.float64]]) -> float:
    """Pixels that lines of text sink per pixel to the right: the median over wide boxes."""
    slopes = []
    for quad in quads:
        run = quad[1] - quad[0]
        if abs(run[0]) > 4 * abs(quad[3][1] - quad[0][1]):
            slopes.append(float(run[1] / run[0]))
    return round(median(slopes), 5) if len(slopes) >= _FEWEST_TURNED else 0.0


def _turned(pixels: NDArray[np.uint8], turn: int) -> NDArray[np.uint8]:
    """Turned clockwise by so many degrees."""
    return np.ascontiguousarray(np.rot90(pixels, -(turn // 90)))


def _padded(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A thin picture with white below or right of it: the engine enlarges the short side, and the long one with it."""
    height, width = pixels.shape[:2]
    least = max(height, width) // _MOST_THIN
    if min(height, width) >= least:
        return pixels
    wide = np.full((max(height, least), max(width, least), 3), 255, np.uint8)
    wide[:height, :width] = pixels
    return wide


def _box_back(quad: NDArray[np.float64], turn: int, shape: tuple[int, ...], scale: float) -> Box:
    """The box of an upright quad in the picture as it came, in its own pixels. ``shape``: the picture's as it was read."""
    height, width = shape[:2]
    left, top = quad.min(axis=0)
    right, bottom = quad.max(axis=0)
    if turn == 90:
        left, top, right, bottom = top, height - right, bottom, height - left
    elif turn == 180:
        left, top, right, bottom = width - right, height - bottom, width - left, height - top
    elif turn == 270:
        left, top, right, bottom = width - bottom, left, width - top, right
    right_most, lowest = width / scale, height / scale
    bounds = (right_most, lowest, right_most, lowest)
    sides = (left / scale, top / scale, right / scale, bottom / scale)
    return tuple(round(float(min(max(side, 0.0), most)), 1) for side, most in zip(sides, bounds, strict=True))  # type: ignore[return-value]
