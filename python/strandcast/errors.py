"""Errors, each with one clear line."""

from __future__ import annotations

from typing import Any, ClassVar


class StrandcastError(Exception):
    """Everything that this package raises on its own.

    Attributes:
        exit_code: The command's exit code when it ends a verb, as in `strandcast --help`.
    """

    exit_code: ClassVar[int] = 2


class ScenarioError(StrandcastError, ValueError):
    """A mistake in a scenario: `FILE:LINE: KEY: what is wrong; how to mend it`.

    Attributes:
        file: The scenario's file, as it was named.
        line: The line the mistake is in, from 1; None if it is in none.
        setting: The setting (`KEY=VALUE`) that brought it in; None if the file did.
        key: The key it is about, with those above it (`links.b.rate`); empty if it is about none.
        problem: What is wrong, and how to mend it.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        line: int | None = None,
        setting: str | None = None,
        key: str = "",
        problem: str = "",
    ) -> None:
        super().__init__(message)
        self.file, self.line, self.setting, self.key, self.problem = file, line, setting, key, problem

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), self.__dict__)


class ScenarioWarning(UserWarning):
    """A number without a unit that is probably not meant, as a delay of 300 s.

    It says `FILE:LINE: KEY: why; how to mend it`.
    """


class TraceError(StrandcastError, ValueError):
    """A trace that can't be read: `FILE:LINE: what is wrong; how to mend it`.

    Attributes:
        file: The trace's file, as it was named.
        line: The line the mistake is in, from 1; None if the file itself can't be read.
        problem: What is wrong, and how to mend it.
    """

    def __init__(self, message: str, *, file: str = "", line: int | None = None, problem: str = "") -> None:
        super().__init__(message)
        self.file, self.line, self.problem = file, line, problem

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), self.__dict__)


class SchemeError(StrandcastError, ValueError):
    """A scheme that does not exist, or a parameter it can't have."""


class NetworkError(StrandcastError, ConnectionError):
    """This machine's network, or a peer that is silent, gone or refuses."""

    exit_code = 4


class PolicyError(StrandcastError, ValueError):
    """A policy's answer that makes no sense, as a path that is closed or a window below nothing."""

    exit_code = 1


class ContractError(StrandcastError, AssertionError):
    """A policy that breaks the contract every policy must keep.

    Attributes:
        seed: The case that shows it.
    """

    exit_code = 1

    def __init__(self, message: str, seed: int) -> None:
        super().__init__(message)
        self.seed = seed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.seed)


class MetricError(StrandcastError, KeyError):
    """A metric or subject that no run has."""

    __str__ = Exception.__str__


class SweepError(StrandcastError):
    """A sweep that can't be made as requested, or that could not continue; finished runs are kept."""


class StoreError(SweepError):
    """Results that can't be written or read."""

    exit_code = 3


class ClusterError(SweepError):
    """A Dask cluster that can't be reached, was lost, or has workers that are not like this process."""

    exit_code = 5


class EpochError(ClusterError):
    """A worker whose package gives other results than this one's."""


def _rebuild(kind: type[StrandcastError], message: str, fields: dict[str, Any]) -> StrandcastError:
    """The error, on its way between processes."""
    return kind(message, **fields)
