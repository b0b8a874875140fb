"""The words of the text rules: what people measure, the verbs they tell it with, and what is said without being so."""

from __future__ import annotations

import re

_METRICS_TEXT = """
    sleep, deep sleep, rem sleep, light sleep, time asleep, steps, step count, calories, active calories, distance,
    weight, body weight, bmi, body fat, heart rate, resting heart rate, max heart rate, average heart rate,
    avg heart rate, hr, rhr, pulse, hrv, bp, blood pressure, systolic, diastolic, glucose, blood sugar,
    blood glucose, temperature, temp, body temperature, spo2, oxygen, mood, energy, stress, pain, water, protein,
    carbs, fat, fiber, fibre, sugar, sodium, mileage, odometer, price, cost, total, subtotal, tax, tip, budget, rent,
    balance, score, grade, height, waist, age, pace, speed, duration, reps, sets, laps, floors, active minutes,
    screen time, pages, tempo, dose, humidity, rainfall, attendance, elevation, cadence, power, income, expenses,
    savings, kcal, active time, time in bed
"""
METRICS = frozenset(" ".join(each.split()) for each in _METRICS_TEXT.split(","))
"""What a number may stand right behind: ``resting heart rate 53``."""

LASTING = frozenset(
    ("sleep", "deep sleep", "rem sleep", "light sleep", "time asleep", "duration", "screen time", "active time")
)
"""What ``7:24`` is hours and minutes of, not a time of day."""

PRESSURE = frozenset(("bp", "blood pressure"))

NOUN_OF_UNIT = {"steps": "steps", "bpm": "heart rate", "mmHg": "blood pressure", "kcal": "calories"}
"""What a number of these is by itself."""

_MOVES = {"walked": "walking", "ran": "running", "jogged": "jogging", "cycled": "cycling", "biked": "biking",
          "rode": "riding", "swam": "swimming", "hiked": "hiking", "rowed": "rowing", "drove": "driving"}  # fmt: skip
_BUSY = {"napped": "nap", "studied": "study", "worked": "work", "practised": "practice", "practiced": "practice",
         "meditated": "meditation", "exercised": "exercise", "trained": "training", "read": "reading",
         "stretched": "stretching", "commuted": "commute", "rested": "rest", "worked out": "workout"}  # fmt: skip
_MONEY = {"paid": "paid", "spent": "spent", "earned": "earned", "received": "received", "saved": "saved",
          "donated": "donated", "tipped": "tip", "withdrew": "withdrawn", "sold": "sold", "invested": "invested",
          "transferred": "transferred", "owed": "owed"}  # fmt: skip

VERBS: dict[str, dict[str, str]] = {
    "slept": {"s": "sleep"},
    "asleep": {"s": "sleep"},
    "cost": {"money": "cost"},
    "covered": {"m": "distance"},
    "travelled": {"m": "distance"},
    "traveled": {"m": "distance"},
    "climbed": {"m": "climb"},
    "burned": {"kcal": "calories"},
    "burnt": {"kcal": "calories"},
    "ate": {"kcal": "calories eaten"},
    "consumed": {"kcal": "calories eaten"},
    "weighed": {"kg": "weight"},
    "weigh": {"kg": "weight"},
    "lost": {"kg": "weight lost", "money": "lost"},
    "gained": {"kg": "weight gained"},
    **{verb: {"m": f"{noun} distance", "s": f"{noun} time", "steps": "steps"} for verb, noun in _MOVES.items()},
    **{verb: {"s": noun} for verb, noun in _BUSY.items()},
    **{verb: {"money": noun} for verb, noun in _MONEY.items()},
}
"""A verb, and what a number of each base unit (or ``money``) is that follows it."""

_COUNTING_TEXT = """
    did completed finished logged recorded took got had hit reached managed scored drank read made ran swam clocked
    tracked counted climbed planted caught attended wrote
"""
COUNTING = frozenset(_COUNTING_TEXT.split())
"""Verbs after which a number counts the thing that is named behind it."""

CLOCKED = {
    "woke up at": "wake time", "woke at": "wake time", "got up at": "wake time", "went to bed at": "bedtime",
    "went to sleep at": "bedtime", "fell asleep at": "bedtime",
}  # fmt: skip

NOT_SO = re.compile(
    r"\b(?:not|never|no|none|without|cannot|neither|nor|didn'?t|don'?t|doesn'?t|haven'?t|hasn'?t|hadn'?t|isn'?t|wasn'?t|aren'?t"
    r"|weren'?t|won'?t|wouldn'?t|can'?t|couldn'?t|shouldn'?t|skipped|missed|forgot|failed|instead of|rather than"
    r"|want(?:s|ed|ing)?|wish(?:ed)?|hop(?:e|es|ed|ing)|plan(?:s|ned|ning)?|aim(?:s|ed|ing)?|intend(?:ed)?|goals?|targets?"
    r"|will|i'll|we'll|shall|would|i'd|we'd|should|could|can|might|may(?!\s\d)|must|need(?:s|ed)?|supposed|going to|gonna"
    r"|try(?:ing)?|tried|let's|lets|if|unless|when|whenever|until|before|imagine|suppose|recommend(?:s|ed)?|suggest(?:s|ed)?|advised?"
    r"|ideally|maybe"
    r"|(?:almost|nearly)\s(?:paid|spent|slept|ran|bought|lost|won|drank|ate|\w+ed)"
    r"|doubt|pretend|dream(?:t|ed)|lied|false that|kidding"
    r"|(?:you|he|she|they|bot|assistant|app)\s(?:said|says|told|wrote|claimed|thought)|perhaps|tomorrow"
    r"|tonight|next|remind|up to|at least|at most|less than|more than|fewer than|within|per|every|each"
    r"|usually|normally|typically|always|often|sometimes|used to|ago|in about)\b",
    re.IGNORECASE,
)
"""Before a quantity: it is denied, wished, planned, advised, conditional, habitual or a bound; not what was."""

TURNS = re.compile(
    r"\bbut\b|;|\bhowever\b|\binstead\b(?! of)|\bthough\b|\bactually\b|,\s*(?:and\s+)?(?:i|then|so|just|only)\s"
    r"|,\s*(?=(?:" + "|".join(VERBS) + r")\b)",
    re.IGNORECASE,
)
"""Where what was denied or wished before says nothing of what follows."""

ASKS = re.compile(
    r"^\W*(?:did|do|does|is|are|was|were|am|can|could|should|would|will|has|have|had|what|how|why|when|where|which|who|if|any)\b",
    re.IGNORECASE,
)

CORRECTS = re.compile(
    r"\b(?:sorry(?!\s(?:for|about|to|i)\b)|correction|oops|my mistake|scratch that|i meant|i mean|make (?:that|it)|typo"
    r"|no wait|wait(?=,|\s-|\sno)|should (?:be|have been|read)|to correct)\b",
    re.IGNORECASE,
)
"""What follows takes back something said before."""

CORRECTS_IF_UNNAMED = re.compile(r"\bactually\b", re.IGNORECASE)
"""Does so only where it names nothing itself: ``I actually slept 7 h`` may be the first word of it."""

OTHERS = re.compile(
    r"\b(?:you|he|she|they|people|adults|everyone|someone|somebody|anyone|who|doctors?|experts?)\b|\b(?:my|his|her|their|our)\s"
    r"(?:\w+\s)?(?:sister|brother|mother|father|mom|mum|dad|wife|husband|partner|son|daughter|kid|kids|child|children|friend|boss"
    r"|neighbou?r|colleague|cousin|aunt|uncle|roommate|girlfriend|boyfriend|baby|team)\b(?!'s)",
    re.IGNORECASE,
)
"""Someone else did it."""

_NO_NAMES_TEXT = """
    i it its it's that this these those there here he she they you we me him her them us one ones some any all both
    each which what who when where why how if then so and or but the a an of to in on at by for with from as than
    about around only just also even still yet now really very too quite pretty almost nearly over under up down out
    off is was are were be been being am do did does have has had will would can could should may might must not no
    never yes ok okay well thing things way lot bit actually sorry oops wait correction mistake
"""
NO_NAMES = frozenset(_NO_NAMES_TEXT.split())
"""Words that name nothing by themselves."""

_NOTES_TEXT = """
    note notes ps p.s nb question answer q a tip tips warning example examples reminder edit update fyi re subject cc
    hi hello hey thanks thank ok okay yes no result advice summary step idea plan todo quote link source remember
    important me you assistant user system human ai and or but so because then also
"""
NOTES = frozenset(_NOTES_TEXT.split())
"""Before a colon: what the writer is doing, no name of what follows."""

OCCASIONS = re.compile(
    r"^(?:(?:my|the|today'?s?|yesterday'?s?|tonight'?s?|this (?:morning|evening|afternoon|week)'?s?|last night'?s?|daily"
    r"|weekly|morning|evening|log(?:ged)?|stats?|numbers?|summary|report|update|tracker|tracked|recorded|fitbit|garmin|watch"
    r"|dashboard|data)\s*){1,6}$",
    re.IGNORECASE,
)
"""Before a colon: when or by what it was measured, no name of what."""

DELTA = re.compile(
    r"\s?(?:more|less|fewer|higher|lower|longer|shorter|better|worse|faster|slower|farther|further|above|below|over|under|off|away"
    r"|ago|old"
    r"|years?|later|earlier|ahead|left|to go|short|each|apart|per|a (?:day|week|month|year|night))\b",
    re.IGNORECASE,
)
"""Right behind a quantity: it is a difference, a rate or an age, not the value."""

PLANNED_NAME = re.compile(
    r"\b(?:goals?|targets?|planned|plan|tomorrow|examples?|expected|recommended|ideal|limit|format|not done|to-?do"
    r"|max allowed)\b",
    re.IGNORECASE,
)
"""In an attribute's name: it is wished, planned or made up."""

HEADS_NO_FACTS = re.compile(
    r"\b(?:to-?do|examples?|format|template|wrote|writes|recipe|ingredients|instructions|directions|schedule|agenda"
    r"|shopping list|lyrics|quote)\b",
    re.IGNORECASE,
)
"""In a heading: what stands below it is of others, to come, or made up."""

TASKS = re.compile(
    r"\W*(?:please\s|can you\s|could you\s)?(?:translate|rewrite|rephrase|reword|paraphrase|summari[sz]e|proofread"
    r"|spell-?check|lyrics|correct (?:this|the|my)|fix (?:this|the|my) (?:text|sentence|grammar|english))\b",
    re.IGNORECASE,
)
"""A message that begins so hands over a text to work on, which tells nothing of its sender."""

_OWN_SUBJECT_TEXT = """
    i we i've we've i'd we'd have had just also only actually already today yesterday morning afternoon evening night week
    finally then and but so again really even still ok okay well hey hi later now was been total monday tuesday wednesday
    thursday friday saturday sunday out myself me sorry mean meant that it yes yeah both
"""
OWN_SUBJECT = frozenset(_OWN_SUBJECT_TEXT.split())
"""What may stand right before a verb that tells of the writer; anything else is who did it."""
