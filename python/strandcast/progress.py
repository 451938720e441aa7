"""Progress bar for runs, or for pictures of a film."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def runs_bar(total: int, *, initial: int = 0, shown: bool | None = None, unit: str = "run") -> tqdm[Any]:
    """Returns a progress bar for runs: a widget in notebooks that have ipywidgets, otherwise text on standard error.

    Args:
        total: Number of all runs.
        initial: Number of runs that are already made.
        shown: Whether to show the bar; None: only on a terminal or in a notebook.
        unit: Name of the counted items.
    """
    kernel = _in_kernel()
    if kernel and importlib.util.find_spec("ipywidgets"):
        from tqdm.notebook import tqdm
    else:
        # Not tqdm.auto, which warns where there are no widgets.
        from tqdm import tqdm
    # A notebook shows standard error although it is not a terminal.
    if shown is None:
        shown = kernel or sys.stderr.isatty()
    return tqdm(total=total, initial=initial, disable=not shown, unit=unit)


def _in_kernel() -> bool:
    """Returns whether this process belongs to a notebook, not to IPython in a terminal or a plain interpreter."""
    # A module that is not loaded can't be running.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config
