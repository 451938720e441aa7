"""Figures of a stream, as `strandcast send --stats` writes them.

The fields have the names of the JSON. The end of a name gives the unit: `_bps` bit/s, `_ms` milliseconds, `_s` seconds,
`_bytes` bytes; `bytes` are bytes, `seconds` seconds, shares from 0 to 1.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Hashable, Mapping
from typing import Any, Literal, TypeVar

Role = Literal["send", "receive", "both"]
"""The role of an endpoint."""

State = Literal["streaming", "no-input", "outage", "connecting", "waiting"]
"""The state of a stream: `connecting` is a sender without a connection, `waiting` a receiver without a sender."""

_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MediaNow:
    """Counters of the media on either side."""

    messages: int
    """Messages submitted to the transport, or received."""
    bytes: int
    """Payload of these messages, bytes."""
    rate_bps: float = 0.0
    """Rate of these bytes over the interval of the figures, bit/s."""
    late: int
    """Sender: messages that had expired or would have arrived late; receiver: messages that arrived too late to be
    played.
    """
    messages_dropped: int
    """Sender: messages of frames that the scheme gave up before any of them was sent."""
    drops: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Sender: messages that were dropped, by cause."""
    late_by: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that were late or lost, by cause."""
    held_s: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Sender: time for which new data waited, by reason, seconds."""
    before: int = 0
    """Receiver: messages sent before the first received message."""
    lost: int
    """Receiver: messages that never arrived."""
    unread: int = 0
    """Receiver: messages that an output did not take, because it was not read or could not be written."""
    shifts: int
    """Receiver: number of shifts of playout to a later time."""
    shift_ms: float
    """Receiver: the current shift, milliseconds."""
    clock_jumps: int
    """Receiver: jumps of the sender's clock."""
    buffer_ms: float | None
    """Duration of the media that wait to be sent or played, milliseconds; None: not known."""
    buffer_bytes: int
    """Bytes waiting to be sent or acknowledged."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BufferNow:
    """One buffer of the transport."""

    used_bytes: int
    """Bytes in the buffer."""
    most_used_bytes: int
    """The maximum so far, bytes."""
    size_bytes: int
    """Current size of the buffer, bytes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BuffersNow:
    """Both buffers of an association, and the time for which a full buffer at either end blocked sending."""

    limit_bytes: int | None = None
    """Limit of each buffer, bytes; None: no limit."""
    send: BufferNow
    """Send buffer: data submitted and not yet acknowledged."""
    receive: BufferNow
    """Receive buffer: data that wait for earlier data or for the application."""
    send_blocked_s: float
    """Time in which only the full send buffer blocked sending, seconds."""
    peer_blocked_s: float
    """Time in which only the peer's full receive buffer blocked sending, seconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WireNow:
    """Bytes of an association on the wire."""

    sent_bytes: int
    """Datagrams sent on all paths, with headers of IP and UDP and the seal, bytes."""
    received_bytes: int
    """Datagrams received, bytes."""
    sent_bps: float = 0.0
    """Rate of the sent bytes over the interval of the figures, bit/s."""
    received_bps: float = 0.0
    """Rate of the received bytes over the interval of the figures, bit/s."""
    media_bytes: int
    """Payload bytes of messages that were sent, each counted once, and of messages received."""
    overhead: float | None
    """Bytes sent and received, divided by the bytes of media; None: no media."""
    redundant_bytes: int
    """Bytes that were sent without need: copies, needless retransmissions, repair symbols."""
    redundancy: float | None
    """`redundant_bytes` divided by the bytes of media sent; None: no media were sent."""
    redundancy_refused: int
    """Copies and repair symbols that the cap refused."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AdviceNow:
    """The scheme's last advice for an encoder."""

    rate_bps: int
    """Rate that arrives in time, bit/s of payload."""
    safe_bps: int
    """Rate that would arrive in time without the path that carries most, bit/s."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LinkNow:
    """Counters of a wireless link since they were first read."""

    tx_frames: int
    """Transmissions, including retransmissions."""
    tx_retries: int
    """Retransmissions."""
    tx_failed: int
    """Frames given up."""
    rx_frames: int
    """Frames received."""
    rx_errors: int
    """Frames received in error."""
    signal_dbm: int | None
    """Signal strength, dBm; None: not known."""
    rate_bps: float | None
    """Rate of transmission, bit/s; None: not known."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PathNow:
    """A path at one moment. The counters belong to the link of the path.

    They count from the start, over all connections.
    """

    id: int = 0
    """Number of the link. The link keeps its number when it is renamed, closed and opened again."""
    name: str
    """Interface or address."""
    state: str
    """`active`, `potentially-failed`, `inactive`, `unconfirmed`, `suspended` or `closed`."""
    rate_bps: float
    """Payload rate over the interval of the figures, with copies and retransmissions, bit/s."""
    capacity_bps: float | None = None
    """Greatest rate that the link is known to carry, bit/s; None: not measured."""
    capacity_age_s: float | None = None
    """Time since the link, not the source, limited the rate, seconds. None: the link never limited it, and carries at
    least `capacity_bps`.
    """
    headroom_bps: float | None = None
    """Rate that the link could carry in addition, bit/s."""
    rtt_ms: float | None
    """Smoothed round-trip time, milliseconds; None: not measured yet."""
    loss: float | None
    """Share of the chunks of the last 10 s that were lost; None: no chunk was sent, or this endpoint is a receiver,
    which has no such number.
    """
    loss_total: float | None = None
    """Share of all sent chunks that were lost; None: this endpoint is a receiver, which has no such number."""
    chunks: int = 0
    """Number of chunks sent, with copies and retransmissions."""
    chunks_lost: int = 0
    """Number of these chunks that were lost."""
    window_bytes: int | None
    """Congestion window, bytes; None: this endpoint is a receiver."""
    in_flight_bytes: int
    """Bytes in flight."""
    bytes: int
    """Payload since the start, bytes."""
    down_s: float
    """Time for which the link was not usable, seconds."""
    opportunistic_resends: int | None = None
    """Number of chunks that were also sent here because they blocked a buffer on a slower path."""
    head_of_line_penalties: int | None = None
    """Number of reductions of the path's window because its data blocked a buffer."""
    estimates: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Values of the scheme's estimators, by name."""
    allowance_bytes: int | None = None
    """Bytes left of the link's allowance; None: the link has no allowance."""
    link: LinkNow | None = None
    """Counters of the link; None: the link is not wireless."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GivenUpNow:
    """Messages that a sender gave up, by cause."""

    unsent: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages of which nothing was sent."""
    abandoned: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages of which something was sent."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CodingNow:
    """Symbols of a stream in which an endpoint codes its data."""

    sends: str | None
    """Way in which this endpoint codes its data, `blocks` or `repair`; None: it does not code."""
    receives: str | None
    """Way in which the peer codes its data; None: it does not code."""
    allowed: float | None
    """The greatest redundancy that is allowed; None: there is no cap."""
    redundancy: float | None
    """Bytes of repair symbols divided by bytes of source symbols, as sent; None: no source symbol was sent."""
    sources_sent: int
    """Source symbols sent, each once."""
    source_bytes: int
    """Bytes of these source symbols, with symbol headers."""
    repairs_sent: int
    """Repair symbols sent."""
    repair_bytes: int
    """Bytes of these repair symbols, with symbol headers."""
    sources_received: int
    """Source symbols that arrived."""
    sources_late: int
    """Source symbols that arrived although they had been recovered or had arrived before."""
    repairs_received: int
    """Repair symbols that arrived."""
    repairs_unused: int
    """Repair symbols without new information."""
    recovered: int
    """Messages that were computed from repair symbols; with blocks, source symbols."""
    symbols_refused: int
    """Symbols that were dropped."""
    damaged: int
    """Recovered data that are not messages, because a symbol was forged."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LinkMonitorNow:
    """Queries of the links' counters, by outcome."""

    readings: int
    """Answers with counters."""
    alone: int
    """Answers without a station."""
    refused: int
    """Refusals."""
    why: str | None
    """Reason of the last refusal; None: there was no refusal."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A stream at one moment."""

    seconds: float
    """Time since the start of the sender, or of the stream that is received, seconds."""
    interval_s: float = 0.0
    """Time over which rates are averaged, about a second."""
    role: Role
    """The side."""
    stream: str | None = None
    """Number of the stream, equal at both ends; None: not known."""
    state: State = "streaming"
    """State of the stream."""
    peer: str
    """The peer."""
    scheme: str
    """The scheme."""
    media: MediaNow
    """The media."""
    buffers: BuffersNow
    """Buffers of the transport."""
    wire: WireNow
    """Bytes of the media on the wire."""
    advice: AdviceNow | None = None
    """The scheme's last advice for an encoder; None: no advice yet."""
    paths: tuple[PathNow, ...]
    """Every path."""
    diagnostics: tuple[str, ...]
    """The scheme's diagnostics of its own state."""
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """The scheme's own counters, by name."""
    given_up: GivenUpNow = dataclasses.field(default_factory=GivenUpNow)
    """Messages that the sender gave up."""
    coding: CodingNow | None = None
    """Symbols; None: no endpoint codes its data."""
    link_monitor: LinkMonitorNow | None = None
    """Queries of links' counters; None: there is no wireless link."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SendSummary:
    """Summary of a whole stream at its sender, as `strandcast send --json` prints it."""

    input: str
    """Input of the sender."""
    peer: str
    """The receiver."""
    scheme: str
    """The scheme."""
    seconds: float
    """Time since the start, seconds."""
    messages: int
    """Messages submitted to the transport."""
    bytes: int
    """Bytes of media in these messages."""
    expired: int
    """Messages that expired before delivery, as far as the receiver has reported them."""
    messages_dropped: int
    """Messages of frames that the scheme gave up before any of them was sent."""
    drops: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Dropped messages, by cause. The causes are those of `events.Dropped`."""
    late_by: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that expired or were dropped, by the cause that delayed each message longest."""
    held_s: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Time for which new data waited, by reason, seconds."""
    reconnects: int
    """Associations after the first."""
    outages: int
    """Number of outages: times of at least 2 s without packets from the receiver, and times without an association."""
    longest_outage_s: float
    """Duration of the longest outage, seconds."""
    input_gaps: int
    """Packets missing in the input itself."""
    input_resyncs: int
    """Losses of sync in the input."""
    buffers: BuffersNow
    """Buffers of the transport, of the last association."""
    wire: WireNow
    """Bytes of the media on the wire, over all associations."""
    paths: tuple[PathNow, ...]
    """State of the paths at the end, with the total bytes of each."""
    diagnostics: tuple[str, ...]
    """The scheme's diagnostics at the end."""
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """The scheme's own counters, of the last association."""
    given_up: GivenUpNow = dataclasses.field(default_factory=GivenUpNow)
    """Messages of the last association that the sender gave up."""
    coding: CodingNow | None = None
    """Symbols; None: no symbol was sent."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OutputNow:
    """Messages of a stream that an output did not take."""

    name: str
    """The output."""
    unread: int
    """Messages that were dropped because the output was not read."""
    unsent: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that the output could not write, by reason."""
    failed: str | None = None
    """Reason why the output ended; None: it has not ended."""
    stopped: bool = False
    """True if the output was stopped by request."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveSummary:
    """Summary of a whole stream at its receiver, as `strandcast receive --json` prints it."""

    sender: str
    """The sender."""
    seconds: float
    """Time since the first message of the stream arrived, seconds."""
    latency_ms: int
    """Time from sending to playing, milliseconds."""
    played: int
    """Messages played in time."""
    bytes: int
    """Bytes of media in the played messages."""
    late: int
    """Messages that arrived late."""
    lost: int
    """Messages that never arrived."""
    late_by: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that were late or lost, by cause."""
    before: int = 0
    """Messages sent before the first received message."""
    malformed: int
    """Malformed messages."""
    unread: int
    """Messages that were dropped because an output was not read."""
    unsent: int = 0
    """Messages that an output could not write."""
    outputs: tuple[OutputNow, ...] = ()
    """Each output."""
    identical: bool | None
    """Whether everything sent was played unchanged; None: the end of the stream did not arrive."""
    complete: bool
    """Whether the end of the stream arrived."""
    underflows: int
    """Number of underflows: times at which a message was due and absent."""
    longest_gap_ms: float
    """Duration of the longest gap that an underflow caused, milliseconds."""
    continuity: float
    """Share of the playing time without gaps."""
    shifts: int
    """Shifts of playout beyond the latency."""
    shift_ms: float
    """The shift at the end, milliseconds."""
    largest_shift_ms: float
    """The largest shift, milliseconds."""
    clock_jumps: int
    """Jumps of the sender's clock."""
    reconnects: int
    """Associations after the first."""
    buffers: BuffersNow
    """Buffers of the transport, of the last association."""
    wire: WireNow
    """Bytes of the media on the wire, over all associations."""
    coding: CodingNow | None = None
    """Symbols; None: no symbol arrived."""
    outages: int
    """Number of outages: times of at least 2 s without packets from the sender, and times without an association."""
    longest_outage_s: float
    """Duration of the longest outage, seconds."""


def loaded(kind: type[_T], fields: Mapping[str, Any]) -> _T:
    """Builds a dataclass from the fields of its JSON. Unknown fields are left out."""
    hints = _hints(typing.cast(Hashable, kind))
    return kind(**{name: _value(hints[name], value) for name, value in fields.items() if name in hints})


@functools.cache
def _hints(kind: Hashable) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _value(hint: Any, value: Any) -> Any:
    if isinstance(hint, types.UnionType) and value is not None:
        hint = next(one for one in typing.get_args(hint) if one is not type(None))
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return loaded(typing.cast(type, hint), value)
    if typing.get_origin(hint) is tuple:
        element = typing.get_args(hint)[0]
        return tuple(_value(element, one) for one in value)
    return value
