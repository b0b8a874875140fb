"""Objects on a local or mounted file system: temp file, fsync, rename; locks among processes; stamps as etags."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from operators.errors import AlreadyExists, ETagMismatch, ObjectNotFound, OutcomeUnknown, StoreDenied, StoreError
from operators.store.objects import RESERVED, ObjectInfo, ObjectStore, check_key, check_prefix, check_range

_GONE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_PLACING_TRIES = 20
_SECOND = 1_000_000_000


class LocalObjects(ObjectStore):
    """Objects as files below ``root``; the folder is made by the first write.

    An etag is the file's stamp (inode, size and a modification time that the writer sets to the nanosecond): every
    write has its own, and telling it needs no read. That time follows the file system's clock, on a shared mount its
    server's, whatever the writers' own clocks say. All writers of a key hold one lock while they look and rename, so
    put_if_match loses no update. Symbolic links below the root are neither followed nor listed.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).expanduser().absolute()
        self.uri = str(self.root)

    def __repr__(self) -> str:
        return f"LocalObjects({self.uri!r})"

    # --- reading ------------------------------------------------------------------------------------------------

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> bytes:
        check_range(start, length)
        with self._errors(key), self._opened(key) as file:
            file.seek(start)
            return file.read() if length is None else file.read(length)

    def get_with_etag(self, key: str) -> tuple[bytes, str]:
        with self._errors(key), self._opened(key) as file:
            return file.read(), _etag(os.fstat(file.fileno()))

    def head(self, key: str) -> ObjectInfo:
        with self._errors(key), self._opened(key) as file:
            return _info(key, os.fstat(file.fileno()))

    def open(self, key: str) -> pa.NativeFile:
        if self.head(key).size == 0:  # nothing to map
            return pa.BufferReader(b"")
        with self._errors(key):
            try:
                return pa.memory_map(str(self._path(key)), "r")
            except FileNotFoundError:
                raise self._absent(key) from None

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        folder, _, rest = check_prefix(prefix).rpartition("/")
        with self._errors(prefix):
            if folder and self._links_below(folder):
                return
            yield from self._walk(folder, rest)

    def _walk(self, folder: str, begins: str) -> Iterator[ObjectInfo]:
        for name, is_folder in _entries(self.root / folder, begins):
            key = f"{folder}/{name}" if folder else name
            if key == RESERVED:
                continue
            if is_folder:
                yield from self._walk(key, "")
            elif (info := self._listed(key)) is not None:
                yield info

    def _listed(self, key: str) -> ObjectInfo | None:
        try:
            check_key(key)
            found = (self.root / key).stat(follow_symlinks=False)
        except (ValueError, *_GONE):  # not ours, or removed while we walked
            return None
        return _info(key, found)

    # --- writing ------------------------------------------------------------------------------------------------

    def put(self, key: str, data: bytes) -> str:
        with self._errors(key), self._written(lambda file: file.write(data)) as temp, self._locked(key):
            return self._place(temp, key)

    def put_file(self, key: str, path: Path) -> str:
        def copy(file: BinaryIO) -> None:
            with path.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)

        with self._errors(key), self._written(copy) as temp, self._locked(key):
            return self._place(temp, key)

    def put_if_absent(self, key: str, data: bytes) -> str:
        with self._errors(key):
            if self._stat(key) is not None:
                raise AlreadyExists(f"{key} exists already in {self.uri}", key=key)
            with self._written(lambda file: file.write(data)) as temp, self._locked(key):
                return self._place(temp, key, replace=False)

    def put_if_match(self, key: str, data: bytes, etag: str) -> str:
        with self._errors(key), self._written(lambda file: file.write(data)) as temp, self._locked(key):
            found = self._stat(key)
            if found is None or _etag(found) != etag:
                raise ETagMismatch(f"{key} in {self.uri} is no longer the object that was read", key=key)
            return self._place(temp, key)

    def delete(self, key: str) -> None:
        with self._errors(key), self._locked(key):
            path = self._path(key)
            try:
                path.unlink()
            except _GONE:
                return
            _sync(path.parent)
            self._prune(path.parent)

    def sweep(self, before: datetime) -> int:
        swept = 0
        with self._errors(RESERVED):
            for name, _ in _entries(self._temps, ""):
                with contextlib.suppress(FileNotFoundError):
                    if (self._temps / name).stat().st_mtime < before.timestamp():
                        (self._temps / name).unlink()
                        swept += 1
        return swept

    # --- inside -------------------------------------------------------------------------------------------------

    @property
    def _temps(self) -> Path:
        return self.root / RESERVED / "tmp"

    def _path(self, key: str) -> Path:
        folder, _, _ = check_key(key).rpartition("/")
        if folder and self._links_below(folder):
            raise StoreDenied(f"{key}: a folder on its way in {self.uri} is a symbolic link, which a store does not follow")
        return self.root / key

    def _links_below(self, folder: str) -> bool:
        path = str(self.root)
        for part in folder.split("/"):
            path = f"{path}/{part}"
            if os.path.islink(path):  # noqa: PTH114 - a Path takes as long to make as to look up
                return True
        return False

    @contextlib.contextmanager
    def _opened(self, key: str) -> Iterator[BinaryIO]:
        try:
            descriptor = os.open(self._path(key), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            if isinstance(error, _GONE) or error.errno == errno.ELOOP:
                raise self._absent(key) from None
            raise
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._absent(key)
        with os.fdopen(descriptor, "rb") as file:
            yield file

    def _absent(self, key: str) -> ObjectNotFound:
        return ObjectNotFound(f"there is no {key} in {self.uri}", key=key)

    def _stat(self, key: str) -> os.stat_result | None:
        try:
            found = self._path(key).stat(follow_symlinks=False)
        except _GONE:
            return None
        return found if stat.S_ISREG(found.st_mode) else None

    @contextlib.contextmanager
    def _written(self, write: Callable[[BinaryIO], object]) -> Iterator[Path]:
        """A whole, synced temp file on the root's file system; it is gone afterwards unless it was placed."""
        _make_folders(self._temps)
        temp = self._temps / uuid.uuid4().hex
        try:
            with temp.open("xb") as file:
                write(file)
                file.flush()
                stamp = _stamp(os.fstat(file.fileno()).st_mtime_ns)
                os.utime(file.fileno(), ns=(stamp, stamp))
                os.fsync(file.fileno())
            yield temp
        finally:
            temp.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """One of 256 locks, chosen by the key. The lock files stay: removing one would let two holders in."""
        check_key(key)
        folder = self.root / RESERVED / "locks"
        _make_folders(folder)
        with (folder / hashlib.sha256(key.encode()).hexdigest()[:2]).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _place(self, temp: Path, key: str, *, replace: bool = True) -> str:
        etag = _etag(temp.stat())
        target = self._path(key)
        for _ in range(_PLACING_TRIES):
            try:
                _make_folders(target.parent)
                _rename(temp, target, replace=replace)
            except FileNotFoundError:  # a delete pruned the folder that we had just made
                continue
            except NotADirectoryError:
                raise StoreError(f"{key} cannot be written to {self.uri}: a key above it is an object itself") from None
            except (FileExistsError, IsADirectoryError):
                self._clear(key, target)
                continue
            self._settle(key, target.parent)
            return etag
        raise StoreError(f"{key}: its folder in {self.uri} was removed {_PLACING_TRIES} times while it was being written")

    def _settle(self, key: str, folder: Path) -> None:
        try:
            _sync(folder)
        except OSError as error:
            raise OutcomeUnknown(
                f"{key} is in place in {self.uri}, but the disk failed then ({error.strerror or error}): it may not survive "
                "a power cut. Look at the disk, then write again.",
                key=key,
            ) from error

    def _clear(self, key: str, target: Path) -> None:
        """Returns if the way is free again: what stood there was an empty folder."""
        try:
            is_folder = stat.S_ISDIR(target.stat(follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return
        if not is_folder:
            raise AlreadyExists(f"{key} exists already in {self.uri}", key=key)
        try:
            target.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            raise StoreError(f"{key} cannot be written to {self.uri}: other keys lie below it, so it is a folder") from None

    def _prune(self, folder: Path) -> None:
        while folder != self.root:
            try:
                folder.rmdir()
            except OSError:  # not empty, or another delete was here first
                return
            folder = folder.parent

    @contextlib.contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        try:
            yield
        except PermissionError as error:
            raise StoreDenied(f"{key}: no permission in {self.uri} ({error.strerror})") from error
        except OSError as error:
            raise StoreError(f"{key}: {self._failed(error)}") from error

    def _failed(self, error: OSError) -> str:
        said = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            return (
                f"the disk at {_mount_of(self.root)}, which holds {self.uri}, is full ({said}); nothing was written under "
                f"this key. Make room there (`mnemosaic gc --store {self.uri}` removes old versions) and run again"
            )
        if error.errno == errno.EFBIG:
            return (
                f"the disk at {_mount_of(self.root)}, which holds {self.uri}, or a limit of this process (ulimit -f) takes "
                f"no file so large ({said}); nothing was written under this key. Raise the limit, or use another disk"
            )
        return f"{self.uri} cannot be used ({said})"


def _entries(folder: Path, begins: str) -> list[tuple[str, bool]]:
    """(name, is a folder) in key order: a folder sorts as its name with the slash that follows it in keys."""
    try:
        with os.scandir(folder) as found:
            entries = [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in found
                if entry.name.startswith(begins) and not entry.is_symlink()
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(entries, key=lambda entry: entry[0] + "/" * entry[1])


def _rename(temp: Path, target: Path, *, replace: bool) -> None:
    if replace:
        temp.replace(target)
        return
    try:
        target.hardlink_to(temp)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No hard links here (exFAT, some network mounts): all writers of the key hold its lock, so look, then rename.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists", str(target)) from None
        temp.replace(target)


def _make_folders(folder: Path) -> None:
    """mkdir -p whose new entries survive a power cut."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir(exist_ok=True)
        _sync(made.parent)


def _stamp(written: int) -> int:
    """Our clock in nanoseconds, moved by whole seconds to the clock that gave a file just written the time ``written``.

    The file system's own time is too coarse to tell two quick writes apart.
    """
    now = time.time_ns()
    return now + round((written - now) / _SECOND) * _SECOND


def _mount_of(folder: Path) -> Path:
    """The root of the file system on which the folder is, or would be made."""
    while not os.path.ismount(folder):
        folder = folder.parent
    return folder


def _sync(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:  # pruned meanwhile: nothing is left to make durable
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _etag(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns:x}-{found.st_size:x}-{found.st_ino:x}"


def _info(key: str, found: os.stat_result) -> ObjectInfo:
    modified = datetime.fromtimestamp(found.st_mtime_ns / 1e9, UTC)
    return ObjectInfo(key=key, size=found.st_size, etag=_etag(found), modified=modified)
