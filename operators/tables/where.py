"""Conditions written as text: ``total > 20 MYR and (cafe contains "bean" or not time < 2016-04)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from operators.errors import ConditionError
from operators.tables.columns import Read, TableMeta, fold
from operators.tables.conditions import All, AnyOf, Condition, Not, Op, Where, columns_of, condition

__all__ = ["All", "AnyOf", "Condition", "Not", "Where", "columns_of", "condition", "parse_all", "parse_where"]

MAX_LENGTH = 10_000
_LONGEST_OF_ALL = 20_000
MAX_DEPTH = 32

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<unclosed>['\"])"
    r"|(?P<symbol>==|!=|<>|<=|>=|=|<|>)"
    r"|(?P<open>\()|(?P<close>\))|(?P<comma>,)"
    r"|(?P<word>(?:(?!!=)[^\s(),=<>])+))"
)
_SYMBOLS: dict[str, Op] = {"==": "=", "<>": "!="}
_JOINS = ("and", "or")

_Kind = Literal["quoted", "symbol", "open", "close", "comma", "word"]


@dataclass(frozen=True)
class _Token:
    kind: _Kind
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.lower() in words


def parse_where(text: str, meta: TableMeta, read: Read) -> Where:
    """The condition that ``text`` writes about a table.

    ``column op value``, joined by ``and``, ``or``, ``not`` and parentheses (at most 32 deep); ops ``= == != <> < <= > >=
    contains``, ``starts with``, ``in (a, b)``, ``between a and b``, ``is null``, ``is not null``; ``not`` may stand before
    an op that is a word. A value is a run of words up to ``and``, ``or`` or a parenthesis (in a list: up to any comma), or
    quoted by ``'`` or ``"``, a quote within doubled. A column's name is quoted where it holds such words itself. See
    ``Condition`` for what matches.
    ColumnNotFound, ColumnTypeError and ConditionError (all ToolError) say what is possible.
    """
    if len(text) > MAX_LENGTH:
        raise ConditionError(f"a condition has at most {MAX_LENGTH} characters: give it in parts")
    return _Parser(text, meta, read).parse()


def parse_all(texts: Sequence[str], meta: TableMeta, read: Read) -> Where:
    """All of several written conditions at once; every row where there are none. Errors as ``parse_where``."""
    if sum(map(len, texts)) > _LONGEST_OF_ALL:
        raise ConditionError(f"the conditions are longer than {_LONGEST_OF_ALL:,} characters together")
    return All(tuple(parse_where(text, meta, read) for text in texts))


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        kind = None if match is None else match.lastgroup
        if match is None or kind is None or kind == "unclosed":
            at = place if match is None else match.end()
            raise ConditionError(f"condition, character {at}: a quote is opened and not closed; double it to mean itself")
        written = match.group(kind)
        if kind == "quoted":
            written = written[1:-1].replace(written[0] * 2, written[0])
        found.append(_Token(cast(_Kind, kind), written, match.start(kind), match.end()))
        place = match.end()
    return found


class _Parser:
    """Reads one condition from left to right."""

    def __init__(self, text: str, meta: TableMeta, read: Read) -> None:
        self.text, self.meta, self.read = text, meta, read
        self.tokens = _tokens(text)
        self.place = 0

    def parse(self) -> Where:
        found = self._either(0)
        if self.place < len(self.tokens):
            raise self._wrong("only 'and' or 'or' may follow here; quote a value that holds these words or parentheses")
        return found

    # --- joins --------------------------------------------------------------------------------------------------

    def _either(self, depth: int) -> Where:
        return self._joined("or", AnyOf, lambda: self._joined("and", All, lambda: self._one(depth)))

    def _joined(self, word: str, node: type[All] | type[AnyOf], part: Callable[[], Where]) -> Where:
        parts = [part()]
        while self._take_word(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else node(tuple(parts))

    def _one(self, depth: int) -> Where:
        if depth > MAX_DEPTH:
            raise self._wrong(f"parentheses and 'not' may stand at most {MAX_DEPTH} deep")
        if self._take_word("not"):
            return Not(self._one(depth + 1))
        if not self._take("open"):
            return self._condition()
        inner = self._either(depth + 1)
        if not self._take("close"):
            raise self._wrong("a parenthesis is opened and not closed")
        return inner

    # --- one condition ------------------------------------------------------------------------------------------

    def _condition(self) -> Where:
        name = self._name()
        negated = self._take_word("not")
        found = self._operator(self.place)
        if found is None:
            raise self._wrong("an operator is missing (= != < <= > >= contains, starts with, in (..), between, is null)")
        op, length = found
        self.place += length
        made = condition(self.meta, name, op, self._values(op), self.read)
        return Not(made) if negated else made

    def _name(self) -> str:
        """The column's name: a quoted one, or the words before the first operator."""
        first = self.place
        if self._take("quoted"):
            return self.tokens[first].text
        while (token := self._token()) and token.kind == "word" and not token.is_word(*_JOINS) and not self._at_operator():
            self.place += 1
        if self.place == first:
            raise self._wrong("a column's name is missing; quote a name that holds operators or parentheses")
        return self.text[self.tokens[first].start : self.tokens[self.place - 1].end]

    def _at_operator(self) -> bool:
        token = self._token()
        negated = token is not None and token.is_word("not")
        found = self._operator(self.place + negated)
        return found is not None and not (negated and self.tokens[self.place + 1].kind == "symbol")

    def _operator(self, place: int) -> tuple[Op, int] | None:
        """The operator that begins at a token, and how many tokens it takes; words count only with what must follow them."""
        token, second, third = (self._token(place + step) for step in range(3))
        if token is None:
            return None
        if token.kind == "symbol":
            return _SYMBOLS.get(token.text, cast(Op, token.text)), 1
        if token.is_word("contains"):
            return "contains", 1
        if token.is_word("starts") and second and second.is_word("with"):
            return "starts with", 2
        if token.is_word("in") and second and second.kind == "open":
            return "in", 1
        if token.is_word("between"):
            return "between", 1
        if token.is_word("is") and second and second.is_word("null"):
            return "is null", 2
        if token.is_word("is") and second and second.is_word("not") and third and third.is_word("null"):
            return "is not null", 3
        return None

    # --- values -------------------------------------------------------------------------------------------------

    def _values(self, op: Op) -> list[str]:
        if op in ("is null", "is not null"):
            return []
        if op == "between":
            low = self._value()
            if not self._take_word("and"):
                raise self._wrong("'between' needs two values, joined by 'and'")
            return [low, self._value()]
        if op != "in":
            return [self._value()]
        self._take("open")
        values = [self._value(in_list=True)]
        while self._take("comma"):
            values.append(self._value(in_list=True))
        if not self._take("close"):
            raise self._wrong("a list of values is opened and not closed")
        return values

    def _value(self, in_list: bool = False) -> str:
        first = self.place
        if self._take("quoted"):
            return self.tokens[first].text
        while (token := self._token()) and (token.kind == "word" or (token.kind == "comma" and not in_list)):
            if token.is_word(*_JOINS):
                break
            self.place += 1
        if self.place == first:
            raise self._wrong("a value is missing; quote a value that holds operators, parentheses, 'and' or 'or'")
        written = self.text[self.tokens[first].start : self.tokens[self.place - 1].end]
        if fold(written) == "null":
            self.place = first
            raise self._wrong("nothing equals null: write 'is null' or 'is not null'")
        return written

    # --- tokens -------------------------------------------------------------------------------------------------

    def _token(self, place: int | None = None) -> _Token | None:
        at = self.place if place is None else place
        return self.tokens[at] if at < len(self.tokens) else None

    def _take(self, kind: _Kind) -> bool:
        token = self._token()
        taken = token is not None and token.kind == kind
        self.place += taken
        return taken

    def _take_word(self, word: str) -> bool:
        token = self._token()
        taken = token is not None and token.is_word(word)
        self.place += taken
        return taken

    def _wrong(self, what: str) -> ConditionError:
        token = self._token()
        at = len(self.text) if token is None else token.start
        return ConditionError(f"condition, character {at + 1}: {what}")
