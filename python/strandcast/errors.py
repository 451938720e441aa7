"""Errors, each with one clear line."""

from __future__ import annotations

from typing import Any, ClassVar


class StrandcastError(Exception):
    """Base class of all errors of this package.

    Attributes:
        exit_code: Exit code of the command when this error ends a subcommand, as in `strandcast --help`.
    """

    exit_code: ClassVar[int] = 2


class ScenarioError(StrandcastError, ValueError):
    """A mistake in a scenario: `FILE:LINE: KEY: what is wrong; how to correct it`.

    Attributes:
        file: Name of the scenario's file, as the caller gave it.
        line: Line of the mistake, counted from 1; None if it is not in a line.
        setting: Setting (`KEY=VALUE`) that contains the mistake; None if the file contains it.
        key: Full name of the wrong key (`links.b.rate`); empty if the mistake is not in a key.
        problem: Description of the mistake, and how to correct it.
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
    """A number without a unit that is probably a mistake, such as a delay of 300 s.

    Its text is `FILE:LINE: KEY: why; how to correct it`.
    """


class TraceError(StrandcastError, ValueError):
    """A trace that can't be read: `FILE:LINE: what is wrong; how to correct it`.

    Attributes:
        file: Name of the trace's file, as the caller gave it.
        line: Line of the mistake, counted from 1; None if the file itself can't be read.
        problem: Description of the mistake, and how to correct it.
    """

    def __init__(self, message: str, *, file: str = "", line: int | None = None, problem: str = "") -> None:
        super().__init__(message)
        self.file, self.line, self.problem = file, line, problem

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), self.__dict__)


class SchemeError(StrandcastError, ValueError):
    """A scheme that does not exist, or a parameter that the scheme does not have."""


class NetworkError(StrandcastError, ConnectionError):
    """A fault of this machine's network, or a peer that is silent, has left or refuses."""

    exit_code = 4


class PolicyError(StrandcastError, ValueError):
    """An invalid answer of a policy, such as a closed path or a negative window."""

    exit_code = 1


class ContractError(StrandcastError, AssertionError):
    """A policy that breaks the contract of all policies.

    Attributes:
        seed: Seed of the case that shows the fault.
    """

    exit_code = 1

    def __init__(self, message: str, seed: int) -> None:
        super().__init__(message)
        self.seed = seed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.seed)


class MetricError(StrandcastError, KeyError):
    """A metric or subject that is in no run."""

    __str__ = Exception.__str__


class SweepError(StrandcastError):
    """A sweep that can't be made as requested, or that could not continue. Finished runs are kept."""


class StoreError(SweepError):
    """Results that can't be written or read."""

    exit_code = 3


class ClusterError(SweepError):
    """A Dask cluster that can't be reached, was lost, or has workers whose versions differ from this process."""

    exit_code = 5


class EpochError(ClusterError):
    """A worker whose package gives other results than the package of this process."""


def _rebuild(kind: type[StrandcastError], message: str, fields: dict[str, Any]) -> StrandcastError:
    """Builds the error again in another process."""
    return kind(message, **fields)
