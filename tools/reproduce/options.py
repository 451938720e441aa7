"""The arguments of `run` and `tables`."""

import dataclasses
import pathlib
import typing

import cells
import paper000
import paper001
import paper002
from cells import Trouble
from figures import Figure, Paper, Point

PAPERS = (paper000.PAPER, paper001.PAPER, paper002.PAPER)
ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Wanted:
    """What to do."""

    figures: list[tuple[Paper, Figure]]
    schemes: list[str]
    runs: int = 30
    jobs: int = dataclasses.field(default_factory=cells.processors)
    binary: pathlib.Path = ROOT / "target/release/strandcast"
    keep: pathlib.Path = ROOT / "target/reproduce"
    docs: pathlib.Path = ROOT / "docs"
    plan: bool = False
    more: tuple[str, ...] = ()

    def store(self) -> cells.Store:
        """Where results are kept."""
        return cells.Store(self.keep, self.more)


def parse(arguments: list[str], usage: str) -> Wanted | None:
    """Reads the arguments; None if they only asked for help, which was printed."""
    wanted, papers, names, rest = Wanted([], []), [], [], list(arguments)
    while rest:
        match rest.pop(0):
            case "-h" | "--help":
                print(usage)
                return None
            case "--plan":
                wanted.plan = True
            case "--figure":
                names.append(after("--figure", rest))
            case "--scheme":
                wanted.schemes.append(after("--scheme", rest))
            case "--runs" | "--jobs" as option:
                setattr(wanted, option[2:], count(option, after(option, rest)))
            case "--bin":
                wanted.binary = pathlib.Path(after("--bin", rest)).absolute()
            case "--keep":
                wanted.keep = pathlib.Path(after("--keep", rest))
            case "--docs":
                wanted.docs = pathlib.Path(after("--docs", rest))
            case "--time":
                wanted.more = (f'run.time="{after("--time", rest)}"', 'run.warmup="0 s"')
            case "all":
                papers += PAPERS
            case word:
                papers.append(paper(word))
    wanted.figures = [(one, figure) for one in papers for figure in chosen(one, names)]
    known = {scheme for one in papers for scheme in one.specs}
    for wrong in set(wanted.schemes) - known:
        raise Trouble(f"no figure has the scheme `{wrong}`; there are {', '.join(sorted(known))}")
    if not wanted.figures:
        raise Trouble(f"say which paper: {', '.join(one.name for one in PAPERS)} or all")
    return wanted


def after(option: str, rest: list[str]) -> str:
    """The argument behind an option."""
    if not rest:
        raise Trouble(f"{option} needs a value")
    return rest.pop(0)


def count(option: str, text: str) -> int:
    """A number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise Trouble(f"{option} {text}: it is a whole number from 1 on")
    return int(text)


def paper(name: str) -> Paper:
    """The paper of this name."""
    for one in PAPERS:
        if one.name == name:
            return one
    raise Trouble(f"there is no paper `{name}`; there are {', '.join(one.name for one in PAPERS)} and all")


def chosen(one: Paper, names: list[str]) -> typing.Iterator[Figure]:
    """The figures asked for; all if none is."""
    for wrong in (name for name in names if all(name != figure.name for figure in one.figures)):
        raise Trouble(f"paper {one.name} has no figure `{wrong}`; it has {'; '.join(f.name for f in one.figures)}")
    return (figure for figure in one.figures if not names or figure.name in names)


def todo(wanted: Wanted, one: Paper, figure: Figure) -> typing.Iterator[tuple[Point, str, cells.Cell]]:
    """The cells of a figure."""
    store = wanted.store()
    for point in figure.points:
        for scheme in figure.schemes_at(point):
            if not wanted.schemes or scheme in wanted.schemes or scheme not in figure.schemes:
                yield point, scheme, store.cell(one, figure, point, scheme)
