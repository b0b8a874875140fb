"""From the address a user writes to the objects behind it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from operators.errors import UsageError
from operators.store.local import LocalObjects
from operators.store.objects import ObjectStore, check_key


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


def bucket_and_root(uri: str) -> tuple[str, str]:
    """Bucket and key prefix (without slash at its end) of ``s3://bucket/prefix``; UsageError where it names no bucket."""
    scheme, _, rest = uri.partition("://")
    bucket, _, root = rest.partition("/")
    root = root.rstrip("/")
    if scheme != "s3" or not bucket:
        raise UsageError(f"{uri!r} names no bucket: write s3://bucket/prefix")
    try:
        if root:
            check_key(root)
    except ValueError as error:
        raise UsageError(f"{uri!r} is no usable address: {error}") from None
    return bucket, root


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
    except FileNotFoundError:
        raise UsageError(f"{uri!r}: the folder that this is relative to is gone; give the whole path") from None
    try:
        str(folder).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{uri!r} is no UTF-8 here: set LC_ALL=C.UTF-8, or give the store another name") from None
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{uri!r} is a file: a store is a folder")
    return folder
