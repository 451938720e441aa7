"""Constants of profile `ns2`, agent by agent, held against what the binary of ns-2 says."""

import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile

NEEDS_PROGRAM = False
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCTP = ROOT / "crates/lab/src/scenario/profiles.rs"
TCP = ROOT / "crates/sim/src/tcp/profile.rs"
CAO = ROOT / "experiments/cao2016/__init__.py"
"""The experiment with the agent of a single path."""
COLUMN = 1
"""Place of ns-2 among the profiles of TCP."""

# Variable of the agent: key of ours. Seconds and bytes on both sides.
AGENT_SCTP = {
    "mtu_": "mtu",
    "initialRwnd_": "receive_buffer",
    "initialSsthresh_": "initial-ssthresh",
    "initialRto_": "rto_initial",
    "minRto_": "rto_min",
    "maxRto_": "rto_max",
    "sackDelay_": "sack_delay",
    "heartbeatInterval_": "heartbeat_interval",
    "pathMaxRetrans_": "path_max_retrans",
    "associationMaxRetrans_": "association_max_retrans",
}
AGENT_TCP = {
    "packetSize_": "segment",
    "windowInit_": "initial_window",
    "minrto_": "rto_min",
    "maxrto_": "rto_max",
    "rtxcur_init_": "rto_initial",
    "tcpTick_": "granularity",
    "numdupacks_": "dup_threshold",
    "maxburst_": "max_burst",
    "timestamps_": "timestamps",
    "singledup_": "limited_transmit",
}
# Values that choose a rule of ours: (what ns-2 has to say, the text of ours that follows it, and where it is).
SCTP_RULES = {
    "rtxToAlt_": ("1", '"half-floor=4,fast-rtx=alternate"', CAO),
    "useDelayedSacks_": ("1", "sack_frequency: 2", SCTP),
    "useMaxBurst_": ("1", "max_burst: 4", SCTP),
}
# On purpose: the papers name no potentially failed paths, and their tables vary them.
CMT_RULES = {
    "useCmtReordering_": ("1", "", SCTP),
    "useCmtCwnd_": ("1", "", SCTP),
    "useCmtDelAck_": ("1", "", SCTP),
    "eCmtRtxPolicy_": ("4", "", SCTP),
    "useCmtPF_": ("1", "", SCTP),
}
AGENTS = {
    "Agent/SCTP": [*AGENT_SCTP, *SCTP_RULES],
    "Agent/SCTP/CMT": [*AGENT_SCTP, "rtxToAlt_", *CMT_RULES],
    **{f"Agent/TCP/{name}": [*AGENT_TCP, "window_"] for name in ("Reno", "Newreno", "Sack1")},
}
DURATION = re.compile(r"(?:Duration::from_(secs|millis)|\b(S|MS))\((\d+)\)")


def query() -> dict[tuple[str, str], str]:
    """The defaults of ns-2's agents, by agent and variable."""
    lines = [
        line
        for agent, names in AGENTS.items()
        for line in (f"set one [new {agent}]", *(f'puts "{agent} {name} [$one set {name}]"' for name in names))
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".tcl") as script:
        script.write("\n".join(["set ns [new Simulator]", *lines, "exit 0", ""]))
        script.flush()
        run = subprocess.run(["ns", script.name], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"ns-2 refuses a variable:\n{run.stdout[-300:]}{run.stderr[-300:]}")
    return {(agent, name): value for agent, name, value in map(str.split, run.stdout.splitlines())}


def number(text: str) -> float:
    """A value in seconds, bytes or 0 and 1."""
    text = text.strip()
    words = {"true": 1.0, "false": 0.0}
    if text in words:
        return words[text]
    duration = DURATION.search(text)
    if duration:
        return int(duration[3]) / (1000 if "milli" in (duration[1] or "") or duration[2] == "MS" else 1)
    shifted = re.fullmatch(r"(\d+) << (\d+)", text)
    return float(int(shifted[1]) << int(shifted[2])) if shifted else float(text.replace("_", ""))


def sctp() -> dict[str, float]:
    """Our constants of SCTP in profile `ns2`."""
    source = SCTP.read_text(encoding="utf-8")
    text = source[source.index("fn ns2()") :]
    text = text[: text.index("\n}\n")]
    found = dict(re.findall(r"^\s+(\w+): ([^,\n]+(?:\([^)]*\))?),$", text, re.MULTILINE))
    ours = {key: number(found[key]) for key in AGENT_SCTP.values() if key in found}
    ours["initial-ssthresh"] = float(re.search(r"initial-ssthresh=(\d+)", text)[1])
    return ours


def tcp() -> dict[str, float]:
    """Our constants of TCP in profile `ns2`."""
    found = dict(re.findall(r"^\s+(\w+): self\.of\(\[(.+)\]\),$", TCP.read_text(encoding="utf-8"), re.MULTILINE))
    keys = [*AGENT_TCP.values(), "receive_window"]
    return {key: number(re.split(r", ", found[key])[COLUMN]) for key in keys}


def differences(theirs: dict[tuple[str, str], str]) -> list[str]:
    """A line for each default that differs from ours."""
    our_sctp = sctp()
    our_tcp = tcp()
    lines = []

    def compare(agent: str, name: str, key: str, ours: float, scale: float = 1.0) -> None:
        value = number(theirs[agent, name]) * scale
        if value != ours:
            lines.append(f"{agent} {name} is {theirs[agent, name]}: ours is {key} {ours:g}")

    for agent in AGENTS:
        if agent.startswith("Agent/SCTP"):
            for name, key in AGENT_SCTP.items():
                compare(agent, name, key, our_sctp[key])
        else:
            for name, key in AGENT_TCP.items():
                compare(agent, name, key, our_tcp[key])
            packet = number(theirs[agent, "packetSize_"])
            compare(agent, "window_", "receive_window", our_tcp["receive_window"], packet)
    for agent, rules in ("Agent/SCTP", SCTP_RULES), ("Agent/SCTP/CMT", CMT_RULES):
        for name, (value, needed, file) in rules.items():
            if theirs[agent, name] != value:
                lines.append(f"{agent} {name} is {theirs[agent, name]}: ours follows {value}")
            if needed not in file.read_text(encoding="utf-8"):
                lines.append(f"{agent} {name} is {value}: {file.relative_to(ROOT)} has no {needed}")
    return lines


def measured(_: argparse.Namespace) -> tuple[dict[str, str], bool]:
    if not shutil.which("ns"):
        return {"constants": "ns-2 is not installed (Debian package ns2): nothing was compared"}, True
    theirs = query()
    lines = differences(theirs)
    lines.append(f"{len(theirs)} defaults of {len(AGENTS)} agents of ns-2: {len(lines)} differ from profile ns2")
    return {"constants": "\n".join(lines)}, len(lines) == 1
