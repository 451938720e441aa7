"""The bar that shows how many runs, or pictures of a film, are made."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def runs_bar(total: int, *, initial: int = 0, shown: bool | None = None, unit: str = "run") -> tqdm[Any]:
    """A progress bar of runs on standard error: a widget in notebooks that have ipywidgets, else text.

    Args:
        total: All runs.
        initial: Those that are made already.
        shown: Whether to show it; None: if standard error is a terminal, or in a notebook.
        unit: What is counted.
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
    """Returns whether this is a notebook's process, and not IPython in a terminal or a plain interpreter."""
    # A module that is not loaded can't be running.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config
