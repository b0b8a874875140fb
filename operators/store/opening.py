"""From the address a user writes to the objects behind it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from operators.errors import UsageError
from operators.store.local import LocalObjects
from operators.store.objects import ObjectStore


def open_objects(uri: str) -> ObjectStore:
    """The objects under a folder (``path``, ``~/path``, ``file:///path``) or under ``s3://bucket/prefix``.

    Nothing is read or made yet. The result pickles. UsageError where the address cannot be one of a store.
    """
    if uri.startswith("s3://"):
        from operators.store.s3 import S3Objects  # costs half a second to import: only those pay who use it

        return S3Objects(uri)
    if uri.startswith("file:"):
        return LocalObjects(_folder(_path_of(uri), uri))
    if "://" in uri:
        raise UsageError(f"{uri!r}: a store is a folder, file:///folder or s3://bucket/prefix")
    return LocalObjects(_folder(uri, uri))


def _path_of(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/") or parts.query or parts.fragment:
        raise UsageError(f"{uri!r}: write file:///folder, with the whole path")
    return unquote(parts.path)


def _folder(path: str, uri: str) -> Path:
    if not path.strip() or "\0" in path:
        raise UsageError(f"{uri!r} is no folder: name one, or s3://bucket/prefix")
    try:
        folder = Path(path).expanduser().absolute()
    except RuntimeError as error:  # ~somebody who has no home
        raise UsageError(f"{uri!r}: {error}") from None
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{uri!r} is a file: a store is a folder")
    return folder
