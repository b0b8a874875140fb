"""The model that asks, made of settings and the environment."""

from __future__ import annotations

import pytest

from configs.settings import Settings, parse_settings
from jobs.asking import model_of
from operators.errors import SettingsError


def settings(**planner_model: object) -> Settings:
    return parse_settings({"planner_model": {"kind": "openai", **planner_model}}, origin="here")


def test_by_default_there_is_none() -> None:
    assert model_of(Settings()) is None


def test_it_has_the_endpoint_of_the_settings_and_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " sk-1\n")
    given = {"base_url": "http://h:1/v1", "model": "m", "key_env": "SOME_KEY", "timeout_s": 2.5, "attempts": 1}
    model = model_of(settings(**given, max_tokens=9, temperature=0.5))
    assert model is not None and model.plans and model.answers and model.anchors
    found = model.chat.endpoint
    assert (found.base_url, found.model, found.key, found.host) == ("http://h:1/v1", "m", "sk-1", "h:1")
    assert (found.timeout_s, found.attempts, found.max_tokens, found.temperature) == (2.5, 1, 9, 0.5)


def test_no_key_is_asked_for_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    model = model_of(settings())
    assert model is not None and model.chat.endpoint.key is None


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_key_that_is_named_and_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(SettingsError, match=r"planner_model\.key_env: the environment variable SOME_KEY is not set"):
        model_of(settings(key_env="SOME_KEY"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "gpt"),
        ("base_url", "localhost:8000"),
        ("base_url", "file:///etc/passwd"),
        ("base_url", "http://[bad/v1"),
        ("base_url", "http://h:port/v1"),
        ("model", ""),
        ("timeout_s", 0.0),
        ("timeout_s", float("inf")),
        ("attempts", 0),
        ("attempts", 11),
        ("max_tokens", 0),
        ("temperature", 2.5),
        ("key", "sk-in-a-file"),
    ],
)
def test_values_that_are_none_are_refused(name: str, value: object) -> None:
    with pytest.raises(SettingsError, match=f"planner_model.{name}"):
        settings(**{name: value})
