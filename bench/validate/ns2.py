"""A network as a script for ns-2.35, and its run."""

import pathlib
import random
import shutil
import subprocess
import tempfile

from bench.common import RunError
from bench.validate import table

RECOVERY = {"reno": "Reno", "newreno": "Newreno", "sack": "Sack1"}
RTX = {"asap": 0, "same": 1, "ssthresh": 2, "lossrate": 3, "cwnd": 4}
TCP_HEADER = 40
ACCESS_MBPS, ACCESS_MS = 100, 5
# No run takes more than some seconds.
TIMEOUT_S = 30

# Loss in state Bad of a two-state chain that advances once per packet. The built-in two-state model of ns-2 counts the
# packet that ends a state as one of the next state, so that its bursts are longer than the configured mean.
GILBERT = """
Class Gilbert -superclass ErrorModel/MultiState
Gilbert instproc init {rate burst} {
    set never [new ErrorModel/Uniform 0 pkt]
    $self next [list $never] [list 0] [list [list $never]] pkt pkt 1 $never
    $self error-model none
    $self instvar bad_ to_bad_ to_good_ rng_
    set bad_ 0
    set to_good_ [expr 1.0 / $burst]
    set to_bad_ [expr $to_good_ * $rate / (1 - $rate)]
    set rng_ [new RNG]
}
Gilbert instproc corrupt {} {
    $self instvar bad_ to_bad_ to_good_ rng_
    set move [expr $bad_ ? $to_good_ : $to_bad_]
    if {[$rng_ uniform 0 1] < $move} { set bad_ [expr !$bad_] }
    return $bad_
}
"""


def version() -> str | None:
    """ns-2's version, `None` where it is not installed."""
    if not shutil.which("ns"):
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".tcl") as script:
        script.write("puts [ns-version]\nexit 0\n")
        script.flush()
        return subprocess.run(["ns", script.name], capture_output=True, text=True, check=True).stdout.strip()


def goodput_bps(name: str, network: dict, seed: int, trace: pathlib.Path | None = None) -> float | None:
    """Application bits a second that arrived in order between the end of the warm-up and the end, over all flows.

    `None`: ns-2 hangs with this seed (its CMT can loop for ever once all paths are potentially failed).
    """
    with tempfile.TemporaryDirectory() as folder:
        script = tcl(name, network, seed, folder, trace)
        try:
            told = run(f"{name}, seed {seed}", script, folder, network.get("timeout", TIMEOUT_S))
        except subprocess.TimeoutExpired:
            return None
        if network["transport"] == "tcp":
            first, last = (int(line) for line in told.split())
            bytes_in_order = (last - first) * network["segment"] // (network["segment"] + TCP_HEADER)
        else:
            bytes_in_order = chunks(network, folder) * (network["chunk"] - 16)
    return bytes_in_order * 8 / (network["time"] - network["warmup"])


def run(what: str, script: str, folder: str, timeout_s: float) -> str:
    """Output of ns-2 for a script (RunError: it fails)."""
    file = pathlib.Path(folder) / "script.tcl"
    file.write_text(script)
    words = ["nice", "-n", "15", "ns", file]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=timeout_s)
    if done.returncode != 0 or "rror" in done.stderr:
        raise RunError(f"{what}: ns-2 failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def chunks(network: dict, folder: str) -> int:
    """DATA chunks in order by the cumulative TSNs of the SACKs that left the receiver."""
    at_warmup = at_end = 0
    for path in network["paths"]:
        for line in (pathlib.Path(folder) / f"{path}.tr").read_text().splitlines():
            event, time, _, _, _, _, flags, _, _, _, _, tsn, *_ = line.split()
            if event == "+" and flags.endswith("S") and float(time) <= network["time"]:
                at_end = max(at_end, int(tsn))
                if float(time) <= network["warmup"]:
                    at_warmup = max(at_warmup, int(tsn))
    if at_end > 65000:
        raise SystemExit(f"{at_end} chunks: stream sequence numbers wrap, which ns-2.35 does not survive")
    return at_end - at_warmup


def tcl(name: str, network: dict, seed: int, folder: str, trace: pathlib.Path | None) -> str:
    """The script: prints what sinks counted (TCP), or writes traces of the SACKs (SCTP)."""
    lines = [f"# {name}, seed {seed}", f"$defaultRNG seed {seed}", "set ns [new Simulator]"]
    if any(path["burst"] > 1 for path in network["paths"].values()):
        lines.append(GILBERT)
    starts = random.Random(f"{name}/{seed}")
    if network["transport"] == "tcp":
        lines += tcp(network, starts, trace)
    else:
        lines += sctp(network, starts, folder, trace)
    lines += [f"$ns at {network['time']} {{ exit 0 }}", "$ns run"]
    return "\n".join(lines) + "\n"


def link(a: str, b: str, path: dict) -> list[str]:
    """The bottleneck between two nodes with its queue, loss towards `b` and outage."""
    lines = [
        f"$ns duplex-link ${a} ${b} {path['rate_mbps']}Mb {path['delay_ms']}ms DropTail",
        f"$ns queue-limit ${a} ${b} {path['queue']}",
        f"$ns queue-limit ${b} ${a} {path['queue']}",
    ]
    if path["burst"] > 1:
        lines += loss(a, b, f"[new Gilbert {path['loss']} {path['burst']}]")
    elif path["loss"] > 0:
        lines += loss(a, b, f"[new ErrorModel/Uniform {path['loss']} pkt]")
        lines += [
            f"set draw_{a}{b} [new RandomVariable/Uniform]",
            f"$draw_{a}{b} use-rng [new RNG]",
            f"$loss_{a}{b} ranvar $draw_{a}{b}",
        ]
    if "down" in path:
        # One loss model a direction: while the path is down its rate is 1.
        for x, y in ((a, b), (b, a)):
            if (x, y) != (a, b) or path["loss"] == 0:
                lines += loss(x, y, "[new ErrorModel/Uniform 0 pkt]")
            before = path["loss"] if (x, y) == (a, b) else 0
            lines += [
                f"$ns at {path['down'][0]} {{ $loss_{x}{y} set rate_ 1 }}",
                f"$ns at {path['down'][1]} {{ $loss_{x}{y} set rate_ {before} }}",
            ]
    return lines


def loss(a: str, b: str, model: str) -> list[str]:
    """Loss behind the serialisation."""
    return [f"set loss_{a}{b} {model}", f"$ns link-lossmodel $loss_{a}{b} ${a} ${b}"]


def tcp(network: dict, starts: random.Random, trace: pathlib.Path | None) -> list[str]:
    """Flows over a dumbbell."""
    path = network["paths"]["a"]
    lines = ["set left [$ns node]", "set right [$ns node]", *link("left", "right", path)]
    delayed = "/DelAck" if network["delayed_ack"] else ""
    sack = "/Sack1" if network["recovery"] == "sack" else ""
    for flow in range(network["flows"]):
        for end in ("left", "right"):
            lines += [
                f"set {end}{flow} [$ns node]",
                f"$ns duplex-link ${end}{flow} ${end} {ACCESS_MBPS}Mb {ACCESS_MS}ms DropTail",
                f"$ns queue-limit ${end}{flow} ${end} 10000",
                f"$ns queue-limit ${end} ${end}{flow} 10000",
            ]
        lines += [
            f"set tcp{flow} [new Agent/TCP/{RECOVERY[network['recovery']]}]",
            f"$tcp{flow} set packetSize_ {network['segment']}",
            f"$tcp{flow} set window_ {network['window']}",
            f"$ns attach-agent $left{flow} $tcp{flow}",
            f"set sink{flow} [new Agent/TCPSink{sack}{delayed}]",
            f"$ns attach-agent $right{flow} $sink{flow}",
            f"$ns connect $tcp{flow} $sink{flow}",
            f"set ftp{flow} [new Application/FTP]",
            f"$ftp{flow} attach-agent $tcp{flow}",
            f"$ns at {starts.random():.6f} {{ $ftp{flow} start }}",
        ]
        if network["overhead"]:
            lines.append(f"$tcp{flow} set overhead_ {table.bottleneck_s(network, network['segment'] + TCP_HEADER):.9f}")
        if trace and flow == 0:
            lines += [
                f"set trace [open {{{trace}}} w]",
                "$tcp0 attach $trace",
                "$tcp0 trace cwnd_",
                "$tcp0 trace ssthresh_",
                "$tcp0 trace dupacks_",
                "$tcp0 trace t_seqno_",
                "$tcp0 trace ack_",
            ]
    total = " + ".join(f"[$sink{flow} set bytes_]" for flow in range(network["flows"]))
    lines += [
        f"$ns at {network['warmup']} {{ puts [expr {total}] }}",
        f"$ns at {network['time'] - 1e-9:.9f} {{ puts [expr {total}] }}",
    ]
    return lines


def sctp(network: dict, starts: random.Random, folder: str, trace: pathlib.Path | None) -> list[str]:
    """One association; with `cmt` an interface a path at both hosts."""
    many = network["transport"] == "cmt"
    lines = ["Trace set show_sctphdr_ 1"]
    for host in ("here", "there"):
        lines += [f"set {host} [$ns node]"] if many else []
        for path in network["paths"]:
            lines.append(f"set {host}{path} [$ns node]")
            lines += [f"$ns multihome-add-interface ${host} ${host}{path}"] if many else []
    for path, keys in network["paths"].items():
        lines += link(f"here{path}", f"there{path}", keys)
        lines.append(f"$ns trace-queue $there{path} $here{path} [open {{{folder}/{path}.tr}} w]")
        if "forward" in network:
            lines.append(
                f"$ns trace-queue $here{path} $there{path} [open {{{network['forward']}/{path}.forward.tr}} w]"
            )
    for agent, host in (("sender", "here"), ("receiver", "there")):
        lines += [
            f"set {agent} [new Agent/SCTP{'/CMT' if many else ''}]",
            f"$ns multihome-attach-agent ${host} ${agent}" if many else f"$ns attach-agent ${host}a ${agent}",
            f"${agent} set mtu_ 1500",
            f"${agent} set dataChunkSize_ {network['chunk']}",
            f"${agent} set initialRwnd_ {network['receive_buffer']}",
            f"${agent} set useDelayedSacks_ 1",
        ]
        if many:
            lines += [
                f"${agent} set useCmtReordering_ 1",
                f"${agent} set useCmtCwnd_ 1",
                f"${agent} set useCmtDelAck_ 1",
                f"${agent} set eCmtRtxPolicy_ {RTX[network['rtx']]}",
                f"${agent} set useCmtPF_ {int(network['pf'])}",
            ]
    if trace:
        lines += [
            f"set trace [open {{{trace}}} w]",
            "$sender set trace_all_ 1",
            "$sender attach $trace",
            "$sender trace cwnd_",
        ]
    lines.append("$ns connect $sender $receiver")
    if many:
        lines.append("$sender set-primary-destination $therea")
    lines += [
        "set ftp [new Application/FTP]",
        "$ftp attach-agent $sender",
        f"$ns at {starts.random():.6f} {{ $ftp start }}",
    ]
    return lines
