"""Video over several networks at once: send and receive it, simulate, sweep, draw and prototype multipath transport.

```python
import strandcast as sc

scenario = sc.Scenario.example("first").set("links.wifi.loss.uniform.rate", 0.02)
result = sc.run(scenario, scheme=["cmt", "cmt-la"], runs=30)
result.mean("goodput_bps")
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from strandcast._native import (
    RESULTS_EPOCH,
    Act,
    Assignment,
    Backlog,
    Block,
    Blocked,
    Chunk,
    Flight,
    Limit,
    MessageHead,
    Path,
    RepairOffer,
    Signal,
    Symbol,
    SymbolAssignment,
    Tariff,
    Transmission,
    View,
)
from strandcast._native import VERSION as __version__  # noqa: N811
from strandcast.errors import (
    ClusterError,
    ContractError,
    EpochError,
    MetricError,
    NetworkError,
    PolicyError,
    ScenarioError,
    ScenarioWarning,
    SchemeError,
    StoreError,
    StrandcastError,
    SweepError,
    TraceError,
)

if TYPE_CHECKING:
    from strandcast import live, pairing, units
    from strandcast.live import perf
    from strandcast.measured import metrics
    from strandcast.opening import open  # noqa: A004
    from strandcast.oracles import Oracle, oracle
    from strandcast.policies import CongestionControl, Policy, Scheduler, contract, schemes
    from strandcast.runs import Explanation, Result, run
    from strandcast.scenario import Check, Scenario, examples
    from strandcast.sweeps import Sweep, sweep
    from strandcast.traces import Trace

_LAZY = {
    "Check": "scenario",
    "CongestionControl": "policies",
    "Oracle": "oracles",
    "Policy": "policies",
    "Explanation": "runs",
    "Result": "runs",
    "Scenario": "scenario",
    "Scheduler": "policies",
    "Sweep": "sweeps",
    "Trace": "traces",
    "contract": "policies",
    "examples": "scenario",
    "live": "",
    "metrics": "measured",
    "open": "opening",
    "oracle": "oracles",
    "pairing": "",
    "perf": "live.measure",
    "run": "runs",
    "schemes": "policies",
    "sweep": "sweeps",
    "units": "",
}
"""Modules of the public names, by name. A module is loaded when a caller first uses one of its names, so that the
command starts at once.
"""

__all__ = [
    "RESULTS_EPOCH",
    "Act",
    "Assignment",
    "Backlog",
    "Block",
    "Blocked",
    "Check",
    "Chunk",
    "ClusterError",
    "CongestionControl",
    "ContractError",
    "EpochError",
    "Explanation",
    "Flight",
    "Limit",
    "MessageHead",
    "MetricError",
    "NetworkError",
    "Oracle",
    "Path",
    "Policy",
    "PolicyError",
    "RepairOffer",
    "Result",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Scheduler",
    "SchemeError",
    "Signal",
    "StoreError",
    "StrandcastError",
    "Sweep",
    "SweepError",
    "Symbol",
    "SymbolAssignment",
    "Tariff",
    "Trace",
    "TraceError",
    "Transmission",
    "View",
    "__version__",
    "contract",
    "examples",
    "live",
    "metrics",
    "open",
    "oracle",
    "pairing",
    "perf",
    "run",
    "schemes",
    "sweep",
    "units",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_LAZY[name] or name}")
    value = getattr(module, name) if _LAZY[name] else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
