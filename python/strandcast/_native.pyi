# ruff: noqa: A002, PYI021 - signals have the names of their fields, and what policies see has its documentation here.
import pathlib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, final

from typing_extensions import disjoint_base

RESULTS_EPOCH: int
VERSION: str
COMMIT: str | None
FEWEST: int
MOST_RUNS: int
RARE: tuple[str, str, str]

@final
class Source:
    def __new__(cls, text: str, file: str, sets: Sequence[str], files: Mapping[str, str]) -> Source: ...
    def canonical(self, spec: str) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def sets(self) -> list[str]: ...
    @property
    def files(self) -> dict[str, str]: ...
    @property
    def portable(self) -> tuple[str, dict[pathlib.Path, str]]: ...
    @property
    def noted(self) -> list[str]: ...
    @property
    def written(self) -> str: ...
    @property
    def profiles(self) -> dict[str, str]: ...
    @property
    def title(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def runs(self) -> int: ...

@final
class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class Results:
    def runs(self) -> Table: ...
    def summary(self) -> Table: ...
    def series(self) -> Table: ...
    def frames(self) -> Table: ...
    def json(self) -> str: ...
    def fingerprints(self) -> list[tuple[str, int, str]]: ...
    def time_s(self) -> float: ...

@final
class View:
    """A snapshot of all paths. It does not change later."""

    @property
    def now(self) -> float:
        """Time of the call, seconds since the run or the process began."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """All slots, those of closed paths included: `paths[id]`."""

    @property
    def usable(self) -> tuple[Path, ...]:
        """Paths that data may use, lowest id first. These are the active paths or, without an active path,
        the path with the fewest errors.
        """

    @property
    def rwnd(self) -> int:
        """Free bytes of the peer's receive window."""

    @property
    def in_flight(self) -> int:
        """Bytes in flight over all paths."""

    @property
    def last_path_used(self) -> int | None:
        """Path on which the last new data left."""

    @property
    def primary(self) -> int:
        """Path that the application requested, once it is confirmed; otherwise the path of the handshake."""

    @property
    def peer_reports(self) -> bool:
        """True if the peer is a Strandcast peer, which receives the reports of schemes."""

    @property
    def blocked(self) -> Blocked | None:
        """Chunk that prevents new data from being sent although a usable path has room. None if there is
        no such chunk.
        """

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks that the receiver has not completed, oldest first; empty unless the association codes in blocks."""

@final
class Block:
    """A block of source symbols that the receiver has not completed."""

    @property
    def number(self) -> int:
        """Number of the block; blocks are numbered from 0 in the order of their messages, modulo 2^32."""

    @property
    def sources(self) -> int:
        """Number of its source symbols so far; once it is closed, of all of them."""

    @property
    def closed(self) -> bool:
        """True if no further source symbol joins it. Only closed blocks have repair symbols."""

    @property
    def rank(self) -> int:
        """Number of its independent symbols that arrived. The block is complete at `sources`."""

    @property
    def sources_sent(self) -> int:
        """Number of its source symbols that were sent, in their order."""

    @property
    def repairs_sent(self) -> int:
        """Number of its repair symbols that were sent."""

    def in_flight(self, path: int) -> tuple[int, int]:
        """Source symbols and repair symbols of it in flight on a path."""

@final
class SymbolAssignment:
    """The next symbol and its path: the answer of `Scheduler.next_symbol`.

    Args:
        path: Path of the symbol. The path must have room.
        block: Number of the block, one of `View.blocks`.
        repair: If true, the symbol is a new repair symbol; otherwise it is the block's next source symbol.
    """

    def __new__(cls, path: int, block: int, repair: bool = False) -> SymbolAssignment: ...
    @property
    def path(self) -> int:
        """Path of the symbol."""

    @property
    def block(self) -> int:
        """Block of the symbol."""

    @property
    def repair(self) -> bool:
        """True for a new repair symbol, false for the next source symbol."""

@final
class RepairOffer:
    """A repair symbol that is due in addition to messages."""

    @property
    def len(self) -> int:
        """Size of its chunk in a window, bytes."""

    @property
    def first(self) -> int:
        """Number of the first source symbol that it covers."""

    @property
    def sources(self) -> int:
        """Number of messages that it covers."""

    @property
    def sent_on(self) -> list[int]:
        """Number of covered messages that each path carried and that are not acknowledged. Paths at the
        end of the list may be missing.
        """

    @property
    def expires(self) -> tuple[float, float] | None:
        """Times at which the first and the last covered message become worthless, by the clock of `View.now`."""

@final
class Symbol:
    """Symbol of a block or window that a chunk carries."""

    @property
    def block(self) -> int:
        """Number of the block, or of the first source symbol that it covers."""

    @property
    def sources(self) -> int:
        """Number of source symbols of the symbol's block or window. 1 if the symbol is a source symbol of
        a window."""

    @property
    def index(self) -> int | None:
        """Position of a source symbol in its block. None for a repair symbol, which is never sent again."""

@final
class Blocked:
    """A reason why new data cannot be sent although a path has room."""

    @property
    def by(self) -> Literal["receive window", "send buffer"]:
        """Name of the full buffer. If it is the send buffer, everything in it was sent, and the application
        has more data.
        """

    @property
    def tsn(self) -> int:
        """Oldest chunk that is not acknowledged: its acknowledgement would make room."""

    @property
    def path(self) -> int:
        """Path of its last transmission."""

    @property
    def since(self) -> float:
        """Time since which this chunk blocks, seconds."""

@final
class Path:
    """A path, with the core's measurements and the scheme's estimates. None stands for a value without an estimate."""

    @property
    def id(self) -> int:
        """Number of the path: its index in `View.paths`. It is used again after the path was closed."""

    @property
    def name(self) -> str | None:
        """Name of the path in the scenario; None over real links."""

    @property
    def state(
        self,
    ) -> Literal["unconfirmed", "active", "potentially failed", "inactive", "suspended", "closed"]:
        """Reachability of the path (RFC 9260 §8.2, RFC 7829 §4.2)."""

    @property
    def mtu(self) -> int:
        """The largest DATA chunk that fits a packet, its header of 16 bytes included, bytes."""

    @property
    def srtt(self) -> float | None:
        """Smoothed round-trip time, seconds; None before the first sample."""

    @property
    def rttvar(self) -> float:
        """Round-trip time variation, seconds."""

    @property
    def latest_rtt(self) -> float | None:
        """Latest round-trip time sample, seconds."""

    @property
    def min_rtt(self) -> float | None:
        """Least round-trip time sample, seconds."""

    @property
    def rto(self) -> float:
        """Retransmission timeout with back-off and bounds, seconds."""

    @property
    def error_count(self) -> int:
        """Consecutive errors (RFC 9260 §8.2)."""

    @property
    def in_flight(self) -> int:
        """Bytes in flight: payload + 16 of each chunk."""

    @property
    def in_flight_chunks(self) -> int:
        """Chunks in flight."""

    @property
    def last_sent(self) -> float | None:
        """Time at which data last left on it, by the clock of `View.now`."""

    @property
    def link(self) -> int:
        """Number of the link of the path."""

    @property
    def tariff(self) -> Tariff:
        """Cost of data on that link."""

    @property
    def blocked(self) -> bool:
        """True if Max.Burst or pacing forbids another packet for the moment."""

    @property
    def room(self) -> int:
        """Free window in bytes, 0 while blocked. A free byte is sufficient for a packet."""

    @property
    def cwnd(self) -> int:
        """Congestion window, bytes."""

    @property
    def ssthresh(self) -> int | None:
        """Slow-start threshold, bytes."""

    @property
    def pacing(self) -> float | None:
        """Pacing rate, bit/s."""

    @property
    def bandwidth(self) -> float | None:
        """Available bandwidth, bit/s."""

    @property
    def delivery_rate(self) -> float | None:
        """Rate at which data are acknowledged, bit/s."""

    @property
    def loss(self) -> float | None:
        """Probability that a packet is lost."""

    @property
    def reference_rtt(self) -> float | None:
        """Round-trip time of the path without its queues, seconds."""

    @property
    def frame_error_rate(self) -> float | None:
        """Probability that a frame is in error on the access link."""

    @property
    def effective_snr(self) -> float | None:
        """Effective signal-to-noise ratio, linear."""

    @property
    def peer_rate(self) -> float | None:
        """Rate that the receiver requests, bit/s."""

    @property
    def extra(self) -> dict[str, float]:
        """Further estimates of the base's estimators, by name."""

@final
class Tariff:
    """Cost of data on a link, as the application has set it (`strandcast send --tariff`). Without
    a tariff, `class_` is 0 and the other fields contain None.
    """

    @property
    def class_(self) -> int:
        """Class of the link. Links of a higher class are used only if the links of lower classes do not
        suffice. Links of class 0 are used freely.
        """

    @property
    def per_gb(self) -> float | None:
        """Price of 10^9 bytes."""

    @property
    def left(self) -> int | None:
        """Remaining bytes in both directions, with all headers. Each datagram reduces them, down to 0."""

    @property
    def until(self) -> float | None:
        """Time until which the remaining bytes have to last, by the clock of `View.now`."""

@final
class MessageHead:
    """First message of one importance that may leave."""

    @property
    def next_len(self) -> int:
        """Size of its next chunk in a window, bytes."""

    @property
    def next_expires(self) -> float | None:
        """Time at which it becomes worthless, by the clock of `View.now`."""

    @property
    def group(self) -> int | None:
        """Group of the message, such as a video frame."""

    @property
    def bytes(self) -> int:
        """Payload bytes of all messages of this importance that wait."""

@final
class Backlog:
    """Data that wait to be sent."""

    @property
    def bytes(self) -> int:
        """Payload bytes that wait for the scheduler: not yet sent, or lost and left to it."""

    @property
    def messages(self) -> int:
        """Number of messages that were not sent completely."""

    @property
    def next_len(self) -> int:
        """Size of the next chunk in a window, bytes."""

    @property
    def rest(self) -> int:
        """Number of payload bytes of the next chunk's message that are unsent, including the next chunk. 0
        for a retransmission."""

    @property
    def begun(self) -> bool:
        """True if a part of the next chunk's message was sent: abandoning the message would waste that
        part. False for a retransmission.
        """

    @property
    def next_expires(self) -> float | None:
        """Time by the clock of `View.now` at which the next chunk's message becomes worthless. The next
        chunk may be new or lost."""

    @property
    def retransmission(self) -> bool:
        """True if the next chunk was lost before: the answer then applies only to it."""

    @property
    def tried(self) -> AbstractSet[int]:
        """Paths on which the next chunk was sent before."""

    @property
    def next_importance(self) -> Literal["disposable", "normal", "reference", "key"]:
        """Importance of the next chunk's message."""

    @property
    def next_group(self) -> int | None:
        """Group of the next chunk's message."""

    @property
    def heads(self) -> dict[str, MessageHead]:
        """First message of each importance that may leave now, the oldest message of all included. Empty if
        the association codes in blocks.
        """

@final
class Assignment:
    """Chunks for one or more paths.

    Args:
        paths: Id of a path, or several ids. With several ids, each chunk is sent on every one of these paths. A path
            without room sends its copy later, unless the chunk has arrived or was lost by then.
        chunks: Maximum number of chunks. The core stops when the room is used up, and asks again.
        importance: Importance of the messages to send, one of `Backlog.heads`. None: the oldest message is next.

    Raises:
        PolicyError: No path, no chunk, or no such importance.
    """

    def __new__(
        cls,
        paths: int | Sequence[int],
        chunks: int = 1,
        importance: Literal["disposable", "normal", "reference", "key"] | None = None,
    ) -> Assignment: ...
    @staticmethod
    def nowhere(why: Literal["too-late", "too-far", "makes-way"] = "too-late") -> Assignment:
        """Abandons the next message, which must have a lifetime (`Backlog.next_expires`).

        Args:
            why: Reason in `explain` and in the counters of a result. "too-late": the message would be late by all
                paths. "too-far": the delays of the paths without queues are already too long. "makes-way": the
                message makes room for later messages.
        """

    @property
    def paths(self) -> list[int]: ...
    @property
    def chunks(self) -> int: ...
    @property
    def importance(self) -> Literal["disposable", "normal", "reference", "key"] | None: ...
    @property
    def why(self) -> Literal["too-late", "too-far", "makes-way"] | None:
        """Reason for abandoning the message; `None` unless made by `nowhere`."""

@final
class Limit:
    """Amount that may be in flight on a path: the answer of `CongestionControl.limit`, which holds until the next call.

    Args:
        cwnd: Congestion window in bytes.
        ssthresh: Slow-start threshold in bytes. None: the algorithm has no threshold.
        pacing: Pacing rate in bit/s. None: no pacing.

    Raises:
        PolicyError: A window below one byte, or an invalid rate.
    """

    def __new__(cls, cwnd: float, ssthresh: float | None = None, pacing: float | None = None) -> Limit: ...
    @property
    def cwnd(self) -> int: ...
    @property
    def ssthresh(self) -> int | None: ...
    @property
    def pacing(self) -> float | None: ...

@final
class Transmission:
    """A transmission of a chunk."""

    @property
    def path(self) -> int: ...
    @property
    def at(self) -> float:
        """Time of the transmission, by the clock of `View.now`."""

    @property
    def next_tsn(self) -> int:
        """Next new TSN at its departure."""

    @property
    def in_flight(self) -> bool:
        """True if it counts in the path's window: neither acknowledged nor declared lost."""

    @property
    def misses(self) -> int:
        """Miss indications so far (RFC 9260 §7.2.4)."""

@final
class Chunk:
    """A TSN that was sent, with its properties and transmissions."""

    @property
    def tsn(self) -> int: ...
    @property
    def len(self) -> int:
        """Bytes in a window: payload + 16."""

    @property
    def stream(self) -> int: ...
    @property
    def expires(self) -> float | None:
        """Time at which its message becomes worthless, by the clock of `View.now`."""

    @property
    def importance(self) -> Literal["disposable", "normal", "reference", "key"]:
        """Importance of its message."""

    @property
    def group(self) -> int | None:
        """Group of its message."""

    @property
    def transmissions(self) -> Sequence[Transmission]:
        """Transmissions, oldest first; a copy is a second transmission at the same time."""

    @property
    def losses(self) -> int:
        """Number of times that the chunk was declared lost."""

    @property
    def symbol(self) -> Symbol | None:
        """Symbol that it carries, if the association codes its data."""

    @property
    def path(self) -> int | None:
        """Path of its last transmission."""

@final
class Flight:
    """Chunks in flight."""

    def on(self, path: int) -> list[Chunk]:
        """Returns the chunks in flight on a path: first chunks that were sent once, in the order of
        sending, then retransmissions."""

@disjoint_base
class Act:
    """An action that a policy requests without being asked for a path (`Policy.act`)."""

    @final
    class Copy(Act):
        """Sends a copy of a chunk in flight on the path `to`. The copy leaves once `to` has room, before
        lost and new chunks."""

        __match_args__ = ("tsn", "to")

        def __new__(cls, tsn: int, to: int) -> Act.Copy: ...
        @property
        def tsn(self) -> int: ...
        @property
        def to(self) -> int: ...

    @final
    class Lose(Act):
        """Declares lost all chunks in flight on `path` that left before `sent_before`, by the clock of
        `View.now`. Each is a `Signal.Lost`; no `Signal.LossEvent` follows.
        """

        __match_args__ = ("path", "sent_before", "cause")

        def __new__(
            cls, path: int, sent_before: float, cause: Literal["congestion", "wireless", "path failure"]
        ) -> Act.Lose: ...
        @property
        def path(self) -> int: ...
        @property
        def sent_before(self) -> float: ...
        @property
        def cause(self) -> Literal["congestion", "wireless", "path failure"]: ...

    @final
    class Drop(Act):
        """Abandons every message of a group, waiting or sent."""

        __match_args__ = ("group",)

        def __new__(cls, group: int) -> Act.Drop: ...
        @property
        def group(self) -> int: ...

@disjoint_base
class Signal:
    """An event of the transport; its class is its kind. Sizes are bytes, times seconds by the clock of
    `View.now`.
    """

    @final
    class Sent(Signal):
        """A chunk left, on the path of its last transmission. Several transmissions at one time are copies."""

        __match_args__ = ("chunk",)
        def __new__(cls, chunk: Chunk) -> Signal.Sent: ...
        @property
        def chunk(self) -> Chunk: ...

    @final
    class Queued(Signal):
        """The application queued data while nothing was waiting."""

        __match_args__ = ()
        def __new__(cls) -> Signal.Queued: ...

    @final
    class Delivered(Signal):
        """A SACK acknowledged a chunk. There is one signal for each path by which the chunk arrived,
        before the `Acked` of that SACK and path. Only policies whose `hears_deliveries` returns true
        receive these signals. If the peer names the path of a copy later, a further signal follows. The
        first signal of a TSN counts.
        """

        __match_args__ = ("chunk", "path")
        def __new__(cls, chunk: Chunk, path: int | None) -> Signal.Delivered: ...
        @property
        def chunk(self) -> Chunk: ...
        @property
        def path(self) -> int | None:
            """Path whose `newly_acked` counts it. None: it was in flight on several paths, and the path of its
            arrival is unknown.
            """

    @final
    class Acked(Signal):
        """New acknowledgements of one SACK, of one path."""

        __match_args__ = (
            "path",
            "return_path",
            "newly_acked",
            "proven",
            "newly_acked_chunks",
            "newly_acked_again",
            "flight_before",
            "all_acked",
            "rtt",
            "newest_sent",
            "cum_tsn",
            "cum_advanced",
            "pseudo_cum_advanced",
            "rtx_pseudo_cum_advanced",
            "earliest_outstanding",
            "newly_acked_range",
            "highest_newly_acked",
            "highest_reported",
            "paths_newly_acked",
            "dac_count",
            "window_limited",
        )
        def __new__(
            cls,
            path: int,
            return_path: int,
            newly_acked: int,
            proven: int,
            newly_acked_chunks: int,
            newly_acked_again: int,
            flight_before: int,
            all_acked: bool,
            rtt: float | None,
            newest_sent: float | None,
            cum_tsn: int,
            cum_advanced: bool,
            pseudo_cum_advanced: bool,
            rtx_pseudo_cum_advanced: bool,
            earliest_outstanding: int | None,
            newly_acked_range: tuple[int, int] | None,
            highest_newly_acked: int | None,
            highest_reported: int,
            paths_newly_acked: int,
            dac_count: int,
            window_limited: bool,
        ) -> Signal.Acked: ...
        @property
        def path(self) -> int: ...
        @property
        def return_path(self) -> int:
            """Path on which the SACK arrived."""

        @property
        def newly_acked(self) -> int:
            """Bytes newly acknowledged."""

        @property
        def proven(self) -> int:
            """Bytes of `newly_acked` that certainly arrived by this path: no other path carried them, or
            the peer named this path."""

        @property
        def newly_acked_chunks(self) -> int: ...
        @property
        def newly_acked_again(self) -> int:
            """Number of these chunks that had been declared lost."""

        @property
        def flight_before(self) -> int:
            """Bytes in flight on the path before this SACK."""

        @property
        def all_acked(self) -> bool:
            """True if nothing is in flight on the path."""

        @property
        def rtt(self) -> float | None:
            """Round-trip time of a chunk sent once, on one path."""

        @property
        def newest_sent(self) -> float | None:
            """Time at which the newest chunk acknowledged here was sent."""

        @property
        def cum_tsn(self) -> int: ...
        @property
        def cum_advanced(self) -> bool:
            """True if the association's cumulative TSN moved."""

        @property
        def pseudo_cum_advanced(self) -> bool:
            """True if the earliest outstanding TSN of this path was acknowledged."""

        @property
        def rtx_pseudo_cum_advanced(self) -> bool:
            """True if the earliest outstanding TSN of retransmissions on this path was acknowledged."""

        @property
        def earliest_outstanding(self) -> int | None:
            """The earliest TSN still outstanding on this path."""

        @property
        def newly_acked_range(self) -> tuple[int, int] | None:
            """Lowest and highest TSN newly acknowledged on this path."""

        @property
        def highest_newly_acked(self) -> int | None:
            """Highest TSN newly acknowledged on any path."""

        @property
        def highest_reported(self) -> int:
            """Highest TSN the SACK acknowledges."""

        @property
        def paths_newly_acked(self) -> int:
            """Number of paths with new acknowledgements by this SACK."""

        @property
        def dac_count(self) -> int:
            """Number of packets that this SACK acknowledges, if the peer reports it, otherwise 1."""

        @property
        def window_limited(self) -> bool:
            """True if the path's window was full before this SACK. In that case the window limited the
            sender, not the application.
            """

    @final
    class Lost(Signal):
        """A transmission of a chunk was declared lost: one signal for each."""

        __match_args__ = ("chunk", "path", "cause")
        def __new__(
            cls, chunk: Chunk, path: int, cause: Literal["congestion", "wireless", "path failure"]
        ) -> Signal.Lost: ...
        @property
        def chunk(self) -> Chunk: ...
        @property
        def path(self) -> int:
            """Path of the transmission. With copies it may differ from `chunk.path`, the path of the last
            transmission.
            """

        @property
        def cause(self) -> Literal["congestion", "wireless", "path failure"]: ...

    @final
    class LossEvent(Signal):
        """Losses of one window. Fast retransmit causes at most one such event per round trip, and each
        timeout causes one. If `trigger` is "head of line", nothing was lost: the data in flight on the
        path keep a faster path from sending, and the window should become smaller.
        """

        __match_args__ = ("path", "trigger", "highest", "cause")
        def __new__(
            cls,
            path: int,
            trigger: Literal["fast retransmit", "timeout", "head of line"],
            highest: int,
            cause: Literal["congestion", "wireless", "path failure"],
        ) -> Signal.LossEvent: ...
        @property
        def path(self) -> int: ...
        @property
        def trigger(self) -> Literal["fast retransmit", "timeout", "head of line"]: ...
        @property
        def highest(self) -> int:
            """Highest TSN in flight on the path at that time: recovery ends when it is acknowledged."""

        @property
        def cause(self) -> Literal["congestion", "wireless", "path failure"]:
            """The base's verdict on the first lost chunk."""

    @final
    class Spurious(Signal):
        """Packets arrived that had been declared lost on a path."""

        __match_args__ = ("path", "trigger", "chunks", "before")
        def __new__(
            cls, path: int, trigger: Literal["fast retransmit", "timeout"], chunks: int, before: int | None
        ) -> Signal.Spurious: ...
        @property
        def path(self) -> int: ...
        @property
        def trigger(self) -> Literal["fast retransmit", "timeout"]: ...
        @property
        def chunks(self) -> int:
            """Number of packets."""

        @property
        def before(self) -> int | None:
            """Congestion window in bytes before the loss event. It is set if all losses of the event were
            spurious, and the window then returns to this value."""

    @final
    class Abandoned(Signal):
        """The chunk was abandoned (partial reliability, RFC 3758)."""

        __match_args__ = ("chunk",)
        def __new__(cls, chunk: Chunk) -> Signal.Abandoned: ...
        @property
        def chunk(self) -> Chunk: ...

    @final
    class Link(Signal):
        """Counters of a local interface, which only grow."""

        __match_args__ = (
            "link",
            "path",
            "tx_frames",
            "tx_retries",
            "tx_failed",
            "rx_frames",
            "rx_errors",
            "queued_bytes",
            "frame_bytes",
            "snr_db",
            "phy_rate",
            "departure",
        )
        def __new__(
            cls,
            link: int,
            path: int | None,
            tx_frames: int,
            tx_retries: int,
            tx_failed: int,
            rx_frames: int,
            rx_errors: int,
            queued_bytes: int | None,
            frame_bytes: float | None,
            snr_db: float | None,
            phy_rate: float | None,
            departure: tuple[float, int] | None,
        ) -> Signal.Link: ...
        @property
        def link(self) -> int: ...
        @property
        def path(self) -> int | None: ...
        @property
        def tx_frames(self) -> int:
            """Frames sent, each transmission counting."""

        @property
        def tx_retries(self) -> int:
            """Frames in error that the link sent again."""

        @property
        def tx_failed(self) -> int:
            """Frames in error that the link abandoned."""

        @property
        def rx_frames(self) -> int: ...
        @property
        def rx_errors(self) -> int: ...
        @property
        def queued_bytes(self) -> int | None:
            """Bytes waiting in the interface."""

        @property
        def frame_bytes(self) -> float | None:
            """Mean frame length, bytes."""

        @property
        def snr_db(self) -> float | None: ...
        @property
        def phy_rate(self) -> float | None:
            """Physical rate, bit/s."""

        @property
        def departure(self) -> tuple[float, int] | None:
            """Time at which the link finished sending a packet of this side, and the packet's length in bytes."""

    @final
    class Arrived(Signal):
        """A packet with data, or a padded heartbeat, arrived."""

        __match_args__ = (
            "path",
            "bytes",
            "tsns",
            "new",
            "duplicate",
            "gap",
            "filled",
            "immediate",
            "packets_since_sack",
        )
        def __new__(
            cls,
            path: int,
            bytes: int,
            tsns: tuple[int, int] | None,
            new: bool,
            duplicate: bool,
            gap: bool,
            filled: bool,
            immediate: bool,
            packets_since_sack: int,
        ) -> Signal.Arrived: ...
        @property
        def path(self) -> int: ...
        @property
        def bytes(self) -> int:
            """Bytes of the SCTP packet."""

        @property
        def tsns(self) -> tuple[int, int] | None:
            """Lowest and highest TSN in it; None for a padded heartbeat."""

        @property
        def new(self) -> bool:
            """True if it contained a new TSN."""

        @property
        def duplicate(self) -> bool:
            """True if it contained a TSN that had arrived before."""

        @property
        def gap(self) -> bool:
            """True if TSNs are missing below the highest one received."""

        @property
        def filled(self) -> bool:
            """True if it closed a gap or a part of one."""

        @property
        def immediate(self) -> bool:
            """True if the sender requested a SACK at once."""

        @property
        def packets_since_sack(self) -> int:
            """Packets with data since the last SACK, this one included."""

    @final
    class Peer(Signal):
        """A report of the peer's scheme arrived."""

        __match_args__ = ("kind", "subject", "via", "payload")
        def __new__(cls, kind: int, subject: int | None, via: int | None, payload: bytes) -> Signal.Peer: ...
        @property
        def kind(self) -> int: ...
        @property
        def subject(self) -> int | None:
            """Path that the report concerns."""

        @property
        def via(self) -> int | None:
            """Path on which it arrived."""

        @property
        def payload(self) -> bytes: ...

    @final
    class PeerArrivals(Signal):
        """The peer reports arrivals by path, by its clock. Only policies whose `hears_arrivals` returns true
        receive it.
        """

        __match_args__ = ("written", "via", "paths")
        def __new__(
            cls, written: int, via: int, paths: list[tuple[int, int, int, float | None, int, int]]
        ) -> Signal.PeerArrivals: ...
        @property
        def written(self) -> int:
            """Time at which the peer wrote the report, microseconds of its clock."""

        @property
        def via(self) -> int:
            """Path on which the report arrived."""

        @property
        def paths(self) -> list[tuple[int, int, int, float | None, int, int]]:
            """One tuple per path: path id, highest TSN of the last packet, arrival time of that packet
            (microseconds of the peer's clock), its departure time (by the clock of `View.now`; None if
            unknown), packets so far, and bytes so far."""

    @final
    class Heartbeat(Signal):
        """A heartbeat was answered, or was not within the path's RTO."""

        __match_args__ = ("path", "rtt", "probe", "sent", "late")
        def __new__(cls, path: int, rtt: float | None, probe: bool, sent: float, late: bool) -> Signal.Heartbeat: ...
        @property
        def path(self) -> int: ...
        @property
        def rtt(self) -> float | None:
            """Round-trip time, seconds; None: not answered."""

        @property
        def probe(self) -> bool:
            """True if the scheme requested it."""

        @property
        def sent(self) -> float:
            """Time at which it was sent."""

        @property
        def late(self) -> bool:
            """A probe was answered after its timeout, or after the answer to a later probe. Its round trip
            is not a sample."""

    @final
    class PathChanged(Signal):
        """State, MTU or addresses of a path changed; it may be new."""

        __match_args__ = ("path",)
        def __new__(cls, path: int) -> Signal.PathChanged: ...
        @property
        def path(self) -> int: ...

    @final
    class Tick(Signal):
        """A timeout of the policy, or of its base, is due."""

        __match_args__ = ()
        def __new__(cls) -> Signal.Tick: ...

@final
class Feeder:
    def __new__(cls, name: str, live: bool) -> Feeder: ...
    def feed(self, data: bytes) -> bool: ...
    def end(self) -> None: ...
    def fail(self, why: str) -> None: ...

@final
class Drain:
    def __new__(cls, name: str) -> Drain: ...
    def take(self) -> bytes | None: ...
    def fail(self, why: str) -> None: ...

@final
class Waiter:
    def cancel(self) -> None: ...

@final
class Stream:
    @property
    def addresses(self) -> list[str]: ...
    def event(self, timeout: float | None) -> tuple[str, str, str] | None: ...
    def notify(self, callback: Callable[[], object], end: bool) -> Waiter: ...
    def stats(self) -> str | None: ...
    def wait(self, timeout: float | None) -> None: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...

@final
class KeyStore:
    def __new__(cls, key: str | None) -> KeyStore: ...
    @property
    def path(self) -> pathlib.Path: ...
    def fingerprint(self) -> str: ...
    def pair(self, hosts: Sequence[str], once: bool, lasts: float | None) -> str: ...
    def add_receiver(self, name: str, pairing: str) -> None: ...
    def receivers(self) -> list[str]: ...
    def senders(self) -> list[tuple[str, bool]]: ...
    def revoke(self, sender: str) -> None: ...

def send(
    source: str | bytes | Feeder,
    to: str,
    stream: str | None,
    plain: bool,
    key: str | None,
    chosen: tuple[str, Mapping[str, tuple[str, object]]],
    latency: float,
    retry: float | None,
    paths: Sequence[str],
    tariffs: Sequence[tuple[str, int, float | None, int | None, float | None, int | None]],
    ledger: str | None,
    of_transport: tuple[int, int, int],
) -> Stream: ...
def receive(
    outputs: Sequence[str | Drain],
    overwrite: bool,
    listen: Sequence[str],
    plain: bool,
    key: str | None,
    chosen: tuple[str, Mapping[str, tuple[str, object]]],
    latency: float | None,
    silence: float,
    once: bool,
    slate: tuple[str, float] | None,
    memory: int,
    of_transport: tuple[int, int, int],
) -> Stream: ...
def canonical(spec: str) -> str: ...
def check(source: Source, scheme: str | None = None) -> tuple[str, str, list[tuple[str, str]]]: ...
def warnings(
    source: Source,
    schemes: Sequence[str],
    policies: Mapping[str, tuple[str, Callable[[int], Mapping[str, Callable[..., object]]]]],
) -> list[str]: ...
def parse_amount(text: str, quantity: str | None = None) -> float: ...
def schemes() -> str: ...
def contract_case(
    name: str, base: str, make: Callable[[int], Mapping[str, Callable[..., object]]], seed: int
) -> tuple[str, BaseException | None] | None: ...
def csv_trace(text: str, file: str) -> Table: ...
def mahimahi_trace(text: str, file: str) -> Table: ...
def command(args: Sequence[str]) -> int: ...
def explain(
    source: Source,
    scheme: str | None,
    policies: Mapping[str, tuple[str, Callable[[int], Mapping[str, Callable[..., object]]]]],
    *,
    seed: int,
    flow: str,
    frame: int | None,
    message: int | None,
) -> tuple[str, str, str]: ...
def perf(
    args: Sequence[str], policies: Mapping[str, tuple[str, Callable[[int], Mapping[str, Callable[..., object]]]]]
) -> str: ...
def stat(
    values: Sequence[float],
) -> tuple[int, float, float | None, float | None, float, float, float, int, int] | None: ...
def unit(name: str) -> str: ...
def metrics() -> list[tuple[str, str, str, str]]: ...
def sign_tests(differences: Sequence[Sequence[float]]) -> list[float]: ...
def run(
    source: Source,
    schemes: Sequence[str],
    policies: Mapping[str, tuple[str, Callable[[int], Mapping[str, Callable[..., object]]]]],
    *,
    seed: int,
    runs: int,
    threads: int,
    series_s: float | None,
    progress: Callable[[float, int], None] | None,
    trace: str | None = None,
    until: str | None = None,
    warnings: Sequence[str] = ...,
) -> Results: ...
