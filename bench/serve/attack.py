"""The API of a server under attack: each attack has half a processor, and the stream has to stay as it is without one.

One stream is sent over the loopback interface with a short latency. Each attack (bench/serve/attackers.py) comes through TLS, from
a control group with half a processor, and has a calm time before it and after it. The bars: the share of messages that are late or
lost during an attack is at most 0.1 % above the worst calm time, and the Unix socket answers. The exit code is 1 if one was missed.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.common import ROOT, RunError, option
from bench.pages import table
from bench.serve.attackers import KINDS
from bench.serve.studio import CLIP, LOOK, Studio, only_row, resident, wait

PAGE = "testing.md"
HEADS = ("time", "messages", "late or lost", "API thread, s/s", "others, s/s", "socket, longest ms", "MB", "outcome")
CALM = "none"
WITHIN = 0.001
GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


@contextlib.contextmanager
def half_processor() -> Iterator[Path]:
    """A control group whose processes together have half a processor (RunError: the kernel has no such groups here)."""
    second = (GROUPS / "cgroup.controllers").exists()
    group = (GROUPS if second else GROUPS / "cpu") / f"strandcast-bench-{os.getpid()}"
    try:
        group.mkdir()
        if second:
            (group / "cpu.max").write_text(f"{PERIOD_US // 2} {PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(PERIOD_US // 2))
    except OSError as error:
        raise RunError(f"no control group with half a processor: {error}") from None
    try:
        yield group
    finally:
        group.rmdir()


def used(pid: int) -> tuple[float, float]:
    """Processor seconds of the API's thread, and of the others."""
    api = others = 0.0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        seconds = int((thread / "schedstat").read_text().split()[0]) / 1e9
        if (thread / "comm").read_text().strip() == "api":
            api += seconds
        else:
            others += seconds
    return api, others


def attacker(kind: str, studio: Studio, seconds: float, group: Path) -> subprocess.Popen[str]:
    """Starts an attack in the group."""
    words = [sys.executable, "-m", "bench.serve.attackers", kind, str(studio.tcp), str(seconds), LOOK]
    enter = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    return subprocess.Popen([*enter, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def phase(kind: str, studio: Studio, asked: argparse.Namespace, group: Path) -> tuple[tuple[object, ...], float, bool]:
    """A row, the share of missing messages, and whether the socket answered each time."""
    pid = studio.server.pid
    begun, before, cpu = time.monotonic(), studio.counts(), used(pid)
    one = None if kind == CALM else attacker(kind, studio, asked.phase, group)
    longest, answered = 0.0, True
    while (one is not None and one.poll() is None) or time.monotonic() - begun < asked.phase:
        asked_at = time.monotonic()
        answered &= studio.ask("/v1/streams")[0] == 200
        longest = max(longest, time.monotonic() - asked_at)
        time.sleep(0.25)
    passed, after, more = time.monotonic() - begun, studio.counts(), used(pid)
    played, missing = (new - old for new, old in zip(after, before, strict=True))
    outcome = json.loads(one.stdout.read()) if one is not None else {}
    if one is not None and one.returncode:
        raise RunError(f"the attack {kind} ended with {one.returncode}")
    share = missing / max(played + missing, 1)
    rates = [f"{(new - old) / passed:.3f}" for new, old in zip(more, cpu, strict=True)]
    told = ", ".join(f"{what}: {number}" for what, number in sorted(outcome.items()) if number)
    size = f"{resident(pid) / 1000:.1f}"
    return (kind, played, f"{share:.3%}", *rates, f"{longest * 1000:.0f}", size, told), share, answered


OPTIONS = [
    option("--phase", type=float, default=20.0, help="seconds of each attack, and of each calm time"),
    option("--latency", default="150", help="latency of the stream in ms"),
]


def prepare(studio: Studio, latency: str) -> None:
    """Starts the server with TLS, and its sender."""
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 9 -subj /CN=localhost"
    words += " -addext subjectAltName=DNS:localhost -keyout api.key -out api.crt"
    subprocess.run(words.split(), cwd=studio.path, check=True, capture_output=True)
    studio.private("view.tokens", LOOK)
    tls = 'certificate = "api.crt"\ncertificate_key = "api.key"\nview_tokens = "view.tokens"'
    studio.serve(f'listen = "0.0.0.0:{studio.tcp}"\n{tls}', 'outputs = ["/dev/null"]')
    studio.send(CLIP, "--latency", latency, "--loop")
    wait("media", lambda: studio.counts()[0] > 0)


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    kept = only_row(asked, ("phase", "latency"), "attacks", attacked)
    return {"attacks": table(HEADS, kept["attacks"])}, not kept["missed"]


def attacked(asked: argparse.Namespace) -> dict[str, list]:
    """The row of all attacks."""
    kinds = [CALM, *(kind for attack in KINDS for kind in (attack, CALM))]
    rows, shares, missed = [], [], []
    with half_processor() as group, Studio(asked.program) as studio:
        prepare(studio, asked.latency)
        for kind in kinds:
            row, share, answered = phase(kind, studio, asked, group)
            rows.append([str(cell) for cell in row])
            shares.append((kind, share))
            print(*row, sep=" | ", flush=True)
            if not answered:
                missed.append(f"{kind}: the socket did not answer")
    # The median: most calm times follow an attack, which may spill over.
    calm = sorted(share for kind, share in shares if kind == CALM)[len(KINDS) // 2]
    missed += [f"{kind}: {share:.3%} late or lost" for kind, share in shares if share > calm + WITHIN]
    return {"attacks": rows, "missed": missed}
