"""Real links, from Python."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import strandcast._native as _native
import strandcast.policies as policies


def perf(
    host: str,
    scheme: policies.Scheme = "cmt",
    *,
    paths: Sequence[str] = (),
    time: float = 10.0,
    message: int | None = None,
    reverse: bool = False,
    quiet: bool = True,
    plain: bool = False,
    key: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Measures towards a `strandcast perf server`, over sockets, as `strandcast perf client --json` does.

    The interpreter is free meanwhile but for what a policy decides; Ctrl-C ends it. A policy that fails leaves the rest
    to its base, and what it raised is raised in the end.

    Args:
        host: The server: `@NAME`, which `strandcast key add` has stored, a one-time pairing string, or with `plain`
            `HOST[:PORT]`, a UDP port.
        scheme: What this side decides by: a scheme's text or a policy's class. The server has its own.
        paths: What each path leaves by, as `"if=wlan0"` or `"bind=127.0.0.2"`; none: every interface with a route.
        time: How long to send, seconds.
        message: Bytes a message; None: as much as fits one packet.
        reverse: The server sends.
        quiet: Whether to keep the figures of each second off standard error.
        plain: Neither encrypt nor authenticate. The server also needs `--plain`.
        key: The identity's file; None: `STRANDCAST_KEY`, else the user's.

    Returns:
        What `--json` prints, in iperf3's words: `["end"]["sum_received"]["bits_per_second"]`, and `["intervals"]`
        with a stream a path.

    Raises:
        NetworkError: This machine's network, or a server that does not answer or refuses.
        SchemeError: There is no such scheme.
        StrandcastError: A path that makes no sense, a server that is not paired, an identity that cannot be read.
    """
    made = policies.resolve(scheme)
    name, plans = (made, {}) if isinstance(made, str) else _planned(made)
    args = [f"--scheme={name}", f"--time={time:g}", *(f"--path={path}" for path in paths)]
    if message is not None:
        args.append(f"--message={message}")
    args += ["--reverse"] * reverse + ["--quiet"] * quiet + ["--plain"] * plain
    if key is not None:
        args.append(f"--key={os.fspath(key)}")
    args += ["--", host]
    measured: dict[str, Any] = json.loads(_native.perf(args, plans))
    return measured


def _planned(scheme: policies.Maker) -> tuple[str, dict[str, policies.Plan]]:
    name, plan = policies.plan(scheme)
    return name, {name: plan}
