"""Runs a bench: `python3 -m bench NAME [OPTION]...` from the root of the repository, `NAME --help` for its options.

    python3 -m bench               the benches, what each needs, and what of that this machine lacks
    python3 -m bench programs      programs and rights that benches need: found or missing
    python3 -m bench pages         makes the tables of all pages from stored rows, and compares them (--write: writes them)
    python3 -m bench selftest      the benches' own tests, without root and without runs

Rows of results are in bench/rows. A bench makes those that are missing, and prints tables; `--write` puts them into the
page, `--report` makes tables of stored rows alone. Exit codes: 1 if a bar was missed or a run failed, 2 for mistakes.
"""

import importlib
import os
import signal
import sys
from types import ModuleType
from typing import NamedTuple

from bench import pages, programs
from bench.common import PAGES, ROOT, Parser, RunError


class Bench(NamedTuple):
    """A bench: its module, what it measures, and what it needs."""

    module: str
    what: str
    needs: tuple[str, ...] = ()


SOCKETS = ("root", "tun", "netns")
BENCHES = {
    "live": Bench("live.main", "live video over links that fail, in the simulator", ("package",)),
    "live-sockets": Bench("live.sockets", "the same over real sockets, with RIST, SRT and MPTCP", ("package", *SOCKETS, "rist", "srt", "mptcp")),
    "compare": Bench("live.compare", "a scheme of `live` compared with another one, or with itself before"),
    "silence": Bench("live.silence", "time until a scheme leaves a path that falls silent"),
    "suspicion": Bench("live.suspicion", "needless suspicions of paths, and paths that return", ("package",)),
    "triage": Bench("live.triage", "worth of giving up whole frames early", ("package",)),
    "fairness": Bench("live.fairness", "shares that a scheme over one to three paths leaves to TCPs"),
    "friendliness": Bench("friendliness.main", "RFC 6356's goals for each window of MPTCP flows"),
    "repair": Bench("repair.main", "late messages with and without repair symbols"),
    "windows": Bench("speed.windows", "windows of one path: goodput, delay, shares with TCP"),
    "networks": Bench("networks", "schemes on random and real networks, compared with the best path alone", ("cargo",)),
    "first-try": Bench("firsttry.main", "bursty inputs over sockets, with cmt and SRT", (*SOCKETS, "srt", "cargo")),
    "presets": Bench("firsttry.presets", "other presets in ten cells of `first-try`", (*SOCKETS, "srt", "cargo")),
    "reorder": Bench("firsttry.reorder", "links on which packets overtake each other", (*SOCKETS, "srt", "cargo")),
    "first-try-simulated": Bench("firsttry.simulator", "the cells of `first-try` in the simulator"),
    "links": Bench("links.main", "real sockets over emulated links, with RIST, SRT, TCP and MPTCP", SOCKETS),
    "fanout": Bench("serve.fanout", "ten streams of one server with three outputs each, two of which are in trouble", ("ffmpeg", "srt")),
    "many": Bench("serve.many", "the API of a server of 100 streams: metrics, the list, the page's first view", ("ffmpeg", "page")),
    "away": Bench("serve.away", "a sender that is away for 30 s, and players over SRT and HTTP that stay", ("ffmpeg", "srt")),
    "attack": Bench("serve.attack", "the API of a server under attack, and its stream meanwhile", ("root",)),
    "page": Bench("serve.page", "the page of a server in Chromium, and what it costs the stream", ("ffmpeg", "page")),
    "soak": Bench("soak.main", "a stream for 20 minutes, with faults drawn from a seed", ("root", "netns", "ffmpeg", "cc")),
    "bulk": Bench("speed.bulk", "bulk over loopback, compared with usrsctp, quinn and UDP", ("cargo",)),
    "srt": Bench("speed.srt", "processor time of SRT, compared with srt-live-transmit", ("cargo", "srt")),
    "failover": Bench("speed.failover", "failover over sockets and emulated links", ("cargo",)),
    "instructions": Bench("speed.instructions", "instructions per packet that schemes cost", ("cargo", "valgrind")),
    "profile": Bench("speed.profile", "processor time of bulk by function", ("cargo", "perf")),
    "run": Bench("speed.run", "costs of sc.run, compared with `strandcast simulate`", ("package",)),
    "sweep": Bench("speed.sweep", "a sweep on two cores, compared with two processes", ("package",)),
    "policies": Bench("speed.policies", "policies in Python, compared with Rust", ("package",)),
    "ns2": Bench("validate.wired", "our transports compared with ns-2.35's"),
    "ns2-pace": Bench("validate.pace", "processor time of our TCP and SCTP compared with ns-2.35's"),
    "ns2-radio": Bench("validate.radio.main", "our radio and routing compared with ns-2.35's"),
    "ns3-radio": Bench("validate.radio.ns3", "our radio and AODV compared with ns-3.37's", ("ns3",)),
    "ns2-constants": Bench("validate.constants", "constants of profile ns2 compared with the defaults of ns-2's agents"),
    "ns2-order": Bench("validate.order", "order of TSNs over three paths, in ns-2's CMT and in ours"),
    "ns3": Bench("validate.speed", "speed and goodput compared with ns-3.37's", ("ns3",)),
    "linux": Bench("validate.mptcp", "our MPTCP and TCP compared with the kernel's"),
    "linux-bbr": Bench("validate.bbr", "our BBR compared with the kernel's"),
}  # fmt: skip


def module(name: str) -> ModuleType:
    """The module of a bench."""
    try:
        return importlib.import_module(f"bench.{BENCHES[name].module}")
    except ModuleNotFoundError:
        programs.require(*BENCHES[name].needs)
        raise


def listed() -> str:
    """A line for each bench, and what this machine lacks for it."""
    lines = []
    for name, one in BENCHES.items():
        lacking = programs.missing(one.needs)
        lines.append(f"{name:20} {one.what}" + (f"  [missing: {', '.join(lacking)}]" if lacking else "") + "\n")
    return "".join(lines)


def tables(name: str, words: list[str]) -> tuple[ModuleType, object, dict[str, str], bool]:
    """Runs a bench: its module, its arguments, its tables by mark, and whether it met its bars."""
    bench = module(name)
    parser = Parser(name, bench.__doc__, getattr(bench, "OPTIONS", ()), getattr(bench, "DEFAULTS", {}))
    asked = parser.parse_args(words)
    asked.bench, asked.versions = name, sorted(stored(name, asked)) if asked.report is not None else []
    if hasattr(bench, "checked"):
        bench.checked(parser, asked)
    if asked.report is None:
        shows = any(getattr(asked, option, None) for option in ("list", "show", "trace"))
        programs.require(*(() if shows else BENCHES[name].needs))
        if not shows and getattr(bench, "NEEDS_PROGRAM", True) and not asked.program.is_file():
            parser.error(f"no {asked.program}: cargo build --release -p strandcast-cli, or --program FILE")
        asked.program = asked.program.resolve()
    made = bench.measured(asked)
    texts, met = made if isinstance(made, tuple) else (made, True)
    return bench, asked, texts, met


def stored(name: str, asked) -> set[str]:
    """Versions of the rows that `--report` takes: those that are named, or those of the page."""
    if asked.report:
        return set(asked.report.split(","))
    return {v for one in pages.ledger() if one.command.split()[0] == name for v in one.versions.split()}


def run(name: str, words: list[str]) -> int:
    """Runs a bench, prints its tables, and writes its page."""
    bench, asked, texts, met = tables(name, words)
    print("\n".join(f"## {mark}\n\n{text}" for mark, text in texts.items()))
    if asked.write:
        if not getattr(bench, "PAGE", None):
            raise RunError("no page has these tables: no --write")
        pages.write(bench.PAGE, name, words, texts, asked.versions)
    return 0 if met else 1


def compare(words: list[str]) -> int:
    """Makes all tables that have stored rows, and the heads of all pages; how many differ."""
    differ = 0
    for one in pages.ledger():
        name, *rest = one.command.split()
        if not one.versions:
            print(f"{one.page}: {name}: not kept: {one.marks}")
            continue
        texts = tables(name, [*rest, "--report", one.versions.replace(" ", ",")])[2]
        texts = {mark: text for mark, text in texts.items() if mark in one.marks.split(", ")}
        file = PAGES / one.page
        page = file.read_text()
        made = pages.filled(page, name, texts)
        same = made == page
        differ += not same
        print(f"{one.page}: {name}: {'same' if same else 'DIFFERS'}: {', '.join(texts)}")
        if "--write" in words:
            file.write_text(made)
    for file, made in pages.outdated(pages.ledger()).items():
        differ += 1
        print(f"{file.name}: head: DIFFERS")
        if "--write" in words:
            file.write_text(made)
    same = pages.index() == pages.INDEX.read_text()
    print(f"index.md: pages: {'same' if same else 'DIFFERS'}: rows")
    if "--write" in words:
        pages.INDEX.write_text(pages.index())
    return differ + (not same)


def main(words: list[str]) -> int:
    """Does what the command line says; errors are one line."""
    # Programs of benches that run in namespaces import this package.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: interrupted; what was run is kept"))
    name, *rest = words or ["list"]
    try:
        match name:
            case "list":
                print(listed(), end="")
                return 0
            case "programs":
                print(programs.listed(), end="")
                return 0
            case "pages":
                return min(compare(rest), 1)
            case "selftest":
                return importlib.import_module("bench.selftest").main(rest)
            case "-h" | "--help":
                print(__doc__)
                return 0
        if name not in BENCHES:
            print(f"bench: no bench {name}; `python3 -m bench` lists them", file=sys.stderr)
            return 2
        return run(name, rest)
    except (RunError, OSError, LookupError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: interrupted; what was run is kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
