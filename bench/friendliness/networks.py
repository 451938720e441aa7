"""The networks of the bench as scenario files: ours (MPTCP) with TCPs, every packet with data 1500 bytes long.

Profile `linux`: SACK, timestamps, acknowledgements for every second segment and at most 40 ms late, RTO of at least
200 ms. With the second of profile `rfc` each timeout would silence a flow of a few segments for a hundred round trips of
10 ms, and its share would tell of the timer, not of the window. `count=bytes` everywhere, as RFC 3465, RFC 6356 and
Linux count: what an ACK stands for must not tell windows apart. Hosts add their overhead, so that drop-tail queues do
not lock phases (docs/models/tcp.md).
"""

from dataclasses import dataclass, field

PACKET = 1500
# Payload of a packet: 40 bytes of headers, 12 of timestamps, and 28 of MPTCP's mapping.
TCP_SEGMENT, MPTCP_SEGMENT = 1448, 1420
# A message of a live stream, and what it is on the wire: IP, UDP, SCTP, a chunk's header.
MESSAGE = 1316
MESSAGE_PACKET = MESSAGE + 20 + 8 + 12 + 16
# The receive window, where it is not what is measured.
WIDE = 16 << 20


@dataclass(frozen=True)
class Link:
    """A link with its round trip, for packets of 1500 bytes when nothing waits, and its queue in packets."""

    name: str
    mbps: float
    rtt_ms: float
    queue: int
    start: str = "a"
    # From when on it has another rate: seconds, Mbit/s.
    change: tuple[float, float] | None = None
    # Share of packets lost at random.
    loss: float = 0

    def text(self) -> str:
        """The link's table."""
        delay_ms = (self.rtt_ms - PACKET * 8 / (self.mbps * 1e3)) / 2
        rate = f"'{self.mbps:g} Mbit/s'"
        if self.change:
            at, mbps = self.change
            rate = f"{{ steps = [[0, {rate}], ['{at:g} s', '{mbps:g} Mbit/s']] }}"
        return (
            f"[links.{self.name}]\nfrom = '{self.start}'\nto = 'b'\nrate = {rate}\ndelay = '{delay_ms:.4f} ms'\n"
            f"queue.limit = '{self.queue} packets'\n" + (f"loss.uniform.rate = {self.loss:g}\n" if self.loss else "")
        )


@dataclass(frozen=True)
class Flow:
    """Bulk flows of one kind; a path is a list of links, several make it MPTCP."""

    name: str
    cc: str
    paths: tuple[tuple[str, ...], ...]
    count: int = 1
    receive_window: int = WIDE
    # It begins between 0 and this number of seconds.
    start_s: float = 1
    # Further lines.
    more: tuple[str, ...] = ()

    def text(self) -> str:
        """The flow's table."""
        mptcp = len(self.paths) > 1
        lines = [
            f"[flows.{self.name}]",
            f"transport = '{'mptcp' if mptcp else 'tcp'}'",
            "from = 'a'",
            "to = 'b'",
            f"cc = '{self.cc},count=bytes'",
            "profile = 'linux'",
            f"count = {self.count}",
            f"start = {{ uniform = [0, {self.start_s:g}] }}",
            f"tcp.segment = {MPTCP_SEGMENT if mptcp else TCP_SEGMENT}",
            f"tcp.receive_window = {self.receive_window}",
            *self.more,
            *(f"paths.p{i}.via = {list(path)}" for i, path in enumerate(self.paths)),
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Sctp:
    """Ours over SCTP by a scheme, in profile `live`: bulk, or a stream of this rate whose messages have a second."""

    name: str
    scheme: str
    link: str
    stream_bps: float = 0

    def text(self) -> str:
        """The flow's table."""
        video = f"kind = 'video', rate = {self.stream_bps:.0f}, size = {MESSAGE}, deadline = '1 s', expire = true"
        app = video if self.stream_bps else "kind = 'bulk'"
        return (
            f"[flows.{self.name}]\nfrom = 'a'\nto = 'b'\nprofile = 'live'\nscheme = '{self.scheme}'\n"
            f"start = {{ uniform = [0, 1] }}\napp = {{ {app} }}\n"
            f"paths.p0.via = ['{self.link}']\n"
        )


@dataclass(frozen=True)
class Network:
    """A scenario."""

    time_s: float
    warmup_s: float
    links: tuple[Link, ...]
    flows: tuple[Flow | Sctp, ...]
    # Access links before the first node of a shared one: name, additional round trip in ms.
    access: tuple[tuple[str, float], ...] = ()
    # Step of a time series, seconds.
    series_s: float | None = field(default=None)

    def text(self) -> str:
        """The scenario file."""
        head = f"[run]\ntime = '{self.time_s:g} s'\nwarmup = '{self.warmup_s:g} s'\n[nodes.a]\n[nodes.b]\n"
        if self.access:
            head += "[nodes.m]\n"
        extra = "".join(
            f"[links.{name}]\nfrom = 'a'\nto = 'm'\ndelay = '{rtt_ms / 2:g} ms'\n" for name, rtt_ms in self.access
        )
        return head + extra + "".join(part.text() for part in (*self.links, *self.flows))


def bdp(mbps: float, rtt_ms: float, times: float = 1) -> int:
    """Packets in this number of products of bandwidth and round trip, at least two."""
    return max(round(times * mbps * rtt_ms * 1e3 / 8 / PACKET), 2)


# Goals 1 and 3, and responsiveness: each of the two paths.
MBPS = 20
# Goal 2: what is shared. Five flows with a queue of one product have 16 packets each at 10 ms.
SHARED_MBPS = 50


def times(rtts: tuple[int, ...], buffer: float) -> tuple[float, float]:
    """Length and warm-up: thousands of round trips, and with long queues several cycles of a halved window."""
    if max(rtts) <= 10:
        return 60, 10
    return (200, 60) if buffer > 1 else (120, 20)


def separate(rtts: tuple[int, ...], buffer: float) -> tuple[Link, Link]:
    """Two links, x and y."""
    x, y = (Link(name, MBPS, rtt, bdp(MBPS, rtt, buffer)) for name, rtt in zip("xy", rtts))
    return x, y


def both(cc: str, start_s: float = 1) -> Flow:
    """Ours over x and y."""
    return Flow("ours", cc, (("x",), ("y",)), start_s=start_s)


def improve(cc: str, rtts: tuple[int, int], buffer: float, kind: str, others: int) -> Network:
    """Goal 1: ours over two separate links with `others` TCPs on each."""
    rivals = tuple(Flow(f"tcp{link}", kind, ((link,),), others) for link in "xy" if others)
    return Network(*times(rtts, buffer), separate(rtts, buffer), (both(cc), *rivals))


def instead(link: str, rtts: tuple[int, int], buffer: float, kind: str, others: int) -> Network:
    """A TCP in its place, on one of the links, and what else is there."""
    one = next(it for it in separate(rtts, buffer) if it.name == link)
    rivals = (Flow(f"tcp{link}", kind, ((link,),), others),) if others else ()
    return Network(*times(rtts, buffer), (one,), (Flow("ours", kind, ((link,),)), *rivals))


def harm(cc: str, rtts: tuple[int, ...], kind: str, others: int) -> Network:
    """Goal 2: as many subflows as round trips, and `others` TCPs of the least one, over one link with a queue of 1 BDP."""
    least = min(rtts)
    link = Link("l", SHARED_MBPS, least, bdp(SHARED_MBPS, least), start="m")
    access = tuple((f"in{i}", float(rtt - least)) for i, rtt in enumerate(rtts))
    ours = Flow("ours", cc, tuple((name, "l") for name, _ in access))
    tcp = Flow("tcp", kind, (("in0", "l"),), others)
    return Network(60, 10, (link,), (ours, tcp), access)


def balance(cc: str, rtts: tuple[int, int], buffer: float, kind: str) -> Network:
    """Goal 3: five TCPs on x, one on y."""
    rivals = (Flow("tcpx", kind, (("x",),), 5), Flow("tcpy", kind, (("y",),), 1))
    return Network(*times(rtts, buffer), separate(rtts, buffer), (both(cc), *rivals))


# Time at which a capacity changes, and time for which a run continues then.
CHANGE_S, AFTER_S = 60, 100


def change(cc: str, rtts: tuple[int, int], doubles: bool) -> Network:
    """Responsiveness: x has 10 Mbit/s and then 20, or the reverse; y has 10.

    Queues are 1 BDP of the lesser rate: a longer one would hold what the greater rate takes. Flows begin within 20 s, so
    that the change meets a window anywhere between two losses.
    """
    before, after = (10, 20) if doubles else (20, 10)
    x = Link("x", before, rtts[0], bdp(10, rtts[0]), change=(CHANGE_S, after))
    y = Link("y", 10, rtts[1], bdp(10, rtts[1]))
    return Network(CHANGE_S + AFTER_S, 0, (x, y), (both(cc, 20),), series_s=0.2)


# 20 and 10 Mbit/s with 10 and 40 ms.
PAIR = (Link("x", 20, 10, bdp(20, 10)), Link("y", 10, 40, bdp(10, 40)))
PAIR_BYTES = 20e6 * 0.01 / 8 + 10e6 * 0.04 / 8
PAIR_PAYLOAD_BPS = 30e6 * MPTCP_SEGMENT / PACKET


def pair(cc: str, links: str = "xy", window: int = WIDE, more: tuple[str, ...] = ()) -> Network:
    """Ours alone over these links of the pair."""
    used = tuple(link for link in PAIR if link.name in links)
    flow = Flow("ours", cc, tuple((link.name,) for link in used), receive_window=window, more=more)
    return Network(70, 10, used, (flow,))


# Schemes with TCPs, and alone on a link that loses packets.
BESIDE_MBPS, BESIDE_RTT_MS = 10, 100
LIVE_SHARE = 0.9


def stream_bps(others: int) -> float:
    """Media rate of a live stream with this number of others: 0.9 of a fair share of the link."""
    return LIVE_SHARE * BESIDE_MBPS * 1e6 / (others + 1) * MESSAGE / MESSAGE_PACKET


def beside(scheme: str | None, live: bool, kind: str, others: int, buffer: float) -> Network:
    """Ours with `others` TCPs of a kind; without a scheme one more TCP is in its place, by `cubic` a CUBIC one."""
    link = Link("l", BESIDE_MBPS, BESIDE_RTT_MS, bdp(BESIDE_MBPS, BESIDE_RTT_MS, buffer))
    if scheme in (None, "cubic"):
        ours: Sctp | Flow = Flow("ours", scheme or kind, (("l",),))
    else:
        ours = Sctp("ours", scheme, "l", stream_bps(others) if live else 0)
    return Network(60, 10, (link,), (ours, Flow("tcp", kind, (("l",),), others)))


def lossy(scheme: str, buffer: float, loss: float) -> Network:
    """Ours alone on such a link that loses a share of its packets."""
    queue = bdp(BESIDE_MBPS, BESIDE_RTT_MS, buffer)
    return Network(60, 10, (Link("l", BESIDE_MBPS, BESIDE_RTT_MS, queue, loss=loss),), (Sctp("ours", scheme, "l"),))
