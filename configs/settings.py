"""The settings of a run, typed: every number a user may turn, its default and what it means.

A settings file is YAML with the sections below; what it leaves out takes the default, what it spells differently is
refused. Environment variables are not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from operators.ask.model.endpoint import Endpoint
from operators.ask.values import MOST_STEPS, AskValues, ContextValues, Limits
from operators.errors import SettingsError
from operators.extract.extraction import Extraction, ExtractorKind, ReaderKind
from operators.hierarchy.values import LEAST, WEIGHT, HierarchyValues
from operators.induce.induction import InduceValues
from operators.induce.schemas import Thresholds
from operators.retrieve.values import (
    CASES,
    IMAGE,
    LANES,
    MOST_WEIGHT,
    TEXT,
    Case,
    Fusion,
    ImageSignal,
    Items,
    Placement,
    SearchValues,
    TextSignal,
)

MIB = 1 << 20

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
NotNegative = Annotated[int, Field(ge=0)]


def is_timezone(name: str) -> bool:
    """True for a name of the IANA time zone database."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a name at all, or a folder of the database
        return False
    return True


class Section(BaseModel):
    """A group of settings: immutable, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSettings(Section):
    """What a store fixes when its first backfill creates it; ignored for a store that exists."""

    buckets: Positive | Literal["auto"] = "auto"
    """Parts that users are spread over. ``auto``: chosen from the size of the first backfill."""


class SourceSettings(Section):
    """How source files are cut into work and read."""

    split_bytes: Positive = 32 * MIB
    """Bytes of an uncompressed line-based file read by one task. Smaller: more tasks at once, more overhead."""
    fragment_rounds: Positive = 20_000
    """Rounds held in memory by a reading task before it writes a fragment."""
    max_line_bytes: Positive = 256 * MIB
    """Longest line (one session) accepted; a longer one is quarantined."""
    timezone: str | None = None
    """IANA name (``Europe/Lisbon``) of the clock behind times without offset; null: they are taken as UTC."""

    @field_validator("timezone")
    @classmethod
    def _known_timezone(cls, name: str | None) -> str | None:
        if name is not None and not is_timezone(name):
            raise ValueError("not an IANA time zone such as Europe/Lisbon")
        return name


class PictureSettings(Section):
    """Bounds beyond which a picture is refused (its round goes in without it)."""

    max_bytes: Positive = 32 * MIB
    """Largest picture file, bytes."""
    max_pixels: Positive = 100_000_000
    """Most pixels, width times height, read from the header before anything is decoded."""


class EncoderSettings(Section):
    """Which model turns text into vectors. A store fixes it when it is created and refuses another."""

    kind: Literal["minilm", "sentence-transformers", "stub"] = "minilm"
    """``minilm``: the packaged all-MiniLM-L6-v2. ``sentence-transformers``: any model (needs the ``torch`` extra).
    ``stub``: hashes instead of a model, for tests and for measuring the rest."""
    model: str | None = None
    """Id or path of the model, for ``sentence-transformers``."""
    window: Positive | None = None
    """Tokens the model sees of a text, longer texts become several units; null: the model's own (256 for MiniLM)."""
    numeric: str = "auto"
    """Numeric mode of the weights (``fp32``, ``int8`` ..); ``auto``: the encoder's own."""
    block_units: Positive = 1024
    """Texts in one block of encoding work."""


class ImageEncoderSettings(Section):
    """Which model turns pictures into vectors. A store fixes it when it is created and refuses another."""

    kind: Literal["efficientnet", "siglip2", "stub", "none"] = "efficientnet"
    """``efficientnet``: the packaged EfficientNet-Lite0. ``siglip2``: any SigLIP checkpoint, 1 or 2, of a fixed resolution
    (needs the ``torch`` extra). ``stub``: colours instead of a model, for tests. ``none``: no vectors; pictures are found by
    their captions and the words around them."""
    model: str | None = None
    """Id or path of the checkpoint, for ``siglip2``."""
    numeric: str = "auto"
    """Numeric mode (``fp32``; ``bf16`` for ``siglip2``); ``auto``: the encoder's own."""
    block_pictures: Positive = 256
    """Pictures in one block of encoding work."""


class ExtractSettings(Section):
    """How observations are made of rounds and their pictures."""

    kind: ExtractorKind = "rules"
    """``rules``: patterns and layout, no model server. ``none``: no observations."""
    ocr: ReaderKind = "rapidocr"
    """What reads the text of pictures. ``none``: pictures give no observations."""
    max_side: Annotated[int, Field(ge=320)] = 1600
    """Pixels of the longer side that a picture is read at; smaller is faster and misses small print."""
    block_pictures: Positive = 8
    """Pictures in one block of reading."""

    def chosen(self) -> Extraction:
        """The same as the operators take it."""
        return Extraction(self.kind, self.ocr, self.max_side)


class InduceSettings(Section):
    """How tables are induced from observations. The defaults of the thresholds come from a sweep: see BENCHMARKS.md."""

    scope: Literal["user", "tenant"] = "user"
    """Whose rounds are counted together: each user's own, or all of a tenant's users', who then share their schemas.
    Either way a table holds one user's records."""
    tenant_users: Positive = 2
    """Users of a tenant who must tell a name before it is in a schema that all see (scope ``tenant`` only)."""
    in_backfill: bool = True
    """Whether a backfill discovers and evolves tables (scope ``user`` only); else ``mnemosaic reinduce`` alone does."""
    support: Positive = 3
    """theta_s: rounds in which the attributes of a table must stand together."""
    all_confidence: Share = 0.5
    """theta_a: a new table's attributes stand together in this part of the rounds that hold its most frequent one."""
    ext_confidence: Share = 0.4
    """theta_e: a table grows by what stands in this part of the rounds that hold all of it."""
    alike_at: Share = 0.8
    """Cosine from which two names of one unit are one attribute by meaning."""
    attributes: dict[str, str] = {}
    """Names that stand for others, before anything else is looked at: ``{"zzz": "sleep"}``."""

    def values(self) -> InduceValues:
        """The same as the operators take it."""
        thresholds = Thresholds(self.support, self.all_confidence, self.ext_confidence)
        return InduceValues(thresholds, dict(self.attributes), self.alike_at)


class HierarchySettings(Section):
    """How a history is cut into episodes and these are joined to topics. README.md says how the defaults were chosen."""

    gap_minutes: Positive = 720
    """Minutes of silence after which a round opens an episode."""
    coherence: Share = 0.2
    """Cosine with its episode, beyond the user's background, that a round of the same session needs to go on with it."""
    coherence_across: Share = 0.35
    """The same for a round of another session."""
    least_rounds: Positive = 3
    """Rounds that an episode has before coherence may end it within a session."""
    most_rounds: Positive = 40
    """Rounds of the longest episode."""
    topic_similarity: Annotated[float, Field(gt=0.0, le=1.0)] = 0.25
    """Mean cosine, beyond the user's background, from which episodes are one topic."""
    block_episodes: Annotated[int, Field(ge=2)] = 2048
    """Episodes compared each with each; longer histories are joined stretch by stretch first."""
    sentences: Positive = 3
    """Most sentences of a description."""
    characters: Annotated[int, Field(ge=20)] = 280
    """Most characters of a description."""
    name_words: Positive = 3
    """Most words of a name."""
    weight: Share = WEIGHT
    """Of the cosine in the score of a topic, episode or event; the rest is the query's words that it says."""
    least: Share = LEAST
    """Score from which an event is the one that is asked for; below it nothing is located."""

    def values(self) -> HierarchyValues:
        """What shapes a hierarchy, as the operators take it."""
        return HierarchyValues(**self.model_dump(exclude={"weight", "least"}))


Weight = Annotated[float, Field(ge=0.0, le=MOST_WEIGHT, allow_inf_nan=False)]


class LaneSettings(Section):
    """The weight of each lane in one case of routing; 0: the lane is off."""

    text: Weight
    image: Weight

    @model_validator(mode="after")
    def _some_lane(self) -> Self:
        if not self.text and not self.image:
            raise ValueError("give one lane a weight above 0")
        return self


def _lanes_of(case: Case) -> LaneSettings:
    return LaneSettings(text=LANES[case]["text"], image=LANES[case]["image"])


class LanesSettings(Section):
    """Which lanes answer: by what the query is made of, and what it asks for."""

    text_to_text: LaneSettings = _lanes_of("text_to_text")
    text_to_image: LaneSettings = _lanes_of("text_to_image")
    picture_to_text: LaneSettings = _lanes_of("picture_to_text")
    picture_to_image: LaneSettings = _lanes_of("picture_to_image")


class RetrievalSettings(Section):
    """How a search finds and fuses rounds. The defaults come from `mnemosaic evaluate retrieval`: see BENCHMARKS.md."""

    k: Positive = 12
    """Rounds returned, neighbours not counted."""
    neighbours: NotNegative = 1
    """Rounds shown before and after each round found."""
    placement: Placement = "runs"
    """How neighbours are shown: in time-ordered ``runs``, at the ``tail``, ``interleave``d and cut to k, or ``none``."""
    fusion: Fusion = "standardised"
    """``standardised``: weighted sums of standardised scores. ``reciprocal-rank``: of 1 / (kappa + rank)."""
    kappa: Positive = 60
    """Constant of reciprocal rank fusion."""
    pool: Positive = 20
    """Rounds each signal contributes to reciprocal rank fusion."""
    items: Items = "rounds"
    """What is ranked: ``rounds`` by their best unit, or ``units``, each by itself."""
    text: dict[TextSignal, Weight] = dict(TEXT)
    """Signals of the text lane and their weights; one that is not named does not take part."""
    image: dict[ImageSignal, Weight] = dict(IMAGE)
    """Signals of the image lane and their weights."""
    routing: bool = True
    """Whether the case of a query decides which lanes answer; else both always do."""
    lanes: LanesSettings = LanesSettings()
    """Weights of the lanes in each case."""
    image_rounds: NotNegative | None = 1
    """Where a picture is asked for in words, rounds further than this from one are left out; null: all stay."""
    fold_captions: bool = True
    """Whether captions of pictures are text of their rounds too."""
    dates: bool = True
    """Whether the words of a round's date can be searched for."""
    context: Weight = 1.0
    """What a neighbour's score adds to a round's in the signals of context."""
    nameless: Weight = 1 / 3
    """What the query without the names of its speakers adds to the query's vector."""
    spread: Weight = 1.2
    """How much a round that is found lowers those beside it, for what they would show again; not where pictures are asked
    for or with."""
    aggregation: bool = False
    """Whether questions for many things (how many, list, which books) get more rounds, without neighbours."""
    aggregation_k: Positive = 30
    """Rounds returned for them."""

    @field_validator("text")
    @classmethod
    def _some_signal(cls, text: dict[TextSignal, float]) -> dict[TextSignal, float]:
        if not any(weight > 0 for weight in text.values()):
            raise ValueError("give some signal a weight above 0")
        return text

    def values(self) -> SearchValues:
        """The same as the operators take it."""
        told = {name: getattr(self, name) for name in RetrievalSettings.model_fields if name != "lanes"}
        return SearchValues(**told, lanes={case: getattr(self.lanes, case).model_dump() for case in CASES})


class AskingSettings(Section):
    """How a question is planned, carried out and answered. README.md and ASKING.md say what the parts are."""

    weight: Share = 0.5
    """lambda: of the cosine in the score of a table or an episode for the planning context, beside the words."""
    tables: Positive | None = 3
    """Most tables that a planner is shown; null: all (the ablation "without context")."""
    episodes: Positive | None = 5
    """Most episodes that a planner is shown; null: all."""
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = MOST_STEPS
    """Most steps of a plan."""
    evidence: Positive = 10
    """Units of evidence that the steps share: a retrieved round is one, so is the result of a tool."""
    analytic: bool = True
    """Whether tables may be asked."""
    retrieval: bool = True
    """Whether rounds and events may be searched."""
    progressive: bool = True
    """Whether the arguments of a step are made when the results before it are known; else all at once."""
    query: bool = False
    """Whether the tool QUERY (one SQL statement that reads the user's own tables) may be used."""
    same_picture: Share = 0.9
    """Cosine from which a question's picture is taken for a stored one."""

    def values(self, hierarchy: HierarchySettings) -> AskValues:
        """The same as the operators take it."""
        return AskValues(
            ContextValues(self.weight, self.tables, self.episodes),
            Limits(self.steps, self.evidence, self.progressive),
            self.analytic,
            self.retrieval,
            self.query,
            hierarchy.weight,
            hierarchy.least,
            self.same_picture,
        )


class PlannerModelSettings(Section):
    """The language model that plans and answers questions and words searches, if any: any OpenAI-compatible endpoint."""

    section: ClassVar[str] = "planner_model"

    kind: Literal["none", "openai"] = "none"
    """``none``: rules plan and answer. ``openai``: the endpoint below; rules where it fails."""
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/]")] = "http://localhost:8000/v1"
    """Address up to and with ``/v1``."""
    model: Annotated[str, Field(min_length=1)] = "default"
    """Name of the model, as the endpoint knows it."""
    key_env: str | None = None
    """Environment variable that holds the key; null: the endpoint asks for none."""
    timeout_s: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 60.0
    """Seconds for one question to the model, connecting and all retries included."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Tries of a request that fails on its way or is turned away."""
    max_tokens: Positive = 1024
    """Of one output; one that is cut off is asked for once more with four times as many."""
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    """0: the likeliest output."""

    @field_validator("base_url")
    @classmethod
    def _known_address(cls, address: str) -> str:
        try:
            parts = urlsplit(address)
            known = bool(parts.hostname) and parts.port != 0
        except ValueError:  # brackets or a port that are none
            known = False
        if not known:
            raise ValueError("not an address such as http://localhost:8000/v1")
        return address

    def endpoint(self, environment: Mapping[str, str]) -> Endpoint | None:
        """The same as the operators take it; None where there is no model. SettingsError where the key is not there."""
        if self.kind == "none":
            return None
        key = None if self.key_env is None else environment.get(self.key_env, "").strip()
        if key == "":
            told = f"the environment variable {self.key_env} is not set: export the key"
            raise SettingsError(f"{self.section}.key_env: {told}")
        given = (self.timeout_s, self.attempts, self.max_tokens, self.temperature, self.section)
        return Endpoint(self.base_url, self.model, key, *given)


class JudgeModelSettings(PlannerModelSettings):
    """The language model that ``evaluate qa --judge`` lets judge answers, if any; it answers no questions."""

    section: ClassVar[str] = "judge_model"


class RaySettings(Section):
    """Where the work runs and what it may take."""

    address: str | None = None
    """Address of a running cluster (``ray://host:10001``, ``auto``); null: a local one for the run."""
    num_cpus: Positive | None = None
    """CPUs of the local cluster; null: all of the machine's."""
    object_store_mb: Positive = 512
    """Shared memory of the local cluster, MiB."""
    encode_actors: Positive | None = None
    """Encoders at once; null: as many as the cluster's CPUs (GPUs) carry."""
    encode_cpus: Positive = 1
    """CPUs of one encoder; it uses exactly as many threads."""
    encode_gpus: Annotated[float, Field(ge=0.0)] = 0.0
    """GPUs (or a share of one) of one encoder."""
    picture_actors: Positive | None = None
    """Readers of pictures at once; null: as many as the cluster's CPUs carry."""
    picture_cpus: Positive = 1
    """CPUs of one reader; it uses exactly as many threads."""
    image_actors: Positive | None = None
    """Encoders of pictures at once; null: as many as the cluster's CPUs (GPUs) carry."""
    image_cpus: Positive = 1
    """CPUs of one encoder of pictures; it uses exactly as many threads."""
    image_gpus: Annotated[float, Field(ge=0.0)] = 0.0
    """GPUs (or a share of one) of one encoder of pictures."""


class RetainSettings(Section):
    """What ``gc`` keeps."""

    keep: Positive = 10
    """Newest versions kept readable."""
    grace_hours: Annotated[float, Field(ge=0.0)] = 24
    """Files younger than this are never removed: a backfill in flight may be about to name them."""


class CommitSettings(Section):
    """How hard a commit tries."""

    attempts: Positive = 20
    """Rebases on other writers' commits before the run gives up."""


class Settings(Section):
    """All settings of a run."""

    store: StoreSettings = StoreSettings()
    sources: SourceSettings = SourceSettings()
    pictures: PictureSettings = PictureSettings()
    encoder: EncoderSettings = EncoderSettings()
    image_encoder: ImageEncoderSettings = ImageEncoderSettings()
    extract: ExtractSettings = ExtractSettings()
    induce: InduceSettings = InduceSettings()
    hierarchy: HierarchySettings = HierarchySettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    asking: AskingSettings = AskingSettings()
    planner_model: PlannerModelSettings = PlannerModelSettings()
    judge_model: JudgeModelSettings = JudgeModelSettings()
    ray: RaySettings = RaySettings()
    retain: RetainSettings = RetainSettings()
    commit: CommitSettings = CommitSettings()


PACKAGED = Path(__file__).parent / "local.yaml"
"""The embedded default."""


def load_settings(path: Path | None = None) -> Settings:
    """The settings in a YAML file; the packaged ``local.yaml`` without one.

    Raises SettingsError, naming the file and the key, for a file that is missing or not YAML, an unknown key or a value
    of the wrong type.
    """
    path = PACKAGED if path is None else path
    return parse_settings(_read_yaml(path), origin=str(path))


def parse_settings(raw: dict[str, Any], *, origin: str) -> Settings:
    """Settings from plain values as YAML gives them; SettingsError names ``origin`` and the key."""
    try:
        return Settings.model_validate_json(json.dumps(raw, default=str), strict=True)
    except ValidationError as error:
        raise SettingsError("\n".join(f"{origin}: {line}" for line in _explain(error))) from error


def config_fingerprint(settings: Settings) -> str:
    """16 hex digits naming the settings that shape what a backfill writes.

    Equal for two runs that may continue each other: where the work runs, how hard a commit tries, what ``gc`` keeps and
    how a search ranks are left out.
    """
    sections = {"store", "sources", "pictures", "encoder", "image_encoder", "extract", "induce", "hierarchy"}
    shaping = settings.model_dump(mode="json", include=sections)
    del shaping["encoder"]["block_units"], shaping["extract"]["block_pictures"], shaping["image_encoder"]["block_pictures"]
    del shaping["hierarchy"]["weight"], shaping["hierarchy"]["least"]
    return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()[:16]


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: settings file cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: settings file is not YAML: {_where(error)}") from error
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise SettingsError(f"{path}: settings file holds a {type(raw).__name__}, not sections ({_names(Settings)})")
    return raw


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark is not None else type(error).__name__


def _explain(error: ValidationError) -> list[str]:
    lines = []
    for fault in error.errors(include_url=False, include_input=False):
        keys = [str(part) for part in fault["loc"]]
        if fault["type"] == "extra_forbidden":
            lines.append(_unknown(keys))
        else:
            lines.append(f"{'.'.join(keys)}: {fault['msg']}")
    return lines


def _unknown(keys: list[str]) -> str:
    if len(keys) == 1:
        return f"unknown section '{keys[0]}'; known: {_names(Settings)}"
    section: type[BaseModel] = type(getattr(Settings(), keys[0]))
    return f"unknown setting '{'.'.join(keys)}'; known in '{keys[0]}': {_names(section)}"


def _names(section: type[BaseModel]) -> str:
    return ", ".join(section.model_fields)
