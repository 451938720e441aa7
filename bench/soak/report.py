"""Tables of a trial, and what missed a bar."""

from bench.common import UnsoundError, carried
from bench.pages import table
from bench.soak.faults import END_S
from bench.soak.recordings import Hole
from bench.soak.sides import Side, slope
from bench.soak.trial import Trial

# From here on a process has all it needs: buffers have grown to the paths.
WARM_AGE_S = 30.0
# Growth in a minute: of resident memory, and of descriptors.
MOST_RSS_KIB, MOST_DESCRIPTORS = 512.0, 0.5
# Below that many seconds of samples a slope says nothing.
LEAST_S = 60.0


def unsound(packets: dict[int, int]) -> list[str]:
    """A line if a link that the sender has was idle all along."""
    try:
        carried(packets)
    except UnsoundError as error:
        return [f"the trial does not count: {error}"]
    return []


class Report:
    """Report of a trial that has ended."""

    def __init__(self, trial: Trial) -> None:
        """Makes the report of a trial."""
        self.trial = trial

    def faults(self) -> str:
        """A row for each fault."""
        rows = []
        for one in self.trial.outcomes:
            after = "never" if one.after_s is None else f"{one.after_s:.1f}"
            bar, most = f"{one.fault.bar_s:.0f}", one.fault.silence_bar_s
            silent, most = f"{one.silent_s:.1f}", "" if most is None else f"{most:.0f}"
            mark = "**missed** " if one.missed else ""
            rows.append([f"{mark}{one.number}. {one.fault}", after, bar, silent, most, str(one.missing)])
        heads = ["fault", "played again after s", "at most s", "longest silence s", "at most s", "packets missing"]
        return table(heads, rows)

    def elsewhere(self) -> list[Hole]:
        """Holes outside faults."""
        trial = self.trial
        spans = [(one.began, one.healed + (one.after_s or 60) + 3) for one in trial.outcomes]
        return [
            hole
            for hole in trial.watch.holes
            if hole.seen >= trial.begun and not any(a <= hole.seen <= b for a, b in spans)
        ]

    def holes(self) -> str:
        """A line for each hole outside faults, for the log."""
        begun = self.trial.begun
        return "".join(f"{hole.seen - begun:.1f} s: {hole.count} from {hole.first}\n" for hole in self.elsewhere())

    def samples(self) -> str:
        """Samples as CSV for the log."""
        begun = self.trial.begun
        rows = ["side,process,seconds,rss_kib,descriptors"]
        for side in self.trial.sides.values():
            for n, life in enumerate(side.lives, 1):
                rows += [f"{side.name},{n},{s.at - begun:.1f},{s.rss_kib},{s.descriptors}" for s in life.samples]
        return "\n".join(rows) + "\n"

    def growth(self, side: Side) -> tuple[float, float, float]:
        """KiB and descriptors in a minute, and of how many seconds that is."""
        rss, seconds = slope(side.lives, lambda one: one.rss_kib, WARM_AGE_S)
        return rss, slope(side.lives, lambda one: one.descriptors, WARM_AGE_S)[0], seconds

    def figures(self) -> str:
        """A row for each measure."""
        trial, watch = self.trial, self.trial.watch
        after = sorted(one.after_s for one in trial.outcomes if one.after_s is not None) or [0.0]
        rows = [
            ["seed, seconds, faults", f"{trial.seed}, {trial.seconds:.0f}, {len(trial.outcomes)}"],
            ["played again after, median and longest", f"{after[len(after) // 2]:.1f} s, {after[-1]:.1f} s"],
            ["flaps of links", str(trial.network.flaps)],
            ["packets in recordings, all of them checked", str(watch.packets)],
            ["recordings; of them cut within their last packet", f"{watch.finished}; {watch.cut}"],
            ["packets that are not as sent, or out of order", str(len(watch.wrong))],
            ["packets that a later recording has again", str(watch.again)],
            ["packets missing outside faults", str(sum(hole.count for hole in self.elsewhere()))],
        ]
        for side in trial.sides.values():
            rows += self.held(side)
        slowest = max((took for _, took in trial.ends if took is not None), default=0.0)
        rows.append([f"SIGTERM, {len(trial.ends)} times: longest until the end", f"{slowest:.2f} s"])
        rows.append(["longest delay of a timer by the machine", f"{trial.guard.worst_s * 1000:.0f} ms"])
        return table(["", "found"], rows)

    def held(self, side: Side) -> list[list[str]]:
        """Memory and descriptors of a side."""
        rss, descriptors, seconds = self.growth(side)
        samples = [one for life in side.lives for one in life.samples]
        most = max((one.rss_kib for one in samples), default=0) / 1024
        held = [one.descriptors for one in samples] or [0]
        codes = ", ".join(f"{code} {side.codes.count(code)} times" for code in sorted(set(side.codes)))
        return [
            [f"{side.name}: processes; exit codes", f"{len(side.lives)}; {codes}"],
            [f"{side.name}: resident memory, most; in a minute", f"{most:.1f} MiB; {rss:+.0f} KiB in {seconds:.0f} s"],
            [
                f"{side.name}: descriptors, least to most; in a minute",
                f"{min(held)} to {max(held)}; {descriptors:+.2f}",
            ],
        ]

    def missed(self) -> list[str]:
        """A line for each bar that was missed."""
        trial = self.trial
        lines = [f"{one.number}. {one.fault}: {one.missed}" for one in trial.outcomes if one.missed]
        lines += unsound(trial.packets) + trial.watch.wrong
        if trial.watch.again:
            lines.append(f"{trial.watch.again} packets are in a later recording again")
        for name, took in trial.ends:
            if took is None or took > END_S:
                lines.append(
                    f"{name}: it ended after {'more than 30 s' if took is None else f'{took:.2f} s'}, not {END_S} s"
                )
        for side in trial.sides.values():
            rss, descriptors, seconds = self.growth(side)
            if seconds >= LEAST_S and rss > MOST_RSS_KIB:
                lines.append(f"{side.name}: memory grows by {rss:.0f} KiB in a minute")
            if seconds >= LEAST_S and descriptors > MOST_DESCRIPTORS:
                lines.append(f"{side.name}: descriptors grow by {descriptors:.2f} in a minute")
            lines += side.panics
        return lines
