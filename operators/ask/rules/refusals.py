"""What a question asks that the rules cannot honour: it is said to be so, never passed over."""

from __future__ import annotations

import re

_MONTHS = (
    "january|february|april|june|july|august|september|october|november|december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_NO_TIME = re.compile(
    rf"\b\d{{1,4}}(?:st|nd|rd|th)?[ /.-](?:of )?(?:{_MONTHS})\b|\b(?:{_MONTHS})\.? \d{{1,4}}\b"
    rf"|\b\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?\b"
    r"|\bmonth \d+\b|\bweek \d+\b|\bin [a-z]*(?:arch|uary|ember|tober|pril|uly)\b"
)
_LEFT_OUT = re.compile(
    r"\b(?:excluding|except(?: for)?|other than|apart from|aside from|but not)\s+(?:on |in |at |the )?"
    r"(?!(?:that|the|this|it|itself|day itself|event)\b|days? (?:itself|without|with no|i (?:did|forgot|missed)))[a-z\s]"
)
_FAMILY = (
    r"(?:sister|brother|mother|father|mom|mum|dad|wife|husband|partner|son|daughter|kids?|child|children|friends?|boss"
    r"|neighbou?rs?"
    r"|colleagues?|cousin|aunt|uncle|roommate|flatmate|girlfriend|boyfriend|baby|team|dog|cat|grandma|grandpa)"
)
_VERBS = (
    r"(?:sleep|rest|take|walk|run|burn|spend|pay|weigh|log|record|have|get|do|drink|eat|make|average|manage|cover|buy)\b"
)
_PLAIN_TEXT = (
    "i we you it that this there the my me us our your its their his her these those anyone someone one what who which "
    "date day night today last "
    "first next"
    " week month year tracker log watch record number count average total everything all"
)
_PLAIN = "|".join(_PLAIN_TEXT.split())
_OTHERS = re.compile(
    rf"\b(?:did|does|do|has|have|was|is)\s+(?:(?:my|our|his|her|their)\s+{_FAMILY}|(?!(?:{_PLAIN})\b)[a-z]{{2,}})\s+{_VERBS}"
    rf"|\b(?:of|for|by)\s+(?:my|our|his|her|their)\s+{_FAMILY}\b|\b(?:my|our)\s+{_FAMILY}'s\s"
    rf"|\b(?!(?:{_PLAIN}|what|how|when|where|who|here|let|yesterday|tonight|night|day|shop|store)\b)[a-z]{{2,}}'s\s+"
    r"(?:\w+\s+){0,2}?(?:sleep|steps?|weight|distance|calories|spending|receipts?|bills?|heart|mood|total|average)\b"
    r"|\b(?:his|her)\s+(?:\w+\s+){0,2}?(?:sleep|steps?|weight|distance|calories|spending|receipts?|bills?|heart|mood)\b"
)
_WEEKDAYS = re.compile(r"\b(?:per|by|each|every|for each) (?:weekday|day of the week|hour|time of day|quarter)\b")


def refusal(left: str) -> str | None:
    """Why the rest of a question (in lower case) cannot be answered from tables; None where nothing speaks against it."""
    if _NO_TIME.search(left):
        return "the question names a time that no calendar has, or that is not understood"
    if _LEFT_OUT.search(left):
        return "the question leaves something out in words that are not understood"
    if _OTHERS.search(left):
        return "the question is about someone else; the tables hold what this user recorded"
    if _WEEKDAYS.search(left):
        return "records are grouped by day, week, month or year, or by a text, and by nothing else"
    return None
