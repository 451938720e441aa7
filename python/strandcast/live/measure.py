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

    Other threads can run meanwhile, and only callbacks of a policy occupy the interpreter. Ctrl-C ends the measurement.
    If a policy fails, its base scheme decides for the rest of the measurement, and the policy's exception is raised at
    the end.

    Args:
        host: The server: `@NAME` as stored by `strandcast key add`, or a one-time pairing string. With `plain`, the
            server is `HOST[:PORT]`, where PORT is a UDP port.
        scheme: Scheme of this endpoint: its text, or a policy's class. The server uses its own scheme.
        paths: Interface or local address of each path, such as `"if=wlan0"` or `"bind=127.0.0.2"`; empty: every
            interface with a route.
        time: Duration of sending, seconds.
        message: Size of a message in bytes; None: as many as fit one packet.
        reverse: The server sends.
        quiet: Whether to keep the figures of each second off standard error.
        plain: Neither encrypt nor authenticate. The server also needs `--plain`.
        key: File of the identity; None: the file that `STRANDCAST_KEY` names, otherwise the user's file.

    Returns:
        The content of `--json`, with the field names of iperf3: `["end"]["sum_received"]["bits_per_second"]`, and
        `["intervals"]` with one stream per path.

    Raises:
        NetworkError: A fault of this machine's network, or a server that does not answer or refuses.
        SchemeError: There is no such scheme.
        StrandcastError: An invalid path, a server that is not paired, or an identity that cannot be read.
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
