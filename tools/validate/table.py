"""The networks of networks.toml with their defaults filled in, and the statistics of a list of runs."""

import hashlib
import json
import math
import pathlib
import statistics
import tomllib
from collections.abc import Sequence

FOLDER = pathlib.Path(__file__).parent
PATH_KEYS = ("rate_mbps", "delay_ms", "queue", "loss", "burst")

# 97.5 % quantiles of Student's t by degrees of freedom.
STUDENT_T = (
    math.inf,
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.160,
    2.145,
    2.131,
    2.120,
    2.110,
    2.101,
    2.093,
    2.086,
    2.080,
    2.074,
    2.069,
    2.064,
    2.060,
    2.056,
    2.052,
    2.048,
    2.045,
)


def load() -> dict[str, dict]:
    """Each network by name, complete: `paths` holds at least path `a`."""
    table = tomllib.loads((FOLDER / "networks.toml").read_text())
    general = {key: value for key, value in table["defaults"].items() if not isinstance(value, dict)}
    return {name: complete(name, given, general, table["defaults"]) for name, given in table["networks"].items()}


def complete(name: str, given: dict, general: dict, defaults: dict) -> dict:
    """A network with every key."""
    own = defaults[given["transport"]]
    unknown = set(given) - set(general) - set(own) - {"transport", "paths"}
    if unknown:
        raise SystemExit(f"networks.toml: {name}: unknown {', '.join(sorted(unknown))}")
    network = general | own | {key: value for key, value in given.items() if key != "paths"}
    shared = {key: network.pop(key) for key in PATH_KEYS}
    network["paths"] = {path: shared | keys for path, keys in given.get("paths", {"a": {}}).items()}
    return network


def one(name: str, given: dict) -> dict:
    """A network that is not in networks.toml, complete."""
    defaults = tomllib.loads((FOLDER / "networks.toml").read_text())["defaults"]
    general = {key: value for key, value in defaults.items() if not isinstance(value, dict)}
    return complete(name, given, general, defaults)


def explained() -> set[str]:
    """Networks whose gap docs/measurements/validation.md explains."""
    return set(tomllib.loads((FOLDER / "networks.toml").read_text()).get("explained", {}))


def digest(network: dict) -> str:
    """Changes when the network does: results of another one are stale."""
    return hashlib.sha256(json.dumps(network, sort_keys=True).encode()).hexdigest()[:16]


def summary(values: list[float]) -> dict:
    """Mean and half the width of the 95 % interval."""
    n = len(values)
    mean = sum(values) / n
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else 0.0
    ci95 = STUDENT_T[min(n - 1, len(STUDENT_T) - 1)] * deviation / math.sqrt(n) if n > 1 else None
    return {"mean": round(mean), "ci95": None if ci95 is None else round(ci95), "n": n}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half the width of the 95 % interval, as they are; 0 of a single value."""
    n = len(values)
    if n < 2:
        return values[0], 0.0
    return sum(values) / n, STUDENT_T[min(n - 1, len(STUDENT_T) - 1)] * statistics.stdev(values) / math.sqrt(n)


def show(goodput: dict) -> str:
    """Mbit/s with the interval."""
    half = "" if goodput["ci95"] is None else f" ± {goodput['ci95'] / 1e6:.3f}"
    return f"{goodput['mean'] / 1e6:.3f}{half}"


def bottleneck_s(network: dict, size: int) -> float:
    """Seconds that a packet of `size` bytes takes on the slowest bottleneck."""
    return size * 8 / (min(path["rate_mbps"] for path in network["paths"].values()) * 1e6)
