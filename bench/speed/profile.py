"""Processor time of a bulk transfer by function: `perf record` of sender and receiver, shares as a table.

Needs perf and root or kernel.perf_event_paranoid <= 1. Samples inside a system call count as that call, the rest by the
function they hit (inlined code counts as the function it was inlined into). Recording costs time itself: the shares come
from the recorded run, the sums (CPU seconds a gigabyte of payload) from one without it. docs/measurements/performance.md
"""

import argparse
import json
import os
import re
import subprocess
import time
from collections import Counter

from bench.common import RunError, keep, option, whole
from bench.pages import table
from bench.speed import bulk

NEEDS_PROGRAM = False
# A release is stripped.
os.environ |= {"CARGO_PROFILE_RELEASE_STRIP": "none", "CARGO_PROFILE_RELEASE_DEBUG": "1"}

# The first pattern that any frame in the kernel matches.
KERNEL = [
    ("kernel: UDP send, with delivery over loopback", r"sendmsg|sendmmsg|sendto"),
    ("kernel: UDP receive", r"recvmsg|recvmmsg|recvfrom"),
    ("kernel: waiting and waking (epoll, futex, eventfd)", r"epoll|futex|eventfd|do_sys_poll|schedule"),
    ("kernel: memory", r"page_fault|mmap|munmap|madvise|brk"),
    ("kernel: other", r""),
]
# The first pattern that the innermost function matches.
USER = [
    ("CRC32c", r"crc32c"),
    ("copying (memcpy, memset)", r"mem(move|cpy|set|cmp)"),
    ("allocation", r"malloc|realloc|calloc|free\b|_int_free|alloc::alloc|dealloc"),
    ("reference counts of payloads (Bytes)", r"\bbytes::"),
    (
        "policies: window, scheduler, loss, acknowledgement",
        r"strandcast_proto::rfc|strandcast_schemes|policy::parts|quality::",
    ),
    ("codec: parsing and writing packets", r"::wire::|association::packet|tlv|parse_next"),
    ("receive side: TSNs, reassembly, delivery", r"::rx::|data_rx|::recv\b"),
    ("send side: queue, assignment, flight", r"::tx::|association::send|association::(<impl.*)?output|poll_output"),
    ("SACK processing and loss detection", r"association::ack|association::loss|on_sack"),
    ("endpoint, timers, other bookkeeping", r"strandcast_proto"),
    ("driver and sockets", r"strandcast_net|quinn_udp"),
    ("application (perf)", r"\bstrandcast::"),
    ("runtime (tokio, mio)", r"tokio|mio|core::task|future"),
    ("clock", r"clock_gettime|Timespec|Instant"),
    ("system call entry", r"syscall|epoll_wait|sendmsg|recvmsg|libc|\[unknown\]"),
    ("other", r""),
]


def category(frames):
    """`frames`: (symbol, binary), innermost first."""
    kernel = [symbol for symbol, binary in frames if "kernel" in binary or binary.startswith("[")]
    if kernel and kernel[0] == frames[0][0] and not frames[0][1].startswith("[vdso"):
        return next(name for name, pattern in KERNEL if any(re.search(pattern, s) for s in kernel))
    return next(name for name, pattern in USER if re.search(pattern, frames[0][0]))


def samples(data):
    """Each sample's frames."""
    script = ["perf", "script", "--no-inline", "-F", "ip,sym,dso", "-i", data]
    text = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    for block in text.split("\n\n"):
        frames = [re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line) for line in block.splitlines()]
        frames = [(m[1], m[2]) for m in frames if m]
        if frames:
            yield frames


def record(name, command, log):
    data = bulk.OUT / f"{name}.perf"
    perf = ["perf", "record", "--quiet", "-F", "1999", "-g", "-o", str(data), "--", *command]
    return data, subprocess.Popen(perf, stdout=subprocess.PIPE, stderr=log)


OPTIONS = [
    option("--time", type=whole, default=6),
    option("--scheme", default="sctp"),
    option("--top", type=int, default=0, help="also list this number of functions of each side"),
]


def measured(asked: argparse.Namespace) -> dict[str, str]:
    if not os.environ.get("STRANDCAST_BENCH_NAMESPACE"):
        keep("profile", bulk.build([bulk.PLAIN]))
    bulk.enter_namespace("profile")
    program = json.loads((bulk.OUT / "profile.json").read_text())[bulk.PLAIN]
    plain = bulk.run(bulk.PLAIN, program, 20001, asked.time, asked.scheme)
    receive, send = bulk.commands(bulk.PLAIN, program, 20000, asked.time, asked.scheme)
    with open(bulk.OUT / "profile.log", "wb") as log:
        data_receiver, receiver = record("receiver", receive, log)
        if not bulk.listening(20000, time.monotonic() + 5):
            raise RunError("nobody listens")
        data_sender, sender = record("sender", send, log)
        bulk.reap(sender)
        bulk.reap(receiver)
    sides, texts = [], {}
    for name, data in (("sender", data_sender), ("receiver", data_receiver)):
        frames = list(samples(data))
        sides.append((Counter(map(category, frames)), len(frames)))
        if asked.top:
            most = Counter(one[0][0] for one in frames).most_common(asked.top)
            texts[name] = table(["function", "share"], [[what, f"{n / len(frames):.1%}"] for what, n in most])
    per_gb = [plain["cpu_s_per_gb_sender"], plain["cpu_s_per_gb_receiver"]]
    rows = [
        (name, *(counts[name] / total * all_ for (counts, total), all_ in zip(sides, per_gb)))
        for name, _ in KERNEL + USER
    ]
    rows.sort(key=lambda row: -row[1] - row[2])
    lines = [[name, *(f"{v:.3f}" for v in of)] for name, *of in [*rows, ("all", *per_gb)] if sum(of) >= 0.0005]
    return texts | {"profile": table(["CPU-s/GB", "sender", "receiver"], lines, "---")}
