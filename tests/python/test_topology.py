"""Maps and films of radios, from networks made up."""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import Plot
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image

from strandcast import film, maps
from strandcast.errors import StoreError, StrandcastError
from strandcast.figures import style
from strandcast.topology import Radio, Route, Topology, frames

# A diamond: a - b - d above, a - c - d below, everything 200 m apart but a and d, b and c.
NODES = {"a": [0, 0], "b": [150, 130], "c": [150, -130], "d": [300, 0]}
TWO_PATHS = [
    {"flow": "video", "time_s": 1.0, "kind": "original", "nodes": ["a", "b", "d"]},
    {"flow": "video", "time_s": 1.0, "kind": "retransmission", "nodes": ["a", "c", "d"]},
]
FRAMES = (
    "start_s,end_s,kind,from,to,bytes,outcome\n"
    "1.0,1.001,rreq,a,,60,received\n"
    "2.0,2.001,data,a,b,1000,received\n"
    "2.5,2.501,data,a,b,1000,collided\n"
    "3.0,3.001,ack,b,a,14,received\n"
)


def write(folder: pathlib.Path, told: Any, table: str = FRAMES) -> pathlib.Path:
    """A run's folder."""
    folder.mkdir(exist_ok=True)
    (folder / "topology.json").write_text(json.dumps(told))
    (folder / "transmissions.csv").write_text(table)
    return folder


def diamond(routes: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    radios = {"wifi": {"range_m": 210, "nodes": NODES}}
    return {"radios": radios, "routes": TWO_PATHS if routes is None else routes}


def moved() -> dict[str, Any]:
    """The diamond, if its nodes were there at the end alone."""
    told = diamond()
    told["radios"]["wifi"]["moving"] = True
    return told


def test_links_are_pairs_in_range() -> None:
    places = {name: (float(x), float(y)) for name, (x, y) in NODES.items()}
    assert {frozenset(link) for link in Radio(210, places).links()} == {
        frozenset(two) for two in ("ab", "ac", "bd", "cd")
    }
    assert len(Radio(300, places).links()) == 6, "a and d are 300 m apart, b and c 260 m"
    grid = {f"n{i}": (0.1 * (i % 10), 0.1 * (i // 10)) for i in range(100)}
    assert len(Radio(0.1, grid).links()) == 180, "rounding separates no neighbours"


def test_the_routes_of_a_moment_are_the_newest_of_each_kind(tmp_path: pathlib.Path) -> None:
    later = {"flow": "video", "time_s": 5.0, "kind": "original", "nodes": ["a", "c", "d"]}
    topology = Topology.load(write(tmp_path, diamond([later, *TWO_PATHS])))
    assert topology.at(0.9) == []
    assert [route.nodes for route in topology.at(1.0)] == [("a", "b", "d"), ("a", "c", "d")]
    assert {(route.kind, route.nodes) for route in topology.at(5.0)} == {
        ("original", ("a", "c", "d")),
        ("retransmission", ("a", "c", "d")),
    }


def hops(drawn: list[Any]) -> list[Line2D]:
    """The lines of hops, not marks of ends."""
    return [one for one in drawn if isinstance(one, Line2D) and one.get_marker() == "None"]


def points(line: Line2D) -> list[list[float]]:
    """The ends of a line, x and y."""
    return [[float(x), float(y)] for x, y in np.asarray(line.get_xydata(), dtype=float)]


def test_originals_are_solid_and_retransmissions_dashed(tmp_path: pathlib.Path) -> None:
    topology = Topology.load(write(tmp_path, diamond()))
    with style.use():
        _, (ax,) = maps.sheet(topology)
        radio = topology.radios["wifi"]
        maps.ground(ax, radio, topology.routes)
        drawn = maps.draw_routes(ax, radio, topology.at(math.inf), maps.flow_colours(topology))
    lines = hops(drawn)
    assert [line.get_linestyle() for line in lines] == ["-", "-", "--", "--"]
    assert [points(line)[0] for line in lines] == [[0, 0], [150, 130], [0, 0], [150, -130]]
    assert {line.get_color() for line in lines} == {style.BLUE}
    heads = [one for one in drawn if one not in ax.lines]
    assert len(heads) == 4, "an arrowhead on each hop"


def test_routes_that_share_a_hop_run_beside_each_other() -> None:
    radio = Radio(100, {"a": (0.0, 0.0), "b": (100.0, 0.0)})
    there, back = (Route(str(i), 0, "any", nodes) for i, nodes in enumerate((("a", "b"), ("b", "a"))))
    topology = Topology({"wifi": radio}, (there, back))
    with style.use():
        _, (ax,) = maps.sheet(topology)
        maps.ground(ax, radio, topology.routes)
        first, second = hops(maps.draw_routes(ax, radio, topology.routes, maps.flow_colours(topology)))
    up, down = (np.asarray(line.get_ydata(), dtype=float) for line in (first, second))
    assert up[0] == up[1] == -down[0] == -down[1] != 0, "each on its side, whichever way it goes"


def test_every_flow_has_its_own_colour_in_the_order_of_numbers() -> None:
    routes = tuple(Route(f"tcp{i}", 0, "any", ("a", "b")) for i in (10, 2, 1, *range(3, 10), 11, 12))
    colours = maps.flow_colours(Topology({}, routes))
    assert list(colours)[:3] == ["tcp1", "tcp2", "tcp3"]
    assert list(colours)[-1] == "tcp12"
    assert len({to_hex(colour) for colour in colours.values()}) == 12


def test_a_map_of_several_radios(tmp_path: pathlib.Path) -> None:
    told = diamond([{"flow": "video", "time_s": 0, "kind": "any", "nodes": ["a", "b", "z"]}])
    told["radios"]["mesh"] = {"range_m": 500, "nodes": {"b": [150, 130], "z": [500, 130]}}
    figure = maps.picture(Topology.load(write(tmp_path, told)))
    wifi, mesh = figure.axes
    assert [ax.get_title(loc="left") for ax in (wifi, mesh)] == ["wifi", "mesh"]
    for ax, ends in ((wifi, [[0, 0], [150, 130]]), (mesh, [[150, 130], [500, 130]])):
        (line,) = [line for line in ax.lines if line.get_color() == style.BLUE and line.get_marker() == "None"]
        assert points(line) == ends, "each draws its own hop"


def test_names_of_a_crowd_are_left_out() -> None:
    nodes = {f"n{i}": (float(i % 20), float(i // 20)) for i in range(200)}
    topology = Topology({"wifi": Radio(1, nodes)}, (Route("tcp", 0, "any", ("n0", "n1")),))
    (ax,) = maps.picture(topology).axes
    names = {text.get_text() for text in ax.texts}
    assert names == {"n0", "n1", "2 m"}, "those on routes, and the scale"


@pytest.mark.parametrize(
    ("side", "bar"), [(800, "100 m"), (900, "200 m"), (1300, "200 m"), (12_000, "2 km"), (7, "1 m")]
)
def test_the_scale_bar_is_a_round_number_as_long_as_it_says(side: float, bar: str) -> None:
    topology = Topology({"wifi": Radio(1, {"a": (0.0, 0.0), "b": (side, side)})}, ())
    (ax,) = maps.picture(topology).axes
    assert bar in {text.get_text() for text in ax.texts}
    (line,) = [line for line in ax.lines if line.get_linewidth() == 2]
    number, unit = bar.split()
    left, right = np.asarray(line.get_xdata(), dtype=float)
    assert right - left == pytest.approx(float(number) * (1000 if unit == "km" else 1))


def test_plot_verb_draws_a_map(plot: Plot) -> None:
    write(plot.folder / "run", diamond())
    assert plot("run") == 0
    assert plot.out == "run/topology.svg\n"
    first = (plot.folder / "run/topology.svg").read_bytes()
    assert plot("run", "--out", "again.svg") == 0
    assert (plot.folder / "again.svg").read_bytes() == first, "equal pictures are equal bytes"
    assert plot("run", "--at", "0.5", "--subject", "video", "--out", "a.png") == 0
    assert (plot.folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_map_of_nodes_that_moved_says_when_they_were_there(tmp_path: pathlib.Path) -> None:
    def words(told: dict[str, Any]) -> str:
        figure = maps.picture(Topology.load(write(tmp_path, told)))
        return " ".join(text.get_text() for text in figure.findobj(Text))

    assert "places at the end of the run" in words(moved())
    assert "places" not in words(diamond())


def test_what_a_run_leaves_can_be_drawn(root: pathlib.Path, plot: Plot) -> None:
    simulate = [sys.executable, "-m", "strandcast", "simulate", str(root / "scenarios/radio/chain.toml"), "--quiet"]
    simulate += ["--runs", "1", "--set", "run.time=3 s", "--set", "run.warmup=0 s", "--out", "run", "--trace", "trace"]
    subprocess.run(simulate, check=True, capture_output=True)
    topology = Topology.load("run")
    assert {route.flow: route.nodes for route in topology.at(3)}["tcp"] == ("n0", "n1", "n2", "n3", "n4")
    table = frames(pathlib.Path("run"))
    assert table.filter(pl.col("kind").str.to_lowercase() == "rts").height > 100
    assert table["end_s"].max() <= 3.1  # type: ignore[operator]
    assert plot("run") == 0
    assert plot("run", "--film", "film.gif", "--length", "0.5") == 0
    assert (plot.folder / "film.gif").stat().st_size > 10_000


def test_a_gif_shows_frames_and_counts_them(plot: Plot) -> None:
    write(plot.folder / "run", diamond())
    assert plot("run", "--film", "a.gif", "--length", "1") == 0
    assert plot.out == "a.gif\n"
    with Image.open(plot.folder / "a.gif") as picture:
        assert getattr(picture, "n_frames", 1) == 10
        width, height = picture.size
        assert width == 840
        assert height > 300


def texts(scene: film._Scene) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(cell.get_text() for cell in cells) for kind, cells in scene._rows.items()}


def test_what_a_film_shows(tmp_path: pathlib.Path) -> None:
    """Between 1.9 and 2.6 s two data frames begin, of which one collides; one acknowledgement follows."""
    folder = write(tmp_path, diamond())
    with style.use():
        scene = film._Scene(Topology.load(folder), frames(folder), 1.0)
        (layer,) = scene._layers
        scene.show(0.9, 1.9)
        assert texts(scene) == {"data": ("0", "0"), "rreq": ("1", "0"), "ack": ("0", "0")}
        assert layer._rings is not None, "a frame to all is a ring"
        assert len(layer._lines.get_segments()) == 0
        scene.show(1.9, 2.6)
        assert texts(scene)["data"] == ("2", "1")
        colours = [to_hex(tuple(colour)) for colour in np.asarray(layer._lines.get_colors())]
        assert colours == [style.BLACK, film.FAILED], "frames that were not received lie above"
        scene.show(2.6, 3.5)
        assert texts(scene)["ack"] == ("1", "0")
        assert layer._lit["a", "b", style.BLACK][0] == film.FADE, "it fades"


def test_each_radio_has_its_frames_and_counts_are_of_all(tmp_path: pathlib.Path) -> None:
    told = diamond()
    told["radios"]["mesh"] = {"range_m": 500, "nodes": {"a": [0, 0], "z": [350, 130]}}
    table = (
        "start_s,end_s,radio,kind,from,to,bytes,outcome\n"
        "1,1.1,wifi,data,a,b,900,received\n1,1.1,mesh,data,a,z,900,weak\n"
    )
    folder = write(tmp_path, told, table)
    with style.use():
        scene = film._Scene(Topology.load(folder), frames(folder), 1.0)
        scene.show(0.5, 1.5)
    wifi, mesh = scene._layers
    assert list(wifi._lit) == [("a", "b", style.BLACK)]
    assert list(mesh._lit) == [("a", "z", film.FAILED)]
    assert texts(scene) == {"data": ("2", "1")}


def test_what_lasts_longer_than_a_picture_stays_lit(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path, diamond())
    with style.use():
        scene = film._Scene(Topology.load(folder), frames(folder), 0.001)
        (layer,) = scene._layers
        for start in (1.9999, 2.0002, 2.0005):
            scene.show(start, start + 0.0003)
            assert layer._lit["a", "b", style.BLACK][0] == 1.0
        scene.show(2.0015, 2.0018)
        assert layer._lit["a", "b", style.BLACK][0] == film.FADE


def test_routes_appear_when_they_begin(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path, diamond())
    with style.use():
        scene = film._Scene(Topology.load(folder), frames(folder), 1.0)
        scene.show(0.0, 0.5)
        assert scene._shown[1] == []
        scene.show(0.5, 1.5)
        assert len(hops(scene._shown[1])) == 4


def test_an_mp4_goes_through_ffmpeg(plot: Plot, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that keeps its arguments and its input: raw pictures of the given size."""
    write(plot.folder / "run", diamond())
    stand_in = plot.folder / "ffmpeg"
    stand_in.write_text('#!/bin/sh\necho "$@" > arguments\nfor out; do :; done\ncat > "$out"\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(plot.folder), prepend=os.pathsep)
    assert plot("run", "--film", "a.mp4", "--length", "0.2") == 0, plot.err
    told = (plot.folder / "arguments").read_text()
    size = re.search(r"-s (\d+)x(\d+) ", told)
    assert size is not None
    width, height = map(int, size.groups())
    assert (width % 2, height % 2) == (0, 0), "H.264 takes even sizes alone"
    assert "-framerate 25" in told
    assert "yuv420p" in told
    assert (plot.folder / "a.mp4").stat().st_size == 5 * width * height * 4, "0.2 s at 25 pictures per second"


BROKEN: list[tuple[Any, str]] = [
    ("{", "is not JSON"),
    ([], "radios is missing"),
    ({"radios": []}, "radios is not a table of names"),
    ({"radios": {}}, "radios is empty"),
    ({"radios": {"w": {"nodes": {}}}}, "radios.w.range_m is null; it is a number"),
    ({"radios": {"w": {"range_m": 0, "nodes": {}}}}, "radios.w.range_m is 0; it is more than 0 m"),
    ({"radios": {"w": {"range_m": 1}}}, "radios.w.nodes is missing"),
    ({"radios": {"w": {"range_m": 1, "nodes": {"a": [1]}}}}, "radios.w.nodes.a is [1]; a place is [x, y] in metres"),
    ({"radios": {"w": {"range_m": 1, "nodes": {"a": [1, "x"]}}}}, 'radios.w.nodes.a is "x"; it is a number'),
    ({"radios": {"w": {"range_m": 1, "nodes": {}, "moving": 1}}}, "radios.w.moving is 1; it is true or false"),
    (diamond([{"flow": "v", "nodes": ["a"]}]), 'routes[0].nodes is ["a"]; a route has two nodes or more'),
    (diamond([{"flow": "v", "nodes": ["a", "x"]}]), 'routes[0].nodes has "x", which is not a node of a radio'),
    (diamond([{"nodes": ["a", "b"]}]), "routes[0].flow is null; it is a flow's name"),
    (
        diamond([{"flow": "v", "kind": "new", "nodes": ["a", "b"]}]),
        'routes[0].kind is "new"; it can be original, retransmission, any',
    ),
    (diamond([{"flow": "v", "time_s": None, "nodes": ["a", "b"]}]), "routes[0].time_s is null; it is a number"),
]


@pytest.mark.parametrize(("told", "says"), BROKEN, ids=[says for _, says in BROKEN])
def test_a_topology_that_makes_no_sense(tmp_path: pathlib.Path, told: Any, says: str) -> None:
    path = tmp_path / "topology.json"
    path.write_text(told if isinstance(told, str) else json.dumps(told))
    with pytest.raises(StoreError) as error:
        Topology.load(path)
    assert str(error.value) == f"{path}: {says}" or str(error.value).startswith(f"{path}: {says}")


HEADINGS = FRAMES.partition("\n")[0]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("a,b\n1,2\n", "column start_s is missing; the columns are a, b"),
        (f"{HEADINGS}\nx,2,data,a,b,1,received\n", "transmissions.csv can't be read: conversion from"),
        (f"{HEADINGS}\n2,1,data,a,b,1,received\n", "a frame of a ends before it starts, at 2.0 s"),
    ],
)
def test_frames_that_make_no_sense(tmp_path: pathlib.Path, table: str, says: str) -> None:
    with pytest.raises(StoreError, match=re.escape(says)):
        frames(write(tmp_path, diamond(), table))


def test_frames_in_parquet(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path, diamond())
    from_text = frames(folder)
    from_text.write_parquet(folder / "transmissions.parquet")
    (folder / "transmissions.csv").unlink()
    assert frames(folder).equals(from_text)
    assert from_text["to"].to_list() == [None, "b", "b", "a"]
    assert from_text.schema["start_s"] == pl.Float64


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("run", "--subject", "audio"), 2, "no routes of flow audio; flows with routes: video"),
        (("run", "--at", "soon"), 2, "--at"),
        (("none", "--film", "a.gif"), 2, "--film takes the folder of one run with radios"),
        (("empty", "--film", "a.gif"), 3, "empty/topology.json: No such file"),
        (("silent", "--film", "a.gif"), 3, "silent has no frames (transmissions.parquet or transmissions.csv)"),
        (("run", "--film", "a.avi"), 2, "--film"),
        (("run", "--film", "a.gif", "--from", "5"), 2, "a film from 5 s to 3.001 s has no length"),
        (("run", "--film", "a.gif", "--from", "5", "--until", "9"), 2, "no frame was on the air from 5 s to 9 s"),
        (("run", "--film", "a.gif", "--length", "0"), 2, "--length"),
        (("run", "--film", "none/a.gif"), 3, "none: No such file or directory"),
        (("run", "--film", "a.mp4"), 2, "a.mp4: MP4 takes ffmpeg, which is not installed"),
        (("empty", "--film", "a.mp4"), 2, "a film called ….gif needs no other program"),
        (("moved", "--film", "a.gif"), 2, "nodes moved, and their places are known at the end of the run alone"),
        (("moved", "--at", "1"), 2, "leave out --at"),
    ],
)
def test_plot_verb_says_what_is_wrong(
    plot: Plot, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, says: str
) -> None:
    write(plot.folder / "run", diamond())
    write(plot.folder / "moved", moved())
    (plot.folder / "empty").mkdir()
    (write(plot.folder / "silent", diamond()) / "transmissions.csv").unlink()
    monkeypatch.setenv("PATH", "/none")
    assert (plot(*arguments), plot.out) == (code, "")
    assert plot.err.count("\n") == 1
    assert plot.err.startswith("strandcast: ")
    assert says in plot.err


def test_a_flow_without_routes_is_named() -> None:
    with pytest.raises(StrandcastError, match="no routes of flow tcp; flows with routes: none"):
        maps.picture(Topology({"wifi": Radio(1, {"a": (0.0, 0.0)})}, ()), flow="tcp")
