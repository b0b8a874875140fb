"""Reading a statement of SQL: one that selects, of parts that are known to be harmless, and of bounded size."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import Token, TokenType

from operators.errors import QueryError
from operators.tables.fits import encodable

MAX_LENGTH = 4_000
MAX_TOKENS = 1_000
MAX_DEPTH = 12
"""Of parentheses; what stands deeper takes a parser that looks ahead ever longer."""
MAX_SELECTS = 12
MAX_TABLES = 8
"""That are read, each time that one is named."""

_DEEPEST = 60
"""Of the tree: a chain of ``and`` is as deep as it is long."""

WHAT_IS = (
    "one statement that selects: SELECT .. FROM .. JOIN .. ON .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT, "
    "with subqueries, WITH, UNION, window functions"
)

_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?|\.\d+(?:[eE][+-]?\d{1,3})?")
TYPES = {
    exp.DataType.Type.TEXT: "TEXT",
    exp.DataType.Type.VARCHAR: "TEXT",
    exp.DataType.Type.INT: "INTEGER",
    exp.DataType.Type.BIGINT: "INTEGER",
    exp.DataType.Type.DOUBLE: "REAL",
    exp.DataType.Type.FLOAT: "REAL",
    exp.DataType.Type.DECIMAL: "REAL",
}

_FIRST = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN)

_BINARY = frozenset({"this", "expression"})
_ONE = frozenset({"this"})
_MANY = frozenset({"expressions"})
_ALLOWED: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        {"with_", "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "distinct"}
    ),
    **dict.fromkeys(
        (exp.Union, exp.Intersect, exp.Except),
        frozenset({"with_", "this", "expression", "distinct", "order", "limit", "offset"}),
    ),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.With: _MANY,
    exp.CTE: frozenset({"this", "alias"}),
    exp.TableAlias: _ONE,
    exp.Table: frozenset({"this", "alias"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: _ONE,
    exp.Join: frozenset({"this", "on", "side", "kind"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.In: frozenset({"this", "expressions", "query"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.DataType: frozenset({"this", "nested", "expressions"}),
    exp.DataTypeParam: _ONE,
    exp.Anonymous: frozenset({"this", "expressions"}),
    exp.Filter: _BINARY,
    exp.Window: frozenset({"this", "partition_by", "order", "spec", "over"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
    exp.Div: frozenset({"this", "expression", "typed", "safe"}),
    exp.DPipe: frozenset({"this", "expression", "safe"}),
    **dict.fromkeys((exp.Star, exp.Null), frozenset[str]()),
    **dict.fromkeys((exp.From, exp.Where, exp.Having, exp.Not, exp.Neg, exp.Paren, exp.Exists), _ONE),
    **dict.fromkeys((exp.Group, exp.Order, exp.Distinct, exp.Tuple), _MANY),
    **dict.fromkeys((exp.Limit, exp.Offset), frozenset({"expression"})),
    **dict.fromkeys((exp.And, exp.Or, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is), _BINARY),
    **dict.fromkeys((exp.Like, exp.ILike), frozenset({"this", "expression", "negate"})),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Mod), _BINARY),
}  # fmt: skip
"""What a tree may be made of: kinds of nodes, and what each may hold. All else is refused, whatever it is."""


class _Parser(SQLiteParser):
    """Every function stays a name with arguments, so that one list says which there are."""

    FUNCTIONS = {}  # noqa: RUF012
    FUNCTION_PARSERS = {"CAST": SQLiteParser.FUNCTION_PARSERS["CAST"]}  # noqa: RUF012
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012


def parse(sql: str) -> exp.Query:
    """The tree of a statement, every node of an allowed kind. QueryError, saying what is allowed, for all else.

    The error tells nothing of the statement but places in it.
    """
    if len(sql) > MAX_LENGTH:
        raise QueryError(f"a statement has at most {MAX_LENGTH:,} characters")
    if not encodable(sql) or "\0" in sql:
        raise QueryError("the statement holds half a character (a lone surrogate) or a null character")
    dialect = SQLite()
    try:
        tokens = _tokens(dialect, sql)
        trees = _Parser(error_level=ErrorLevel.IMMEDIATE, dialect=dialect).parse(tokens, sql)
    except SqlglotError as error:
        raise QueryError(f"the statement cannot be read{_place(error)}; it is {WHAT_IS}") from None
    except RecursionError:
        raise QueryError("the statement is nested too deeply") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise QueryError(f"QUERY takes {WHAT_IS}; nothing else is allowed")
    _check_tree(trees[0])
    return trees[0]


def _place(error: SqlglotError) -> str:
    told = getattr(error, "errors", None)
    return f" (line {told[0]['line']}, character {told[0]['col']})" if told and told[0].get("line") else ""


def _tokens(dialect: SQLite, sql: str) -> list[Token]:
    """The tokens of one statement that begins like one that selects; the parser logs what it makes nothing of."""
    tokens = dialect.tokenize(sql)
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    kinds = [token.token_type for token in tokens]
    if not kinds or kinds[0] not in _FIRST or TokenType.SEMICOLON in kinds:
        raise QueryError(f"QUERY takes {WHAT_IS}; nothing else is allowed")
    if len(tokens) > MAX_TOKENS:
        raise QueryError(f"a statement has at most {MAX_TOKENS:,} words and signs")
    depth = 0
    for kind in kinds:
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth > MAX_DEPTH:
            raise QueryError(f"parentheses stand at most {MAX_DEPTH} deep")
    return tokens


def _check_tree(tree: exp.Expr) -> None:
    """Each node's kind and what it holds, by a stack: a tree may be deeper than Python calls."""
    left: list[tuple[exp.Expr, int]] = [(tree, 0)]
    selects = tables = 0
    while left:
        node, depth = left.pop()
        _check_node(node)
        selects += isinstance(node, exp.Select)
        tables += isinstance(node, exp.Table)
        if depth > _DEEPEST:
            raise QueryError("the statement is nested too deeply, or joins too many conditions: use IN for a list of values")
        left += [(child, depth + 1) for child in node.iter_expressions()]
    if selects > MAX_SELECTS or tables > MAX_TABLES:
        raise QueryError(f"a statement has at most {MAX_SELECTS} selects, and reads at most {MAX_TABLES} tables")


def _check_node(node: exp.Expr) -> None:
    allowed = _ALLOWED.get(type(node))
    if allowed is None:
        raise QueryError(f"{_said(node)} is not allowed; QUERY takes {WHAT_IS}")
    strange = [name for name, value in node.args.items() if value and name not in allowed and not name.startswith("_")]
    if strange:
        raise QueryError(f"{_said(node)} with {strange[0].strip('_')} is not allowed; QUERY takes {WHAT_IS}")
    node.comments = None
    if isinstance(node, exp.Literal) and not node.is_string and not _NUMBER.fullmatch(node.name):
        raise QueryError("a number in the statement is none: write digits, a point, digits")
    if isinstance(node, exp.DataType) and node.this not in TYPES:
        raise QueryError("CAST goes to TEXT, INTEGER or REAL")
    if isinstance(node, exp.Limit | exp.Offset) and not (
        isinstance(node.expression, exp.Literal) and node.expression.is_int
    ):
        raise QueryError("LIMIT and OFFSET take a whole number")
    if isinstance(node, exp.Join) and (node.side or "").upper() not in ("", "LEFT"):
        raise QueryError("joins are JOIN, LEFT JOIN or CROSS JOIN")
    if isinstance(node, exp.Join) and (node.kind or "").upper() not in ("", "INNER", "OUTER", "CROSS"):
        raise QueryError("joins are JOIN, LEFT JOIN or CROSS JOIN")


def _said(node: exp.Expr) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).upper()
