"""The survey of one message a row: whose it is, and which columns were mapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.survey import Surveyed, survey_sources
from operators.sources.files import LocalFiles, find_sources


def surveyed(folder: Path, user: str | None = None, columns: dict[str, str] | None = None) -> Surveyed:
    sources = find_sources([str(folder)], lambda _: LocalFiles())
    return survey_sources(sources, format="auto", user=user, split_bytes=1 << 20, columns=columns, here=True)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two tables of one stem: a chat of nobody's in each."""
    for number, folder in enumerate(("a", "b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "chat.csv").write_text(f"who,said,role\nann,hello {number},user\n")
    return tmp_path


def test_rows_without_a_user_are_the_files_and_two_of_one_name_are_refused(two: Path) -> None:
    found = surveyed(two, columns={"text": "said"})
    assert (found.splits, [error.code for error in found.rejected]) == ({}, ["ambiguous-user", "ambiguous-user"])
    assert len(surveyed(two, user="eve", columns={"text": "said"}).splits) == 2


def test_rows_that_name_their_users_may_stand_in_files_of_one_name(two: Path) -> None:
    found = surveyed(two, columns={"text": "said", "user": "who"})
    assert (list(found.formats.values()), found.rejected) == (["rows", "rows"], ())


def test_tables_that_are_no_history_are_passed_over(two: Path) -> None:
    found = surveyed(two)
    assert (found.splits, found.rejected, len(found.ignored)) == ({}, (), 2)
