"""Events of a stream, each also as one line of text.

`match event: case events.Dropped(messages=n): …`; `str(event)` is the line that `strandcast send` and `strandcast
receive` print.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Literal

from strandcast.live.stats import ReceiveSummary, Role, SendSummary, loaded
from strandcast.live.stats import Stats as Figures

Cause = Literal[
    "not-connected", "no-path", "packet-size", "receiver", "allowance", "suspended", "burst", "capacity"
]  # fmt: skip
"""Cause for which a sender drops messages: `packet-size` means that large packets do not arrive although small ones do.
"""

Change = Literal[
    "silent", "failed", "over", "mute", "joined", "returned", "gone", "left-out", "narrow", "renamed"
]  # fmt: skip
"""Change of a path: a path that is `gone` has no interface, address or route, and a path that is `left-out` cannot be
used.
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base class of events. An event for which this version has no class has only its text."""

    text: str
    """Event in one line; the event of a summary has several lines."""

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stats(Event):
    """New figures, about four times per second. Only the newest unread event of this kind is kept."""

    stats: Figures
    """The figures."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Missed(Event):
    """Events were dropped because the program did not read them."""

    events: int
    """Number of dropped events."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic(Event):
    """The scheme lacks an input."""

    scheme: str
    """The scheme."""
    what: str
    """Description of what the scheme lacks."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unprotected(Event):
    """Nothing is encrypted or authenticated."""

    role: Role
    """Role of this endpoint: sender or receiver."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Event):
    """Playout was shifted to later."""

    seconds: float
    """Time since the stream began, seconds."""
    peer: str
    """The sender."""
    by_ms: float
    """The amount, milliseconds."""
    shift_ms: float
    """The total shift, milliseconds."""
    why: str
    """The cause."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShiftReturned(Event):
    """Playout has recovered from all shifts."""

    seconds: float
    """Time since the stream began, seconds."""
    peer: str
    """Name of the sender."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outage(Event):
    """No packets arrive from the peer."""

    seconds: float
    """Time since the sender started, or the stream that is received began, seconds."""
    peer: str
    """The peer."""
    lost: bool
    """Whether the connection was lost, which another event reports as well."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OutageOver(Event):
    """Packets arrive again."""

    seconds: float
    """Time since the sender started, or the stream that is received began, seconds."""
    peer: str
    """The peer."""
    outage_s: float
    """Duration of the outage, seconds."""
    lost: bool
    """Whether the connection was lost, which another event reports as well."""
    returned: bool
    """False if the stream ended before anything came."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ClockJump(Event):
    """The sender's clock jumped."""

    seconds: float
    """Time since the stream began, seconds."""
    peer: str
    """The sender."""
    by_ms: float
    """The amount, milliseconds; forward is positive."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sending(Event):
    """The sender begins to connect."""

    input: str
    """Input of the sender."""
    to: str
    """The receiver."""
    over: str
    """The paths."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PathMissing(Event):
    """A path cannot be used yet."""

    path: str
    """The path."""
    why: str
    """The reason."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pace(Event):
    """The input is paced by a clock other than its PCR at the source."""

    input: str
    """The input."""
    how: str
    """The clock."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShortLatency(Event):
    """The latency is shorter than the quickest round trip."""

    latency: float
    """The playout latency, seconds."""
    rtt: float
    """The quickest round trip, seconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NoMedia(Event):
    """The input has no transport stream yet."""

    input: str
    """The input."""
    like: str
    """Kind of data that the input resembles."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Capped(Event):
    """The allowance of a link begins to count."""

    link: str
    """The link."""
    left: int
    """Bytes that may be used."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Allowance(Event):
    """The remaining allowance of a link in this month of its plan.

    It is reported at the start, when the link appears, and at the start of another month.
    """

    link: str
    """The link."""
    left: int
    """Bytes that may still be used."""
    of: int
    """Bytes of the whole month."""
    until: str
    """First day of the next month, as `2026-12-15` (UTC)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ledger(Event):
    """The ledger of monthly allowances cannot be written. The stream continues."""

    why: str
    """The reason."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Encrypted(Event):
    """The first connection is open and encrypted."""

    cipher: str
    """The cipher."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Waiting(Event):
    """There is no connection yet."""

    why: str
    """The reason."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lost(Event):
    """The connection is lost; the sender connects again."""

    why: str
    """The reason."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Event):
    """The receiver refuses the stream; the sender tries again."""

    why: str
    """The reason."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Connected(Event):
    """The sender is connected again."""

    peer: str
    """Name of the receiver."""
    after: float | None
    """Time without a connection, seconds; None: not known."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Admitted(Event):
    """The receiver, which had refused, plays the stream."""

    peer: str
    """The receiver."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Path(Event):
    """A path changes."""

    path: str
    """Name of the path."""
    state: Change
    """The change."""
    why: str | None
    """Reason of `mute`, `gone` and `left-out`."""
    before: str | None
    """Earlier name, of `renamed`."""
    after: float | None
    """Time in seconds for which the path was absent, for `returned`."""
    mtu: int | None = None
    """Largest packet size of the path from now on, in bytes, for `narrow`: larger packets do not arrive."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Dropped(Event):
    """Messages are dropped. The event repeats every 10 s while messages are dropped."""

    cause: Cause
    """Cause of most of these drops."""
    messages: int
    """Number of messages since the stream began."""
    share: float
    """Share of the messages of the last `seconds` that were dropped."""
    seconds: float
    """Time over which share and rates are measured, at most 10 s."""
    input_bps: float
    """Rate of the input, bit/s."""
    carried_bps: float
    """Rate of the messages that were not dropped, bit/s."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DropsOver(Event):
    """No message was dropped for 5 s."""

    messages: int
    """Number of messages that were dropped."""
    after: float
    """Time for which messages were dropped, seconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Idle(Event):
    """No input came for 2 s."""

    what: str
    """The input, or the sender whose input it is."""
    role: Literal["send", "receive"]
    """Role of the endpoint that reports the event."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InputTrouble(Event):
    """The input has a problem, for example an encoder that was refused."""

    input: str
    """The input."""
    why: str
    """The problem."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class IdleOver(Event):
    """Input comes again."""

    what: str
    """The input, or the sender whose input it is."""
    after: float
    """Time without input, seconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Event):
    """The scheme advises the encoder."""

    seconds: float
    """Time since the sender started, seconds."""
    rate_bps: int
    """Rate that arrives in time, bit/s of payload."""
    safe_bps: int
    """Rate that would arrive in time without the path that carries most, bit/s."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sent(Event):
    """The stream that was sent is over."""

    summary: SendSummary
    """Figures of the stream."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Listening(Event):
    """The receiver listens."""

    addresses: tuple[str, ...]
    """Addresses and ports on which the receiver listens, as `"192.0.2.1:9899"`."""
    output: str
    """Output of the receiver."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Socket(Event):
    """An address that the receiver listens on fails or returns."""

    state: Literal["lost", "failed", "restored"]
    """State of the socket. `lost`: it failed and is opened again. `failed`: it cannot be opened yet. `restored`: it is
    open again.
    """
    address: str | None
    """The address; None if only the text contains it."""
    why: str | None
    """The reason; None if the socket is open again."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Enrolled(Event):
    """A sender has paired."""

    sender: str
    """Short form of its key."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NotAdmitted(Event):
    """A sender was refused, because the store does not admit it."""

    sender: str
    """Short form of its key."""
    address: str
    """Address of the sender."""
    known: bool
    """Whether the sender is in the store."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OtherSealVersion(Event):
    """A sender uses another version of sealed datagrams."""

    address: str
    """Address of the sender."""
    version: int
    """Version that the sender uses."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StoreTrouble(Event):
    """The store of keys cannot be read or written."""

    what: str
    """Description of the error."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Receiving(Event):
    """A stream begins."""

    peer: str
    """The sender."""
    latency: float
    """Time from sending to playing, seconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(Event):
    """The stream continues over another association."""

    before: str
    """Earlier name of the sender."""
    peer: str
    """Present name of the sender."""
    after: float
    """Time without the sender, seconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Replaced(Event):
    """Another sender takes the place of the current one."""

    before: str
    """The current sender."""
    peer: str
    """The new sender."""
    same_key: bool
    """Whether the new sender has the same key."""
    silent: float
    """Time in seconds for which nothing arrived from the current sender."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Busy(Event):
    """A sender was refused, because another one is being received."""

    peer: str
    """The sender."""
    current: str
    """The sender that is being received."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersion(Event):
    """A sender uses another version of the message format."""

    peer: str
    """The sender."""
    version: int
    """Version that the sender uses."""
    reads: int
    """Version that this program supports."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recording(Event):
    """The stream is recorded into a file of its own."""

    output: str
    """The file."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NotRecorded(Event):
    """The stream is not recorded, because all names for its file exist already."""

    output: str
    """The file."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unread(Event):
    """The output is not read, and messages that are due are dropped."""

    output: str
    """The output."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slate(Event):
    """No sender plays. Outputs with a slate now receive the slate."""

    slate: str
    """The slate."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SlateOver(Event):
    """Outputs with a slate receive the sender's media again, from a key frame on."""

    after: float
    """Time in seconds for which the outputs received the slate."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OutputTrouble(Event):
    """Messages were lost at an output, which continues. The event occurs once for each reason."""

    output: str
    """The output."""
    why: str
    """The reason."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OutputFailed(Event):
    """An output has failed, and others continue."""

    output: str
    """The output."""
    why: str
    """The reason."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReadAgain(Event):
    """The output is read again."""

    output: str
    """The output."""
    messages: int
    """Number of messages that were dropped while the output was not read."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Received(Event):
    """The stream that was received is over."""

    summary: ReceiveSummary
    """Figures of the stream."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SenderLost(Event):
    """The stream ended, but the sender's end of stream did not arrive."""

    why: str
    """The reason."""


KINDS: dict[str, type[Event]] = {
    name: kind for name, kind in globals().items() if isinstance(kind, type) and issubclass(kind, Event)
}
"""All classes, by name."""


def read(kind: str, text: str, fields: str) -> Event:
    """Builds an event from the name of its class, its text and its fields as JSON."""
    return loaded(KINDS[kind], {"text": text, **json.loads(fields)})
