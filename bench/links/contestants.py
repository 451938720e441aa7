"""Commands of each contestant: bulk from c to s, and live streams from a UDP port in c to a UDP port in s."""

import itertools
import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path

from bench.common import UnsoundError
from bench.links.netns import SERVER, client, server

PEERS = [sys.executable, str(Path(__file__).resolve().parent / "peers.py")]
MESSAGES = [sys.executable, str(Path(__file__).resolve().parent / "tcp_messages.py")]
# How much later than its latency a packet may come out without being late, ms.
GRACE_MS = 20
IN_PORT, OUT_PORT, PORT = 7001, 7002, 9899
PIPE = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
NULL = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class RunError(Exception):
    """A run that ended otherwise than it should."""


def parse(contestant):
    """`SCHEME`, `SCHEME@LINK`, `tcp-CC@LINK`, `mptcp-CC`: name, and links by number (None: all)."""
    name, _, link = contestant.partition("@")
    return name, [int(link)] if link else None


def links_of(env, contestant):
    """Links that a contestant claims to use, by number."""
    return parse(contestant)[1] or list(range(1, env.count() + 1))


def needs(names):
    """What these contestants need, as bench/programs.py has it."""
    of = {"rist": ("rist",), "srt": ("srt",), "mptcp": ("mptcp", "cubic"), "tcp": ("cubic",)}
    return sorted({need for name in names for need in of.get(parse(name)[0].split("-")[0], ())})


def paths(links):
    """Our options for these links."""
    return [word for n in links for word in ("--path", f"bind={client(n)}")]


def told(process, timeout):
    """The JSON that a process ends with."""
    try:
        out, error = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as late:
        raise RunError(f"{Path(process.args[5]).name}: not done after {timeout:.0f} s") from late
    if process.returncode:
        raise RunError(f"code {process.returncode}: {error.strip().splitlines()[-1:]}")
    return out


def ready(process):
    """Waits for a peer's first line."""
    line = process.stdout.readline()
    if not line:
        raise RunError(f"a peer did not start: {process.stderr.read()[-300:]}")
    return line.strip()


def is_tcp(name):
    """Returns whether a contestant is the kernel's."""
    return name.startswith(("tcp-", "mptcp-"))


def is_others(name):
    """Returns whether a contestant is none of ours."""
    return is_tcp(name) or parse(name)[0].split("-")[0] in ("rist", "srt")


def tcp_goodput(tenths, begun_ns, first_s, last_s):
    """Mean bit/s between two moments of a flow's bytes by tenths of a second."""
    low, high = (begun_ns // 100_000_000 + int(s * 10) for s in (first_s, last_s))
    return sum(n for tenth, n in tenths if low <= tenth < high) * 8 / (last_s - first_s)


def our_goodput(result, first_s, last_s):
    """Mean bit/s over the whole seconds of `perf client --json` within two moments."""
    inside = [i["sum"] for i in result["intervals"] if i["sum"]["start"] >= first_s - 0.1]
    inside = [s for s in inside if s["end"] <= last_s + 0.3]
    return sum(s["bytes"] for s in inside) * 8 / sum(s["seconds"] for s in inside)


def mptcp(env):
    """Lets the kernel open one more subflow over each further link."""
    for side in (env.c, env.s):
        subprocess.run(
            ["ip", "-n", side, "mptcp", "limits", "set", "subflow", "4", "add_addr_accepted", "4"], check=True
        )
    for n in range(2, len(env.links) + 1):
        words = ["ip", "-n", env.c, "mptcp", "endpoint", "add", client(n), "dev", f"up{n}", "subflow"]
        subprocess.run(words, check=True)


def start_perf(env, program, scheme, links, seconds, *, reverse=False):
    """A measurement of ours: its client."""
    quiet = ["--scheme", scheme, "--plain"]
    env.start("s", [program, "perf", "server", f":{PORT}", *quiet, "--once"], **NULL)
    time.sleep(0.3)
    words = [program, "perf", "client", f"{SERVER}:{PORT}", *quiet, *paths(links)]
    words += ["--time", seconds, "--json", "--quiet"]
    return env.start("c", words + (["--reverse"] if reverse else []), **PIPE)


def start_tcp(env, flows, seconds):
    """TCP flows (algorithm, link): the receiver and the senders."""
    protocol = "mptcp" if any(algorithm.startswith("mptcp-") for algorithm, _ in flows) else "tcp"
    receiver = env.start("s", [*PEERS, "tcp-receive", SERVER, 7100, len(flows), protocol], **PIPE)
    ready(receiver)
    senders = [
        env.start("c", [*PEERS, "tcp-send", client(link), SERVER, 7100, algorithm, seconds], **PIPE)
        for algorithm, link in flows
    ]
    return receiver, senders


def bulk(env, program, contestant, warmup, seconds):
    """Goodput in bit/s, after the warm-up."""
    name, links = parse(contestant)[0], links_of(env, contestant)
    whole = warmup + seconds
    if not is_tcp(name):
        result = json.loads(told(start_perf(env, program, name, links, whole), whole + 60))
        return {"goodput_bps": our_goodput(result, warmup, whole)}
    if name.startswith("mptcp"):
        mptcp(env)
    begun = time.monotonic_ns()
    receiver, _ = start_tcp(env, [(name.removeprefix("tcp-"), links[0])], whole + 1)
    tenths = next(iter(json.loads(told(receiver, whole + 60)).values()))
    if name.startswith("mptcp"):
        check_mptcp(counters_of(env), len(links))
    return {"goodput_bps": tcp_goodput(tenths, begun, warmup, whole)}


def inside(env, side, *words):
    """Output of a command in a namespace."""
    command = ["nsenter", f"--net=/run/netns/{env.c if side == 'c' else env.s}", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def counters_of(env):
    """The kernel's counters of the sender's namespace, since it was made."""
    return json.loads(inside(env, "c", "nstat", "-asj"))["kernel"]


def check_mptcp(kernel, links):
    """MPTCP from the first packet to the last, with a subflow for each link.

    Raises:
        UnsoundError: It was TCP, fell back to it, or lacked a subflow.
    """
    if not kernel.get("MPTcpExtMPCapableSYNTX"):
        raise UnsoundError("no MP_CAPABLE was sent")
    fallbacks = [k for k, n in kernel.items() if n and k.startswith("MPTcpExt") and re.search("Fallback|Infinite", k)]
    if fallbacks:
        raise UnsoundError(f"fallback to TCP: {', '.join(fallbacks)}")
    if (joined := kernel.get("MPTcpExtMPJoinSynAckRx", 0)) < links - 1:
        raise UnsoundError(f"{joined} subflows joined, of {links - 1}")


def beside_tcp(env, program, contestant, warmup, seconds):
    """A CUBIC and a Reno flow on link 1, and a contestant three seconds later: bit/s of each."""
    name, _ = parse(contestant)
    whole = warmup + seconds
    flows = [("cubic", 1), ("reno", 1)]
    begun = time.monotonic_ns()
    receiver, _ = start_tcp(env, flows, whole + 4)
    time.sleep(2.5)
    if is_tcp(name):
        raise RunError("the third flow is ours")
    result = json.loads(told(start_perf(env, program, name, [1], whole), whole + 60))
    all_tenths = json.loads(told(receiver, whole + 60))
    shares = {cc: tcp_goodput(all_tenths[cc], begun, warmup + 3, whole + 3) for cc, _ in flows}
    return {**shares, "goodput_bps": our_goodput(result, warmup, whole)}


def sealed(program, folder):
    """Options of our receiver and our sender where they encrypt, and the receiver's name.

    The keys are made in a folder, and paired there.
    """
    keys = [str(Path(folder, side)) for side in ("receiver", "sender")]
    string = Path(folder, "pairing")
    for command in (("new", "--key", keys[0]), ("new", "--key", keys[1])):
        subprocess.run([program, "key", *command], check=True, capture_output=True)
    pair = [program, "key", "pair", "--key", keys[0], "--host", f"{SERVER}:{PORT}", "--out", str(string)]
    subprocess.run(pair, check=True, capture_output=True)
    add = [program, "key", "add", "far", "--key", keys[1]]
    subprocess.run(add, check=True, capture_output=True, input=string.read_bytes())
    return ["--key", keys[0]], ["--key", keys[1]], "@far"


def live_commands(env, program, contestant, latency, ours=(("--plain",), ("--plain",), f"{SERVER}:{PORT}")):
    """The receiver's and the sender's command line; `ours`: what ours have besides, and whom the sender calls."""
    name, links = parse(contestant)[0], links_of(env, contestant)
    source, sink = f"udp://127.0.0.1:{IN_PORT}", f"udp://127.0.0.1:{OUT_PORT}"
    if name == "srt":
        there = f"srt://{server(links[0])}:{PORT}?mode=caller&latency={latency}"
        here = f"srt://:{PORT}?mode=listener&latency={latency}"
        common = ["srt-live-transmit", "-chunk:1316", "-q"]
        return [*common, here, sink], [*common, f"udp://:{IN_PORT}", there]
    if name.startswith("rist"):
        # Weights as the rates, or with `rist-copies` everything on every link.
        rates = [link["rate"].split()[0] for link in env.description["links"].values()]
        weights = ["0" if name == "rist-copies" else rates[n - 1] for n in links]
        there = ",".join(f"rist://{server(n)}:{PORT + 1}?weight={w}&buffer={latency}" for n, w in zip(links, weights))
        receive = ["ristreceiver", "-p", "1", "-i", f"rist://@0.0.0.0:{PORT + 1}?buffer={latency}", "-o", sink]
        send = ["ristsender", "-p", "1", "-b", latency, "-i", f"udp://@127.0.0.1:{IN_PORT}", "-o", there]
        quiet = ["-S", "0", "-v", "3"]
        return [*receive, "-b", latency, *quiet], [*send, *quiet]
    if name.startswith("mptcp"):
        there = [SERVER, PORT + 2]
        return [*MESSAGES, "receive", *there, OUT_PORT], [*MESSAGES, "send", *there, IN_PORT, latency]
    receive = [program, "receive", f":{PORT}", sink, "--once", "--json", *ours[0]]
    send = [program, "send", source, ours[2], "--latency", latency, "--scheme", name, "--json", *ours[1]]
    return receive, [*send, *paths(links)]


def live(env, program, contestant, latency, seconds, events=(), bps=4_000_000, **options):
    """A live stream: what of it came, and when. `events`: (second of the stream, what to do)."""
    receive, send = live_commands(env, program, contestant, latency, **options)
    if contestant.startswith("mptcp"):
        mptcp(env)
    sink = env.start("s", [*PEERS, "receive-stream", OUT_PORT], **PIPE)
    ready(sink)
    ours = receive[0] == program
    pipes = PIPE if ours else NULL
    far = env.start("s", receive, **pipes)
    time.sleep(0.5)
    near = env.start("c", send, **pipes)
    time.sleep(1)
    source = env.start("c", [*PEERS, "send-stream", "127.0.0.1", IN_PORT, bps, seconds], **PIPE)
    begun = int(ready(source))
    done = []
    for second, act in sorted(events, key=lambda e: e[0]):
        time.sleep(max(0.0, second - (time.monotonic_ns() - begun) / 1e9))
        done.append((time.monotonic_ns() - begun) / 1e9)
        act()
    sent = json.loads(told(source, seconds + 30))
    time.sleep(latency / 1000 + 2)
    summary = end_ours(near, far) if ours else {}
    sink.terminate()
    came = json.loads(told(sink, 30))
    return {**analyse(sent, came, latency_ms=latency), "events_s": done, **summary}


def end_ours(near, far):
    """Ends a stream of ours: what its summaries say."""
    near.terminate()
    kept = {}
    try:
        sent = json.loads(told(near, 20))
        kept |= {"reconnects": sent["reconnects"], "expired": sent["expired"]}
        received = json.loads(told(far, 20))
        kept |= {
            "app_lost": received["lost"],
            "app_late": received["late"],
            "longest_gap_ms": received["longest_gap_ms"],
        }
    except (RunError, ValueError, KeyError) as error:
        kept["summary_error"] = str(error)
    return kept


def analyse(sent, came, skip_s=1.0, latency_ms=math.inf):
    """Losses and delays of the packets sent after the first second, and when nothing came for long."""
    begun, times = sent["begun"], sent["sent_ns"]
    arrived = dict(came["came"])
    counted = [n for n, t in enumerate(times) if t >= skip_s * 1e9]
    lost = [n for n in counted if n not in arrived]
    delays = sorted((arrived[n] - begun - times[n]) / 1e6 for n in counted if n in arrived)
    late = sum(delay > latency_ms + GRACE_MS for delay in delays)
    moments = sorted((t - begun) / 1e9 for t in arrived.values())
    gaps = [(a, b) for a, b in itertools.pairwise(moments) if b - a > 0.25]
    at = [times[n] / 1e9 for n in lost]
    return {
        "packets": len(counted),
        "lost": len(lost),
        "lost_share": len(lost) / max(len(counted), 1),
        "late_share": (len(lost) + late) / max(len(counted), 1),
        "first_lost_s": at[0] if at else None,
        "last_lost_s": at[-1] if at else None,
        "delay_ms": {"median": delays[len(delays) // 2], "most": delays[-1]} if delays else None,
        "gaps_s": [[round(a, 3), round(b, 3)] for a, b in gaps],
        "last_came_s": moments[-1] if moments else None,
        "doubled": came["doubled"],
        # Seconds since the stream began, of each packet: sent, came or None.
        "each": [(t / 1e9, (arrived[n] - begun) / 1e9 if n in arrived else None) for n, t in enumerate(times)],
    }
