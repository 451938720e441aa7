"""The tutorials' notebooks run from their first cell to their last."""

from __future__ import annotations

import pathlib
import re

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.thorough

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "docs/tutorials").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_what_is_for_readers(path: pathlib.Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs
    assert not [output for output in outputs if output.get("name") == "stderr"], "no bars, no warnings"
    assert not [output for output in outputs if "widget-view" in str(output)], "widgets are gone with their kernel"
    assert not [output for output in outputs if re.search(r"/(tmp|home|root|work)/", str(output))]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    said = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    assert said, "it is kept with what its cells said, for readers of the site"
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    # A cell that fails raises, with the cell and the exception.
    client.execute()
