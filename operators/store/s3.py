"""Objects in S3 and what speaks its protocol. The one module that knows boto3; it does its own bounded retries."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import boto3.session
import botocore.exceptions as boto
import botocore.loaders
import botocore.parsers
import botocore.session
import pyarrow as pa
from botocore.config import Config

from operators.errors import (
    AlreadyExists,
    ETagMismatch,
    ObjectNotFound,
    OutcomeUnknown,
    StoreCorrupt,
    StoreDenied,
    StoreError,
    StoreUnavailable,
)
from operators.store.faults import AGAIN, EXPIRED, Fault, denied_advice, fault_of_answer
from operators.store.objects import MAX_KEY_BYTES, ObjectInfo, ObjectStore, check_key, check_prefix, check_range
from operators.store.opening import bucket_and_root
from operators.store.ranged import TAIL, RangedFile

T = TypeVar("T")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 4.0
_MOST_PARTS = 10_000
_WRITER = "mnemosaic-writer"

_BOTO_ERRORS = (boto.BotoCoreError, boto.ClientError, botocore.parsers.ResponseParserError, RuntimeError)
_NO_CREDENTIALS = (boto.NoCredentialsError, boto.PartialCredentialsError, boto.CredentialRetrievalError)
_STALE_LOGIN = (boto.UnauthorizedSSOTokenError, boto.SSOTokenLoadError, boto.TokenRetrievalError)
_NEVER_SENT = (boto.EndpointConnectionError, boto.ConnectTimeoutError, boto.ProxyConnectionError)
_BROKEN_OFF = (boto.HTTPClientError, boto.ConnectionError, boto.IncompleteReadError, botocore.parsers.ResponseParserError)


class S3Objects(ObjectStore):
    """Objects below ``s3://bucket/prefix``.

    Endpoint, region and credentials come by boto3's standard ways (``AWS_ENDPOINT_URL``, ``AWS_ACCESS_KEY_ID``,
    ``AWS_PROFILE`` ..). No call makes more than ``tries`` requests of a kind; the time-outs are seconds per request.
    Files above ``part_bytes`` go up in parts. The object pickles; each process makes its own client when it needs one.
    """

    def __init__(
        self,
        uri: str,
        *,
        tries: int = 5,
        connect_timeout: float = 5.0,
        read_timeout: float = 60.0,
        part_bytes: int = 32 << 20,
    ) -> None:
        self._bucket, self._root = bucket_and_root(uri)
        self.uri = f"s3://{self._bucket}/{self._root}".rstrip("/")
        self._tries = max(1, tries)
        self._timeouts = (connect_timeout, read_timeout)
        self._part_bytes = part_bytes
        self._made: tuple[int, Any] | None = None

    def __repr__(self) -> str:
        return f"S3Objects({self.uri!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    # --- reading ------------------------------------------------------------------------------------------------

    def get(self, key: str, *, start: int = 0, length: int | None = None) -> bytes:
        check_range(start, length)
        if length == 0:
            self.head(key)
            return b""
        ranged = _range(start, length)

        def fetch(client: Any) -> bytes:
            try:
                return bytes(client.get_object(**self._of(key), **ranged)["Body"].read())
            except boto.ClientError as error:
                if _fault(error) is Fault.RANGE:  # the object ends before ``start``
                    return b""
                raise

        return self._call(key, fetch)

    def get_with_etag(self, key: str) -> tuple[bytes, str]:
        def fetch(client: Any) -> tuple[bytes, str]:
            answer = client.get_object(**self._of(key))
            return answer["Body"].read(), answer["ETag"]

        return self._call(key, fetch)

    def head(self, key: str) -> ObjectInfo:
        try:
            return self._head(key)
        except StoreUnavailable:
            raise
        except StoreError:
            self.get(key, length=1)  # the answer to a HEAD has no body that says what is missing or why it is refused
            return self._head(key)

    def _head(self, key: str) -> ObjectInfo:
        found = self._ask(key, "head_object", **self._of(key))
        return ObjectInfo(key, found["ContentLength"], found["ETag"], found["LastModified"].astimezone(UTC))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        below = self._below(check_prefix(prefix))
        more: dict[str, str] | None = {}
        while more is not None:
            page = self._ask(prefix, "list_objects_v2", Bucket=self._bucket, Prefix=below, **more)
            yield from filter(None, map(self._listed, page.get("Contents", [])))
            more = {"ContinuationToken": page["NextContinuationToken"]} if page.get("IsTruncated") else None

    def _listed(self, found: Mapping[str, Any]) -> ObjectInfo | None:
        key = found["Key"][len(self._below("")) :]
        try:
            check_key(key)
        except ValueError:  # a folder marker that a console made, or another program's object
            return None
        return ObjectInfo(key, found["Size"], found["ETag"], found["LastModified"].astimezone(UTC))

    def open(self, key: str) -> pa.NativeFile:
        tail, size = self._call(key, functools.partial(_tail, of=self._of(key)))

        def fetch(start: int, length: int) -> bytes:
            data = self.get(key, start=start, length=length)
            if len(data) != length:
                raise StoreCorrupt(f"{key} in {self.uri} became shorter while it was read")
            return data

        return pa.PythonFile(RangedFile(fetch, size, tail), mode="r")

    # --- writing ------------------------------------------------------------------------------------------------

    def put(self, key: str, data: bytes) -> str:
        return str(self._ask(key, "put_object", **self._of(key), Body=data)["ETag"])

    def put_file(self, key: str, path: Path) -> str:
        size = path.stat().st_size
        if size > self._part_bytes:
            return self._put_parts(key, path, size)

        def send(client: Any) -> str:
            with path.open("rb") as body:
                return str(client.put_object(**self._of(key), Body=body)["ETag"])

        return self._call(key, send)

    def put_if_absent(self, key: str, data: bytes) -> str:
        lost = AlreadyExists(f"{key} exists already in {self.uri}", key=key)
        return self._put_on(key, data, {"IfNoneMatch": "*"}, lost)

    def put_if_match(self, key: str, data: bytes, etag: str) -> str:
        lost = ETagMismatch(f"{key} in {self.uri} is no longer the object that was read", key=key)
        return self._put_on(key, data, {"IfMatch": etag}, lost)

    def _put_on(self, key: str, data: bytes, condition: Mapping[str, str], lost: StoreError) -> str:
        """A conditional put. Once a request went unanswered, the key itself is asked what became of it."""
        in_doubt = False
        last: Exception | None = None
        for attempt in range(self._tries):
            _pause(attempt)
            try:
                return str(self._client().put_object(**self._of(key), Body=data, **condition)["ETag"])
            except _BOTO_ERRORS as error:
                last, fault = error, _fault(error)
            if fault in (Fault.BUSY, Fault.NEVER_SENT):
                continue
            if fault is Fault.NO_ANSWER:
                in_doubt = True
            elif fault not in (Fault.CONDITION, Fault.NO_OBJECT):
                break
            if not in_doubt:
                raise lost from last
            found = self._reread(key)
            if found is not None and found[0] == data:
                return found[1]
            if fault is not Fault.NO_ANSWER or (found is not None and found[1] != condition.get("IfMatch")):
                raise lost from last
        assert last is not None
        told = self._typed(key, last)
        raise self._unknown(key, told) if in_doubt else told from last

    def _reread(self, key: str) -> tuple[bytes, str] | None:
        try:
            return self.get_with_etag(key)
        except ObjectNotFound:
            return None
        except StoreError as error:
            raise self._unknown(key, error) from error

    def _unknown(self, key: str, why: StoreError) -> OutcomeUnknown:
        return OutcomeUnknown(
            f"{key} was sent to {self.uri}, which did not say what became of it: it may be there or may yet appear. "
            f"Nothing was deleted. Look again when the store answers. Last it said: {why}",
            key=key,
        )

    def delete(self, key: str) -> None:
        with contextlib.suppress(ObjectNotFound):
            self._ask(key, "delete_object", **self._of(key))

    # --- large files --------------------------------------------------------------------------------------------

    def _put_parts(self, key: str, path: Path, size: int) -> str:
        length = max(self._part_bytes, -(-size // _MOST_PARTS))
        writer = uuid.uuid4().hex
        begun = self._ask(key, "create_multipart_upload", **self._of(key), Metadata={_WRITER: writer})
        upload = {**self._of(key), "UploadId": begun["UploadId"]}
        try:
            parts = [self._put_part(key, path, upload, start, length) for start in range(0, size, length)]
            return self._call(key, functools.partial(_complete, upload=upload, parts=parts, writer=writer))
        except BaseException:
            # The first failure is the one to tell; parts that stay behind are swept later.
            with contextlib.suppress(StoreError):
                self._ask(key, "abort_multipart_upload", **upload)
            raise

    def _put_part(self, key: str, path: Path, upload: Mapping[str, str], start: int, length: int) -> dict[str, Any]:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(length)
        number = start // length + 1
        sent = self._ask(key, "upload_part", **upload, PartNumber=number, Body=data)
        return {"PartNumber": number, "ETag": sent["ETag"]}

    def sweep(self, before: datetime) -> int:
        swept = 0
        more: dict[str, str] | None = {}
        while more is not None:
            page = self._ask("", "list_multipart_uploads", Bucket=self._bucket, Prefix=self._below(""), **more)
            for upload in page.get("Uploads", []):
                if upload["Initiated"] < before:
                    named = {"Bucket": self._bucket, "Key": upload["Key"], "UploadId": upload["UploadId"]}
                    with contextlib.suppress(ObjectNotFound):  # finished or aborted meanwhile
                        self._ask(upload["Key"], "abort_multipart_upload", **named)
                        swept += 1
            truncated = page.get("IsTruncated")
            more = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page["NextUploadIdMarker"]} if truncated else None
        return swept

    # --- inside -------------------------------------------------------------------------------------------------

    def _below(self, key: str) -> str:
        return f"{self._root}/{key}" if self._root else key

    def _of(self, key: str) -> dict[str, str]:
        full = self._below(check_key(key))
        if len(full.encode()) > MAX_KEY_BYTES:
            raise ValueError(f"key {key!r} with its prefix is longer than {MAX_KEY_BYTES} bytes")
        return {"Bucket": self._bucket, "Key": full}

    def _client(self) -> Any:
        if self._made is None or self._made[0] != os.getpid():
            core = botocore.session.get_session()
            core.register_component("data_loader", _loader())
            connect, read = self._timeouts
            config = Config(
                connect_timeout=connect,
                read_timeout=read,
                max_pool_connections=32,
                # A hidden second try after a lost answer would read as a lost race.
                retries={"total_max_attempts": 1, "mode": "standard"},
            )
            self._made = (os.getpid(), boto3.session.Session(botocore_session=core).client("s3", config=config))
        return self._made[1]

    def _ask(self, key: str, operation: str, **arguments: Any) -> Any:
        return self._call(key, lambda client: getattr(client, operation)(**arguments))

    def _call(self, key: str, action: Callable[[Any], T]) -> T:
        last: Exception | None = None
        for attempt in range(self._tries):
            _pause(attempt)
            try:
                return action(self._client())
            except _BOTO_ERRORS as error:
                if _fault(error) not in AGAIN:
                    raise self._typed(key, error) from error
                last = error
        assert last is not None
        raise self._typed(key, last) from last

    def _typed(self, key: str, error: Exception) -> StoreError:
        fault, told = _fault(error), _told(error)
        if fault is Fault.NO_OBJECT:
            return ObjectNotFound(f"there is no {key} in {self.uri}", key=key)
        if fault is Fault.NO_BUCKET:
            return StoreError(f"there is no bucket {self._bucket!r} ({told}): create it, or correct {self.uri}")
        if fault is Fault.DENIED:
            advice = denied_advice(_code(error))
            return StoreDenied(f"{self.uri} refuses access to {key or 'its listing'} ({told}). {advice}")
        if fault in AGAIN:
            return StoreUnavailable(
                f"{self.uri} did not answer for {key or 'its listing'} in {self._tries} tries ({told}): "
                "check AWS_ENDPOINT_URL and the network, or try later"
            )
        return StoreError(f"{self.uri} refused what was asked of {key or 'its listing'} ({told})")


# --- requests that need more than one line --------------------------------------------------------------------------


def _tail(client: Any, *, of: Mapping[str, str]) -> tuple[bytes, int]:
    """The last bytes of an object and its size, in one request."""
    try:
        answer = client.get_object(**of, Range=f"bytes=-{TAIL}")
    except boto.ClientError as error:
        if _fault(error) is Fault.RANGE:  # an empty object has no last bytes
            return b"", 0
        raise
    data = answer["Body"].read()
    return data, int(answer["ContentRange"].rpartition("/")[2]) if "ContentRange" in answer else len(data)


def _complete(client: Any, *, upload: Mapping[str, str], parts: list[dict[str, Any]], writer: str) -> str:
    try:
        return str(client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})["ETag"])
    except boto.ClientError as error:
        if error.response["Error"].get("Code") != "NoSuchUpload":
            raise
        # An earlier try whose answer was lost may have completed it: the object then bears our mark.
        found = client.head_object(Bucket=upload["Bucket"], Key=upload["Key"])
        if found["Metadata"].get(_WRITER) != writer:
            raise
        return str(found["ETag"])


# --- what a failure means -------------------------------------------------------------------------------------------


def _fault(error: Exception) -> Fault:
    if isinstance(error, boto.ClientError):
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        return fault_of_answer(_code(error), status)
    if isinstance(error, RuntimeError) and not _has_expired(error):
        raise error
    if isinstance(error, (RuntimeError, *_NO_CREDENTIALS, *_STALE_LOGIN)):
        return Fault.DENIED
    if isinstance(error, _NEVER_SENT):
        return Fault.NEVER_SENT
    return Fault.NO_ANSWER if isinstance(error, _BROKEN_OFF) else Fault.REFUSED


def _code(error: Exception) -> str:
    if isinstance(error, boto.ClientError):
        return str(error.response.get("Error", {}).get("Code", ""))
    return EXPIRED if isinstance(error, (RuntimeError, *_STALE_LOGIN)) else ""


def _has_expired(error: RuntimeError) -> bool:
    """How boto says, by a bare RuntimeError, that it was given credentials whose time is over."""
    return type(error) is RuntimeError and "expired" in str(error)


def _told(error: Exception) -> str:
    """The failure in a few words, without what was sent."""
    if isinstance(error, boto.ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", "?")
        return f"{_code(error) or 'no code'}, HTTP {status}, {error.operation_name}"
    if isinstance(error, _NO_CREDENTIALS):
        return "no usable credentials were found"
    return "they have expired" if isinstance(error, RuntimeError) else type(error).__name__


def _pause(attempt: int) -> None:
    if attempt:
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1))
        time.sleep(longest * random.uniform(0.5, 1.0))


def _range(start: int, length: int | None) -> dict[str, str]:
    if start == 0 and length is None:
        return {}
    return {"Range": f"bytes={start}-{'' if length is None else start + length - 1}"}


@functools.cache
def _loader() -> Any:
    """boto's service descriptions, parsed once per process: a second client then costs 25 ms, not 250."""
    return botocore.loaders.create_loader()
