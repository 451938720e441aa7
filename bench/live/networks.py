"""The networks of the bench: what their links do, as traces that a seed makes.

Traces are files next to a scenario, so that the simulator, the emulator of links in real time and the oracle read the
same. A loss is a time, never a packet: `loss.uniform.rate` is a trace of 0 and 1. A link that stands still keeps what
waits (rate 0); one that loses does not.

The numbers of the following networks are ASSUMED, and are similar to published measurements (docs/measurements/live.md):

- handovers: stays in a cell are lognormal with a mean of 20 s. Gaps follow a Gamma distribution with a mean of 80 ms;
  one gap in ten takes 0.3 to 1.5 s. Rates are lognormal with a deviation of 0.6, and a draw every 100 ms has a
  correlation of 0.98 with the draw before it;
- tunnels of 2 to 20 s, slots of satellites of 15 s, fades of 20 to 300 ms, queues of 2 to 30 s, and flaps of 1 to 15 s.

Delays and jitter of `lan`, `idle`, `reorder` and `one-path` are ASSUMED after what evaluators' first tries had.
"""

import json
import math
import random
from dataclasses import dataclass, field
from pathlib import Path

STEP_S = 0.1
MEAN_STAY_S = 20
MBIT = 1e6
# A queue that modems have.
QUEUE_S = 0.3

Span = tuple[float, float]


@dataclass
class Link:
    """One uplink: a course of its rate, when it loses all, and what scenario files say besides."""

    name: str
    # bit/s from multiples of STEP_S on.
    rates: list[float]
    delay_ms: float
    # Seconds in which nothing leaves it, and in which what leaves it is lost.
    still: list[Span] = field(default_factory=list)
    lost: list[Span] = field(default_factory=list)
    # Seconds and ms from then on; empty: as `delay_ms`.
    delays: list[tuple[float, float]] = field(default_factory=list)
    # Greatest extra delay, drawn for each packet, in both directions.
    jitter_ms: float = 0
    queue_bytes: int | None = None
    # Lines of its table.
    more: list[str] = field(default_factory=list)

    def mean_bps(self) -> float:
        """The mean of its rates."""
        return sum(self.rates) / len(self.rates)


@dataclass
class Network:
    """Links, and what else is on them."""

    links: list[Link]
    # Lines of the scenario: other flows.
    more: str = ""
    # Where others are on its links there is no oracle, and where links are far faster than a video none is of use: this
    # stands for the greatest rate.
    rate_bps: float | None = None
    # The links of each path; as many paths as links unless given.
    paths: dict[str, list[str]] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    # Keys of what is sent, as a real encoder's; empty: messages at even intervals.
    app: str = ""


def course(
    draw: random.Random, median_bps: float, time_s: float, sigma: float = 0.6, memory: float = 0.98
) -> list[float]:
    """Rates each STEP_S: lognormal, of which neighbours are alike."""
    state, rates = draw.gauss(0, 1), []
    for _ in range(round(time_s / STEP_S)):
        rates.append(median_bps * math.exp(sigma * state))
        state = memory * state + math.sqrt(1 - memory**2) * draw.gauss(0, 1)
    return rates


def spans(draw: random.Random, time_s: float, pause, length) -> list[Span]:
    """Spans that alternate with pauses, both drawn, pauses first."""
    found, now = [], pause(draw)
    while now < time_s:
        end = now + length(draw)
        found.append((now, min(end, time_s)))
        now = end + pause(draw)
    return found


def exponential(mean_s: float):
    """Drawn from an exponential law."""
    return lambda draw: draw.expovariate(1 / mean_s)


def uniform(low: float, high: float):
    """Drawn evenly."""
    return lambda draw: draw.uniform(low, high)


def log_uniform(low: float, high: float):
    """Drawn evenly in the logarithm."""
    return lambda draw: low * (high / low) ** draw.random()


def stay(draw: random.Random) -> float:
    """Time for which a cell serves: lognormal with a mean of MEAN_STAY_S."""
    return draw.lognormvariate(math.log(MEAN_STAY_S) - 0.5 * 0.8**2, 0.8)


def gap(draw: random.Random) -> float:
    """Duration of a handover."""
    return draw.uniform(0.3, 1.5) if draw.random() < 0.1 else draw.gammavariate(2, 0.04)


def cellular(draw: random.Random, name: str, mbps: float, delay_ms: float, time_s: float) -> Link:
    """An uplink that hands over: it stands still meanwhile, and has another rate afterwards."""
    still = spans(draw, time_s, stay, gap)
    rates: list[float] = []
    for until in [*(end for _, end in still), time_s]:
        rates += course(draw, mbps * MBIT * draw.lognormvariate(0, 0.3), until, 0.6)[len(rates) :]
    return Link(name, rates[: round(time_s / STEP_S)], delay_ms, still)


def steady(name: str, mbps: float, delay_ms: float, time_s: float) -> Link:
    """A constant rate."""
    return Link(name, [mbps * MBIT] * round(time_s / STEP_S), delay_ms)


def handover(draw: random.Random, time_s: float) -> Network:
    """Three cellular uplinks of different operators."""
    rates, delays = (6, 4, 3), (30, 45, 60)
    return Network([cellular(draw, f"cell{n}", *of, time_s) for n, of in enumerate(zip(rates, delays), 1)])


def tunnel(draw: random.Random, time_s: float) -> Network:
    """Two cellular uplinks that go dark together, next to a slow satellite that does so a second later and shorter."""
    dark = spans(draw, time_s, exponential(25), log_uniform(2, 20))
    cells = [cellular(draw, "cell1", 6, 30, time_s), cellular(draw, "cell2", 4, 50, time_s)]
    for link in cells:
        link.lost = dark
    return Network([*cells, steady("slow", 2, 120, time_s)])


def satellite(draw: random.Random, time_s: float) -> Network:
    """A low orbit whose rate and delay change each 15 s, with a loss as it does, and a cellular uplink."""
    link = steady("orbit", 8, 30, time_s)
    first = draw.uniform(0, 15)
    cuts = [first + 15 * n for n in range(math.ceil(time_s / 15)) if first + 15 * n < time_s]
    link.delays = [(0.0, draw.uniform(20, 45)), *((at, draw.uniform(20, 45)) for at in cuts)]
    rates = [draw.lognormvariate(math.log(8 * MBIT), 0.4) for _ in range(len(cuts) + 1)]
    for n in range(len(link.rates)):
        link.rates[n] = rates[sum(at <= n * STEP_S for at in cuts)] * draw.uniform(0.85, 1.15)
    link.lost = merged([(at, at + draw.uniform(0.02, 0.15)) for at in cuts] + fades(draw, time_s, 8, (0.02, 0.08)))
    return Network([link, cellular(draw, "cell", 3, 50, time_s)])


def fades(draw: random.Random, time_s: float, good_s: float, bad_s: Span) -> list[Span]:
    """Gilbert's two states by time: all is lost in the bad one."""
    return spans(draw, time_s, exponential(good_s), lambda d: d.expovariate(1 / log_uniform(*bad_s)(d)))


def fading(draw: random.Random, time_s: float) -> Network:
    """Two uplinks that fade for 20 to 300 ms in the mean, apart from each other, and lose single packets besides."""
    links = [steady("one", 6, 25, time_s), steady("two", 4, 55, time_s)]
    for link in links:
        single = spans(draw, time_s, exponential(0.15), uniform(0.001, 0.0011))
        link.lost = merged(fades(draw, time_s, draw.uniform(2, 6), (0.02, 0.3)) + single)
    return Network(links)


def suspension(draw: random.Random, time_s: float) -> Network:
    """Wi-Fi whose station leaves its channel for 100 to 200 ms, often, and now and then longer; with LTE."""
    wifi = Link("wifi", course(draw, 10 * MBIT, time_s, 0.4, 0.9), 8)
    short = spans(draw, time_s, exponential(3), uniform(0.1, 0.2))
    wifi.still = merged(short + spans(draw, time_s, exponential(30), uniform(0.5, 1.5)))
    return Network([wifi, cellular(draw, "lte", 4, 40, time_s)])


def policer(draw: random.Random, time_s: float) -> Network:
    """An uplink that drops what exceeds a rate, almost without a queue, and one with a deep queue."""
    limited = steady("policed", draw.uniform(3, 6), 20, time_s)
    limited.queue_bytes = 12_000
    return Network([limited, cellular(draw, "deep", 4, 45, time_s)])


def zombie(draw: random.Random, time_s: float) -> Network:
    """An uplink that falls to a twentieth of its rate with a queue of 2 to 30 s of that, and a good one."""
    bad, slow = steady("zombie", 6, 30, time_s), 0.3 * MBIT
    for first, last in spans(draw, time_s, exponential(15), uniform(4, 12)):
        for n in range(math.floor(first / STEP_S), min(math.ceil(last / STEP_S), len(bad.rates))):
            bad.rates[n] = slow
    bad.queue_bytes = round(slow / 8 * log_uniform(2, 30)(draw))
    return Network([bad, cellular(draw, "good", 5, 50, time_s)])


def one_way(draw: random.Random, time_s: float) -> Network:
    """An uplink on which one direction dies for seconds, then for good the other; with two others."""
    first = draw.uniform(10, 20)
    middle = first + draw.uniform(3, 10)
    last = middle + draw.uniform(5, 15)
    dying = steady("dying", 6, 25, time_s)
    dying.more = [f'reverse.down.first = {{ from = "{first:.3f} s", to = "{middle:.3f} s" }}']
    dying.lost = [(last, time_s)]
    return Network([dying, cellular(draw, "cell", 4, 45, time_s), steady("slow", 2, 80, time_s)])


def flap(draw: random.Random, time_s: float) -> Network:
    """An uplink that is there for 1 to 15 s and away for as long, and one that stays."""
    flapping = steady("flapping", 8, 20, time_s)
    flapping.lost = spans(draw, time_s, uniform(1, 15), uniform(1, 15))
    return Network([flapping, cellular(draw, "cell", 4, 45, time_s)])


def shared(draw: random.Random, time_s: float) -> Network:
    """Two access links share one bottleneck with a TCP flow; a third path does not use it."""
    rate = draw.uniform(6, 10)
    access = [steady(f"in{n}", 20, delay, time_s) for n, delay in ((1, 10), (2, 25))]
    bottleneck = steady("bottleneck", rate, 10, time_s)
    bottleneck.queue_bytes = round(rate * MBIT / 8 * draw.uniform(0.05, 0.3))
    tcp = '[flows.tcp]\ntransport = "tcp"\nfrom = "a"\nto = "b"\ncc = "cubic"\nprofile = "linux"\n'
    tcp += 'tcp.receive_window = 16777216\npaths.one.via = ["in1", "bottleneck"]\n'
    cell = cellular(draw, "cell", 3, 50, time_s)
    paths = {"one": ["in1", "bottleneck"], "two": ["in2", "bottleneck"], "cell": ["cell"]}
    # With a TCP on the same link a flow may have half of what is shared.
    fair = rate * MBIT / 2 + cell.mean_bps() * 0.8
    return Network([*access, bottleneck, cell], tcp, fair * 1316 / 1372, paths)


# Where links are far faster than a video.
VIDEO_BPS = 8 * MBIT
# Keep-alive of `strandcast send` while its input is silent.
ALIVE = 'keep_alive = "1 s"'


def pauses(*some: Span) -> str:
    """Pauses of a source: the video stands still meanwhile."""
    each = (f'p{n} = {{ from = "{first:.3f} s", to = "{last:.3f} s" }}' for n, (first, last) in enumerate(some))
    return f"pause = {{ {', '.join(each)} }}"


def lan(draw: random.Random, time_s: float) -> Network:
    """A wire and Wi-Fi of one room, whose hosts wake up late; a frame each 40 ms."""
    wire, wifi = steady("wire", 500, 0.02, time_s), steady("wifi", 80, 0.4, time_s)
    wire.jitter_ms, wifi.jitter_ms = draw.uniform(0.05, 0.5), draw.uniform(0.5, 3)
    return Network([wire, wifi], rate_bps=VIDEO_BPS, app=f'burst = "40 ms", {ALIVE}')


def idle(draw: random.Random, time_s: float) -> Network:
    """Wi-Fi and LTE for an encoder that begins late, and stops for some seconds; bursts of 100 ms."""
    wifi, lte = steady("wifi", 40, draw.uniform(0.5, 4), time_s), steady("lte", 15, 40, time_s)
    wifi.jitter_ms, lte.jitter_ms = draw.uniform(0.5, 2), draw.uniform(2, 8)
    first, middle = draw.uniform(6, 9), draw.uniform(25, 35)
    silent = pauses((0, first), (middle, middle + draw.uniform(2, 8)))
    return Network([wifi, lte], rate_bps=VIDEO_BPS, app=f'burst = "100 ms", {silent}, {ALIVE}')


def reorder(draw: random.Random, time_s: float) -> Network:
    """Two uplinks whose packets overtake each other, as those of `netem delay 40ms 20ms` do; a frame each 40 ms."""
    links = [steady("one", 30, draw.uniform(15, 30), time_s), steady("two", 20, draw.uniform(20, 50), time_s)]
    for link in links:
        link.jitter_ms = draw.uniform(20, 60)
        link.more = ["keep_order = false"]
    return Network(links, rate_bps=VIDEO_BPS, app=f'burst = "40 ms", {ALIVE}')


def one_path(draw: random.Random, time_s: float) -> Network:
    """A single path, from the same room to the same continent, from a pipe that is read in blocks of 32 KiB."""
    only = steady("only", 60, log_uniform(0.03, 40)(draw), time_s)
    only.jitter_ms = max(0.2, only.delay_ms * draw.uniform(0.05, 0.2))
    silent = pauses((0, draw.uniform(6, 9)))
    return Network([only], rate_bps=VIDEO_BPS, app=f'burst = "32 KiB", {silent}, {ALIVE}')


MADE = {
    "handover": handover, "tunnel": tunnel, "satellite": satellite, "fades": fading, "suspension": suspension,
    "policer": policer, "zombie": zombie, "one-way": one_way, "flap": flap, "shared": shared,
    "lan": lan, "idle": idle, "reorder": reorder, "one-path": one_path,
}  # fmt: skip


def merged(some: list[Span]) -> list[Span]:
    """The same times without overlaps, in order."""
    found: list[Span] = []
    for first, last in sorted(some):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def make(name: str, seed: int, time_s: float) -> Network:
    """A network of a seed, the same on any machine."""
    return MADE[name](random.Random(f"{name} {seed}"), time_s)


def write(network: Network, folder: Path, time_s: float, warmup_s: float) -> Path:
    """Writes a network's scenario and its traces; gives the scenario, whose flow `video` has yet to be given an app."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = ["a", "b", "m"] if network.paths else ["a", "b"]
    paths = network.paths or {link.name: [link.name] for link in network.links}
    lines = [f'run = {{ time = "{time_s:g} s", warmup = "{warmup_s:g} s" }}', *(f"[nodes.{node}]" for node in nodes)]
    if network.app:
        # The digest of the file then covers what is sent.
        lines.insert(0, f"# What is sent: {network.app}")
    for link in network.links:
        ends = ends_of(link.name, network.paths)
        lines += table(link, folder, ends)
    lines += [
        "[flows.video]",
        'from = "a"',
        'to = "b"',
        'profile = "live"',
        'scheme = "bond"',
        "compare = true",
        *(f"paths.{name}.via = {json.dumps(via)}" for name, via in paths.items()),
    ]
    file = folder / "net.toml"
    file.write_text("\n".join(lines) + "\n" + network.more)
    return file


def ends_of(link: str, paths: dict[str, list[str]]) -> tuple[str, str]:
    """The nodes that a link joins: `m` is where paths of two links meet."""
    for via in paths.values():
        if len(via) == 2 and link in via:
            return ("a", "m") if link == via[0] else ("m", "b")
    return "a", "b"


def table(link: Link, folder: Path, ends: tuple[str, str]) -> list[str]:
    """A link's table; its traces are written."""
    rates = held([(n * STEP_S, rate) for n, rate in enumerate(link.rates)], link.still)
    folder.joinpath(f"{link.name}.csv").write_text(csv(rates))
    queue = link.queue_bytes or round(max(link.mean_bps(), 1e6) / 8 * QUEUE_S)
    lines = [
        f"[links.{link.name}]",
        f'from = "{ends[0]}"',
        f'to = "{ends[1]}"',
        f'rate = {{ trace = "{link.name}.csv" }}',
        f"delay = {delay(link)}",
        f'queue.limit = "{queue} B"',
        'reverse.rate = "20 Mbit/s"',
        'reverse.queue.limit = "64 kB"',
        f"reverse.delay = {around(link)}",
        *link.more,
    ]
    if link.lost:
        folder.joinpath(f"{link.name}-lost.csv").write_text(csv(held([(0.0, 0.0)], link.lost, 1.0)))
        lines.append(f'loss.uniform.rate = {{ trace = "{link.name}-lost.csv" }}')
    return lines


def around(link: Link) -> str:
    """A delay, or what it is drawn from."""
    if not link.jitter_ms:
        return f'"{link.delay_ms:g} ms"'
    most = link.delay_ms + link.jitter_ms
    return f'{{ uniform = ["{link.delay_ms:.3f} ms", "{most:.3f} ms"], every = "packet" }}'


def delay(link: Link) -> str:
    """A delay, or its steps."""
    if not link.delays:
        return around(link)
    return "{ steps = [" + ", ".join(f'[{at:.6f}, "{ms:.3f} ms"]' for at, ms in link.delays) + "] }"


def held(course: list[tuple[float, float]], some: list[Span], value: float = 0.0) -> list[tuple[float, float]]:
    """A course with another value in some spans."""
    spans_ = merged([(max(first, 0.0), last) for first, last in some])
    cuts = sorted({at for at, _ in course} | {round(at, 6) for span in spans_ for at in span})
    found: list[tuple[float, float]] = []
    position = turn = 0
    for at in cuts:
        while position + 1 < len(course) and course[position + 1][0] <= at:
            position += 1
        while turn < len(spans_) and round(spans_[turn][1], 6) <= at:
            turn += 1
        inside = turn < len(spans_) and round(spans_[turn][0], 6) <= at
        found.append((at, value if inside else course[position][1]))
    return found


def csv(course: list[tuple[float, float]]) -> str:
    """A trace of a scenario; values that stay are left out."""
    lines = ["time_s,value"]
    before = None
    for at, value in course:
        if value != before:
            lines.append(f"{at:.6f},{value:.6g}")
        before = value
    return "\n".join(lines) + "\n"
