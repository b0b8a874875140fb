"""Which extractor and which reader of pictures, as plain values, and how they are loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from operators.extract.rules import NAME, Extractor, RulesExtractor

if TYPE_CHECKING:
    from operators.extract.ocr import PictureReader

MAX_SIDE = 1600
"""Pixels of the longer side that a picture is read at; a larger one is made smaller first."""

ExtractorKind = Literal["rules", "none"]
ReaderKind = Literal["rapidocr", "none"]


@dataclass(frozen=True)
class Extraction:
    """How observations are made: ``kind`` of extractor, ``ocr`` reader of pictures, read at ``max_side`` pixels at most."""

    kind: ExtractorKind = "rules"
    ocr: ReaderKind = "rapidocr"
    max_side: int = MAX_SIDE

    @property
    def fingerprint(self) -> str:
        """Names both: what was observed with another is observed anew."""
        return "none" if self.kind == "none" else f"{NAME}+{self.reads}"

    @property
    def reads(self) -> str:
        """Names the reader of pictures alone; ``none`` where none is used."""
        reader = self.reader(1)
        return "none" if reader is None else reader.fingerprint

    def extractor(self) -> Extractor | None:
        """The extractor, None where there is to be none."""
        return None if self.kind == "none" else RulesExtractor()

    def reader(self, threads: int) -> PictureReader | None:
        """The reader of pictures with that many threads, None where there is to be none."""
        if self.kind == "none" or self.ocr == "none":
            return None
        from operators.extract.ocr import RapidReader

        return RapidReader(threads, self.max_side)
