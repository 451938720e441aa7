"""The papers' figures: what they are, how claims are judged, what is looked up, and tables."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import io
import math
import pathlib

import polars as pl
import pytest

from strandcast import experiments, stats
from strandcast.figures import claims, headline, spec, tables
from strandcast.figures.claims import judge
from strandcast.figures.manifest import Origin
from strandcast.figures.results import Found, cell, collect, measured_s, network, shortened, shown, start_s
from strandcast.figures.spec import Figure, Measure, Paper, Point
from strandcast.store import Store

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = experiments.papers(ROOT / "experiments")
FIGURES = [
    pytest.param(paper, figure, id=f"{paper.name} {figure.name}") for paper in PAPERS for figure in paper.figures
]


@pytest.mark.parametrize(
    ("df", "t"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (29, 2.045), (99, 1.984), (999, 1.962)]
)
def test_quantiles_are_those_of_students_tables(df: int, t: float) -> None:
    assert stats.t_quantile(df) == pytest.approx(t, abs=5e-4)


def test_an_interval() -> None:
    # s² = 5/3, t(0.975, 3) = 3.1824.
    ours = stats.summary([1, 2, 3, 4])
    assert ours.mean == 2.5
    assert ours.half == pytest.approx(3.1824 * math.sqrt(5 / 3 / 4), abs=1e-4)
    assert stats.summary([7]) == (7, None, 1)


def judged(claim: spec.Claim, a: list[float], b: list[float]) -> tuple[float, int, str]:
    """Verdict on a claim about the schemes a and b with these runs."""
    runs = {"a": dict(enumerate(a)), "b": dict(enumerate(b))}
    found = judge(claim, lambda term: runs[term.scheme])
    assert found is not None
    return round(found.ours.mean, 3), found.holds, found.verdict


def test_orders_are_judged_by_pairs() -> None:
    above = spec.more("m", "a", "b", ["p"])
    # Differences of 1, although the runs themselves are far apart.
    assert judged(above, [1, 11, 21], [0, 10, 20]) == (1, 1, "reproduced")
    assert judged(above, [0, 3], [1, 1])[2] == "undecided"
    assert judged(above, [0, 0], [1, 1])[2] == "contradicted"
    # Exactly as much is not more.
    assert judged(above, [1, 1], [1, 1])[2] == "contradicted"
    # The third seed is only one's.
    assert judged(above, [1, 2, 99], [0, 1])[0] == 1


@pytest.mark.parametrize(
    ("paper", "verdict"),
    # Ours is 10 % of 20, exactly.
    [
        (10, "reproduced"),
        (20, "reproduced"),
        (20.1, "partly"),
        (7, "reproduced"),
        (6.6, "partly"),
        (29.9, "partly"),
        (30.1, "contradicted"),
        (3.4, "partly"),
        (3.3, "contradicted"),
        (-10, "contradicted"),
    ],
)
def test_effects_overlap_half_to_one_and_a_half_of_the_papers(paper: float, verdict: str) -> None:
    holds = int(verdict == "reproduced")
    assert judged(spec.by(paper, "%", "m", "a", "b", ["p"]), [12, 32], [10, 30]) == (10, holds, verdict)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    # The paper's value is 100: an interval wider than 50 decides only what it excludes.
    [
        (80, 120, "reproduced"),
        (51, 101, "reproduced"),
        (40, 60, "reproduced"),
        (149, 170, "reproduced"),
        (151, 170, "partly"),
        (35, 49, "partly"),
        (60, 120, "undecided"),
        (-20, 40, "undecided"),
        (-20, 33, "contradicted"),
        (290, 310, "partly"),
        (290, 400, "undecided"),
        (301, 900, "contradicted"),
        (-120, -80, "contradicted"),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_wider_than_half_of_the_effect_is_undecided(low: int, high: int, verdict: str, sign: int) -> None:
    claim = spec.Claim("c", spec.alone("m", "a", ["p"]), "effect", sign * 100.0)
    assert claims.verdict(claim, interval(sign * low, sign * high)) == verdict


def interval(low: float, high: float) -> stats.Summary:
    """A mean of several runs with this interval."""
    return stats.Summary((low + high) / 2, abs(high - low) / 2, 30)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (64, 66, "partly"),
        (66, 67, "reproduced"),
        (149, 160, "reproduced"),
        (151, 160, "partly"),
        (60, 115, "undecided"),
    ],
)
def test_what_a_video_lacks_is_within_a_factor_of_one_and_a_half(low: int, high: int, verdict: str) -> None:
    claim = spec.Claim("c", spec.alone("m", "a", ["p"]), "deficit", 100.0)
    assert claims.verdict(claim, interval(low, high)) == verdict


def test_a_psnr_is_what_is_missing_of_the_rate() -> None:
    # Eq. 17: 20 log10(1000 / 10) = 40 dB.
    assert spec.missing(40, 1000) == pytest.approx(10)
    assert spec.missing(0, 1000) == 1000


@pytest.mark.parametrize(
    ("mean", "verdict"), [(19, "reproduced"), (20.9, "reproduced"), (21.1, "contradicted"), (18.9, "contradicted")]
)
def test_nearly_the_same_is_at_most_5_per_cent(mean: float, verdict: str) -> None:
    assert judged(spec.same("m", "a", "b", ["p"]), [mean, mean], [20, 20])[2] == verdict


@pytest.mark.parametrize(
    ("a", "verdict"),
    [([20.1, 20.2], "reproduced"), ([19, 21], "undecided"), ([19, 24], "undecided"), ([24, 24.1], "contradicted")],
)
def test_nearly_the_same_is_undecided_unless_the_interval_is_within(a: list[float], verdict: str) -> None:
    same = spec.same("m", "a", "b", ["p"])
    assert judged(same, a, [20, 20])[1:] == (int(verdict == "reproduced"), verdict)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (18, 18.1, "reproduced"),
        (16, 20.2, "reproduced"),
        (15, 25.1, "undecided"),
        (16, 19, "undecided"),
        (17.7, 17.9, "contradicted"),
        (22.1, 90, "contradicted"),
    ],
)
def test_a_level_is_within_10_per_cent_of_the_papers(low: float, high: float, verdict: str) -> None:
    assert claims.verdict(spec.level(20, "m", "a", ["p"]), interval(low, high)) == verdict


def test_a_goal_needs_the_whole_interval() -> None:
    goal = spec.Claim("g", spec.difference("m", "a", "b", "p"), "at least")
    assert judged(goal, [1, 2], [1, 2])[1:] == (1, "reproduced")
    assert judged(goal, [1, 4], [1, 3])[1:] == (0, "undecided")
    assert judged(goal, [1, 2], [2, 3])[1:] == (0, "contradicted")


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (["reproduced"] * 3, "reproduced"),
        (["contradicted"] * 3, "contradicted"),
        (["reproduced", "undecided"], "undecided"),
        (["reproduced", "contradicted", "undecided"], "partly"),
        (["undecided", "contradicted"], "contradicted"),
    ],
)
def test_a_claim_about_several_points_is_one_about_each(verdicts: list[str], said: str) -> None:
    outcomes: dict[str, tuple[list[float], list[float]]] = {
        "reproduced": ([2, 2.1], [1, 1]),
        "contradicted": ([0, 0.1], [1, 1]),
        "undecided": ([0, 3], [1, 1]),
    }
    runs = {
        (f"p{i}", scheme): dict(enumerate(outcomes[one][which]))
        for i, one in enumerate(verdicts)
        for which, scheme in enumerate(("a", "b"))
    }
    claim = spec.more("m", "a", "b", [f"p{i}" for i in range(len(verdicts))])
    found = judge(claim, lambda term: runs[term.point, term.scheme])
    assert found is not None
    assert (found.holds, found.verdict) == (verdicts.count("reproduced"), said)


def test_an_average_of_the_papers_is_judged_by_the_mean_of_the_points() -> None:
    runs = {"low": {1: 10.0, 2: 10.0}, "high": {1: 30.0, 2: 30.0}}
    for mean, said in ((True, "reproduced"), (False, "contradicted")):
        found = judge(spec.level(20, "m", "a", ["low", "high"], mean=mean), lambda term: runs[term.point])
        assert found is not None
        assert (found.holds, found.verdict) == (0, said)


def test_what_is_not_the_papers_claim_has_no_verdict() -> None:
    assert judged(spec.shift("m", "a", "b", ["p"]), [2, 2], [1, 1]) == (100, 1, "")
    in_db = spec.unjudged(spec.by(3, "dB", "m", "a", "b", ["p"]))
    assert (in_db.effect, judged(in_db, [4, 4], [1, 1])) == (3, (3, 1, ""))


def test_a_claim_without_runs_is_not_judged() -> None:
    assert judge(spec.more("m", "a", "b", ["p"]), lambda term: {1: 1.0} if term.scheme == "a" else {}) is None


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
@pytest.mark.parametrize("quick", [False, True])
def test_claims_are_about_what_is_in_their_figure(paper: Paper, figure: Figure, quick: bool) -> None:
    figure = shown(figure, quick=quick)
    terms = {
        term.key for claim in figure.claims for contrast in (*claim.contrasts, *(claim.base or ())) for term in contrast
    }
    there = {
        (point.name, scheme, measure.name)
        for point in figure.points
        for scheme in figure.schemes_at(point)
        for measure in figure.measures
    }
    assert terms | set(figure.paper) <= there
    for names in ([point.name for point in figure.points], figure.schemes):
        assert len(set(names)) == len(names)
    assert {scheme for point in figure.points for scheme in figure.schemes_at(point)} <= set(paper.specs)


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_quick_runs_take_a_minute_at_most(paper: Paper, figure: Figure) -> None:
    for point in shown(figure, quick=True).points:
        scheme = figure.schemes_at(point)[0]
        whole, quick = (cell(paper, figure, point, scheme, quick=short).scenario.resolved() for short in (False, True))
        time, warmup = quick["run"]["time"], quick["run"]["warmup"]
        assert time == min(60, whole["run"]["time"])
        starts, before = ([start_s(flow) for flow in run["flows"].values()] for run in (quick, whole))
        assert max(warmup, *starts) <= 0.9 * time, "something is left to be measured"
        if whole["run"]["warmup"] <= 30 and max(before) <= 30:
            assert warmup == whole["run"]["warmup"], "a warm-up that leaves time is kept"
            assert starts == before


def test_quick_figures_say_how_much_shorter_they_are() -> None:
    said = {(paper.name, figure.name): shortened(paper, figure) for paper in PAPERS for figure in paper.figures}
    assert said["xu2015", "5"] == "60 s of 200 s"
    assert said["xu2015", "11"] == "60 s of 300 s, warm-up and starts shortened as much"
    assert said["cao2016", "8"] == ""


def test_thinned_grids_have_the_corners() -> None:
    (five,) = (figure for paper in PAPERS for figure in paper.figures if (paper.name, figure.name) == ("xu2015", "5"))
    assert {point.at["p_C"] for point in shown(five, quick=True).points} == {0, 0.03, 0.1}
    assert len(five.points) == 24


TINY = Figure(
    "1",
    "a figure",
    "fig5.toml",
    ("one", "two"),
    (Point("here", ('run.time="30 s"',)), Point("there", ('run.time="31 s"',), ("one",))),
    (
        Measure("throughput", "Mbit/s", spec.metric("flow", "data", "goodput_bps", scale=1e-6)),
        Measure("both", "", spec.metric("path", "data", "sent", "a") + spec.metric("path", "data", "sent", "b"), 1),
        Measure("changes", "a minute", spec.metric("flow", "data", "path_changes"), 0, per_minute=True),
    ),
    claims=(spec.more("throughput", "one", "two", ["here"]),),
    paper={("here", "one", "throughput"): 4.0},
)
NOWHERE = spec.Source("A. Nobody, B. Else", 1999, "Nothing", "Nowhere")
TINY_PAPER = Paper("nobody's", NOWHERE, {"one": "cmt", "two": "sctp"}, (TINY,), ROOT / "experiments/cao2016")


def test_schemes_of_the_network_are_settings_behind_those_of_a_point() -> None:
    sets = {"one": ('run.time="20 s"', "run.runs=3"), "two": ()}
    paper = Paper("nobody's", NOWHERE, {"one": "cmt", "two": "cmt"}, (TINY,), TINY_PAPER.folder, sets=sets)
    one, two = (cell(paper, TINY, TINY.points[0], scheme) for scheme in ("one", "two"))
    assert [run.scenario.resolved()["run"]["time"] for run in (one, two)] == [20, 30]
    assert one.scenario.settings == ('run.time="30 s"', 'run.time="20 s"', "run.runs=3")
    assert one.key.spec == two.key.spec
    assert one.key.hash != two.key.hash


def test_a_point_may_be_of_another_network() -> None:
    here, there = TINY.points[0], Point("elsewhere", scenario="../liu2019/fig3.toml")
    titles = [cell(TINY_PAPER, TINY, point, "one").scenario.resolved()["title"] for point in (here, there)]
    assert ["2016" in titles[0], "2019" in titles[1]] == [True, True], titles
    shown = [TINY_PAPER.shown(TINY), TINY_PAPER.shown(TINY, here), TINY_PAPER.shown(TINY, there)]
    assert shown == [*["experiments/nobody1999/fig5.toml"] * 2, "experiments/nobody1999/../liu2019/fig3.toml"]


def save(store: Store, point: str, scheme: str, seed: int, values: dict[tuple[str, str, str], float]) -> None:
    """Keeps a run that gave these: (kind, part, metric) to value."""
    rows = [(seed, kind, "data", part, metric, value) for (kind, part, metric), value in values.items()]
    schema = ["seed", "subject_kind", "subject", "part", "metric", "value"]
    file = io.BytesIO()
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("seed").cast(pl.UInt64))
    frame.write_parquet(file)
    store.save(cell(TINY_PAPER, TINY, TINY.point(point), scheme), seed, file.getvalue())


@pytest.fixture
def tiny(tmp_path: pathlib.Path) -> Found:
    """TINY's results: two runs here, one of them without path b, none there."""
    store = Store(tmp_path / "store")
    for seed, bps in ((1, 2e6), (2, 4e6)):
        values = {
            ("flow", "", "goodput_bps"): bps,
            ("flow", "", "path_changes"): 8.0,
            ("flow", "", "rwnd_blocked_ratio"): 0.3 * seed,
            ("flow", "", "lost_queue_packets"): 4.0,
            ("flow", "", "lost_random_packets"): 2.0,
            ("path", "a", "sent"): 10.0,
        }
        save(store, "here", "one", seed, values | ({("path", "b", "sent"): 5.0} if seed == 1 else {}))
        save(store, "here", "two", seed, {("flow", "", "goodput_bps"): bps - 1e6, ("path", "a", "goodput_bps"): 7.0})
    return collect(store, TINY_PAPER, TINY)


def test_what_runs_gave(tiny: Found) -> None:
    assert tiny.seeds["here", "one", "throughput"] == {1: 2.0, 2: 4.0}
    assert tiny.seeds["here", "two", "throughput"] == {1: 1.0, 2: 3.0}
    assert tiny.seeds["here", "one", "both"] == {1: 15.0}, "run 2 lacks a term"
    assert tiny.seeds["here", "one", "changes"] == {1: 16.0, 2: 16.0}, "8 in half a minute"
    assert not any(point == "there" for point, _, _ in tiny.seeds)
    assert tiny.summaries["here", "one", "throughput"].mean == 3.0
    assert tiny.counts == (1, 2)


def test_what_limits_a_flow(tiny: Found) -> None:
    assert tiny.limit("here", "one") == "queue", "the window blocked it for 0.45 of the time"
    assert tiny.limit("here", "two") == "-"
    assert tiny.limit("there", "one") == "-"


def test_only_the_seeds_asked_for(tmp_path: pathlib.Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 2, 3):
        save(store, "here", "one", seed, {("flow", "", "goodput_bps"): 1e6 * seed})
    found = collect(store, TINY_PAPER, TINY, runs=2)
    assert found.seeds["here", "one", "throughput"] == {1: 1.0, 2: 2.0}


def test_tables(tiny: Found, tmp_path: pathlib.Path) -> None:
    (tmp_path / "schemes").mkdir()
    (tmp_path / "reproduction").mkdir()
    (tmp_path / "reproduction.md").write_text("<!-- measured: other -->\n<!-- end -->\n")
    page, scheme = tmp_path / "reproduction/nobody1999.md", tmp_path / "schemes/one.md"
    page.write_text("before\n<!-- measured: nobody1999 -->\nold\n<!-- end -->\nafter\n")
    scheme.write_text("<!-- measured: one -->\n<!-- end -->\n")
    changed = tables.write(tmp_path, [TINY_PAPER], {"nobody1999": {"1": tiny}})
    assert changed == [page, scheme]
    text = page.read_text()
    assert text.startswith(
        "before\n<!-- measured: nobody1999 -->\n\n## Fig. 1: a figure\n\n"
        "![Fig. 1 of Nobody and Else (1999): a figure](../figures/nobody1999-fig-1.svg)\n\n"
        "`experiments/nobody1999/fig5.toml`, 1 to 2 runs.\n\n`strandcast figures nobody1999 --figure 1`\n"
    )
    # The picture is there at once, tables when they are opened.
    picture, _, tables_ = text.partition('<details markdown="1">\n<summary>Tables')
    assert "|" not in picture
    assert tables_.count("</details>") == 1
    assert "| here | one | 3.00 ± 12.71 | 15.0 | 16 ± 0 |" in text
    assert "| throughput, Mbit/s; here | one | 3.00 | 12.71 | 4.00 | 0.750 |" in text
    assert "| throughput: one > two | 1.00 ± 0.00 Mbit/s | > 0 |  | reproduced | one: queue; two: – |" in text
    assert text.endswith("<!-- end -->\nafter\n")
    assert "old" not in text
    assert "<summary>Nobody and Else (1999), Fig. 1: a figure; 1 to 2 runs</summary>" in scheme.read_text()
    assert tables.write(tmp_path, [TINY_PAPER], {"nobody1999": {"1": tiny}}) == [], "nothing changed"


def test_a_page_names_commits_and_scenarios(tiny: Found, tmp_path: pathlib.Path) -> None:
    (tmp_path / "reproduction").mkdir()
    page = tmp_path / "reproduction/nobody1999.md"
    page.write_text("<!-- measured: nobody1999 -->\n<!-- end -->\n")
    made = dataclasses.replace(tiny, commits=("0" * 40, "1" * 40 + "+"))
    tables.write(tmp_path, [TINY_PAPER], {"nobody1999": {"1": made}})
    ours = cell(TINY_PAPER, TINY, TINY.point("here"), "one").scenario.hash[:12]
    text = page.read_text()
    assert f"1 to 2 runs. Commits `{'0' * 12}`, `{'1' * 12}+`, scenario `{ours}`.\n" in text
    assert f"| point | schemes | scenario |\n| --- | --- | --- |\n| here | one, two | `{ours}` |\n" in text
    assert "| there | one | `" not in text, "it has no runs"
    assert tables.write(tmp_path, [TINY_PAPER], {}) == [], "kept as it is"


def test_several_scenarios_have_a_digest_of_their_hashes() -> None:
    one, two = Origin(("c" * 40,), ("a" * 64,)), Origin(("c" * 40,), ("b" * 64,))
    both = Origin.of([two, one, one])
    assert both == Origin(("c" * 40,), ("a" * 64, "b" * 64))
    digest = hashlib.sha256(f"{'a' * 64}\n{'b' * 64}\n".encode()).hexdigest()
    assert both.said() == f"commit {'c' * 12}, 2 scenarios {digest[:12]}"
    assert one.said("`") == f"commit `{'c' * 12}`, scenario `{'a' * 12}`"
    assert Origin((), one.scenarios).said() == "", "nothing is said of runs without a commit"


def test_verdicts_are_counted(tiny: Found, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "reproduction.md"
    page.write_text("<!-- measured: verdicts nobody1999 -->\n<!-- end -->\n")
    assert tables.write(tmp_path, [TINY_PAPER], {"nobody1999": {"1": tiny}}) == [page]
    assert page.read_text() == (
        "<!-- measured: verdicts nobody1999 -->\n\n"
        "| figure |  | reproduced | partly | undecided | contradicted |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| [1](reproduction/nobody1999.md#fig-1-a-figure) | a figure | 1 |  |  |  |\n"
        "| all | by default | 1 | 0 | 0 | 0 |\n\n<!-- end -->\n"
    )


MORE = spec.more("m", "one", "two", ["p"])
OTHERWISE = spec.more("m", "one odd", "two", ["p"])
SLOW = spec.more("m", "one", "two", ["p"], ", slowly")
BOTH = spec.more("m", "one odd", "two", ["p"], ", slowly")
OPEN = ((spec.Alternative("odd", {"one odd": "one"}),), (spec.Alternative("slow", {", slowly": ""}),))
PUBLISHED = Figure("7", "a figure", "s.toml", ("one", "two"), (Point("p"),), TINY.measures[:1], (MORE, OTHERWISE))
ABLATED = Figure("7 slowly", "ours", "s.toml", ("one", "two"), (Point("p"),), TINY.measures[:1], (SLOW, BOTH))


def judged_as(**runs: list[float]) -> list[headline.Case]:
    """The cases of both figures when the schemes' runs are these; `slow_`: at the slow points of `ABLATED`."""

    def found(figure: Figure, prefix: str) -> Found:
        names = {"one": "one", "one odd": "odd", "two": "two"}
        seeds = {("p", scheme, "m"): dict(enumerate(runs[prefix + name])) for scheme, name in names.items()}
        return Found(figure, seeds, {})

    paper = Paper("p", NOWHERE, {}, (ABLATED, PUBLISHED), ROOT, open=OPEN)
    return headline.cases(paper, {"7": found(PUBLISHED, ""), "7 slowly": found(ABLATED, "slow_")})


def test_the_best_choice_of_what_is_open_is_one_for_all_claims() -> None:
    low, high, two = [0.0, 0.0], [2.0, 2.0], [1.0, 1.0]
    paper = Paper("p", NOWHERE, {}, (), ROOT, open=OPEN)
    cases = judged_as(one=low, odd=low, two=two, slow_one=low, slow_odd=high, slow_two=two)
    assert [(case.figure.name, sorted(case.taken)) for case in cases] == [
        ("7", []),
        ("7", ["odd"]),
        ("7 slowly", ["slow"]),
        ("7 slowly", ["odd", "slow"]),
    ]
    assert {case.about for case in cases} == {("7", MORE.text)}
    default, best = headline.default_and_best(paper, cases)
    assert (default.taken, dict(default.counts)) == (frozenset(), {"contradicted": 1})
    assert (best.taken, dict(best.counts), best.judged) == (frozenset({"odd", "slow"}), {"reproduced": 1}, 1)
    assert tables.chosen(paper, best.taken) == "odd and slow"
    # If nothing is better, the default is the best.
    cases = judged_as(one=high, odd=high, two=two, slow_one=high, slow_odd=low, slow_two=two)
    assert headline.default_and_best(paper, cases)[1].taken == frozenset()


def failed(tiny: Found) -> tuple[Paper, Found]:
    """A paper one of whose two claims is contradicted, and its runs."""
    less = spec.more("throughput", "two", "one", ["here"])
    figure = dataclasses.replace(TINY, claims=(*TINY.claims, less))
    return dataclasses.replace(TINY_PAPER, figures=(figure,)), dataclasses.replace(tiny, figure=figure)


A_CAUSE = "[a cause](nobody1999.md#what-we-found)"
VARIED = {"Fig. 1, throughput: two > one": ("loss (none): 1 %",)}
ANOTHER = "[loss (none): 1 %](../paper-networks.md#nobody-and-else-1999-varied)"


@pytest.mark.parametrize(
    ("explains", "gains", "why", "count"),
    [
        ("two > one", {}, A_CAUSE, 1),
        ("two > one", VARIED, f"{A_CAUSE}, {ANOTHER}", 1),
        ("three", VARIED, ANOTHER, 1),
        ("three", {}, "no cause found", 0),
    ],
)
def test_a_table_of_claims_tells_why_they_failed(
    explains: str, gains: dict[str, tuple[str, ...]], why: str, count: int, tiny: Found, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "reproduction").mkdir()
    page = tmp_path / "reproduction/verdicts.md"
    paper, found = failed(tiny)
    paper = dataclasses.replace(paper, findings=(spec.Finding("a cause", ("1",), "so", (explains,)),), gains=gains)
    page.write_text("<!-- measured: claims nobody1999 -->\n<!-- end -->\n")
    assert tables.write(tmp_path, [paper], {"nobody1999": {"1": found}}) == [page]
    first = "| [1](nobody1999.md#fig-1-a-figure) | throughput: "
    assert f"{first}one > two | > 0 | 1.00 ± 0.00 Mbit/s |  | reproduced |  |\n" in page.read_text()
    assert f"{first}two > one | > 0 | -1.00 ± 0.00 Mbit/s |  | contradicted | {why} |\n" in page.read_text()
    assert f"\nWith a cause: {count} of 1 claims that are contradicted.\n" in page.read_text()


def test_causes_are_counted(tiny: Found, tmp_path: pathlib.Path) -> None:
    (tmp_path / "reproduction").mkdir()
    counts, page = tmp_path / "reproduction.md", tmp_path / "reproduction/verdicts.md"
    counts.write_text("<!-- measured: causes -->\n<!-- end -->\n")
    paper, found = failed(tiny)
    assert tables.write(tmp_path, [paper], {}) == [], "nothing without a table of claims"
    page.write_text("<!-- measured: claims nobody1999 -->\n<!-- end -->\n")
    assert tables.write(tmp_path, [paper], {"nobody1999": {"1": found}}) == [page, counts]
    row = "Nobody and Else (1999) | 1 | 0 | 1"
    assert f"| {row} |\n| all | 1 | 0 | 1 |\n" in counts.read_text()
    known = dataclasses.replace(paper, gains=VARIED)
    assert tables.write(tmp_path, [known], {}) == [page, counts]
    assert "| all | 1 | 1 | 0 |\n" in counts.read_text()


def test_causes_are_told_without_runs(tiny: Found, tmp_path: pathlib.Path) -> None:
    (tmp_path / "reproduction").mkdir()
    page = tmp_path / "reproduction/verdicts.md"
    empty = "<!-- measured: claims nobody1999 -->\n<!-- end -->\n"
    page.write_text(empty)
    paper, found = failed(tiny)
    assert tables.write(tmp_path, [paper], {}) == []
    assert page.read_text() == empty, "without a table the page stays empty"
    tables.write(tmp_path, [paper], {"nobody1999": {"1": found}})
    assert tables.write(tmp_path, [paper], {}) == [], "known tables are kept"
    known = dataclasses.replace(paper, gains=VARIED)
    assert tables.write(tmp_path, [known], {}) == [page]
    renewed = page.read_text()
    assert f"| contradicted | {ANOTHER} |\n" in renewed
    assert tables.write(tmp_path, [known], {"nobody1999": {"1": found}}) == [], "as with runs"
    other = dataclasses.replace(paper, figures=(TINY,))
    assert tables.write(tmp_path, [other], {}) == []
    assert page.read_text() == renewed, "claims that the paper has no more stay"


def test_a_full_disk_leaves_pages_whole(tiny: Found, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "reproduction.md"
    before = "before\n<!-- measured: nobody1999 -->\nold\n<!-- end -->\nafter\n"
    page.write_text(before)

    def full(path: pathlib.Path, text: str, encoding: str) -> int:
        with path.open("w", encoding=encoding) as file:
            file.write(text[:10])
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(pathlib.Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        tables.write(tmp_path, [TINY_PAPER], {"nobody1999": {"1": tiny}})
    assert page.read_text() == before
    assert list(tmp_path.glob("*.part")) == []


def test_tables_about_what_is_not_there_stay(tiny: Found, tmp_path: pathlib.Path) -> None:
    (tmp_path / "schemes").mkdir()
    pages = [tmp_path / "reproduction.md", tmp_path / "schemes/one.md"]
    for page, names in zip(pages, ("other2000", "one"), strict=True):
        page.write_text(f"<!-- measured: {names} -->\nold\n<!-- end -->\n")
    elsewhere = spec.Source("C. Other", 2000, "Nothing", "Nowhere")
    other = Paper("another", elsewhere, {"one": "cmt"}, (TINY,), ROOT / "experiments/cao2016")
    assert tables.write(tmp_path, [TINY_PAPER, other], {"nobody1999": {"1": tiny}}) == []


def test_the_time_that_counts() -> None:
    assert measured_s(network(ROOT / "experiments/xu2015/fig4.toml"), "video") == 190
    assert measured_s(network(ROOT / "experiments/xu2015/fig9.toml").with_sets(['run.warmup="0 s"']), "sctp") == 250
