"""The examples, run."""

from __future__ import annotations

import importlib.util
import pathlib
from types import ModuleType

import pytest

PACKET = 188


@pytest.fixture
def example(root: pathlib.Path) -> ModuleType:
    path = root / "python/examples/send_and_simulate.py"
    spec = importlib.util.spec_from_file_location("send_and_simulate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_scheme_over_two_paths_and_in_the_simulator(
    example: ModuleType, root: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    whole = (root / "media/clip.ts").read_bytes()
    media = tmp_path / "clip.ts"
    media.write_bytes(whole[: len(whole) // 8 // PACKET * PACKET])
    received, paths = example.send(media, tmp_path / "played.ts", tmp_path)
    assert received.identical
    assert (tmp_path / "played.ts").read_bytes() == media.read_bytes()
    assert [path.partition(":")[0] for path in paths] == ["127.0.0.2", "127.0.0.3"]
    rows = example.simulate().mean("goodput_bps").to_dicts()
    assert {row["scheme"] for row in rows} == {"LeastInFlight", "cmt"}
