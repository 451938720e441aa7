"""Experiments: cells of networks and contestants, and the bars that the default scheme has to meet."""

import statistics
import threading
from dataclasses import dataclass, field

from bench.links import contestants
from bench.network_sets import lossy

WARMUP = 10
LOSSES = {"0": 0.0, "0.1": 0.001, "1": 0.01}
LATENCIES = (500, 1000, 2000)
OUTAGES = (3, 8, 20, 45)
STREAM = 4_000_000
MBIT = 1e6


@dataclass(frozen=True)
class Cell:
    """One environment that all contestants go through."""

    experiment: str
    name: str
    network: str
    contestants: tuple
    runs: int
    seconds: int
    sets: tuple = ()
    extra: dict = field(default_factory=dict, hash=False, compare=False)


def measure(cell, env, program, contestant):
    """One run of a contestant: its figures."""
    return MEASURES[cell.experiment](cell, env, program, contestant)


def bulk(cell, env, program, contestant):
    """Goodput after the warm-up."""
    return contestants.bulk(env, program, contestant, WARMUP, cell.seconds)


def beside_tcp(cell, env, program, contestant):
    """Shares of one link."""
    return contestants.beside_tcp(env, program, contestant, 15, cell.seconds)


def live(cell, env, program, contestant):
    """A stream, and what happens to its links meanwhile."""
    events = []
    if outage := cell.extra.get("outage"):
        first, last, links = outage
        events = [(first, lambda: env.say("hole on both", links)), (last, lambda: env.say("hole off both", links))]
    if storm := cell.extra.get("burst"):
        first, bps, seconds = storm
        command = [*contestants.PEERS, "burst", contestants.server(1), 9, bps, seconds]
        events = [(first, lambda: env.start("c", command, **contestants.NULL))]
    latency = cell.extra["latency"]
    result = contestants.live(env, program, contestant, latency, cell.seconds, events, STREAM)
    # Results of all runs are in one file.
    del result["each"]
    if outage:
        result["back_s"] = back(result, *result["events_s"])
    return result


def back(result, dark, light):
    """Seconds from the links' return until packets come again; None: never, 0: they came all along."""
    during = [(a, b) for a, b in result["gaps_s"] if b >= light and a >= dark - 0.5]
    if result["last_came_s"] is None or result["last_came_s"] < light:
        return None
    return max((b - light for a, b in during if a < light + 0.25), default=0.0)


def gap(cell, env, program, contestant):
    """The longest time without delivery in order while link 1 is dark."""
    name, links = contestants.parse(contestant)[0], contestants.links_of(env, contestant)
    client = contestants.start_perf(env, program, name, links, cell.seconds, reverse=True)
    first, last, dark = cell.extra["outage"]
    threading.Timer(first + 0.3, lambda: env.say("hole on both", dark)).start()
    threading.Timer(last + 0.3, lambda: env.say("hole off both", dark)).start()
    result = contestants.json.loads(contestants.told(client, cell.seconds + 60))
    received = result["end"]["sum_received"]
    return {
        "gap_s": received.get("longest_gap_s"),
        "gap_at_s": received.get("longest_gap_at_s"),
        "goodput_bps": received["bits_per_second"],
    }


MEASURES = {
    "bulk": bulk,
    "friendliness": beside_tcp,
    "gap": gap,
    **dict.fromkeys(("uneven-live", "hole", "burst", "outage"), live),
}


def cells(schemes, runs=None, seconds=None):
    """All cells by experiment. `schemes`: those of ours that are compared, the default first; `seconds`: of bulk."""
    default = schemes[0]
    alone = tuple(f"{s}@{n}" for s in dict.fromkeys((default, "cmt", "sctp")) for n in (1, 2))
    ours = tuple(dict.fromkeys((*schemes, "lia", "redundant")))
    made = []
    for network in ("pair", "uneven-deep", "uneven-shallow", "long"):
        everybody = (*ours, *alone, "tcp-cubic@1", "tcp-cubic@2", "mptcp-cubic")
        made.append(Cell("bulk", network, network, everybody, runs or 3, seconds or 60))
    everybody = (*ours, *alone, "tcp-cubic@1", "mptcp-cubic")
    made.append(Cell("bulk", "pair, 1 % loss", "pair", everybody, runs or 3, seconds or 60, tuple(lossy(0.01))))
    shared = tuple(dict.fromkeys((*schemes, "lia", "cmt-qa", "cmt-cl", "cmt-cl-fd", "redundant", "sctp")))
    made.append(Cell("friendliness", "20 Mbit/s", "beside-tcp", shared, runs or 3, 40))
    for network in ("uneven-deep", "uneven-shallow"):
        extra = {"latency": 500}
        made.append(Cell("uneven-live", network, network, (*schemes, "lia", "rist"), runs or 3, 60, (), extra))
    for percent, rate in LOSSES.items():
        for latency in LATENCIES:
            extra = {"latency": latency, "outage": (12, 17, (1,))}
            name = f"{percent} %, {latency} ms"
            made.append(Cell("hole", name, "hole", (*schemes, "rist"), runs or 10, 30, tuple(lossy(rate)), extra))
    extra = {"latency": 1000, "burst": (10, 8_000_000, 4)}
    made.append(
        Cell("burst", "8 Mbit/s of UDP for 4 s", "single", (*schemes, "srt", "rist"), runs or 10, 30, (), extra)
    )
    extra = {"outage": (10, 15, (1,))}
    made.append(Cell("gap", "5 s", "hole", tuple(schemes), runs or 5, 20, (), extra))
    for dark in (*OUTAGES, 60):
        extra = {"latency": 500, "outage": (10, 10 + dark, ())}
        everybody = (*schemes, "rist") if dark <= 20 else tuple(schemes)
        made.append(Cell("outage", f"{dark} s", "hole", everybody, min(runs or 3, 3), 20 + dark, (), extra))
    return made


def mean(values):
    """The mean of the values; None without any value."""
    values = [v for v in values if v is not None]
    return statistics.fmean(values) if values else None


class Findings:
    """Results by cell and contestant, and what the bars say of them."""

    def __init__(self, rows, schemes):
        self.rows, self.default = rows, schemes[0]

    def values(self, experiment, cell, contestant, key):
        """Figures of all runs."""
        asked = (experiment, cell, contestant)
        return [kept["result"].get(key) for of, kept in self.rows.items() if of[:3] == asked]

    def mean(self, experiment, cell, contestant, key):
        """Their mean."""
        return mean(self.values(experiment, cell, contestant, key))

    def verdicts(self, made):
        """(what, figure, bar, met or None: not measured)."""
        for cell in made:
            yield from getattr(self, "judge_" + cell.experiment.replace("-", "_"))(cell)

    def judge_bulk(self, cell):
        """Shares of the best link and of the sum, with the same window."""
        if "loss" in cell.name:
            return
        for scheme in dict.fromkeys((self.default, "cmt", "lia")):
            window = scheme if scheme in (self.default, "cmt") else "sctp"
            alone = [self.mean("bulk", cell.name, f"{window}@{n}", "goodput_bps") for n in (1, 2)]
            both = self.mean("bulk", cell.name, scheme, "goodput_bps")
            if both is None or None in alone:
                yield f"bulk, {cell.name}: {scheme}", None, "", None
                continue
            ratio = both / max(alone)
            if scheme == "lia" or cell.name != "pair":
                yield f"bulk, {cell.name}: {scheme} / best link", ratio, ">= 0.98", ratio >= 0.98
            share = {"pair": 0.9, "long": 0.7}.get(cell.name)
            if share and scheme != "lia":
                ratio = both / sum(alone)
                yield f"bulk, {cell.name}: {scheme} / sum", ratio, f">= {share}", ratio >= share

    def judge_friendliness(self, cell):
        """Our share, compared with the mean of two TCPs."""
        for scheme, bar in ((self.default, 1.3), ("cmt-cl-fd", 1.5)):
            ours = self.mean("friendliness", cell.name, scheme, "goodput_bps")
            tcps = [self.mean("friendliness", cell.name, scheme, cc) for cc in ("cubic", "reno")]
            ratio = None if ours is None else ours / statistics.fmean(tcps)
            if scheme != "cmt":
                yield (
                    f"beside two TCPs: {scheme} / their mean",
                    ratio,
                    f"<= {bar}",
                    None if ratio is None else ratio <= bar,
                )

    def judge_uneven_live(self, cell):
        """Nothing lost."""
        lost = self.mean(cell.experiment, cell.name, self.default, "lost")
        yield f"live, {cell.name}, 500 ms: packets lost", lost, "0", None if lost is None else lost == 0

    def beside(self, cell, peer, slack, what):
        """Not more lost than a peer's mean, and some."""
        ours = self.mean(cell.experiment, cell.name, self.default, "lost_share")
        theirs = self.mean(cell.experiment, cell.name, peer, "lost_share")
        if ours is None or theirs is None:
            yield what, None, "", None
        else:
            yield f"{what}: lost, %", ours * 100, f"<= {(theirs + slack) * 100:.3f}", ours <= theirs + slack

    def judge_hole(self, cell):
        """Comparison with RIST."""
        yield from self.beside(cell, "rist", 0.0002, f"black hole, {cell.name}")

    def judge_burst(self, cell):
        """Comparison with SRT."""
        yield from self.beside(cell, "srt", 0.0, f"burst, {cell.name}")

    def judge_gap(self, cell):
        """Delivery in order continues."""
        gaps = [g for g in self.values("gap", cell.name, self.default, "gap_s") if g is not None]
        most = max(gaps, default=None)
        yield "black hole: longest gap in order, s", most, "<= 0.3", None if most is None else most <= 0.3

    def judge_outage(self, cell):
        """The same session, and back within a second."""
        again = [r for r in self.values("outage", cell.name, self.default, "reconnects") if r is not None]
        came = self.values("outage", cell.name, self.default, "back_s")
        whole = bool(came) and None not in came
        most = max(came) if whole else None
        met = None if not came else whole and most <= 1 and bool(again) and not any(again)
        yield f"outage of all links, {cell.name}: back after, s", most, "<= 1, same session", met
