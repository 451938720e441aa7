"""Subcommand `strandcast plot`: draws traces, time series and radios, and makes films of radios."""

from __future__ import annotations

import argparse
import json
import math
import pathlib
from typing import TYPE_CHECKING

from strandcast.command import Parser
from strandcast.errors import StoreError, StrandcastError
from strandcast.version import origin

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

KINDS = (".svg", ".png", ".pdf")
FILMS = (".mp4", ".gif")
TOPOLOGY = "topology.json"
OF_BOTH = {
    "delivered_bytes",
    "frame_retries",
    "frames",
    "link_failures",
    "lost_packets",
    "recovered",
    "repairs_sent",
    "routing_messages",
}
"""Metrics of whole runs that are also time series (docs/results.md)."""


def main(arguments: list[str]) -> int:
    """Runs the subcommand and returns its exit code."""
    parser = Parser(prog="strandcast plot", description="Draws traces of links, time series or the radios of runs.")
    parser.add_argument(
        "what",
        nargs="+",
        type=pathlib.Path,
        metavar="FILE|FOLDER",
        help="traces (CSV if called .csv, else mahimahi's), what `simulate --series STEP --out FOLDER` wrote, or the "
        "folder of a run with radios",
    )
    parser.add_argument("--out", type=_picture, help=f"the picture: {', '.join(KINDS)}; named after what is drawn")
    parser.add_argument("--bin", type=_seconds, default=0.5, metavar="SECONDS", help="bin of mahimahi's rates; 0.5")
    parser.add_argument(
        "--metric", help="for a folder: the series to draw; cwnd_bytes, or the map where there are radios"
    )
    parser.add_argument("--subject", help="for a folder: the flow or link; all")
    parser.add_argument("--seed", type=int, help="for a folder: the run; the first one")
    parser.add_argument(
        "--at", type=_moment, metavar="SECONDS", help="for radios: draw the routes at this time; the end"
    )
    parser.add_argument("--film", type=_film, metavar="FILE", help="for radios: a film, .mp4 (needs ffmpeg) or .gif")
    parser.add_argument("--from", dest="since", type=_moment, metavar="SECONDS", help="for a film: its beginning")
    parser.add_argument("--until", type=_moment, metavar="SECONDS", help="for a film: its end")
    parser.add_argument("--length", type=_seconds, default=20.0, metavar="SECONDS", help="length of a film; 20")
    wanted = parser.parse_args(arguments)
    first: pathlib.Path = wanted.what[0]
    if wanted.film:
        if not first.is_dir() or len(wanted.what) > 1:
            parser.error("--film takes the folder of one run with radios")
        print(_filmed(first, wanted))
        return 0
    if first.is_dir():
        if len(wanted.what) > 1:
            parser.error(f"{first} is a folder of results; give it alone")
        if wanted.metric is None and (first / TOPOLOGY).is_file():
            figure, name = _map(first, wanted.subject, wanted.at), "topology"
        else:
            name = wanted.metric or "cwnd_bytes"
            figure = _series(first, name, wanted.subject, wanted.seed)
        out = wanted.out or first / f"{name}.svg"
    else:
        figure = _traces(wanted.what, wanted.bin)
        out = wanted.out or pathlib.Path(f"{first.stem}.svg")
    _save(figure, out)
    print(out)
    return 0


def _save(figure: Figure, out: pathlib.Path) -> None:
    import strandcast.figures.style as style

    with style.use():
        figure.savefig(out, dpi=style.DPI, metadata={"Date": None} if out.suffix == ".svg" else None)


def _traces(files: list[pathlib.Path], bin_s: float) -> Figure:
    import strandcast.plots as plots
    from strandcast.traces import Trace

    for file in files:
        # So that what can't be read is an error of files.
        file.open("rb").close()
    return plots.traces([Trace.load(file) for file in files], bin_s)


def _map(folder: pathlib.Path, flow: str | None, at_s: float | None) -> Figure:
    import strandcast.maps as maps
    from strandcast.topology import Topology

    return maps.picture(Topology.load(folder), time_s=at_s, flow=flow)


def _filmed(folder: pathlib.Path, wanted: argparse.Namespace) -> pathlib.Path:
    import strandcast.film as film
    from strandcast.topology import Topology, frames

    out: pathlib.Path = wanted.film
    film.need_writer(out)
    topology = Topology.load(folder)
    film.film(topology, frames(folder), out, since_s=wanted.since, until_s=wanted.until, length_s=wanted.length)
    return out


def _series(folder: pathlib.Path, metric: str, subject: str | None, seed: int | None) -> Figure:
    import polars as pl

    import strandcast.plots as plots
    from strandcast.measured import metrics

    files = sorted(folder.glob("series/*.parquet"))
    of_runs = metric in metrics()["name"]
    in_python = f"`strandcast.open({str(folder)!r}).plot({metric!r})` draws it in Python"
    instead = f"{metric} is a metric of whole runs, and `plot` draws time series; {in_python}"
    if not files:
        lacking = f"{folder} has no time series; `strandcast simulate FILE --series 0.1 --out {folder}` makes them"
        if not of_runs:
            raise StrandcastError(lacking)
        of_both = f"{lacking}; {metric} is also a metric of whole runs, and {in_python}"
        raise StrandcastError(of_both if metric in OF_BOTH else instead)
    try:
        frame = _of_seed(pl.scan_parquet(files), seed)
    except pl.exceptions.PolarsError as error:
        raise StoreError(f"{folder}/series can't be read: {str(error).partition(chr(10))[0]}") from error
    if of_runs and metric not in frame["metric"]:
        raise StrandcastError(instead)
    return plots.series(
        frame, metric, subject=subject, caption="\n".join([f"seed {frame['seed'][0]}", *_origin(folder)])
    )


def _origin(folder: pathlib.Path) -> list[str]:
    """Returns the origin of the runs of a folder, if the folder has their result."""
    import strandcast.saved as saved

    if not (folder / "result.json").exists():
        return []
    told = json.loads(saved.read(folder / "result.json"))
    return [origin(told["scenario"]["hash"], told["version"], told.get("commit"))]


def _of_seed(frame: pl.LazyFrame, seed: int | None) -> pl.DataFrame:
    """Returns the rows of one run of each scheme."""
    import polars as pl

    seeds = frame.select(pl.col("seed").unique().sort()).collect()["seed"].to_list()
    wanted = seeds[0] if seed is None else seed
    if wanted not in seeds:
        raise StrandcastError(f"no series of seed {wanted}; choose from {', '.join(map(str, seeds))}")
    return frame.filter(pl.col("seed") == wanted).collect()


def _picture(text: str) -> pathlib.Path:
    """Parses the name of a picture. Its suffix selects the format."""
    path = pathlib.Path(text)
    if path.suffix not in KINDS:
        raise ValueError(text)
    return path


def _film(text: str) -> pathlib.Path:
    """Parses the name of a film. Its suffix selects the format."""
    path = pathlib.Path(text)
    if path.suffix not in FILMS:
        raise ValueError(text)
    return path


def _moment(text: str) -> float:
    """Parses a time of a run, which may be negative, because background load may begin before 0."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _seconds(text: str) -> float:
    """Parses a time greater than 0."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


_picture.__name__, _film.__name__ = f"picture ({', '.join(KINDS)})", f"film ({', '.join(FILMS)})"
_seconds.__name__ = _moment.__name__ = "time"
