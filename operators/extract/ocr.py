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
        scale = min(1.0, self._max_side / max(width, height))
        small = _resized(pixels, scale)
        quads, texts, scores, turned = self._run(small)
        turn = 0
        if _sideways(quads):
            turn = 90
            quads, texts, scores, turned = self._run(np.ascontiguousarray(np.rot90(small, -1)))
        upright_width = small.shape[0] if turn else small.shape[1]
        upright_height = small.shape[1] if turn else small.shape[0]
        if turned:
            quads = [np.array([upright_width, upright_height]) - quad for quad in quads]
        lines = [
            TextLine(text, _box_back(quad, turn, turned, small.shape, scale), round(float(score), 4))
            for quad, text, score in zip(quads, texts, scores, strict=True)
        ]
        return PictureText(width, height, tuple(lines), (turn + (180 if turned else 0)) % 360, _tilt(quads))

    def _run(self, pixels: NDArray[np.uint8]) -> tuple[list[NDArray[np.float64]], list[str], list[float], bool]:
        """Quads (4, 2), texts and scores of a picture, and whether most of its lines stand upside down."""
        engine = self._loaded()
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


def _box_back(quad: NDArray[np.float64], turn: int, turned: bool, shape: tuple[int, ...], scale: float) -> Box:
    """The box of an upright quad in the picture as it came, in its own pixels."""
    height, width = shape[:2]
    left, top = quad.min(axis=0)
    right, bottom = quad.max(axis=0)
    if turned:
        upright_width, upright_height = (height, width) if turn else (width, height)
        left, top, right, bottom = upright_width - right, upright_height - bottom, upright_width - left, upright_height - top
    if turn:  # the picture was read turned clockwise by 90 degrees
        left, top, right, bottom = top, height - right, bottom, height - left
    return tuple(round(float(value) / scale, 1) for value in (left, top, right, bottom))  # type: ignore[return-value]
