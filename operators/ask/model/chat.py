"""A language model behind any OpenAI-compatible endpoint: one question, one JSON object that fits a schema."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from operators.ask.model.endpoint import Endpoint
from operators.ask.steps import Usage
from operators.errors import (
    ModelDenied,
    ModelError,
    ModelOutputInvalid,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

_CONNECT_S = 10.0
_LARGER = 4
"""By what the limit on tokens grows for the one retry of an output that was cut off."""
_MOST_SHOWN = 2_000
"""Characters of an invalid output that the model is shown again."""
_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_TOKEN = re.compile(r"[a-z_]{1,60}")


@dataclass(frozen=True)
class Prompt:
    """What a model is told: ``system`` how to work, ``user`` on what. ``picture``: a ``data:`` URL that it is to see.

    ``schema``: JSON Schema of the answer, ``name`` what the answer is called.
    """

    system: str
    user: str
    name: str
    schema: Mapping[str, Any]
    picture: str | None = None

    def messages(self) -> list[dict[str, Any]]:
        """The same as the endpoint takes it."""
        # What was typed may hold half a character, which cannot be sent.
        text = self.user.encode("utf-8", "replace").decode("utf-8")
        content: Any = text
        if self.picture is not None:
            content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": self.picture}}]
        return [{"role": "system", "content": self.system}, {"role": "user", "content": content}]


@dataclass
class Meter:
    """What the calls of one question cost."""

    usage: Usage = field(default=Usage())


class OutputFault(ValueError):
    """Why an output is not what was asked for, in words that the model is told."""


@dataclass(frozen=True)
class _Output:
    text: str
    finish: str | None
    refused: bool


class Chat:
    """Asks one model. Safe for use by several threads; connections are kept between questions."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: AsyncOpenAI | None = None
        self._unsupported: frozenset[str] = frozenset()

    def complete(self, prompt: Prompt, read: Callable[[Mapping[str, Any]], T], meter: Meter) -> T:
        """What ``read`` makes of the JSON object that the model answers with; OutputFault of it is told to the model.

        An output that is cut off is asked for once more with a larger limit, one that is invalid once more with the fault.
        ModelUnavailable, ModelDenied, ModelRejected, ModelRefused, ModelOutputInvalid.
        """
        return self._run(self._within(prompt, read, meter))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """From a thread that may have a loop of its own (a notebook, a server): the work runs on ours."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="mnemosaic-model", daemon=True).start()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _within(self, prompt: Prompt, read: Callable[[Mapping[str, Any]], T], meter: Meter) -> T:
        # Importing the SDK takes longer than some models do. A read time-out alone does not end an answer that drips.
        self._opened()
        try:
            async with asyncio.timeout(self.endpoint.timeout_s):
                return await self._complete(prompt, read, meter)
        except TimeoutError:
            raise self._late() from None

    async def _complete(self, prompt: Prompt, read: Callable[[Mapping[str, Any]], T], meter: Meter) -> T:
        messages, limit = prompt.messages(), self.endpoint.max_tokens
        fault = ""
        for _ in range(2):
            output = await self._send(prompt, messages, limit, meter)
            if output.refused:
                raise ModelRefused(f"the model at {self.endpoint.host} declines to answer")
            if output.finish == "length":
                fault = f"was cut off at {limit:,} tokens: raise max_tokens in the settings, {self.endpoint.section}"
                limit *= _LARGER
                continue
            try:
                return read(_object_of(output.text))
            except OutputFault as error:
                fault = "does not fit what was asked for: use a model, or a server, that keeps to a JSON schema"
                messages = [*prompt.messages(), *_told_again(output.text, error)]
        raise ModelOutputInvalid(f"the output of the model at {self.endpoint.host} {fault}")

    # --- the wire -----------------------------------------------------------------------------------------------

    async def _send(self, prompt: Prompt, messages: list[dict[str, Any]], limit: int, meter: Meter) -> _Output:
        import openai

        host, section = self.endpoint.host, self.endpoint.section
        try:
            body = await self._post(prompt, messages, limit)
        except openai.APITimeoutError:
            raise self._late() from None
        except openai.APIConnectionError:
            raise ModelUnavailable(f"no model answers at {host}: see base_url in the settings, {section}") from None
        except openai.APIStatusError as error:
            raise _of_status(error.status_code, error.code, self.endpoint) from None
        if not isinstance(body, dict) or "choices" not in body:
            raise ModelRejected(f"what {host} answers is no chat completion: see base_url in the settings, {section}")
        meter.usage += _usage_of(body)
        return _output_of(body)

    async def _post(self, prompt: Prompt, messages: list[dict[str, Any]], limit: int) -> Any:
        import openai

        schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
        fixed: dict[str, Any] = {"type": "json_schema", "json_schema": schema}
        while True:
            told = {"model": self.endpoint.model, "messages": messages, "response_format": fixed, **self._options(limit)}
            try:
                answered = await self._opened().chat.completions.with_raw_response.create(**told)
            except openai.BadRequestError as error:
                # Some of OpenAI's models call the limit max_completion_tokens, and take no temperature.
                if error.param not in {"max_tokens", "temperature"} - self._unsupported:
                    raise
                self._unsupported |= {str(error.param)}
                continue
            try:
                return json.loads(answered.text)
            except (ValueError, RecursionError):
                return None

    def _options(self, limit: int) -> dict[str, Any]:
        limits = "max_completion_tokens" if "max_tokens" in self._unsupported else "max_tokens"
        return {limits: limit} | ({} if "temperature" in self._unsupported else {"temperature": self.endpoint.temperature})

    def _opened(self) -> AsyncOpenAI:
        if self._client is None:
            import openai

            seconds = self.endpoint.timeout_s
            client = openai.AsyncOpenAI(
                api_key=self.endpoint.key or "none",
                base_url=self.endpoint.base_url,
                timeout=openai.Timeout(seconds, connect=min(seconds, _CONNECT_S)),
                max_retries=self.endpoint.attempts - 1,
            )
            # What the SDK takes from the environment belongs to OpenAI, not to whoever answers here.
            client.organization = client.project = None
            self._client = client
        return self._client

    def _late(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"the model at {self.endpoint.host} did not answer within {self.endpoint.timeout_s:g} s: "
            f"raise timeout_s in the settings, {self.endpoint.section}, or see what keeps it"
        )


def _of_status(status: int, code: str | None, endpoint: Endpoint) -> ModelError:
    host, section = endpoint.host, endpoint.section
    if status in (401, 403):
        return ModelDenied(f"{host} refuses the key (HTTP {status}): see key_env in the settings, {section}")
    if status == 404:
        return ModelRejected(
            f"{host} knows no model {endpoint.model!r}, or no chat completions (HTTP 404): see the settings, {section}"
        )
    if status == 429:
        return ModelUnavailable(f"{host} takes no more requests now (HTTP 429): ask again later, or raise its limits")
    if status == 408 or status == 409 or status >= 500:
        return ModelUnavailable(f"the model at {host} fails (HTTP {status}) after the allowed tries")
    # A code is a word of the endpoint's; what it says beside it may repeat the prompt.
    named = f", {code}" if isinstance(code, str) and _TOKEN.fullmatch(code) else ""
    return ModelRejected(f"{host} does not take the request (HTTP {status}{named})")


def _output_of(body: Mapping[str, Any]) -> _Output:
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    content, finish = message.get("content"), choice.get("finish_reason")
    refused = bool(message.get("refusal")) or finish == "content_filter"
    return _Output(content if isinstance(content, str) else "", finish if isinstance(finish, str) else None, refused)


def _usage_of(body: Mapping[str, Any]) -> Usage:
    told = body.get("usage")
    told = told if isinstance(told, dict) else {}
    counts = [told.get(name) for name in ("prompt_tokens", "completion_tokens")]
    return Usage(1, *(count if isinstance(count, int) and count >= 0 else 0 for count in counts))


def _object_of(text: str) -> Mapping[str, Any]:
    fenced = _FENCED.match(text)
    try:
        found = json.loads(fenced.group(1) if fenced else text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise OutputFault("it is not valid JSON") from None
    if not isinstance(found, dict):
        raise OutputFault("it is not a JSON object")
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)


def _told_again(text: str, fault: OutputFault) -> list[dict[str, Any]]:
    told = f"This was not accepted: {fault}. Answer again, with one JSON object that fits the schema and nothing beside it."
    return [{"role": "assistant", "content": text[:_MOST_SHOWN]}, {"role": "user", "content": told}]
