"""Paper 000, CMT-CL/FD: Figs 5-8 and 11-15, and ablations of 5 and 9.

NC-MPTCP and FMTCP are not there yet. Definitions of measures: docs/reproduction.md.
"""

from figures import (
    Claim, Figure, Measure, Paper, Point, Term, alone, by, difference, metric, more, same, shift, value, variants,
)

QA, CL, FD = "cmt-qa", "cmt-cl", "cmt-cl-fd"
SPECS = {name: f"{name},pf=off" for name in ("cmt", QA, CL, FD)} | {"reno": "reno"}
# Algorithm 2 halves fwnd at fast retransmissions by congestion, section V's text at any: both, side by side.
TEXT = f"{FD} fwnd-cut=any"
SPECS |= variants(SPECS, FD, ("fwnd-cut=any",))
FDS = (FD, TEXT)
ALL = (QA, CL, *FDS)

CL_PARTS = variants(SPECS, CL, (
    "rc=normalised", "snr=db", "modulation=bpsk", "modulation=64qam", "bw-stamp=send", "inactive=literal", "inactive=off",
    "loss-floor=1"))
FD_PARTS = variants(SPECS, FD, (
    "rc=normalised", "snr=db", "modulation=bpsk", "bw-stamp=send", "alpha=0", "beta=1", "reward-exempt=off",
    "inactive=literal", "inactive=off", "loss-floor=1", "fr-freeze=on"))
SPECS |= CL_PARTS | FD_PARTS

THROUGHPUT = "throughput"
PSNR = "PSNR"
UNDERFLOWS = "underflows"


def flow_measures(flow: str) -> tuple[Measure, ...]:
    """What FTP-like figures show: delivered and sent."""
    return (
        Measure(THROUGHPUT, "Mbit/s", metric("flow", flow, "goodput_bps", scale=1e-6), 3),
        Measure("sent", "Mbit/s", metric("flow", flow, "throughput_bps", scale=1e-6), 3),
    )


def video_measures(flow: str) -> tuple[Measure, ...]:
    """Eq. 17 in its three readings."""
    return (
        Measure(PSNR, "dB", metric("flow", flow, "psnr_eq17_db")),
        Measure("PSNR, CRT at the end of sending", "dB", metric("flow", flow, "psnr_eq17_end_db")),
        Measure("PSNR, mean over 10 s", "dB", metric("flow", flow, "psnr_eq17_bins_db")),
    )


def video(flow: str) -> tuple[str, ...]:
    """1 Mbit/s in messages of 1452 bytes, every 11.6 ms; all of it counts."""
    app = f'flows.{flow}.app={{kind="video",rate="1 Mbit/s",size=1452}}'
    return (app, 'run.warmup="0 s"')


# Fig. 4's network

PATHS = ("a", "b", "c")


def losses(p_b: float, p_c: float, more_sets: tuple[str, ...] = (), prefix: str = "") -> Point:
    """A point of Figs 5-7."""
    sets = (f"links.b_access.loss.uniform.rate={p_b}", f"links.c_access.loss.uniform.rate={p_c}")
    return Point(f"{prefix}p_B {p_b:g}, p_C {p_c:g}", (*more_sets, *sets))


FIG5 = tuple(losses(p_b, p_c) for p_b in (0.01, 0.02, 0.03, 0.04) for p_c in (0, 0.02, 0.04, 0.06, 0.08, 0.1))
FIG5_NAMES = tuple(point.name for point in FIG5)
BEST, WORST = "p_B 0.01, p_C 0", "p_B 0.04, p_C 0.1"


def falls(scheme: str) -> Claim:
    """Throughput falls from the best to the worst corner."""
    contrast = (Term(1, BEST, scheme, THROUGHPUT), Term(-1, WORST, scheme, THROUGHPUT))
    return Claim(f"throughput of {scheme} falls from {BEST} to {WORST}", (contrast,), "above")


def steadier(a: str, fd: str) -> Claim:
    """FD's throughput falls by less than A's from p_C 0 to 0.1."""
    def drop(p_b: float, scheme: str, sign: int) -> tuple[Term, ...]:
        ends = (f"p_B {p_b:g}, p_C 0", f"p_B {p_b:g}, p_C 0.1")
        return Term(sign, ends[0], scheme, THROUGHPUT), Term(-sign, ends[1], scheme, THROUGHPUT)

    contrasts = tuple((*drop(p_b, a, 1), *drop(p_b, fd, -1)) for p_b in (0.01, 0.02, 0.03, 0.04))
    return Claim(f"throughput from p_C 0 to 0.1 falls by more with {a} than with {fd}", contrasts, "above")


FIGURE_5 = Figure(
    "5", "bulk transfer, mean throughput", "000/fig4.toml", ALL, FIG5, flow_measures("video"),
    claims=(
        more(THROUGHPUT, CL, QA, FIG5_NAMES),
        *(more(THROUGHPUT, CL, fd, FIG5_NAMES) for fd in FDS),
        *(steadier(a, fd) for fd in FDS for a in (QA, CL)),
        *(same(THROUGHPUT, fd, QA, [name for name in FIG5_NAMES if name.startswith("p_B 0.04")], " at p_B 0.04") for fd in FDS),
        *(falls(scheme) for scheme in ALL),
    ),
)

FIG6 = tuple(losses(p_b, p_c, video("video")) for p_b in (0.01, 0.02, 0.03, 0.04) for p_c in (0, 0.01, 0.02, 0.03))
FIG6_NAMES = tuple(point.name for point in FIG6)
BAD = "p_B 0.04, p_C 0.03"

FIGURE_6 = Figure(
    "6", "1 Mbit/s of video, PSNR of eq. 17", "000/fig4.toml", ALL, FIG6, video_measures("video"),
    claims=(
        more(PSNR, CL, QA, FIG6_NAMES),
        by(0.42, "dB", PSNR, CL, QA, [BEST], f" at {BEST}"),
        by(2.02, "dB", PSNR, CL, QA, [BAD], f" at {BAD}"),
        *(claim
          for fd in FDS
          for claim in (
              more(PSNR, CL, fd, FIG6_NAMES),
              by(0.82, "dB", PSNR, QA, fd, [BEST], f" at {BEST}"),
              by(2.07, "dB", PSNR, CL, fd, [BAD], f" at {BAD}"),
              by(0.05, "dB", PSNR, QA, fd, [BAD], f" at {BAD}"),
          )),
    ),
    paper={(at, scheme, PSNR): psnr
           for at, numbers in ((BEST, (36.00, 36.42, 35.18, 35.18)), (BAD, (22.73, 24.75, 22.68, 22.68)))
           for scheme, psnr in zip(ALL, numbers)},
)

FIGURE_7 = Figure(
    "7", "the same video, buffer underflows", "000/fig4.toml", ALL, FIG6,
    (Measure(UNDERFLOWS, "", metric("flow", "video", "underflows")),),
    claims=(
        more(UNDERFLOWS, QA, CL, FIG6_NAMES),
        *(more(UNDERFLOWS, fd, other, FIG6_NAMES) for fd in FDS for other in (CL, QA)),
    ),
)

TWO_SIDES = {0.05: 0.025321, 0.1: 0.051317, 0.15: 0.078046, 0.2: 0.105573}


def side(p: float, delay_ms: int, two: bool) -> Point:
    """A point of Fig. 8: the receiver's access links have this delay, and half of the loss if `two`."""
    rate = TWO_SIDES[p] if two else p
    sets = [f"links.{path}_access.loss.uniform.rate={rate}" for path in PATHS]
    sets += [f'links.{path}_far.delay="{delay_ms} ms"' for path in PATHS]
    if two:
        sets += [f"links.{path}_far.loss.uniform.rate={rate}" for path in PATHS]
    return Point(side_name(p, delay_ms, two), tuple(sets))


def side_name(p: float, delay_ms: int, two: bool) -> str:
    """Its name."""
    return f"p {p:g}, {delay_ms} ms, {'two sides' if two else 'one side'}"


def one_and_two(p: float, delay_ms: int) -> tuple[Term, ...]:
    """Throughput with the loss on one side minus on two."""
    return (Term(1, side_name(p, delay_ms, False), FD, THROUGHPUT), Term(-1, side_name(p, delay_ms, True), FD, THROUGHPUT))


DELAYS = (50, 100, 140, 150)
LOW = [(p, delay) for p in (0.05, 0.1) for delay in DELAYS]

FIGURE_8 = Figure(
    "8", "loss on the sender's side or on both, receiver's access delay", "000/fig4.toml", (FD,),
    tuple(side(p, delay, two) for p in TWO_SIDES for delay in DELAYS for two in (False, True)),
    flow_measures("video"),
    claims=(
        Claim("throughput below p 0.15: one side ≈ two sides", tuple(one_and_two(*at) for at in LOW), "same",
              base=tuple((Term(1, side_name(p, delay, True), FD, THROUGHPUT),) for p, delay in LOW), unit="%"),
        Claim("throughput at p 0.2 and 140 ms or more: one side > two sides",
              tuple(one_and_two(0.2, delay) for delay in (140, 150)), "above"),
    ),
    notes="`report-fer=on` would report the receiver's frame errors; simulated links tell senders only, so it changes nothing here.",
)

# Figs 9 and 10: the bottlenecks

SHARE, TCPS = "share of the bottleneck", "share of the TCP flows"
PATH_A, PATH_B, TCP = "path A", "path B", "TCP"


def bottleneck_measures(tcps: tuple[str, ...]) -> tuple[Measure, ...]:
    """Shares of the bottleneck's bits, and throughputs."""
    shares = [metric("share", "bottleneck", "served_share", f"forward/{tcp}") for tcp in tcps]
    goodputs = [metric("flow", tcp, "goodput_bps", scale=1e-6) for tcp in tcps]
    return (
        Measure(SHARE, "", metric("share", "bottleneck", "served_share", "forward/sctp"), 3),
        Measure(TCPS, "", lambda run: sum(one(run) for one in shares), 3),
        Measure(THROUGHPUT, "Mbit/s", metric("flow", "sctp", "goodput_bps", scale=1e-6), 3),
        Measure(PATH_A, "Mbit/s", metric("path", "sctp", "goodput_bps", "a", scale=1e-6), 3),
        Measure(PATH_B, "Mbit/s", metric("path", "sctp", "goodput_bps", "b", scale=1e-6), 3),
        Measure(TCP, "Mbit/s", lambda run: sum(one(run) for one in goodputs), 3),
    )


def rate(mbps: float, *more_sets: str, name: str = "") -> Point:
    """A bottleneck of this rate."""
    return Point(f"{mbps:g} Mbit/s{name}", (f'links.bottleneck.rate="{mbps:g} Mbit/s"', *more_sets))


RATES = ("0.5 Mbit/s", "1 Mbit/s", "1.5 Mbit/s", "2 Mbit/s")

FIGURE_11 = Figure(
    "11", "two paths and two TCP flows share a bottleneck, at 300 s", "000/fig9.toml", ALL,
    (*(rate(mbps) for mbps in (0.5, 1, 1.5, 2)),
     rate(1, 'links.bottleneck.queue.limit="20 packets"', name=", queue of 20"),
     rate(1, 'links.bottleneck.queue.limit="100 packets"', name=", queue of 100")),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=(
        value(0.64, "", SHARE, QA, ["1 Mbit/s"], " at 1 Mbit/s"),
        value(0.36, "", TCPS, QA, ["1 Mbit/s"], " at 1 Mbit/s"),
        *(claim
          for fd in FDS
          for claim in (
              value(1 / 3, "", SHARE, fd, RATES),
              more(SHARE, QA, fd, RATES),
              Claim(f"{fd}: path A ≈ path B", tuple((Term(1, at, fd, PATH_A), Term(-1, at, fd, PATH_B)) for at in RATES), "same",
                    base=alone(PATH_B, fd, RATES), unit="%"),
          )),
    ),
    paper={("1 Mbit/s", QA, SHARE): 0.64, ("1 Mbit/s", QA, TCPS): 0.36,
           **{(at, fd, SHARE): 1 / 3 for fd in FDS for at in RATES}},
)

FIG12 = "path B of 1 Mbit/s, 100 ms, loss 0.05"

FIGURE_12 = Figure(
    "12", "unequal paths over the same bottleneck, mean of 250 s to 300 s", "000/fig9.toml", ALL,
    (Point(FIG12, ('links.b_in.rate="1 Mbit/s"', 'links.b_in.delay="100 ms"', "links.b_in.loss.uniform.rate=0.05")),),
    (*bottleneck_measures(("tcp1", "tcp2")),
     Measure("sent on B", "Mbit/s", metric("path", "sctp", "throughput_bps", "b", scale=1e-6), 3)),
    claims=(
        *(claim
          for fd in FDS
          for claim in (
              value(0.368, "Mbit/s", THROUGHPUT, fd, [FIG12]),
              Claim(f"{fd}: path A > path B", ((Term(1, FIG12, fd, PATH_A), Term(-1, FIG12, fd, PATH_B)),), "above"),
              more("sent on B", QA, fd, [FIG12]),
          )),
    ),
    paper={(FIG12, fd, THROUGHPUT): 0.368 for fd in FDS},
)

BIG_BUFFER = 'flows.sctp.sctp.receive_buffer="256 KiB"'


def shrinks(a: str, fd: str, first: str, last: str) -> Claim:
    """A's lead over FD shrinks from one bottleneck to the other."""
    contrast = (Term(1, first, a, PSNR), Term(-1, first, fd, PSNR), Term(-1, last, a, PSNR), Term(1, last, fd, PSNR))
    return Claim(f"PSNR: {a} - {fd} is more at {first} than at {last}", (contrast,), "above")


FIG13 = tuple(rate(mbps, *video("sctp"), BIG_BUFFER) for mbps in (2.5, 2.8, 3.0, 3.2, 3.5))
FIG13_NAMES = tuple(point.name for point in FIG13)

FIGURE_13 = Figure(
    "13", "1 Mbit/s of video over the shared bottleneck", "000/fig9.toml", ALL, FIG13, video_measures("sctp"),
    claims=(
        *(more(PSNR, a, fd, FIG13_NAMES) for fd in FDS for a in (QA, CL)),
        *(shrinks(a, fd, "2.5 Mbit/s", "3.5 Mbit/s") for fd in FDS for a in (QA, CL)),
    ),
)

ALONE = ("reno",)


def single(path: str, via: str, mbps: float) -> Point:
    """A single TCP flow in place of the multipath one."""
    ends = 'transport="tcp",from="sender",to="receiver",cc="reno",compare=true,profile="ns2"'
    constants = 'tcp={recovery="reno",segment=1460,receive_window=65536}'
    paths = f"paths={{{path.lower()}={{via=[{via}]}}}}"
    point = rate(mbps, f"flows.sctp={{{ends},{constants},{paths}}}", name=f", TCP in place of path {path}")
    return Point(point.name, point.sets, ALONE)


VIA_A, VIA_B = '"a_in","bottleneck","a_out"', '"b_in","own","b_out"'
FIG14 = tuple(
    point
    for mbps in (0.5, 1, 1.5, 2)
    for point in (rate(mbps), single("A", VIA_A, mbps), single("B", VIA_B, mbps))
)


def hat(at: str, path: str, sign: int) -> Term:
    """The throughput of a single TCP flow in place of a path: the hatted F of eqs 18-20."""
    return Term(sign, f"{at}, TCP in place of path {path}", "reno", THROUGHPUT)


def goals(scheme: str) -> tuple[Claim, ...]:
    """Eqs 18-20; F̂: a single TCP flow in place of the path."""
    def goal(text: str, ours: str, path: str, sign: int) -> Claim:
        contrasts = tuple((Term(sign, at, scheme, ours), hat(at, path, -sign)) for at in RATES)
        return Claim(f"{scheme}, {text}", contrasts, "at least", unit="Mbit/s")

    return (
        goal("eq. 18: F_total ≥ F̂_A", THROUGHPUT, "A", 1),
        goal("eq. 18: F_total ≥ F̂_B", THROUGHPUT, "B", 1),
        goal("eqs 19, 20: F_A ≤ F̂_A", PATH_A, "A", -1),
        goal("eq. 19: F_B ≤ F̂_B", PATH_B, "B", -1),
        goal("eq. 20: F_TCP > F̂_A", TCP, "A", 1),
    )


FIGURE_14 = Figure(
    "14", "one path shares a bottleneck with TCP, the goals of eqs 18-20", "000/fig10.toml", ALL, FIG14,
    bottleneck_measures(("tcp",)),
    claims=(
        *(claim
          for fd in FDS
          for claim in (value(0.35, "", SHARE, fd, RATES), more(SHARE, QA, fd, RATES), more(TCP, fd, QA, RATES), *goals(fd))),
        *goals(QA),
    ),
    notes="Goals hold with the interval as tolerance. The paper says that they hold for cmt-cl-fd, not for cmt-qa.",
)

FIG15 = tuple(rate(mbps, *video("sctp")) for mbps in (1.5, 1.8, 2.0, 2.1, 2.5))
FIG15_NAMES = tuple(point.name for point in FIG15)
FIG15_BIG = tuple(rate(mbps, *video("sctp"), BIG_BUFFER, name=", 256 KB") for mbps in (1.5, 1.8, 2.0, 2.1, 2.5))
FIG15_BIG_NAMES = tuple(point.name for point in FIG15_BIG)

FIGURE_15 = Figure(
    "15", "1 Mbit/s of video, one path shares a bottleneck with TCP", "000/fig10.toml", ALL, (*FIG15, *FIG15_BIG),
    video_measures("sctp"),
    claims=(
        more(PSNR, CL, QA, FIG15_NAMES),
        more(PSNR, CL, QA, FIG15_BIG_NAMES, ", 256 KB"),
        *(claim
          for fd in FDS
          for names, size in ((FIG15_NAMES, ""), (FIG15_BIG_NAMES, ", 256 KB"))
          for claim in (
              more(PSNR, CL, fd, names, size),
              by(0.37, "dB", PSNR, QA, fd, [f"1.5 Mbit/s{size}"], f" at 1.5 Mbit/s{size}"),
              by(0.11, "dB", PSNR, QA, fd, [f"2 Mbit/s{size}"], f" at 2 Mbit/s{size}"),
              shrinks(QA, fd, f"1.5 Mbit/s{size}", f"2.5 Mbit/s{size}"),
          )),
    ),
    notes="Receive buffer of 64 KB and, as the paper says of Fig. 13, 256 KB.",
)

# Ablations

CORNERS = ((0.01, 0), (0.02, 0.04), (0.04, 0.1))


def same_loss_back(p_b: float, p_c: float) -> tuple[str, ...]:
    """Acknowledgements are lost as data are."""
    uniform = [f"links.{path}_access.reverse.loss.uniform.rate={p}" for path, p in zip(PATHS, (0.02, p_b, p_c))]
    return (*uniform, *(f"links.{path}_access.reverse.loss.markov={{rate=0.01,burst=3}}" for path in PATHS))


FLOWS_ONLY = tuple(f'links.{path}_access.loss_takes="flows"' for path in PATHS)
UDP_ONLY = tuple(f"cross.{path}.tcp_share=0" for path in PATHS)
FIG5A = tuple(
    point
    for p_b, p_c in CORNERS
    for point in (
        losses(p_b, p_c),
        losses(p_b, p_c, same_loss_back(p_b, p_c), "acks lost, too: "),
        losses(p_b, p_c, FLOWS_ONLY, "only ours lost: "),
        losses(p_b, p_c, UDP_ONLY, "background UDP: "),
    )
)


def leads(a: str, b: str) -> tuple[Claim, ...]:
    """Who leads in each variant, over the corners."""
    variants = ("", "acks lost, too: ", "only ours lost: ", "background UDP: ")
    names = [tuple(f"{variant}p_B {p_b:g}, p_C {p_c:g}" for p_b, p_c in CORNERS) for variant in variants]
    where = (", as above", ", acks lost, too", ", only ours lost", ", background UDP")
    return tuple(more(THROUGHPUT, a, b, points, text) for points, text in zip(names, where))


FIGURE_5A = Figure(
    "5 ablated", "what loss on acknowledgements, loss of background packets and its kind do", "000/fig4.toml", ALL, FIG5A,
    flow_measures("video"), claims=(*leads(CL, QA), *(claim for fd in FDS for claim in leads(CL, fd))),
    notes="Where only ours are lost, background frames count as good ones: links tell schemes of fewer errors.",
)

ACKS_9 = tuple(f"links.{link}.reverse.loss.uniform.rate=0.01" for link in ("a_in", "b_in", "tcp1_in", "tcp2_in"))
OURS_9 = tuple(f"links.{link}.loss={{}}" for link in ("tcp1_in", "tcp2_in"))
UDP_9 = ('cross.background={via=["bottleneck"],load={uniform=[0,0.5],every="10 s"},tcp_share=0,profile="ns2"}',)
VARIANTS_9 = ("1 Mbit/s", "1 Mbit/s, acks lost, too", "1 Mbit/s, only ours lost", "1 Mbit/s, background UDP")

FIGURE_9A = Figure(
    "9 ablated", "the same on the network of Figs 9 and 11", "000/fig9.toml", ALL,
    (rate(1), rate(1, *ACKS_9, name=", acks lost, too"), rate(1, *OURS_9, name=", only ours lost"),
     rate(1, *UDP_9, name=", background UDP")),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=tuple(more(SHARE, QA, fd, [at], f" at {at}") for fd in FDS for at in VARIANTS_9),
    notes="There is no background load in this network: the last variant adds UDP of 0 to 50 % of the bottleneck.",
)

CORNER_NAMES = tuple(f"p_B {p_b:g}, p_C {p_c:g}" for p_b, p_c in CORNERS)

FIGURE_5P = Figure(
    "5 by parts", "cmt-cl with other parts and values, one at a time", "000/fig4.toml", ("cmt", QA, CL, *CL_PARTS),
    tuple(losses(p_b, p_c) for p_b, p_c in CORNERS), flow_measures("video"),
    claims=tuple(shift(THROUGHPUT, scheme, CL, CORNER_NAMES) for scheme in ("cmt", QA, *CL_PARTS)),
)

FIGURE_11P = Figure(
    "11 by parts", "cmt-cl-fd with other parts and values, one at a time", "000/fig9.toml", ("cmt", QA, *FDS, *FD_PARTS),
    (rate(1),), bottleneck_measures(("tcp1", "tcp2")),
    claims=tuple(shift(SHARE, scheme, FD, ["1 Mbit/s"]) for scheme in ("cmt", QA, TEXT, *FD_PARTS)),
)

PAPER = Paper(
    "000", "CMT-CL/FD", SPECS,
    (FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_15, FIGURE_5A, FIGURE_9A,
     FIGURE_5P, FIGURE_11P),
)
