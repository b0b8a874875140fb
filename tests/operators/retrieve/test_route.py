"""Cases by wording alone: pictures are asked for, or something that they show or that was said (V-Mem, Appendix B)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.retrieve.route import aggregates, asks_for_picture, route

FOR_PICTURES = """
Which picture shows the red bicycle?
which photo did I send after the storm
How many photos of the kitchen have I shared?
How many of the pictures show a bridge?
Which of these images has a lighthouse in it?
Which one of my photos was taken at night?
What pictures did Ana share in May?
what old black-and-white photographs did we talk about?
Find the photo of my broken window
find me a picture with two cats
Show me all the screenshots of the dashboard
Please show the selfie from the summit
Can you find that image of the receipt again?
Look for pictures of the harbour
Search for the snapshot with the blue door
Could you pull up the pics of the cake?
Retrieve every image that shows a whiteboard
List the photos from the wedding
Of the photos I sent, which one has a dog?
Among my pictures, which ones show snow?
From the images shared last week, which shows the map?
Give me the picture of the garden before we planted
Send me the photo Ben took at the lake
In which photo is my sister wearing a hat?
which two pictures are alike?
HOW MANY IMAGES ARE THERE OF THE BOAT?
Locate the photograph of the old mill
What screenshot did I send of the error?
Which photos, if any, show the lake?
Which recent holiday photo shows the tower?
Find similar pictures
""".strip().split("\n")
FOR_FACTS = """
What is the name in the picture?
what is the name in the picture
Who is standing next to me in the photo?
How many people are in the photo?
How many candles are on the cake in this image?
How many dogs does the photo show?
What colour is the car in the picture I sent?
What breed is the dog in this photo?
Where was this picture taken?
When did I take the photo of the lake?
Who took the picture?
Why did Ana like the photo so much?
What does the screenshot say?
What did I say about the photos?
Which city is shown in the picture?
Which brand is on the box in the image?
What camera did Ben buy for his photos?
What picture frame did I order?
How many photo albums did we print?
Which photo editing app do I use?
Find the name of the restaurant in the photo
Look at the picture: what breed is it?
Find out who painted it
Describe the picture
What happened before I shared the image?
How many times did we go hiking?
List all the books I read
What is the weight of the parcel?
Give me the address on the envelope in the image
Show me what the doctor wrote about the image
How much did the picture cost?
Find the photographer's number
What is the imagery of the poem?
""".strip().split("\n")
FOR_MANY = """
How many times did we go hiking?
How many different museums have we discussed?
List the films I watched
Enumerate my allergies
In what ways has Ana changed?
In which ways did the job help?
What activities has Ben tried?
what books has Ana read this year?
What kinds of plants did I buy?
Which cities have we visited?
What sports does Ana do?
What are all the places I lived in?
Name all the instruments I play
Which of the restaurants did I like?
""".strip().split("\n")
FOR_ONE = """
When did we go hiking?
What does Ana do for a living?
What is Ben's favourite book?
What was the name of the hotel?
Where has Ana lived since May?
What has Ben bought?
Why is this broken?
What did the doctor say?
Which hotel did we choose?
Who listed the house?
""".strip().split("\n")


@pytest.mark.parametrize("query", FOR_PICTURES)
def test_a_query_for_pictures_has_an_image_target(query: str) -> None:
    assert route(query, picture=False).case == "text_to_image"
    assert route(query, picture=True).case == "picture_to_image"


@pytest.mark.parametrize("query", FOR_FACTS)
def test_a_picture_that_is_only_mentioned_is_no_target(query: str) -> None:
    assert route(query, picture=False).case == "text_to_text"
    assert route(query, picture=True).case == "picture_to_text"


@pytest.mark.parametrize("query", ["", " ", "\n", "???", "🐈", "写真を見せて"])
def test_no_wording_asks_for_text(query: str) -> None:
    assert route(query, picture=True).case == "picture_to_text"
    assert route(query, picture=False).case == "text_to_text"


@pytest.mark.parametrize("query", FOR_MANY)
def test_counts_lists_and_sets_aggregate(query: str) -> None:
    assert aggregates(query)
    assert route(query, picture=False).aggregates


@pytest.mark.parametrize("query", FOR_ONE)
def test_one_thing_does_not_aggregate(query: str) -> None:
    assert not aggregates(query)


@pytest.mark.parametrize(
    ("query", "counts"),
    [
        ("How many photos show the lake?", True),
        ("how  many of my pictures are of Ben?", True),
        ("Which photo shows the lake?", False),
        ("How many people are in the photo?", False),
        ("How many lakes are there?", False),
    ],
)
@pytest.mark.parametrize("picture", [True, False])
def test_only_pictures_are_counted(query: str, counts: bool, picture: bool) -> None:
    assert route(query, picture=picture).counts == counts


@given(st.text(max_size=200), st.booleans())
def test_any_text_has_a_case_that_fits_what_comes_with_it(query: str, picture: bool) -> None:
    found = route(query, picture=picture)
    assert found.case.startswith("picture_" if picture else "text_")
    assert found.case.endswith("_image") == asks_for_picture(query)
    assert found == route(query, picture=picture)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["which of the ", "find me the ", "what a-", "of these ", "list " * 3, "which\u2019s "])
def test_long_queries_are_routed_in_no_time(piece: str) -> None:
    route(piece * 20_000, picture=False)


@pytest.mark.parametrize(
    "query",
    [
        "When did I send the photos of the cake?", "Where did Ana get her pictures framed?", "Who should I send photos to?",
        "Did Ben ever get a picture of the owl?", "Why did I look for pictures of the harbour?",
        "What website did I find the image on?", "What app did I use to give the photo a border?",
        "What camera takes good pictures?", "What made Ana's picture special?", "Which museum displays pictures?",
        "Which painter made the picture?", "find out what the picture shows", "which photo album did I buy?",
    ],
)  # fmt: skip
def test_facts_about_pictures_are_text(query: str) -> None:
    assert not asks_for_picture(query)


@pytest.mark.parametrize(
    "query",
    ["What illness has Ben had?", "What bus does Ana take?", "Where is the shopping list?", "What class did I take?"],
)
def test_one_thing_is_no_set(query: str) -> None:
    assert not aggregates(query)
