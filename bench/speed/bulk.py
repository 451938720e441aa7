"""Bulk transfers over loopback (MTU 1500, one path): strandcast, sealed and plain, compared with usrsctp, quinn and UDP.

Contestants run in turn (A B C A B C ...) in a network namespace of their own. Goodput is what arrived from the second
second on; processor time is taken outside the programs (wait4) and divided by all payload that arrived. GB = 10^9 bytes.
The exit code is 1 if strandcast misses its bar against usrsctp (plain) or quinn (sealed). docs/measurements/performance.md
"""

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from bench import programs
from bench.common import OUT, RELEASE, TARGET, RunError, cargo, keep, names, option, whole
from bench.pages import table as markdown
from bench.stats import spread

NEEDS_PROGRAM = False
HERE = Path(__file__).parent
MESSAGE = 1400
STREAM_PIECE = 1 << 16
ADDRESS = "127.0.0.1"
SEALED, PLAIN = "strandcast", "strandcast-plain"
OURS = (SEALED, PLAIN)
# Who is compared with whom, the least goodput and the most CPU seconds, in one round: each with one that encrypts as it
# does.
BARS = {"usrsctp": (PLAIN, 4.0, 0.25), "quinn": (SEALED, 1.2, 0.75)}


def sh(*command, **kwargs):
    subprocess.run(command, check=True, **kwargs)


def build(contestants):
    """Builds what is measured; returns where the programs are."""
    target = dict.fromkeys(OURS, RELEASE / "strandcast")
    programs.require(*(name for name in ("usrsctp", "quinn") if name in contestants))
    if set(OURS) & set(contestants):
        cargo("-p", "strandcast-cli")
    if {"quinn", "udp"} & set(contestants):
        own = TARGET / "bench" / "peers"
        cargo("--manifest-path", str(HERE / "quinn-bulk/Cargo.toml"), "--target-dir", str(own))
        target |= {"quinn": own / "release/quinn-bulk", "udp": own / "release/udp-bulk"}
    if "usrsctp" in contestants:
        OUT.mkdir(parents=True, exist_ok=True)
        target["usrsctp"] = OUT / "usrsctp_bulk"
        sh("cc", "-O2", "-Wall", "-o", target["usrsctp"], HERE / "usrsctp_bulk.c", "-lusrsctp", "-lpthread")
    return {name: str(path) for name, path in target.items()}


def paired(program, port):
    """Key files of a receiver on this port and of a sender that is paired with it, and the sender's name for it."""
    keys = OUT / "keys"
    keys.mkdir(mode=0o700, exist_ok=True)
    receiver, sender, name = str(keys / "receiver"), str(keys / "sender"), f"bench{port}"
    pairing = keys / f"{name}-{os.getpid()}"
    words = ["--key", receiver, "--host", f"{ADDRESS}:{port}", "--out", str(pairing)]
    sh(program, "key", "pair", *words, stderr=subprocess.DEVNULL)
    with pairing.open() as string:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([program, "key", "remove", name, "--key", sender], check=False, **quiet)
        sh(program, "key", "add", name, "--key", sender, stdin=string, **quiet)
    pairing.unlink()
    return receiver, sender, f"@{name}"


def commands(name, program, port, seconds, scheme):
    """The receiver's and the sender's command line."""
    at = f"{ADDRESS}:{port}"
    if name in OURS:
        # 1500 less IPv4, UDP, envelope, SCTP and DATA headers leaves 1415: a message per packet, as for the others.
        common = ["--mtu", "1500", "--scheme", scheme]
        (server, client), to = (["--plain"], ["--plain"]), at
        if name == SEALED:
            receiver, sender, to = paired(program, port)
            server, client = ["--key", receiver], ["--key", sender]
        client = ["client", to, *common, *client, "--time", str(seconds), "--message", str(MESSAGE), "--json"]
        return [program, "perf", "server", at, *common, *server, "--once"], [program, "perf", *client]
    place = [ADDRESS, str(port)] if name == "usrsctp" else [at]
    # A QUIC stream has no messages: quinn is fastest with large pieces, so it gets them.
    piece = STREAM_PIECE if name == "quinn" else MESSAGE
    return [program, "receive", *place], [program, "send", *place, str(seconds), str(piece)]


def figures(name, receiver_out, sender_out):
    """Measured bytes and seconds, and all bytes of payload."""
    if name not in OURS:
        result = json.loads(receiver_out)
        return result["bytes"], result["seconds"], result["total_bytes"]
    result = json.loads(sender_out)
    sums = [i["sum"] for i in result["intervals"]]
    warm = [s for s in sums if s["start"] >= 0.99 and s["seconds"] > 0.5]
    measured = sum(s["bytes"] for s in warm), sum(s["seconds"] for s in warm)
    return *measured, result["end"]["sum_received"]["bytes"]


def listening(port, deadline):
    """Waits until a UDP socket has the port."""
    wanted = f":{port:04X} "
    while time.monotonic() < deadline:
        if any(wanted in Path(f"/proc/net/{table}").read_text() for table in ("udp", "udp6")):
            return True
        time.sleep(0.02)
    return False


def reap(process):
    """Output and processor seconds of a process that ends."""
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return out, usage.ru_utime + usage.ru_stime


def run(name, program, port, seconds, scheme):
    receive, send = commands(name, program, port, seconds, scheme)
    log = open(OUT / f"{name}.log", "ab")
    receiver = subprocess.Popen(receive, stdout=subprocess.PIPE, stderr=log)
    started = [receiver]

    def stop():
        for process in started:
            if process.returncode is None:
                os.kill(process.pid, signal.SIGKILL)

    watchdog = threading.Timer(seconds + 30, stop)
    watchdog.start()
    try:
        if not listening(port, time.monotonic() + 5):
            raise RunError(f"{name}: nobody listens on port {port}")
        sender = subprocess.Popen(send, stdout=subprocess.PIPE, stderr=log)
        started.append(sender)
        # The receiver ends on its own once the sender has.
        sender_out, sender_cpu = reap(sender)
        receiver_out, receiver_cpu = reap(receiver)
    except BaseException:
        stop()
        raise
    finally:
        watchdog.cancel()
        log.close()
    if sender.returncode or receiver.returncode:
        codes = f"sender {sender.returncode}, receiver {receiver.returncode}"
        raise RunError(f"{name}: exit codes {codes}, see {OUT / name}.log")
    size, measured_s, total = figures(name, receiver_out, sender_out)
    return {
        "goodput_gbps": size * 8e-9 / measured_s,
        "cpu_s_per_gb_sender": sender_cpu / total * 1e9,
        "cpu_s_per_gb_receiver": receiver_cpu / total * 1e9,
        "cpu_s_per_gb": (sender_cpu + receiver_cpu) / total * 1e9,
        "total_bytes": total,
        "load_before": os.getloadavg()[0],
    }


def table(runs):
    """A row per contestant."""
    keys = ("goodput_gbps", "cpu_s_per_gb_sender", "cpu_s_per_gb_receiver", "cpu_s_per_gb")
    rows = [[name, *(spread([r[key] for r in results]) for key in keys)] for name, results in runs.items()]
    return markdown(["", "goodput Gbit/s", "CPU-s/GB sender", "receiver", "both"], rows)


def compare(runs):
    """Ratios ours : other of each round, their table, and whether the bars are met."""
    ratios, rows, met = {}, [], True
    for ours in (name for name in OURS if name in runs):
        for other in (name for name in runs if name != ours and name != SEALED):
            rounds = list(zip(runs[ours], runs[other]))
            goodputs = [mine["goodput_gbps"] / theirs["goodput_gbps"] for mine, theirs in rounds]
            cpus = [mine["cpu_s_per_gb"] / theirs["cpu_s_per_gb"] for mine, theirs in rounds]
            ratios[f"{ours} : {other}"] = {"goodput": goodputs, "cpu": cpus}
            bar = BARS.get(other)
            said = ""
            if bar and bar[0] == ours:
                good = statistics.median(goodputs) >= bar[1] and statistics.median(cpus) <= bar[2]
                met &= good
                said = f"{'met' if good else '**missed**'}: at least {bar[1]:g}, at most {bar[2]:g}"
            rows.append([f"{ours} : {other}", spread(goodputs), spread(cpus, 3), said])
    return ratios, markdown(["ratio", "goodput", "CPU-s/GB", "bar"], rows), met


def enter_namespace(bench):
    """Starts this bench again in a network namespace of its own, which is gone when it ends."""
    if os.environ.get("STRANDCAST_BENCH_NAMESPACE"):
        sh("ip", "link", "set", "lo", "mtu", "1500", "up")
        return
    os.environ["STRANDCAST_BENCH_NAMESPACE"] = "1"
    flags = "-n" if os.geteuid() == 0 else "-rn"
    os.execvp("unshare", ["unshare", flags, sys.executable, "-m", "bench", bench, *sys.argv[2:]])


OPTIONS = [
    option("--runs", type=whole, default=5),
    option("--time", type=whole, default=6, help="seconds a run; the first does not count"),
    option(
        "--only", type=names, default=[*OURS, "usrsctp", "quinn", "udp"], help="contestants, with commas between them"
    ),
    option("--scheme", default="sctp", help="strandcast's scheme"),
    option("--no-build", action="store_true", help="measure what was built before"),
]


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    if not os.environ.get("STRANDCAST_BENCH_NAMESPACE") and not asked.no_build:
        keep("programs", build(asked.only))
    enter_namespace("bulk")
    found = json.loads((OUT / "programs.json").read_text())
    load, cores = os.getloadavg()[0], os.cpu_count()
    if load > 0.5:
        print(f"caution: load average {load:.1f} on {cores} cores before the start; figures will be worse")
    runs = {name: [] for name in asked.only}
    for turn in range(asked.runs):
        for place, name in enumerate(asked.only):
            port = 20000 + turn * len(asked.only) + place
            result = run(name, found[name], port, asked.time, asked.scheme)
            runs[name].append(result)
            print(f"  {name}: {result['goodput_gbps']:.2f} Gbit/s, {result['cpu_s_per_gb']:.2f} CPU-s/GB", flush=True)
    ratios, compared, met = compare(runs)
    machine = {"kernel": platform.release(), "cores": cores, "load_at_start": load}
    setup = {"message_bytes": MESSAGE, "quinn_write_bytes": STREAM_PIECE, "lo_mtu": 1500}
    setup |= {"seconds": asked.time, "scheme": asked.scheme}
    keep("bulk", {"machine": machine, "setup": setup, "runs": runs, "ratios": ratios, "passed": met})
    return {"bulk": table(runs), "ratios": compared}, met
