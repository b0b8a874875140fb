"""The error tree. Every error names its input and says what to do; user text never enters a message, but
for the names of tables and columns.

MnemosaicError
    UsageError                what was asked cannot be done as asked (the command line ends with 2)
        ScopeError            a read without tenant or user: fails closed
        SettingsError         an unknown or ill-typed setting
        TableNotFound         there is no table of this name
        ToolError             what is asked of a table does not fit it
            ColumnNotFound    no column, or more than one, is meant by a name
            ColumnTypeError   a column's kind does not allow what is asked of it
            ConditionError    a condition cannot be read, or its value does not fit its column
            MixedUnits        amounts of several currencies would be reckoned as one
            QueryError        a statement of SQL does more than read, or more than it may cost
        PlanError             no plan, or no arguments of a step, can be made of a question
    SourceError               a source, or a part of one, cannot be read; carries file, line, round, code
        PictureError          a picture is refused (broken, too large, not a picture)
    EncoderError
        WeightsMissing        the packaged weights are not installed
        WeightsMismatch       the weights on disk are not the ones expected (sha256)
        FingerprintMismatch   a store was built with another encoder
    ExtractorError            a picture's text cannot be read, or what reads it is not installed
    InductionError            what schemas are induced from, or a threshold, is not as it must be
        MiningBudget          a search for itemsets grew past what it may cost
    StoreError
        NotAStore             there is no store at this address
        StoreFormatError      a store of a format this release does not read
        StoreCorrupt          an object is not what the manifest says
        SnapshotNotFound      no snapshot matches the version or time asked for
        ObjectNotFound        no object under this key
        AlreadyExists         put_if_absent lost: the key is taken
        ETagMismatch          put_if_match lost: the object changed
        OutcomeUnknown        the write may or may not have landed and could not be re-read
        CommitConflict        another commit took the version
        StoreDenied           the credentials are wrong or do not allow this
        StoreUnavailable      the store did not answer after the allowed tries
    ModelError                a language model did not do what was asked of it
        ModelUnavailable      it did not answer in time, or not within the allowed tries
        ModelDenied           the key is missing, wrong or does not allow this
        ModelRejected         its endpoint does not take the request
        ModelRefused          it declines to answer
        ModelOutputInvalid    what it wrote is cut off, no JSON, or does not fit its schema, twice
    ClusterError              Ray could not be started or reached
"""

from __future__ import annotations


class MnemosaicError(Exception):
    """Root of all errors raised on purpose."""


class UsageError(MnemosaicError):
    """What was asked for cannot be done as asked; the message says how to ask."""


class ScopeError(UsageError):
    """A read lacks its tenant or its user."""


class SettingsError(UsageError):
    """A setting is unknown or has the wrong type."""


class TableNotFound(UsageError):
    """There is no table of this name."""


class ToolError(UsageError):
    """What is asked of a table does not fit it; the message says what is possible."""


class ColumnNotFound(ToolError):
    """No column, or more than one, is meant by a name; the message names those near and all there are."""


class ColumnTypeError(ToolError):
    """A column's kind does not allow what is asked of it; the message says what it allows, or which columns would do."""


class ConditionError(ToolError):
    """A condition cannot be read, or its value does not fit its column."""


class MixedUnits(ToolError):
    """Amounts of several currencies would be reckoned as one; the message says how to keep them apart."""


class QueryError(ToolError):
    """A statement of SQL cannot be read, does what is not allowed, or costs too much; the message says what is allowed."""


class PlanError(UsageError):
    """No plan, or no arguments of a step, can be made of a question and what was found so far."""


class SourceError(MnemosaicError):
    """A source or a part of it cannot be read.

    ``code`` is a short stable word (``bad-json``, ``no-messages`` ..) by which quarantine groups its rows.
    ``line`` counts from 1; ``None`` where the fault is the whole file's.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        file: str | None = None,
        line: int | None = None,
        round_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.file = file
        self.line = line
        self.round_id = round_id

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_source_error, (type(self), str(self), self.code, self.file, self.line, self.round_id)


def _rebuild_source_error(
    kind: type[SourceError], message: str, code: str, file: str | None, line: int | None, round_id: str | None
) -> SourceError:
    return kind(message, code=code, file=file, line=line, round_id=round_id)


class PictureError(SourceError):
    """A picture is refused; its round goes in without it."""


class ExtractorError(MnemosaicError):
    """What reads observations cannot be loaded, or cannot read a picture."""


class EncoderError(MnemosaicError):
    """An encoder cannot be loaded or used."""


class WeightsMissing(EncoderError):
    """The weights are not installed; the message names the package to install."""


class WeightsMismatch(EncoderError):
    """The weights' sha256 is not the expected one."""


class FingerprintMismatch(EncoderError):
    """The store was created with another encoder; both fingerprints are in the message."""


class InductionError(MnemosaicError):
    """Transactions or thresholds that no itemsets can be mined with."""


class MiningBudget(InductionError):
    """A search for itemsets visited more nodes than it was allowed; the message says which thresholds to raise."""


class StoreError(MnemosaicError):
    """Something is wrong between us and the object store."""


class NotAStore(StoreError):
    """The address holds no Mnemosaic store."""


class StoreFormatError(StoreError):
    """The store's format version is not one this release reads."""


class StoreCorrupt(StoreError):
    """An object's bytes are not what its manifest entry says."""


class SnapshotNotFound(StoreError):
    """No kept snapshot matches."""


class KeyedStoreError(StoreError):
    """A store error about one object."""

    def __init__(self, message: str, *, key: str) -> None:
        super().__init__(message)
        self.key = key

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_keyed_error, (type(self), str(self), self.key)


def _rebuild_keyed_error(kind: type[KeyedStoreError], message: str, key: str) -> KeyedStoreError:
    return kind(message, key=key)


class ObjectNotFound(KeyedStoreError):
    """There is no object under the key."""


class AlreadyExists(KeyedStoreError):
    """A put-if-absent lost: the key holds another writer's object."""


class ETagMismatch(KeyedStoreError):
    """A put-if-match lost: the object is no longer the one that was read."""


class OutcomeUnknown(KeyedStoreError):
    """A write was sent, no answer came and the key could not be re-read: it may have landed. Nothing was deleted."""


class CommitConflict(StoreError):
    """Another commit took the version; ``expected`` is the base this commit stood on, ``found`` the newest now."""

    def __init__(self, message: str, *, expected: int, found: int) -> None:
        super().__init__(message)
        self.expected = expected
        self.found = found

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_commit_conflict, (str(self), self.expected, self.found)


def _rebuild_commit_conflict(message: str, expected: int, found: int) -> CommitConflict:
    return CommitConflict(message, expected=expected, found=found)


class StoreDenied(StoreError):
    """The store refuses these credentials or this operation."""


class StoreUnavailable(StoreError):
    """The store did not answer within the allowed tries."""


class ModelError(MnemosaicError):
    """A language model did not do what was asked of it; the message names its host, never what it was told or its key."""


class ModelUnavailable(ModelError):
    """The model did not answer in time, or not within the allowed tries."""


class ModelDenied(ModelError):
    """The model's endpoint refuses the key, or there is none."""


class ModelRejected(ModelError):
    """The model's endpoint does not take the request: another address or model, too long a prompt, no such output."""


class ModelRefused(ModelError):
    """The model, or a filter before or behind it, declines to answer."""


class ModelOutputInvalid(ModelError):
    """What the model wrote is cut off, is no JSON or does not fit its schema, and was so again when it was told."""


class ClusterError(MnemosaicError):
    """Ray could not be started here, or the cluster at the address given could not be reached."""
