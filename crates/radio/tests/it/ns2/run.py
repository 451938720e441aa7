#!/usr/bin/env python3
"""Runs the networks of `networks.txt` in ns-2.35 (Debian package `ns2`) and writes `results.txt`; minutes of CPU time.

No routing: each flow goes to a neighbour of its sender (`DumbAgent`), with more packets of 1040 bytes at IP level than
any hop can carry. `../ns2.rs` compares.

A line of `networks.txt` is a name, places `x,y` in metres and flows `from,to`; one of `results.txt` is a name and, for
each seed, the packets per second that each flow's destination received. `|` separates parts, `;` their elements.
"""

import pathlib
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).parent
SEEDS = (1, 2, 3)
BEGIN_S, END_S = 5, 105

HEAD = """
set ns [new Simulator]
set trace [open /dev/null w]
$ns trace-all $trace
set topo [new Topography]
$topo load_flatgrid 1100 1100
create-god {nodes}
Mac/802_11 set dataRate_ 11Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set RTSThreshold_ 0
Phy/WirelessPhy set CSThresh_ 1.559e-11
Phy/WirelessPhy set RXThresh_ 3.652e-10
$ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \\
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \\
    -channel [new Channel/WirelessChannel] -topoInstance $topo \\
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
"""
NODE = """
set n{i} [$ns node]
$n{i} random-motion 0
$n{i} set X_ {x}
$n{i} set Y_ {y}
$n{i} set Z_ 0
"""
FLOW = """
set source{i} [new Agent/UDP]
$source{i} set packetSize_ 1040
$ns attach-agent $n{a} $source{i}
set sink{i} [new Agent/LossMonitor]
$ns attach-agent $n{b} $sink{i}
$ns connect $source{i} $sink{i}
set cbr{i} [new Application/Traffic/CBR]
$cbr{i} set packetSize_ 1040
$cbr{i} set rate_ 4.5Mb
$cbr{i} attach-agent $source{i}
$ns at {start} {{ $cbr{i} start }}
"""


def pairs(text: str) -> list[list[str]]:
    """`x,y;x,y` as pairs."""
    return [pair.split(",") for pair in text.split(";")]


def script(places: str, flows: str, seed: int) -> str:
    """Prints what each sink had received at the begin and at the end."""
    where, links = pairs(places), pairs(flows)
    parts = [f"$defaultRNG seed {seed}", HEAD.format(nodes=len(where))]
    parts += [NODE.format(i=i, x=x, y=y) for i, (x, y) in enumerate(where)]
    parts += [FLOW.format(i=i, a=a, b=b, start=0.1 + 0.01 * i) for i, (a, b) in enumerate(links)]
    counts = " ".join(f"[$sink{i} set npkts_]" for i in range(len(links)))
    parts += [f'$ns at {BEGIN_S} {{ puts "{counts}" }}', f'$ns at {END_S} {{ puts "{counts}"; exit 0 }}', "$ns run"]
    return "\n".join(parts) + "\n"


def run(places: str, flows: str, seed: int) -> str:
    """The rates of a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "network.tcl"
        path.write_text(script(places, flows, seed))
        done = subprocess.run(["nice", "ns", path], cwd=folder, capture_output=True, text=True, check=True)
    # Other lines of ns-2 are words.
    counts = (line.split() for line in done.stdout.splitlines() if line.replace(" ", "").isdigit())
    first, last = ([int(word) for word in row] for row in counts)
    return ",".join(f"{(b - a) / (END_S - BEGIN_S):g}" for a, b in zip(first, last, strict=True))


def main() -> None:
    """Runs all."""
    lines = []
    for line in (FOLDER / "networks.txt").read_text().splitlines():
        name, places, flows = line.split("|")
        lines.append(f"{name}|{';'.join(run(places, flows, seed) for seed in SEEDS)}\n")
        print(lines[-1], end="", flush=True)
    (FOLDER / "results.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
