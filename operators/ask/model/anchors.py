"""Anchors of a search by a model (V-Mem, section 3.3): a caption that is looked for, words that a picture brings."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from operators.ask.model import prompts
from operators.ask.model.chat import Chat, Meter, OutputFault, Prompt
from operators.ask.model.schemas import CAPTION, KEYWORDS, check
from operators.errors import ModelError

MOST_KEYWORDS = 8
"""V-Mem, table 5."""

_SIDE = 1024
"""Pixels of the longer side of a picture that a model sees."""
_MOST_CHARACTERS = 600
_COUNTS = re.compile(r"\b(?:how many|number of|count)\b", re.IGNORECASE)


class ModelAnchors:
    """``retrieve.anchors.Anchors`` by a model, for one question; from where it fails on there are none (``failed``: why).

    ``off``: there never are.
    """

    def __init__(self, chat: Chat, meter: Meter | None = None, *, off: bool = False) -> None:
        self._chat, self._off = chat, off
        self.meter = meter or Meter()
        self.failed: ModelError | None = None

    def caption(self, query: str) -> str | None:
        """The caption that the one picture which is asked for would have; None where pictures are counted."""
        if self._off or self.failed or _COUNTS.search(query):
            return None

        def read(data: Mapping[str, Any]) -> str:
            check(CAPTION, data)
            text = " ".join(data["caption"].split())[:_MOST_CHARACTERS]
            if not text:
                raise OutputFault("the caption is blank")
            return text

        prompt = Prompt(prompts.CAPTION, _question(query), "caption", CAPTION)
        try:
            return self._chat.complete(prompt, read, self.meter)
        except ModelError as error:
            self.failed = error
            return None

    def keywords(self, query: str, picture: bytes | None, caption: str | None) -> Sequence[str]:
        """At most 8 words that the rounds which answer would name; the model is shown the picture, or told its caption.

        None of them where there is neither.
        """
        if self._off or self.failed:
            return ()
        url = None if picture is None else _data_url(picture)
        if url is None and caption is None:
            return ()

        def read(data: Mapping[str, Any]) -> tuple[str, ...]:
            check(KEYWORDS, data)
            words = (" ".join(each.split()) for each in data["keywords"])
            return tuple(dict.fromkeys(word for word in words if word))[:MOST_KEYWORDS]

        told = [_question(query), *([f"It shows: {json.dumps(caption, ensure_ascii=False)}"] if caption else [])]
        try:
            prompt = Prompt(prompts.KEYWORDS, "\n".join(told), "keywords", KEYWORDS, url)
            return self._chat.complete(prompt, read, self.meter)
        except ModelError as error:
            self.failed = error
            return ()


def _question(query: str) -> str:
    return f"Question: {json.dumps(query, ensure_ascii=False)}"


def _data_url(picture: bytes) -> str | None:
    """A picture as a JPEG of at most 1024 pixels a side; None where it cannot be decoded."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(BytesIO(picture)) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return None
    upright.thumbnail((_SIDE, _SIDE))
    written = BytesIO()
    upright.save(written, "JPEG", quality=90)
    return f"data:image/jpeg;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"
