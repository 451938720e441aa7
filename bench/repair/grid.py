"""The grid: networks, losses, deadlines, ways of repair, and measures. Fixed before the first full run.

Trials of two and three seeds of four cells moved two things: runs were of 40 s, the first 5 s left out, and bursts ended by
packets. With a round trip of 300 ms and losses of 5 % windows take 15 s to open, with or without repair; and where packets
alone end a burst, a sender that has lost a window sends one packet a timeout, so that paths stand still for seconds
(docs/scenarios.md). Bursts end by time now; some cells have those that packets end.
"""

from dataclasses import dataclass

# Mbit/s of both links, round trips in ms, shares of time or packets lost, mean lengths of bursts in packets (1: each
# packet is lost on its own), ms from capture to playing.
RATES = ((5, 5), (10, 2))
RTTS_MS = (20, 300)
LOSSES = (0.02, 0.05)
BURSTS = (1, 5, 20)
LATENCIES_MS = (300, 500, 1000)
# A burst lasts as long as so many packets of a link that carries half of the 380 messages a second.
PACKETS_A_SECOND = 190
# Time of its link that a queue holds, seconds.
QUEUE_S = 0.1
# Times of the scenario file: messages captured from the first to the second, that can be late by then, count.
WARMUP_S, TIME_S = 20, 60
SEEDS = 30
QUICK_SEEDS = 3
REDUNDANCY = "5 %"

# Columns of the tables; the first is retransmission alone.
OFF = "off"
MODES = {
    OFF: "fec=off",
    "rlc, late": f"fec=rlc,redundancy={REDUNDANCY},fec-when=late",
    "rlc, always": f"fec=rlc,redundancy={REDUNDANCY},fec-when=always",
    "raptorq, late": f"fec=raptorq,redundancy={REDUNDANCY},fec-when=late",
    "raptorq, always": f"fec=raptorq,redundancy={REDUNDANCY},fec-when=always",
}
PRESETS = ("bond", "lia")

# Measures of each run: shares in %, but for `recovered`.
MEASURES = ("messages", "pictures", "redundancy", "recovered", "sent")
"""
messages    % of the video's messages that were late or never came
pictures    % of pictures, 25 a second, of which a message was late or never came
redundancy  bytes of repair symbols, % of those of source symbols; 0 without repair
recovered   messages computed from repair symbols before they came themselves, % of those sent
sent        bytes sent at IP level, % of the video's bytes: headers, retransmissions and repair
"""


@dataclass(frozen=True)
class Cell:
    """A network with losses, and a video with a deadline."""

    rates: tuple[int, int]
    rtt_ms: int
    loss: float
    burst: int
    latency_ms: int
    # Bursts are ended by packets, not by time.
    by_packet: bool = False

    @property
    def sets(self) -> list[str]:
        """Changes to bench/repair/video.toml, as `KEY=VALUE`."""
        return [
            *(set_ for link, mbps in zip(("one", "two"), self.rates) for set_ in self._link(f"links.{link}", mbps)),
            f'flows.video.app.deadline="{self.latency_ms} ms"',
        ]

    def _link(self, key: str, mbps: int) -> list[str]:
        if self.burst == 1:
            loss = f"{{uniform={{rate={self.loss}}}}}"
        elif self.by_packet:
            loss = f"{{markov={{rate={self.loss},burst={self.burst}}}}}"
        else:
            bad_ms = 1000 * self.burst / PACKETS_A_SECOND
            good_ms = bad_ms * (1 / self.loss - 1)
            loss = f'{{markov={{by="time",good="{good_ms:.3f} ms",bad="{bad_ms:.3f} ms"}}}}'
        return [
            f'{key}.rate="{mbps} Mbit/s"',
            f'{key}.delay="{self.rtt_ms // 2} ms"',
            f'{key}.queue.limit="{round(mbps * 1e6 * QUEUE_S / 8)} B"',
            f"{key}.loss={loss}",
        ]

    @property
    def losses(self) -> str:
        """Losses of the cell, in words."""
        how = "single" if self.burst == 1 else f"bursts of {self.burst}"
        return f"{100 * self.loss:g} %, {how}" + (" that packets end" if self.by_packet else "")

    def __str__(self) -> str:
        rates = " + ".join(map(str, self.rates))
        return f"{rates} Mbit/s, {self.rtt_ms} ms, {self.losses}, in {self.latency_ms} ms"


def cells(quick: bool = False) -> list[Cell]:
    """All cells; `quick`: four, where repair has most to do and where it has nothing to do."""
    if quick:
        return [
            Cell((5, 5), rtt_ms, 0.05, burst, 500 if rtt_ms == RTTS_MS[0] else 300)
            for rtt_ms in RTTS_MS
            for burst in (1, 20)
        ]
    by_time = [
        Cell(rates, rtt_ms, loss, burst, latency_ms)
        for rates in RATES
        for rtt_ms in RTTS_MS
        for loss in LOSSES
        for burst in BURSTS
        for latency_ms in LATENCIES_MS
    ]
    by_packet = [
        Cell(RATES[0], rtt_ms, loss, burst, 500, by_packet=True)
        for rtt_ms in RTTS_MS
        for loss in LOSSES
        for burst in BURSTS[1:]
    ]
    return by_time + by_packet
