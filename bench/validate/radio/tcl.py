"""A case as a script for ns-2.35, and its run."""

import collections
import pathlib
import tempfile

from bench.validate import ns2
from bench.validate.radio import cases

SEGMENT, HEADERS = 1000, 40
# A datagram of 1000 bytes has 28 bytes of headers; ns-2's AODV and AOMDV add 20 to the size of the UDP agent.
DATAGRAM = 1000
UDP_SIZE = DATAGRAM + 8
UDP_MBPS = 4.5
TIMEOUT_S = 1200

NODES = """
set ns [new Simulator]
set trace [open {folder}/trace w]
$ns trace-all $trace
set topo [new Topography]
$topo load_flatgrid {width} {height}
create-god {nodes}
Mac/802_11 set dataRate_ 11Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set RTSThreshold_ 0
Phy/WirelessPhy set CSThresh_ 1.559e-11
Phy/WirelessPhy set RXThresh_ 3.652e-10
Agent/TCP set window_ 20
Agent/TCP set packetSize_ {segment}
$ns node-config -adhocRouting {routing} -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \\
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \\
    -channel [new Channel/WirelessChannel] -topoInstance $topo \\
    -agentTrace OFF -routerTrace ON -macTrace OFF -movementTrace OFF
"""


def script(case: cases.Case, seed: int, folder: str) -> str:
    """The script: prints what each sink had at the end of the warm-up and at the end, and writes a trace of the routers."""
    where = cases.places(case.topology)
    lines = [f"# {case.name}, seed {seed}", f"$defaultRNG seed {seed}"]
    lines.append(
        NODES.format(
            folder=folder,
            width=int(max(x for x, _ in where)) + 10,
            height=int(max(y for _, y in where)) + 10,
            nodes=len(where),
            segment=SEGMENT,
            routing=case.routing.upper(),
        )
    )
    for node, (x, y) in enumerate(where):
        lines += [
            f"set n{node} [$ns node]",
            f"$n{node} random-motion 0",
            f"$n{node} set X_ {x}",
            f"$n{node} set Y_ {y}",
            f"$n{node} set Z_ 0",
        ]
    flows = cases.flows(case.topology)
    for number, flow in enumerate(flows):
        lines += (udp if case.traffic == "udp" else tcp)(case, number, flow)
    counted = "npkts_" if case.traffic == "udp" else "bytes_"
    puts = " ".join(f"[$sink{number} set {counted}]" for number in range(len(flows)))
    lines += [
        f'$ns at {cases.WARMUP_S} {{ puts "{puts}" }}',
        f'$ns at {cases.SECONDS - 1e-9:.9f} {{ puts "{puts}" }}',
        f"$ns at {cases.SECONDS} {{ $ns flush-trace; exit 0 }}",
        "$ns run",
    ]
    return "\n".join(lines) + "\n"


def tcp(case: cases.Case, number: int, flow: cases.Flow) -> list[str]:
    """A greedy flow. AOMDV charges the IP header to TCP's packets once more, AODV doesn't."""
    header = HEADERS if case.routing == "aodv" else HEADERS - 20
    return [
        f"set source{number} [new Agent/TCP/Reno]",
        f"$source{number} set tcpip_base_hdr_size_ {header}",
        f"$ns attach-agent $n{flow.source} $source{number}",
        f"set sink{number} [new Agent/TCPSink]",
        f"$sink{number} set packetSize_ {header}",
        f"$ns attach-agent $n{flow.destination} $sink{number}",
        f"$ns connect $source{number} $sink{number}",
        f"set ftp{number} [new Application/FTP]",
        f"$ftp{number} attach-agent $source{number}",
        f"$ns at {flow.start_s} {{ $ftp{number} start }}",
    ]


def udp(_case: cases.Case, number: int, flow: cases.Flow) -> list[str]:
    """More than any hop can carry."""
    return [
        f"set source{number} [new Agent/UDP]",
        f"$source{number} set packetSize_ {UDP_SIZE}",
        f"$ns attach-agent $n{flow.source} $source{number}",
        f"set sink{number} [new Agent/LossMonitor]",
        f"$ns attach-agent $n{flow.destination} $sink{number}",
        f"$ns connect $source{number} $sink{number}",
        f"set cbr{number} [new Application/Traffic/CBR]",
        f"$cbr{number} set packetSize_ {UDP_SIZE}",
        f"$cbr{number} set rate_ {UDP_MBPS * UDP_SIZE / DATAGRAM}Mb",
        f"$cbr{number} attach-agent $source{number}",
        f"$ns at {flow.start_s} {{ $cbr{number} start }}",
    ]


def run(case: cases.Case, seed: int) -> dict:
    """Goodput of each flow after the warm-up, and the counts of the routers' trace after it."""
    with tempfile.TemporaryDirectory() as folder:
        told = ns2.run(f"{case.name}, seed {seed}", script(case, seed, folder), folder, TIMEOUT_S)
        counts = of_trace(pathlib.Path(folder) / "trace")
    # Other lines of ns-2 are words.
    rows = [line.split() for line in told.splitlines() if line.replace(" ", "").isdigit()]
    first, last = ([int(word) for word in row] for row in rows)
    size = DATAGRAM if case.traffic == "udp" else SEGMENT / (SEGMENT + HEADERS)
    measured_s = cases.SECONDS - cases.WARMUP_S
    goodput = [round((b - a) * size * 8 / measured_s) for a, b in zip(first, last, strict=True)]
    return {"goodput_bps": goodput, **counts}


def of_trace(path: pathlib.Path) -> dict:
    """Counts routing messages that routers hand to the link layer, their bytes, and dropped packets.

    Each hop's broadcast or unicast is a message, whatever becomes of it behind; its bytes are those of the IP packet.
    """
    messages: collections.Counter[str] = collections.Counter()
    drops: collections.Counter[str] = collections.Counter()
    size = 0
    with path.open() as trace:
        for line in trace:
            if line[0] not in "sfD":
                continue
            words = line.split()
            if float(words[1]) < cases.WARMUP_S:
                continue
            if words[0] == "D":
                # Layer, reason and what was dropped.
                drops[f"{words[3]} {words[4]} {words[6]}"] += 1
            elif words[6] in ("AODV", "AOMDV"):
                kind = line[line.rindex("(") + 1 : line.rindex(")")]
                messages[kind.lower()] += 1
                size += int(words[7])
    return {"routing_bytes": size, "routing_messages": dict(messages), "drops": dict(drops)}
