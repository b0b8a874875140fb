"""Which encoder a setting or a fingerprint names; the stub."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.encode.stub import Stub
from operators.encode.text import encoder_of, load_text_encoder, text_fingerprint
from operators.errors import FingerprintMismatch, SettingsError

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(SettingsError, match="minilm, sentence-transformers, stub"):
        load_text_encoder("word2vec")
    with pytest.raises(SettingsError, match="needs a model"):
        text_fingerprint("sentence-transformers")


def test_a_fingerprint_leads_back_to_its_encoder() -> None:
    fingerprint = text_fingerprint("stub", window=32)
    assert encoder_of(fingerprint).fingerprint == fingerprint


@pytest.mark.parametrize("changed", [{"weights_sha256": "0" * 64}, {"dim": 3}, {"pooling": "max"}])
def test_an_encoder_that_would_make_other_vectors_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(FingerprintMismatch):
        encoder_of(text_fingerprint("stub") | changed)


def test_a_fingerprint_without_a_kind_is_refused() -> None:
    with pytest.raises(FingerprintMismatch, match="kind"):
        encoder_of({})


@settings(deadline=None)
@given(st.lists(ANY_TEXT, max_size=8))
def test_stub_vectors_have_unit_length_and_stand_alone(texts: list[str]) -> None:
    stub = Stub()
    vectors = stub.encode(texts)
    assert vectors.shape == (len(texts), stub.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(stub.encode([text])[0], vector, atol=1e-6)


@settings(deadline=None)
@given(ANY_TEXT)
def test_stub_spans_cover_the_text(text: str) -> None:
    spans = Stub(window=8).spans(text)
    assert "".join(text[start:end] for start, end in spans) == (text if text.strip() else "")


def test_stub_vectors_are_near_where_words_are_shared_and_the_same_in_every_process() -> None:
    stub = Stub()
    query, near, far = stub.encode(["the violin recital", "a recital for violin", "tomatoes on a balcony"])
    assert query @ near > query @ far + 0.3
    code = "from operators.encode.stub import Stub; print(Stub().encode(['the violin recital'])[0][:3].tolist())"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert told.strip() == str(query[:3].tolist())
