"""The words that questions are asked in, as patterns: what is to be reckoned, of how many, when, in which order."""

from __future__ import annotations

import re

HIGH = (
    r"(?:most|highest|largest|biggest|greatest|longest|maximum|peak|priciest|dearest|costliest|heaviest"
    r"|furthest|farthest|best|fattest"
    r"|top(?:ped)?|(?!(?:my|the|whole|on|your|each|every|all|this|per|that|full|entire|complete|daily|in|i|to|a|any"
    r"|of)\b)\w+[\s-]record(?!s)|record(?= (?:for|number|high|count|amount|day|total)\b)|record(?=-)|all-time high"
    r"|high point|peaked|champion"
    r"|hottest|busiest|strongest|leads?|leader|(?:more|longer|higher|bigger|greater|larger|better"
    r"|further)(?:\s+[\w-]+){0,4}?\s+than"
    r"(?: (?:on|in|at))? (?:any|all|every|ever|what|how|the rest)|up to how (?:many|much|far|long))"
)
LOW = (
    r"(?:least|lowest|fewest|smallest|shortest|minimum|worst|cheapest|lightest|slowest|littlest|tiniest"
    r"|poorest|slimmest|coldest"
    r"|record low|all-time low|low point|barely|(?:very )?bottom|hardly any|(?:less|fewer|shorter|lower|smaller"
    r"|worse)(?:\s+[\w-]+){0,4}?\s+than"
    r"(?: (?:on|in|at))? (?:any|all|every|ever|what|how|the rest))"
)
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
COUNT = rf"(?:\d{{1,4}}|{'|'.join(NUMBERS)})"
THINGS = (
    r"(?:days?|dates?|nights?|times?|occasions?|receipts?|bills?|purchases?|visits?|entries|entry|records?"
    r"|logs?|workouts?|sessions?"
    r"|trips?|rides?|runs|walks|swims?|hikes?|lessons?|meals?|transactions?|orders?|invoices?|mornings?|evenings?"
    r"|weeks?|months?)"
)


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


TALK = re.compile(
    r"\b(?:what|which|how) (?:did|does|do|has|have|was|were) (?:you|we|the (?:assistant|bot|agent)|he|she|they"
    r"|(?-i:[A-Z][a-z]+)) "
    r"(?:\w+ )?(?:say|said|suggest\w*|recommend\w*|tell|told|mention\w*|advise\w*|talk\w*|discuss\w*|propose\w*|give"
    r"|think|ask\w*)\b"
    r"|\bdid (?:i|we|you) (?:ever )?(?:say|mention|talk|discuss|tell|ask)\b|\bwhat did i (?:say|tell|ask|mention|write)\b"
    r"|^\W*(?:who|whose|why)\b",
    re.IGNORECASE,
)
NOT_ENDS = _of(
    r"\bat (?:the very )?(?:most|least|best|worst)\b|\bmost recent(?:ly)?\b|\bmost of\b"
    r"|\bfor the most part\b|\bmost likely\b"
    r"|\blast but not least\b|\bbest (?:guess|estimate|way)\b|\btop of\b|\brecords?(?= (?:of|in|i|show|from|that|say)\b)"
    r"|\b(?:my|the|all|your|any|every|on|for|our) records?\b(?! for\b|-)|\btop up\b|\b(?:do|did) best\b|\bmy best to\b"
)
SUPER = _of(rf"\b(?:(?P<high>{HIGH})|(?P<low>{LOW}))\b")
IN_A_DAY = _of(
    r"\b(?:in|on|over|during|within|for|of)\s+(?:just )?(?:a|one|any|any one|a single|one single"
    r"|any single|any given|a given|the same|an?"
    r" individual)\s+(?:single |individual |given )?(?:day|night|date|24 hours|go)\b|\b(?:single"
    r"|one)[- ]day\b|\b24[- ]?h(?:our)?s?\b"
    r"|\bdaily (?=maximum|max|high|record|best|peak|minimum|low)|\bday's\b"
)
WHEN = _of(
    r"^\W*(?:and |so |hey |please |tell me )?when\b|\bwhen (?:did|was|were|is|do|have)\b|\bon (?:which|what)\b"
    r"|\b(?:which|what|whichever|name the|find the|find me the|identify the|show me the|show the"
    r"|give me the|tell me the|pin(?:point)? the|locate"
    r" the|point me to the|recall the|the exact|list the|list|the|of my|the single|what is the|my)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:calendar )?(?:day|dates?|night)\b|\b(?:which|what|list|name|show(?: me)?|find)\s+(?:[\w-]+\s+){0,3}?(?:days"
    r"|nights)\b"
    r"|\bdates?\b|\bday (?:i|when|with|that|on which|was|where|of|had|having|my|were)\b|\b(?:days"
    r"|nights) (?:i|when|with|that|where)\b"
    r"|\bday\s*\??$|\bdays\s*[,:]|\bnight (?:i|with|when|that|was)\b|\bnight\s*\??$|\bdays?\b(?=\s*\W*$)"
)
RANKED = _of(
    r"\b(?:rank(?:ed|ing)?|sort(?:ed|ing)?|in (?:descending |ascending )?order|descending|leaderboard|podium|limit \d+"
    r"|(?:highest|largest|lowest|most|best|biggest|greatest) (?:\w+ )?(?:first|to (?:lowest|smallest|least|fewest"
    r"|shortest|highest|largest))"
    r"|first,? second,?(?: and)? third|gold,? silver,?(?: and)? bronze"
    r"|top (?:\w+ )?(?:days|nights|dates|receipts|purchases|bills|weeks|months))\b"
)
ASCENDING = _of(r"\bascending\b|\b(?:lowest|smallest|least|fewest|shortest) (?:\w+ )?first\b")
ONE = _of(
    r"\b(?:which|what) (?:\w+ )?(?:date|day|night)\b(?! (?:and|or))|\bfirst one\b|\blast one\b|\bthe (?:amount|total"
    r"|value) on\b"
)
WHAT_BOUGHT = _of(
    r"\bwhat (?:did|have|was) (?:i|we|it) (?:last |first |that i )?(?:buy|bought|order(?:ed)?|purchased?|eat|eaten|get)\b"
)
NTH = _of(
    r"\b(?P<nth>second|third|fourth|fifth|2nd|3rd|4th|5th)[ -](?:most|highest|largest|biggest|greatest|longest|best"
    r"|least|lowest"
    r"|fewest|smallest|shortest|worst|cheapest|priciest)\b"
)
PLACES = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
MEDALS = _of(
    r"\b(?:most|first)\b.*\bsecond\b.*\bthird\b|\bfirst,? second,?(?: and)? third\b|\bgold,? silver,?(?: and)? bronze\b"
    r"|\bpodium\b"
)
N = _of(
    r"\b(?:top|best|first|bottom|worst|which|what|the|my|list|name|show|give me"
    rf"|only)\s+(?P<a>{COUNT})\b(?!\s*(?:%|k\b|h\b|hours|km|am|pm|minutes|min\b|steps|kcal|calories))"
    rf"|\b(?P<b>{COUNT})\s+(?:\w+\s+){{0,2}}?(?:most|highest|largest|biggest|greatest|longest|best|top"
    rf"|lowest|fewest|least|smallest|shortest|worst|cheapest)\b"
    rf"|\b(?:most|highest|largest|biggest|greatest|longest|best|top|lowest|fewest|least|smallest|shortest"
    rf"|worst|cheapest|priciest)[\s-]+(?:\w+[\s-]+){{0,2}}?(?P<c>{COUNT})\s+{THINGS}"
    rf"|\blimit (?P<f>{COUNT})\b|\bwhat (?P<g>{COUNT}) (?:dates|days|nights)\b"
    rf"|\b(?P<d>{COUNT})\s+(?:of my |single |separate |different )?{THINGS}\b|\btop[\s-]?(?P<e>{COUNT})\b"
)
HOW_MANY = _of(
    rf"\b(?:how many|number of|count of|count (?:up )?(?:the|my|all)?|tally (?:of|up)?|total number of"
    rf"|no\. of|# ?of|amount of(?= (?:days|nights|times)))\s*(?:of )?"
    rf"(?:the |my |all |different |distinct |separate |individual |unique |such |of |bike |long |short "
    rf")*(?P<thing>{THINGS})\b"
)
HOW_MANY_OF = _of(r"\bhow many (?:different |distinct |unique |separate )?(?P<thing>[a-z]+)\b")
BARE_COUNT = _of(
    rf"\b(?P<thing>{THINGS}) (?:count|tally)\b|^\W*(?:please |can you )?(?:count|tally)(?: up)? (?:of|the|up|my|all"
    rf"|every)\b"
    r"|^\W*(?:(?:the|my|total) )?(?:count|tally) of\b"
)
HOW_OFTEN = _of(
    r"\bhow (?:often|frequently)\b|\bhow many times\b|\bnumber of times\b|\bmost (?:often|frequently)\b"
    r"|\bmost visited\b|\bfrequency\b"
)
MANY_ARE = _of(
    r"\bhow many (?:are|is|were|was|do|did|have|had|has|of (?:them|those|these|my)|in total|in number|there|altogether"
    r"|belong|turn up|come up|carry|bear|show|came"
    r"|come|from|at|with)\b"
    r"|\bhow many\W*$|\bcount\W*$|\bhow many\b(?=\s{2,})"
)
WHICH_DAY = _of(
    r"\bwhen\b(?! (?:i|we|my|the)\b)|\b(?:which|what) (?:\w+ )?(?:date|day|night)s?\b|\b(?:on|at) (?:which|what)\b"
    r"|\b(?:dated|was|is) (?:which|what)\b|\bits date\b"
)
EXPLICIT_WHEN = _of(
    r"\b(?:on (?:which|what)|(?:name|find|identify|give me|tell me|show me) the (?:\w+ )?day|dated|(?:which|what) of "
    r"(?:my|the|all)(?: \w+)* (?:days|dates|nights)|was which|is which)\b|"
    r"\bwhen\b(?! (?:i|we|my|the)\b)|\b(?:which|what|whichever|name the|on what|on which|find the|exact"
    r"|identify the|pinpoint the|the)"
    r"\s+(?:\w+\s+)?(?:calendar )?(?:date|dates)\b|\b(?:which|what) (?:\w+ )?(?:day|days|night|nights)\b|\bdate\b"
)
VALUE = _of(
    r"\bhow (?:many|much|long|far|high|large|big|low|little)\b|\bwhat (?:number|amount|value|figure)\b"
    r"|\b(?:number|amount) of\b"
)
HOW_HIGH = _of(
    r"\bhow (?P<high>high|large|big|great|tall)\b|\bhow (?P<low>low|small|little)\b"
    r"|\bat (?:the (?:very )?)?(?P<most>most)\b(?!\s+\d)"
    r"|\bat (?:the (?:very )?)?(?P<least>least)\b(?!\s+(?:a |the )?\d)"
)
AVERAGE = _of(
    r"\b(?:divid(?:e|ed|ing)|spread evenly|average[ds]?|averaging|mean|typical(?:ly)?|usual(?:ly)?|normal(?:ly)?"
    r"|generally|on the whole"
    r"|tend(?:ed)? to|per (?:day|night|receipt|purchase|visit"
    r"|transaction|bill|workout|session)|(?:a|each|every) (?:day|night)|daily|nightly|in general|ballpark"
    r"|apiece|per trip)\b"
)
STRONG_AVERAGE = _of(
    r"\b(?:divid(?:e|ed|ing)|spread evenly|average[ds]?|averaging|mean|typical(?:ly)?|usual(?:ly)?|normal(?:ly)?|generally"
    r"|tend(?:ed)? to)\b"
)
MEDIAN = _of(r"\bmedian\b|\bmiddle value\b")
SPREAD = _of(
    r"\bstandard deviation\b|\bstd(?:dev)?\b|\bhow (?:much|widely) (?:does|do|did|has) .* (?:vary"
    r"|fluctuate|varied)\b|\bspread of\b|\bvariability\b|\bhow (?:variable|consistent)\b"
)
TREND = _of(
    r"\btrend(?:s|ing)?\b|\bover time\b|\bgoing (?:up|down)\b|\b(?:increasing|decreasing|improving"
    r"|declining|rising|falling)\b|\bgetting (?:better|worse|longer|shorter|higher|lower)\b"
)
TOTAL = _of(
    r"\b(?:tot(?:ted|ting)? up|tall(?:y|ied)(?: up)?|add(?:s|ed|ing)?|everything|total(?:s|led|ing)?|in all|comes? to"
    r"|came to|come out (?:to|at)|put together|combined|pooled"
    r"|taken together|amount(?:s|ed)? to|in all|altogether|all together|overall|combined"
    r"|sum(?:med)?(?: up)?|add(?:s"
    r"|ed|ing)? (?:it |them |everything |all )?"
    r"(?:\w+ )?(?:up|together)|grand total|in sum|cumulative(?:ly)?|aggregate|so far|all told|all up|collectively)\b"
)
HOW_MUCH = _of(r"\bhow (?:much|many|long|far)\b|\bwhat(?: is| was|) the (?:amount|distance|number)\b")
PRESENT = _of(r"\b(?:do|does|am|is|are|'m|i'm)\b")
HABIT = _of(r"\b(?:do|does) (?:i|we|my)\b")
LATEST = _of(
    r"\blog (?:ends|closes|stops)\b|\b(?:ends|closes|concludes|finishes) (?:my|the) (?:log|record|history)\b|\b(?:last"
    r"|latest|most recent(?:ly)?|newest|final|current(?:ly)?|right now|as of now|closing|lately"
    r"|recentest)\b(?! (?:week|month|year|night"
    r"|quarter|weekend|\d))|\bnow\?"
)
EARLIEST = _of(r"\b(?:first|earliest|initial(?:ly)?|oldest)\b(?! (?:to|then))")
FIRST_TO = _of(
    r"\b(?:most|highest|largest|biggest|greatest|longest|best|lowest|fewest|least"
    r"|smallest)\s+(?:\w+\s+)?first\b|\b(?:begin|start)\w* with the \w+\b|\bfirst to last\b"
)
GROUP = _of(
    r"\b(?:per|by|each|every|a|for each|for every|week|month|broken down by|grouped by"
    r"|split by)[\s-]+(?:calendar )?(?P<unit>week|month|year|day)s?\b|\b(?P<ly>weekly|monthly|yearly"
    r"|annually|annual|daily)\b|\bby (?P<column>shop|store|merchant|vendor|place|restaurant|category|item"
    r"|mood)\b|\bper (?P<column2>shop|store|merchant|vendor|place|restaurant|category|item)\b"
)
LY = {"weekly": "week", "monthly": "month", "yearly": "year", "annually": "year", "annual": "year", "daily": "day"}
PICK = _of(
    r"\b(?:which|what|in which|in what|during which)\s+(?P<unit>week|month|year)\b|\b(?P<unit2>week|month"
    r"|year) (?:with|that had|when|i|in which|did)\b|\b(?:most|highest|lowest|biggest|least|best|worst"
    r"|busiest|cheapest)(?:\s+[\w-]+){0,2}\s+(?P<unit3>week|month|year)\b"
)
WHICH_OF = _of(
    r"\b(?:which|what|how many(?: different| distinct| unique| separate)?|list(?: of)?(?: all)?(?: the"
    r"| my)?(?: different)?|name(?: all)?"
    r"(?: the)?|number of(?: the)?(?: different| distinct| unique)?|the (?:different|distinct)"
    r"|show(?: me)?(?: all)?(?: the| my)?)\s+"
    r"(?P<thing>shops?|stores?|merchants?|vendors?|sellers?|retailers?|restaurants?|places?|outlets?"
    r"|suppliers?|items?|products?"
    r"|businesses|moods?|categor(?:y|ies))\b"
)
SHARE = _of(
    r"\b(?:what (?:share|percentage|percent|proportion|fraction|part)|how (?:large|big) a (?:share|part)"
    r"|percentage|proportion|what %)\b"
)
LOWER = _of(
    r"\b(?:less|fewer|lower|shorter|smaller|worse|lighter|decreased?|fell|drop(?:ped)?|declined?|cheaper"
    r"|slower|reduced)\b"
)
MORE = _of(
    r"\b(?:more|higher|longer|greater|larger|bigger|better|further|farther|increased?|rose|heavier"
    r"|improved?|up|busier|dearer)\b"
)
THAN = _of(r"\bthan\b")
OR = _of(r"\bor\b")
COMPARES = _of(r"\b(?:or|vs\.?|versus|than|compared?|comparison|between|difference|against)\b")
MUCH_MORE = _of(
    r"\bhow (?:much|many) (?:more|less|fewer|longer|higher|lower|further|shorter)\b|\bdifference\b"
    r"|\bby how much\b|\bhow (?:much )?(?:longer|shorter|further)\b"
)
CHANGED = _of(
    r"\b(?:did|has|have|was|were|is|are|do|does)\b.*\b(?:change|changed|improve[ds]?|increase[ds]?"
    r"|decrease[ds]?|go(?:ne)? (?:up|down)|drop(?:ped)?|rise|risen|rose"
    r"|fall(?:en)?|fell|decline[ds]?|worsen(?:ed)?|get(?:ting)? (?:better|worse)|higher|lower|longer"
    r"|shorter|more|less|better|worse)\b"
)
CHANGED_BY = _of(
    r"\b(?:change[ds]?|lost|lose|gain(?:ed)?|progress|went (?:up|down)|gone (?:up|down)|dropped|increased?"
    r"|decreased?)\b"
)
YES_NO = _of(r"^\W*(?:and |so |hey |please )*(?:did|do|does|was|were|is|are|have|has|had|am|can|could|will)\b")
MONEY = _of(
    r"\b(?:spend|spent|spending|pa(?:y|id|ying)|cost|costs|costing|price[ds]?|expens(?:e|es|ive)"
    r"|cheap(?:est)?|money|bills?|receipts?|invoices?|purchases?|splurge[ds]?"
    r"|splash(?:ed)? out|priciest|dearest|costliest|shell(?:ed)? out|fork(?:ed)? out|outlay|cash"
    r"|expenditure|bought|spree|ringgit|rm|myr|dollars?|euros?|pounds)\b"
)
RECEIPTS = _of(
    r"\b(?:receipts?|bills?|purchases?|invoices?|transactions?|shopping|shopped|shop|bought|buy|visits?"
    r"|visit(?:ed)?|went|been|go|stops?|trips?)\b"
)
RECORDS = _of(
    r"\b(?:receipts?|bills?|purchases?|invoices?|transactions?|workouts?|sessions?|entries|entry|in one go"
    r"|single|buy|order|visit|trip)\b"
)
LOGGED = _of(r"\b(?:log(?:ged)?|record(?:ed)?|track(?:ed)?|stats?|numbers|figures|data|write down|wrote down)\b")
LISTED = _of(r"^\W*(?:please |can you |could you )*(?:show|list|find|give|display|name|which|what)\b")
UNITS = _of(
    r"\b(?:in|as|into)\s+(?P<a>[a-z]+(?:/[a-z]+)?)\b(?: and [a-z]+)?|\bhow many (?P<b>[a-z]+)\b"
    r"|\b(?P<c>hours?|minutes?|mins?|hrs?|km|miles?|met(?:er|re)s|kms)\b"
)
NOT_IN = frozenset(
    [
        "total",
        "all",
        "my",
        "the",
        "a",
        "an",
        "one",
        "any",
        "general",
        "order",
        "which",
        "what",
        "that",
        "this",
        "april",
        "may",
    ]
)
FILLERS = _of(
    r"\b(?:what|which|how|much|many|long|far|is|was|were|are|did|do|does|i|my|me|the|a|an|of|on|in|for|to"
    r"|over|all|any|have|has|had|and|please|can|could|you"
    r"|tell|show|give|would|like|know|average|total|mean|per|day|days|date|when|that|this|it|so|ever|get"
    r"|got|at|by|from|most|least|highest|lowest)\b"
)

WORDS_TEXT = """
    total totals average averaged mean median sum maximum minimum most least highest lowest largest biggest
    smallest greatest longest shortest fewest count number date dates day days daily time times night nights
    receipt receipts bill bills purchase purchases spend spent spending paid cost price what which when where whats
    how many much was were did does the and for with from my mine all any each last latest first recent week weeks
    month months year today yesterday logged recorded tracked altogether overall combined before after more less
    than fewer between during since until january february march april may june july august september october
    november december cash item items amount tax change tell show give please thousand hundred
"""
WORDS = frozenset(WORDS_TEXT.split())
"""Words of questions that are no names of anything by themselves."""
