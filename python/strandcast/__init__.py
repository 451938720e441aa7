"""Video over several networks at once: simulate, sweep, draw and prototype multipath transport.

```python
import strandcast as sc

scenario = sc.Scenario.load("scenarios/000/fig4.toml").set("links.b_access.loss.uniform.rate", 0.02)
result = sc.run(scenario, scheme=["cmt", "cmt-la"], runs=30)
result.summary
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from strandcast._native import RESULTS_EPOCH
from strandcast._native import VERSION as __version__  # noqa: N811
from strandcast.errors import ScenarioError, SchemeError, StrandcastError

if TYPE_CHECKING:
    from strandcast.runs import Result, run
    from strandcast.scenario import Scenario

_LAZY = {
    "Result": "runs",
    "Scenario": "scenario",
    "run": "runs",
}
"""Where names live that are only loaded when somebody asks for them, so that the command starts at once."""

__all__ = [
    "RESULTS_EPOCH",
    "Result",
    "Scenario",
    "ScenarioError",
    "SchemeError",
    "StrandcastError",
    "__version__",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
