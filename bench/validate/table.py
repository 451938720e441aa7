"""The networks of networks.toml with their defaults filled in, and the statistics of a list of runs."""

import json
import pathlib
import tomllib

from bench import common
from bench.stats import half_width

FOLDER = pathlib.Path(__file__).parent
PATH_KEYS = ("rate_mbps", "delay_ms", "queue", "loss", "burst")


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
    return common.digest(json.dumps(network, sort_keys=True), length=16)


def summary(values: list[float]) -> dict:
    """Mean and half the width of the 95 % interval."""
    n = len(values)
    return {"mean": round(sum(values) / n), "ci95": round(half_width(values)) if n > 1 else None, "n": n}


def tree(runs: list) -> dict:
    """The summary of each goodput in a tree of them, and the mean of each other number."""

    def of(name: str, values: list):
        if isinstance(values[0], dict):
            return {one: of(one if name != "goodput_bps" else name, [v[one] for v in values]) for one in values[0]}
        return summary(values) if name == "goodput_bps" else round(sum(values) / len(values), 2)

    return of("", runs)


def show(goodput: dict) -> str:
    """Mbit/s with the interval."""
    half = "" if goodput["ci95"] is None else f" ± {goodput['ci95'] / 1e6:.3f}"
    return f"{goodput['mean'] / 1e6:.3f}{half}"


def bottleneck_s(network: dict, size: int) -> float:
    """Seconds that a packet of `size` bytes takes on the slowest bottleneck."""
    return size * 8 / (min(path["rate_mbps"] for path in network["paths"].values()) * 1e6)
