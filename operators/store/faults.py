"""What the answers of an S3 server mean for what is done next."""

from __future__ import annotations

from enum import Enum

_EXPIRED_CODES = {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}
_CLOCK_CODES = {"RequestTimeTooSkewed", "RequestExpired"}
_DENIED_CODES = {"InvalidToken", "AuthorizationHeaderMalformed", *_EXPIRED_CODES, *_CLOCK_CODES}
_SLOW_CODES = {"RequestTimeout", "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded"}


class Fault(Enum):
    """What a failed request means for what is done next."""

    DENIED = "denied"
    NO_BUCKET = "no bucket"
    NO_OBJECT = "no object"
    CONDITION = "the condition of the write does not hold"
    BUSY = "another write is under way"
    RANGE = "the range lies outside the object"
    REFUSED = "refused for good"
    NEVER_SENT = "never sent"
    NO_ANSWER = "sent, and not answered for good: a write may have landed"


EXPIRED = "ExpiredToken"
"""The code of credentials that were good and are not any more."""

_EXPIRED_ADVICE = (
    "The credentials have expired. Renew them (a new AWS_SESSION_TOKEN, or `aws sso login`) and run again: a backfill goes "
    "on where it stopped"
)
_CLOCK_ADVICE = "The clock of this machine and the store's differ too much. Set the clock (by NTP) and run again"
_DENIED_ADVICE = (
    "Check the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE) and that they allow "
    "s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket; without the last, S3 answers so for missing objects"
)
AGAIN = {Fault.BUSY, Fault.NEVER_SENT, Fault.NO_ANSWER}
"""Worth another try."""


def denied_advice(code: str) -> str:
    """What to do about a refusal with this error code."""
    if code in _EXPIRED_CODES:
        return _EXPIRED_ADVICE
    return _CLOCK_ADVICE if code in _CLOCK_CODES else _DENIED_ADVICE


def fault_of_answer(code: str, status: int) -> Fault:
    """The fault behind an error code (``NoSuchKey``; a bare status where the answer had no body) and an HTTP status."""
    if code == "NoSuchBucket":
        return Fault.NO_BUCKET
    if code in _SLOW_CODES or status == 429 or (status >= 500 and status != 501):
        return Fault.NO_ANSWER
    if code in _DENIED_CODES or status in (401, 403):
        return Fault.DENIED
    known = {404: Fault.NO_OBJECT, 409: Fault.BUSY, 412: Fault.CONDITION, 416: Fault.RANGE}
    return known.get(status, Fault.REFUSED)
