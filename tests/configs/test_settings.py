"""Settings: the shipped files, what is refused and how it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from configs.settings import PACKAGED, Settings, config_fingerprint, load_settings, parse_settings
from operators.errors import SettingsError, UsageError
from operators.retrieve.values import SearchValues


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_packaged_file_states_every_default() -> None:
    assert load_settings(None) == Settings()
    raw = yaml.safe_load(PACKAGED.read_text(encoding="utf-8"))
    assert {section: set(values) for section, values in raw.items()} == {
        section: set(values) for section, values in Settings().model_dump().items()
    }


@pytest.mark.parametrize("path", sorted(PACKAGED.parent.glob("*.yaml")), ids=lambda path: path.name)
def test_every_shipped_file_loads(path: Path) -> None:
    load_settings(path)


def test_retrieval_has_the_defaults_of_the_search() -> None:
    values = Settings().retrieval.values()
    assert values == SearchValues()
    values.check()


def test_what_a_file_leaves_out_takes_the_default(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, "retrieval: {k: 5}\n"))
    assert settings.retrieval.k == 5
    assert settings.retrieval.neighbours == 1
    assert load_settings(written(tmp_path, "# nothing\n")) == Settings()


def test_unknown_setting_names_itself_and_its_section(tmp_path: Path) -> None:
    path = written(tmp_path, "ray: {num_cpu: 2}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(path)
    assert str(path) in str(caught.value)
    assert "unknown setting 'ray.num_cpu'; known in 'ray': address, num_cpus" in str(caught.value)
    assert isinstance(caught.value, UsageError)


def test_unknown_section_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown section 'rays'; known: store, sources"):
        load_settings(written(tmp_path, "rays: {}\n"))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("retrieval: {k: many}", "retrieval.k"),
        ("retrieval: {k: 0}", "retrieval.k"),
        ("retrieval: {k: true}", "retrieval.k"),
        ("retrieval: {signals: [dense]}", "unknown setting 'retrieval.signals'"),
        ("retrieval: {text: {}}", "retrieval.text"),
        ("retrieval: {text: {dense: 0.0}}", "retrieval.text"),
        ("retrieval: {text: {dens: 1.0}}", "retrieval.text"),
        ("retrieval: {text: {dense: -1.0}}", "retrieval.text.dense"),
        ("retrieval: {text: {dense: .inf}}", "retrieval.text.dense"),
        ("retrieval: {image: {dense: 1.0}}", "retrieval.image"),
        ("retrieval: {lanes: {text_to_txt: {text: 1.0, image: 0.0}}}", "retrieval.lanes.text_to_txt"),
        ("retrieval: {lanes: {text_to_text: {text: 1.0}}}", "retrieval.lanes.text_to_text.image"),
        ("retrieval: {lanes: {text_to_text: {text: .nan, image: 0.0}}}", "retrieval.lanes.text_to_text.text"),
        ("retrieval: {fusion: sum}", "retrieval.fusion"),
        ("retrieval: {image_rounds: -1}", "retrieval.image_rounds"),
        ("retrieval: {spread: -0.1}", "retrieval.spread"),
        ("store: {buckets: few}", "store.buckets"),
        ("sources: {timezone: Mars/Olympus}", "sources.timezone"),
        ("sources: {timezone: ../../etc/passwd}", "sources.timezone"),
        ("encoder: 3", "encoder"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(SettingsError, match=key):
        load_settings(written(tmp_path, text))


@pytest.mark.parametrize("text", ["a: [", "- 1\n- 2\n", "just words"])
def test_files_that_are_not_settings(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="settings file"):
        load_settings(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml"):
        load_settings(tmp_path / "nowhere.yaml")


def test_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("K", "RETRIEVAL_K", "MNEMOSAIC_RETRIEVAL_K", "RETRIEVAL__K"):
        monkeypatch.setenv(name, "3")
    assert load_settings(None) == Settings()


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().retrieval.k = 3  # type: ignore[misc]


def test_fingerprint_follows_what_shapes_the_data_and_nothing_else() -> None:
    base = config_fingerprint(Settings())
    assert base == config_fingerprint(parse_settings({"ray": {"num_cpus": 1}, "retrieval": {"k": 3}}, origin="here"))
    assert base == config_fingerprint(parse_settings({"encoder": {"block_units": 3}}, origin="here"))
    for change in ({"encoder": {"kind": "stub"}}, {"store": {"buckets": 3}}, {"pictures": {"max_pixels": 9}}):
        assert base != config_fingerprint(parse_settings(change, origin="here"))
