"""What a model is shown of a trace: rounds as blocks in order of time, results of tools, each under a label to cite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from operators.ask.model import prompts
from operators.ask.outcomes import Citation, Passage, Passages, Shown
from operators.ask.steps import Taken, Trace

_MESSAGE = (4_000, 2_000, 1_000, 500, 250)
_RESULT = 6_000


@dataclass(frozen=True)
class Evidence:
    """``text``: the blocks. ``labels``: what each label stands for, a round or a step that was taken, in the order shown."""

    text: str
    labels: Mapping[str, Passage | Taken]

    @property
    def pictures(self) -> dict[str, Shown]:
        """The pictures of the rounds shown, by name."""
        rounds = [each for each in self.labels.values() if isinstance(each, Passage)]
        return {picture.name: picture for each in rounds for picture in each.pictures if picture.name}

    def name_of(self, media: str | None) -> str | None:
        """The name of a stored picture, where its round is shown."""
        return next((name for name, shown in self.pictures.items() if media and shown.media == media), None)

    def citations(self, labels: Iterable[str]) -> tuple[Citation, ...]:
        """Where the evidence of labels stands, each place once."""
        found: dict[Citation, None] = {}
        for label in labels:
            shown = self.labels[label]
            if isinstance(shown, Passage):
                found.setdefault(shown.citation)
            elif shown.outcome is not None:
                found |= dict.fromkeys(shown.outcome.citations())
        return tuple(found)


def evidence_of(trace: Trace, most: int) -> Evidence:
    """What a trace found, in about ``most`` characters: long messages are cut first, then rounds that were not found
    themselves are left out, then those found last."""
    results = [each for each in trace.taken if each.outcome is not None and not isinstance(each.outcome, Passages)]
    shown = [_result(f"T{n}", taken) for n, taken in enumerate(results, 1)]
    left = max(most - sum(map(len, shown)), most // 4)
    rounds, characters = _fitting(_passages(trace), left)
    labels: dict[str, Passage | Taken] = {f"R{n}": passage for n, passage in enumerate(rounds, 1)}
    blocks = _blocks(list(labels), rounds, characters)
    labels |= {f"T{n}": taken for n, taken in enumerate(results, 1)}
    return Evidence("\n\n".join([*blocks, *shown]), labels)


def _passages(trace: Trace) -> list[Passage]:
    """Rounds found, of all steps, each once, the best first; then those beside them."""
    found = [each.outcome for each in trace.taken if isinstance(each.outcome, Passages)]
    ranked = [passage for each in found for passage in each.passages] + [beside for each in found for beside in each.around]
    first: dict[tuple[str, int], Passage] = {}
    for passage in ranked:
        first.setdefault((passage.level, passage.order), passage)
    return list(first.values())


def _fitting(ranked: Sequence[Passage], most: int) -> tuple[list[Passage], int]:
    """As many as fit, in order of time, and the characters of a message that are shown."""
    for characters in _MESSAGE:
        if sum(len(_round("R00", each, characters)) for each in ranked) <= most:
            return _in_time(ranked), characters
    kept: list[Passage] = []
    left = most
    for passage in ranked:
        left -= len(_round("R00", passage, characters))
        if left < 0 and kept:
            break
        kept.append(passage)
    return _in_time(kept), characters


def _in_time(passages: Sequence[Passage]) -> list[Passage]:
    return sorted(passages, key=lambda each: (each.order, each.level))


def _blocks(labels: Sequence[str], rounds: Sequence[Passage], characters: int) -> list[str]:
    """Rounds that follow each other are one block."""
    told = [_round(label, each, characters) for label, each in zip(labels, rounds, strict=True)]
    blocks = told[:1]
    for (before, each), text in zip(pairwise(rounds), told[1:], strict=True):
        follows = each.order == before.order + 1 and each.session_id == before.session_id
        if follows and each.level == before.level == "round":
            blocks[-1] += f"\n{text}"
        else:
            blocks.append(text)
    return blocks


def _round(label: str, passage: Passage, characters: int) -> str:
    when = passage.day.isoformat() if passage.day else "day unknown"
    what = "" if passage.level == "round" else f" ({passage.level}, told in short)"
    lines = [f"{label} [{when}]{what}"]
    for at, said in enumerate(passage.messages):
        text = said.text if len(said.text) <= characters else f"{said.text[:characters]} .. (cut)"
        lines.append(f"{said.speaker}: {text}" if said.speaker else text)
        lines += [_picture(each) for each in passage.pictures if each.message == at]
    lines += [_picture(each) for each in passage.pictures if each.message >= len(passage.messages)]
    return "\n".join(lines)


def _picture(shown: Shown) -> str:
    return f"[picture {shown.name}: {shown.caption or 'no caption'}]"


def _result(label: str, taken: Taken) -> str:
    assert taken.outcome is not None
    told = {"goal": taken.step.goal, "tool": taken.step.tool, "arguments": dict(taken.arguments)}
    return f"{label} {prompts.bounded({**told, 'result': taken.outcome.to_dict()}, _RESULT)}"
