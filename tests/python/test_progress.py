"""The bar in notebooks and elsewhere."""

from __future__ import annotations

import importlib.util
import pathlib

import nbclient
import nbformat
import pytest
from conftest import TWO_PATHS

RUN = f"""
import strandcast as sc
_ = sc.run(sc.Scenario.parse({TWO_PATHS!r}), "cmt", runs=3)
"""
SWEEP = f"""
import strandcast as sc
_ = sc.sweep(sc.Scenario.parse({TWO_PATHS!r}), {{"links.up.loss.uniform.rate": [0]}}, "cmt", runs=3, jobs=1)
"""
# As if it were not installed.
NO_WIDGETS = "import sys; sys.modules['ipywidgets'] = None\n"


def outputs(code: str, folder: pathlib.Path) -> list[nbformat.NotebookNode]:
    """Outputs of a cell in a notebook."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources=resources).execute()
    return list(notebook.cells[0].outputs)


@pytest.mark.parametrize("code", [RUN, SWEEP], ids=["run", "sweep"])
def test_a_notebook_without_widgets_has_a_bar_of_text(code: str, tmp_path: pathlib.Path) -> None:
    shown = outputs(NO_WIDGETS + code, tmp_path)
    assert {(output.output_type, output.get("name")) for output in shown} == {("stream", "stderr")}
    text = "".join(output.text for output in shown)
    assert "3/3" in text.replace("3.0/3", "3/3")
    assert "Warning" not in text


def test_a_notebook_with_widgets_has_a_widget(tmp_path: pathlib.Path) -> None:
    if not importlib.util.find_spec("ipywidgets"):
        pytest.fail("ipywidgets is among tools/requirements.txt: `tools/venv` installs it")
    (shown,) = outputs(RUN, tmp_path)
    assert shown.output_type == "display_data"
    assert "application/vnd.jupyter.widget-view+json" in shown.data


def test_a_notebook_can_be_quiet(tmp_path: pathlib.Path) -> None:
    assert outputs(NO_WIDGETS + RUN.replace("runs=3", "runs=3, progress=False"), tmp_path) == []
