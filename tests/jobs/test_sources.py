"""Sources in a bucket."""

from __future__ import annotations

import json

import pytest

from jobs.sources import S3Files, places, sources_of
from operators.errors import SourceError
from operators.sources.read import Parsed, ReadScope, SplitEnd, read_split, survey
from operators.store.opening import open_objects


def test_an_object_that_vanishes_is_unreadable_and_the_others_are_read(s3_uri: str) -> None:
    objects = open_objects(s3_uri)
    for name in ("a", "b"):
        record = {"user_id": "ann", "session_id": name, "messages": [{"role": "user", "content": "hi"}]}
        objects.put(f"{name}.jsonl", json.dumps(record).encode())
    first, second = sources_of([s3_uri])
    files = places()(first.uri)
    (split,) = survey(first, files).splits
    stream = S3Files().open(first.uri)
    objects.delete("a.jsonl")
    gone = survey(first, files)
    assert gone.error is not None
    assert (gone.verdict, gone.error.code) == ("rejected", "unreadable")
    error, end = read_split(split, files, ReadScope(None, None, 1 << 20))
    assert isinstance(error, SourceError)
    assert (error.code, error.file, isinstance(end, SplitEnd)) == ("unreadable", first.uri, True)
    with pytest.raises(OSError, match="the object is not there any more"):
        stream.read()
    (split,) = survey(second, files).splits
    assert isinstance(next(iter(read_split(split, files, ReadScope(None, None, 1 << 20)))), Parsed)
