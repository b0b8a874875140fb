"""Anchors by a model, as a search takes them."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from scripted import Server, fails, says

from operators.ask.model import anchors as room
from operators.ask.model.anchors import ModelAnchors
from operators.errors import ModelUnavailable
from operators.retrieve.anchors import MOST_KEYWORDS, Anchors


def png(side: int = 40) -> bytes:
    written = BytesIO()
    Image.new("RGBA", (side, side // 2), (200, 10, 10, 255)).save(written, "PNG")
    return written.getvalue()


def made(server: Server, *said: Any) -> ModelAnchors:
    server.replies = list(said)
    return ModelAnchors(server.chat())


def test_they_are_what_a_search_takes(server: Server) -> None:
    as_search_has_it: Anchors = made(server, says({"caption": "x"}))
    assert as_search_has_it.caption("which photo shows a cat?") == "x"
    assert room.MOST_KEYWORDS == MOST_KEYWORDS


def test_a_caption_is_one_line_and_bounded(server: Server) -> None:
    assert made(server, says({"caption": " A cat\n on a wall. "})).caption("which photo?") == "A cat on a wall."
    assert len(made(server, says({"caption": "cat " * 1_000})).caption("which photo?") or "") == 600


@pytest.mark.parametrize("query", ["How many photos of cats are there?", "count the pictures", "the number of images"])
def test_where_pictures_are_counted_there_is_none(server: Server, query: str) -> None:
    assert made(server, says({"caption": "x"})).caption(query) is None
    assert server.bodies == []


def test_keywords_come_from_the_picture(server: Server) -> None:
    said = [" spaniel ", "dog", "", "dog", *map(str, range(20))]
    found = made(server, says({"keywords": said})).keywords("what breed?", png(4_000), "a dog")
    assert found == ("spaniel", "dog", "0", "1", "2", "3", "4", "5")
    text, picture = server.bodies[0]["messages"][1]["content"]
    assert "what breed?" in text["text"] and "a dog" in text["text"]
    kind, data = picture["image_url"]["url"].split(",")
    assert kind == "data:image/jpeg;base64"
    with Image.open(BytesIO(base64.b64decode(data))) as seen:
        assert seen.size == (1024, 512)


def test_a_caption_will_do_where_there_is_no_picture_that_can_be_read(server: Server) -> None:
    assert made(server, says({"keywords": ["dog"]})).keywords("what breed?", b"no picture", "a dog") == ("dog",)
    assert isinstance(server.bodies[0]["messages"][1]["content"], str)
    assert made(server, says({"keywords": ["dog"]})).keywords("what breed?", b"no picture", None) == ()
    assert len(server.bodies) == 1


def test_where_the_model_fails_there_are_none(server: Server) -> None:
    anchors = made(server, fails(500))
    assert anchors.caption("which photo?") is None
    assert isinstance(anchors.failed, ModelUnavailable)
    asked = len(server.bodies)
    assert anchors.keywords("what breed?", png(), None) == ()
    assert anchors.caption("which photo?") is None
    assert len(server.bodies) == asked  # it is not waited for again
    assert made(server, says({"caption": "  "})).caption("which photo?") is None


def test_switched_off_nothing_is_asked(server: Server) -> None:
    anchors = ModelAnchors(server.chat(), off=True)
    assert anchors.caption("which photo?") is None
    assert anchors.keywords("what breed?", png(), None) == ()
    assert server.bodies == []


def test_what_they_cost_is_counted(server: Server) -> None:
    anchors = made(server, says({"caption": "x"}))
    anchors.caption("which photo?")
    assert anchors.meter.usage.calls == 1
