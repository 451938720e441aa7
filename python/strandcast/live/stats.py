"""Figures of a stream, as `strandcast send --stats` writes them.

The fields have the names of the JSON. Names tell the unit: `_bps` bit/s, `_ms` milliseconds, `_s` seconds, `_bytes`
bytes; `bytes` are bytes, `seconds` seconds, shares from 0 to 1.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Hashable, Mapping
from typing import Any, Literal, TypeVar

Role = Literal["send", "receive", "both"]
"""The side of a stream."""

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
    """Sender: messages that had expired or would have arrived late; receiver: messages too late to be played."""
    messages_dropped: int
    """Sender: messages of frames that the scheme gave up before any of them was sent."""
    drops: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Sender: messages that were dropped, by cause."""
    late_by: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that were late or lost, by cause."""
    held_s: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Sender: time for which new data waited, by reason, seconds."""
    before: int = 0
    """Receiver: messages sent before the first one that came."""
    lost: int
    """Receiver: messages that never arrived."""
    unread: int = 0
    """Receiver: messages that an output did not take: it was not read, or could not be written."""
    shifts: int
    """Receiver: how often playout was shifted to later."""
    shift_ms: float
    """Receiver: the current shift, milliseconds."""
    clock_jumps: int
    """Receiver: jumps of the sender's clock."""
    buffer_ms: float | None
    """Media waiting to be sent or played, milliseconds; None: not known."""
    buffer_bytes: int
    """Bytes waiting to be sent or acknowledged."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BufferNow:
    """One buffer of the transport."""

    used_bytes: int
    """Bytes in it."""
    most_used_bytes: int
    """The maximum so far, bytes."""
    size_bytes: int
    """Current size of the buffer, bytes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BuffersNow:
    """Both buffers of an association, and the time that they and the peer's blocked sending."""

    limit_bytes: int | None = None
    """Limit of either, bytes; None: no limit."""
    send: BufferNow
    """Data submitted and not yet acknowledged."""
    receive: BufferNow
    """Data waiting for earlier ones, or to be read."""
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
    """Payload of messages that left, each once, and of messages received, bytes."""
    overhead: float | None
    """Bytes sent and received by bytes of media; None: no media."""
    redundant_bytes: int
    """Bytes that were sent and not needed: copies, needless retransmissions, repair symbols."""
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
    """A path at one moment. Its counters are those of its link since the start, over all connections."""

    id: int = 0
    """Number of the link, which it keeps when it is renamed, closed and opened again."""
    name: str
    """Interface or address."""
    state: str
    """`active`, `potentially-failed`, `inactive`, `unconfirmed`, `suspended` or `closed`."""
    rate_bps: float
    """Payload rate over the interval of the figures, copies and retransmissions included, bit/s."""
    capacity_bps: float | None = None
    """The most that the link is known to carry, bit/s; None: it is not measured."""
    capacity_age_s: float | None = None
    """Time since the link, not the source, limited the rate, seconds; None: never, and it carries that much or more."""
    headroom_bps: float | None = None
    """Rate that it could carry in addition, bit/s."""
    rtt_ms: float | None
    """Smoothed round-trip time, milliseconds; None: not measured yet."""
    loss: float | None
    """Share of the chunks of the last 10 s that were lost; None: a receiver does not know it, or none was sent."""
    loss_total: float | None = None
    """Share of all chunks sent that were lost; None: a receiver does not know it."""
    chunks: int = 0
    """Chunks sent, copies and retransmissions included."""
    chunks_lost: int = 0
    """Chunks of `chunks` that were lost."""
    window_bytes: int | None
    """Congestion window, bytes; None: a receiver has none to show."""
    in_flight_bytes: int
    """Bytes in flight."""
    bytes: int
    """Payload since the start, bytes."""
    down_s: float
    """Time that it was not usable, seconds."""
    opportunistic_resends: int | None = None
    """Chunks also sent here since they blocked a buffer on a slower path."""
    head_of_line_penalties: int | None = None
    """Reductions of its window since its data blocked a buffer."""
    estimates: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Values of the scheme's estimators, by name."""
    allowance_bytes: int | None = None
    """Bytes left of its link's allowance; None: it has none."""
    link: LinkNow | None = None
    """Counters of its link; None: it is not wireless."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GivenUpNow:
    """Messages of a sender that went no further, by cause."""

    unsent: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages of which nothing was sent."""
    abandoned: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages of which something was sent."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CodingNow:
    """Symbols of a stream where either side codes."""

    sends: str | None
    """Way in which this side codes its data, `blocks` or `repair`; None: it does not."""
    receives: str | None
    """Way in which the peer codes its data; None: it does not."""
    allowed: float | None
    """The greatest redundancy that is allowed; None: there is no cap."""
    redundancy: float | None
    """Bytes of repair symbols by bytes of source symbols sent; None: no source symbol was sent."""
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
    """Source symbols that had been recovered before, or arrived again."""
    repairs_received: int
    """Repair symbols that arrived."""
    repairs_unused: int
    """Repair symbols that brought nothing new."""
    recovered: int
    """Messages (of blocks: source symbols) that were computed from repair symbols."""
    symbols_refused: int
    """Symbols that were dropped."""
    damaged: int
    """Results that are not messages, since a symbol was forged."""


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
    """Reason of the last refusal; None: not refused yet."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A stream at one moment."""

    seconds: float
    """Time since the start of the sender, or of the stream that is received, seconds."""
    interval_s: float = 0.0
    """Time over which rates are, about a second."""
    role: Role
    """The side."""
    stream: str | None = None
    """Number of the stream, the same at both ends; None: not known."""
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
    """The scheme's last advice for an encoder; None: nothing yet."""
    paths: tuple[PathNow, ...]
    """Every path."""
    diagnostics: tuple[str, ...]
    """The scheme's diagnostics of its own state."""
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """The scheme's own counters, by name."""
    given_up: GivenUpNow = dataclasses.field(default_factory=GivenUpNow)
    """Messages that went no further."""
    coding: CodingNow | None = None
    """Symbols; None: neither side codes."""
    link_monitor: LinkMonitorNow | None = None
    """Queries of links' counters; None: there is no wireless link."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SendSummary:
    """A whole stream as its sender has seen it, as `strandcast send --json` prints it."""

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
    """Bytes of media in them."""
    expired: int
    """Messages that expired before delivery, as far as the sender has received reports."""
    messages_dropped: int
    """Messages of frames that the scheme gave up before any of them was sent."""
    drops: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that were dropped, by cause: the causes of `events.Dropped`."""
    late_by: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that expired or were dropped, by what held each up longest."""
    held_s: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Time for which new data waited, by reason, seconds."""
    reconnects: int
    """Associations after the first."""
    outages: int
    """Times without packets from the receiver for 2 s, or without an association."""
    longest_outage_s: float
    """The longest of them, seconds."""
    input_gaps: int
    """Packets missing in the input itself."""
    input_resyncs: int
    """Losses of sync in the input."""
    buffers: BuffersNow
    """Buffers of the transport, of the last association."""
    wire: WireNow
    """Bytes of the media on the wire, over all associations."""
    paths: tuple[PathNow, ...]
    """The paths at their last, with what they carried in all."""
    diagnostics: tuple[str, ...]
    """The scheme's diagnostics at the end."""
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """The scheme's own counters, of the last association."""
    given_up: GivenUpNow = dataclasses.field(default_factory=GivenUpNow)
    """Messages of the last association that went no further."""
    coding: CodingNow | None = None
    """Symbols; None: none was sent."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OutputNow:
    """Messages of a stream that an output did not take."""

    name: str
    """The output."""
    unread: int
    """Messages that were dropped since it was not read."""
    unsent: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that it could not write, by reason."""
    failed: str | None = None
    """Why it has ended; None: it has not."""
    stopped: bool = False
    """True if it was stopped by request."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveSummary:
    """A whole stream as its receiver has seen it, as `strandcast receive --json` prints it."""

    sender: str
    """The sender."""
    seconds: float
    """Time since its first message arrived, seconds."""
    latency_ms: int
    """Time from sending to playing, milliseconds."""
    played: int
    """Messages played in time."""
    bytes: int
    """Bytes of media in them."""
    late: int
    """Messages that arrived late."""
    lost: int
    """Messages that never arrived."""
    late_by: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Messages that were late or lost, by cause."""
    before: int = 0
    """Messages sent before the first one that came."""
    malformed: int
    """Malformed messages."""
    unread: int
    """Messages that were dropped since an output was not read."""
    unsent: int = 0
    """Messages that an output could not write."""
    outputs: tuple[OutputNow, ...] = ()
    """Each output."""
    identical: bool | None
    """Whether everything sent was played unchanged; None: the end of the stream did not arrive."""
    complete: bool
    """Whether the end of the stream arrived."""
    underflows: int
    """Times at which what was due was not there."""
    longest_gap_ms: float
    """The longest of these gaps, milliseconds."""
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
    """Symbols; None: none arrived."""
    outages: int
    """Times without packets from the sender for 2 s, or without an association."""
    longest_outage_s: float
    """The longest of them, seconds."""


def loaded(kind: type[_T], fields: Mapping[str, Any]) -> _T:
    """A dataclass from the fields of its JSON. Unknown fields are left out."""
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
