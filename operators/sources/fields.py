"""Typed access to foreign records: a value as found goes in, a clean one comes out or a SourceError that says what is wrong.

Errors name the field, never its content. ``NUL`` and lone surrogates in text become U+FFFD, because neither Arrow nor
UTF-8 can hold them; in an id they are an error, because an id must stay as it was written.
"""

from __future__ import annotations

import math
import re
from typing import Any

from operators.errors import SourceError

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def reject(code: str, reason: str, *, round_id: str | None = None) -> SourceError:
    """A SourceError that does not know its file and line yet; the reader adds them."""
    return SourceError(reason, code=code, round_id=round_id)


def clean(text: str) -> str:
    """Text as it can be stored."""
    return _UNSTORABLE.sub("\ufffd", text)


def clean_json(value: Any) -> Any:
    """A JSON value whose texts and keys can be stored; dates and times become ISO text, NaN and its kin null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return clean(value.isoformat() if hasattr(value, "isoformat") else str(value))


def text_of(value: object, what: str) -> str:
    """Clean text; ``""`` for None. SourceError ``wrong-type``."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise wrong_type(what, "text", value)
    return clean(value)


def identifier(value: object, what: str) -> str | None:
    """An id as it stands, whole numbers as their digits; None where it is absent.

    SourceError ``wrong-type``, or ``bad-id`` where it is empty, blank, or holds NUL or a lone surrogate.
    """
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise wrong_type(what, "text or a whole number", value)
    if not value.strip():
        raise reject("bad-id", f"{what} is empty")
    if _UNSTORABLE.search(value):
        raise reject("bad-id", f"{what} holds a NUL or a lone surrogate")
    return value


def label(value: object, what: str) -> str | None:
    """An id that need not be there: as ``identifier``, and None where it is blank too."""
    if isinstance(value, str) and not value.strip():
        return None
    return identifier(value, what)


def title_of(value: object) -> str:
    """A title, ``""`` where there is none: it is no reason to refuse what it stands above."""
    return clean(value).strip() if isinstance(value, str) else ""


def mapping(value: object, what: str) -> dict[str, Any]:
    """A JSON object. SourceError ``wrong-type``."""
    if not isinstance(value, dict):
        raise wrong_type(what, "an object", value)
    return value


def sequence(value: object, what: str) -> list[Any]:
    """A JSON list; empty for None. SourceError ``wrong-type``."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type(what, "a list", value)
    return value


def one_or_many(value: object) -> list[Any]:
    """A list as it is, None as no value, anything else as the one value it is."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def wrong_type(what: str, expected: str, found: object) -> SourceError:
    """SourceError ``wrong-type`` that shows both sides."""
    return reject("wrong-type", f"{what} must be {expected}, not {json_type(found)}")


def json_type(value: object) -> str:
    """What JSON calls the value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    for kind, name in ((str, "text"), (int, "a number"), (float, "a number"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return type(value).__name__
