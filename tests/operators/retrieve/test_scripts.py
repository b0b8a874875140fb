"""A round is found by a word in it, whatever the script, among rounds in the same script."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from operators.retrieve.index import Probe, UserIndex
from operators.retrieve.route import route
from operators.retrieve.told import Told
from operators.retrieve.values import SearchValues

ROUNDS = {
    "Chinese": ["我的猫今天生病了", "明天去北京开会", "妈妈做了红烧肉", "周末想看电影", "新买的自行车坏了"],
    "Japanese": [
        "昨日は図書館で勉強しました",
        "ラーメンが食べたい",
        "新幹線で大阪へ行く",
        "犬の散歩をした",
        "来週は誕生日です",
    ],
    "Hangul": [
        "학교에서 친구를 만났어요",
        "김치찌개를 끓였다",
        "부산으로 여행을 간다",
        "고양이가 아파요",
        "새 자전거를 샀어요",
    ],
    "Thai": ["เมื่อวานไปร้านกาแฟ", "แมวของฉันป่วย", "พรุ่งนี้จะไปเชียงใหม่", "ซื้อจักรยานใหม่", "แม่ทำต้มยำ"],
    "Arabic": ["ذهبتُ إلى المَدرسة أمسِ", "قطتي مريضة", "سأسافر إلى القاهرة غدا", "اشتريت دراجة جديدة", "أمي طبخت الكسكس"],
    "Hebrew": ["קָנִיתִי סֵפֶר חָדָשׁ", "החתול שלי חולה", "מחר אני נוסע לירושלים", "האופניים נשברו", "אמא בישלה מרק"],
    "Hindi": ["मैंने कल दवाई ली", "मेरी बिल्ली बीमार है", "कल दिल्ली जाना है", "नई साइकिल खरीदी", "माँ ने खीर बनाई"],
    "Greek": [
        "Πήγα στην Αθήνα",
        "είναι άρρωστη η γάτα μου",
        "Αγόρασα ένα ποδήλατο",
        "έφτιαξε σούπα η μαμά",
        "Αύριο έχω γενέθλια",
    ],
    "Cyrillic": [
        "Где мои ключи?",
        "Мой кот заболел",
        "Завтра еду в Казань",
        "Купил новый велосипед",
        "Мама сварила щи, ёлка стоит",
    ],
    "emoji": ["on a fêté ça 🎂", "my 🐈 is ill", "by ✈️ to Rome", "a new 🚲", "we ate 🍜"],
    "mixed": [
        "trip to 東京 with Köln friends",
        "Meeting mit Юрий at 9",
        "学习 Python 很有趣",
        "café ☕ in Αθήνα",
        "قهوة with milk",
    ],
}
FOUND = [
    ("Chinese", "猫", 0), ("Chinese", "北京", 1), ("Chinese", "红烧肉", 2), ("Chinese", "电影", 3), ("Chinese", "自行车", 4),
    ("Japanese", "図書館", 0), ("Japanese", "ﾗｰﾒﾝ", 1), ("Japanese", "大阪", 2),
    ("Japanese", "犬", 3),
    ("Japanese", "誕生日", 4),
    ("Hangul", "학교", 0), ("Hangul", "김치찌개", 1), ("Hangul", "부산", 2), ("Hangul", "고양이", 3),
    ("Hangul", "자전거", 4),
    ("Thai", "กาแฟ", 0), ("Thai", "แมว", 1), ("Thai", "เชียงใหม่", 2), ("Thai", "จักรยาน", 3), ("Thai", "ต้มยำ", 4),
    ("Arabic", "المدرسة", 0), ("Arabic", "قطتي", 1), ("Arabic", "القاهرة", 2), ("Arabic", "دراجة", 3),
    ("Arabic", "الكسكس", 4),
    ("Hebrew", "ספר", 0), ("Hebrew", "החתול", 1), ("Hebrew", "לירושלים", 2), ("Hebrew", "האופניים", 3), ("Hebrew", "מרק", 4),
    ("Hindi", "दवाई", 0), ("Hindi", "बिल्ली", 1), ("Hindi", "दिल्ली", 2), ("Hindi", "साइकिल", 3), ("Hindi", "खीर", 4),
    ("Greek", "ΑΘΗΝΑ", 0), ("Greek", "γατα", 1), ("Greek", "ποδήλατο", 2), ("Greek", "σουπα", 3), ("Greek", "γενέθλια", 4),
    ("Cyrillic", "КЛЮЧИ", 0), ("Cyrillic", "кот", 1), ("Cyrillic", "Казань", 2), ("Cyrillic", "велосипед", 3),
    ("Cyrillic", "елка", 4),
    ("emoji", "🎂", 0), ("emoji", "🐈", 1), ("emoji", "✈", 2), ("emoji", "🚲", 3), ("emoji", "🍜", 4),
    ("mixed", "koln", 0), ("mixed", "東京", 0), ("mixed", "юрий", 1), ("mixed", "学习", 2), ("mixed", "☕", 3),
    ("mixed", "قهوة", 4),
]  # fmt: skip


VALUES = SearchValues(text={"bm25": 1.0}, fusion="reciprocal-rank", pool=50, spread=0.0)


def found(texts: list[str], query: str) -> list[int]:
    count = len(texts)
    nothing = np.zeros(count, np.bool_)
    told = Told(np.arange(count), texts, nothing, np.zeros(count, np.int64), [""] * count, nothing, frozenset())
    index = UserIndex(told, np.zeros((count, 4), np.float16))
    return [hit.order for hit in index.search({"text": Probe(query)}, route(query, picture=False), VALUES, 5)]


def best(texts: list[str], query: str) -> int:
    hits = found(texts, query)
    assert hits, "no round shares a word with the query"
    return hits[0]


@pytest.mark.parametrize(("script", "word", "order"), FOUND)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_round_is_found_by_a_word_in_it(script: str, word: str, order: int, form: str) -> None:
    everything = [text for texts in ROUNDS.values() for text in texts]
    for texts in (ROUNDS[script], everything):
        place = texts.index(ROUNDS[script][order])
        assert best([unicodedata.normalize(form, text) for text in texts], word) == place
        assert best(texts, unicodedata.normalize(form, word)) == place


@pytest.mark.parametrize("script", ROUNDS)
def test_a_word_that_nobody_said_finds_nothing(script: str) -> None:
    assert found(ROUNDS[script], "zzzyx") == []
