"""Xu et al. (2015): who is in which figure, and what is changed of its networks."""

from __future__ import annotations

import pathlib

import pytest

from strandcast import experiments
from strandcast.figures.results import network
from strandcast.figures.spec import Figure, Point

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPER = next(paper for paper in experiments.papers(ROOT / "experiments") if paper.name == "xu2015")
FIGURES = {figure.name: figure for figure in PAPER.figures}
QA, CL, FD, NC, FM = "cmt-qa", "cmt-cl", "cmt-cl-fd", "nc-mptcp", "fmtcp"


@pytest.mark.parametrize(
    ("names", "schemes"),
    # Section VII: “CMT-QA, CMT-CL, CMT-CL/FD, NC-MPTCP and FMTCP”; Figs 11 (a) to (d) and 12 leave CMT-CL out.
    [(("5", "6", "7", "13", "14", "15"), {QA, CL, FD, NC, FM}), (("11", "12"), {QA, FD, NC, FM}), (("8",), {FD})],
)
def test_figures_have_the_schemes_of_the_papers(names: tuple[str, ...], schemes: set[str]) -> None:
    for name in names:
        without_readings = {scheme for scheme in FIGURES[name].schemes if " " not in scheme}
        assert without_readings == schemes


def test_the_papers_numbers_are_those_of_section_vii() -> None:
    six = FIGURES["6"].paper
    best, bad = "p_B 0.01, p_C 0", "p_B 0.04, p_C 0.03"
    assert [six[best, scheme, "PSNR"] for scheme in (QA, CL, NC, FM, FD)] == [36.00, 36.42, 35.34, 35.50, 35.18]
    assert [six[bad, scheme, "PSNR"] for scheme in (QA, FD, NC, FM, CL)] == [22.73, 22.68, 22.70, 22.71, 24.75]


def test_effects_of_fig_6_are_differences_of_its_numbers() -> None:
    figure = FIGURES["6"]
    for claim in figure.claims:
        if claim.kind == "effect":
            (contrast,) = claim.contrasts
            numbers = [term.factor * figure.paper[term.key] for term in contrast]
            assert claim.effect == pytest.approx(sum(numbers)), claim.text


@pytest.mark.parametrize("name", ["5", "6", "7", "11", "12", "13", "14", "15"])
@pytest.mark.parametrize("scheme", [NC, FM])
def test_each_figure_claims_something_of_each_coded_scheme(name: str, scheme: str) -> None:
    about = [
        claim
        for claim in FIGURES[name].claims
        if any(term.scheme == scheme for contrast in claim.contrasts for term in contrast)
    ]
    assert about


def test_losses_are_masked_everywhere_but_in_a_reading_of_one_figure() -> None:
    """Section VIII.A: “network coding they used will filter some packet loss events”."""
    reading = "11 by masked losses"
    for name, figure in FIGURES.items():
        coded = [scheme for scheme in figure.schemes if scheme.split()[0] in (NC, FM)]
        masked = {scheme for scheme in coded if "mask-losses=on" in PAPER.specs[scheme]}
        assert masked == {scheme for scheme in coded if not scheme.endswith(" mask-losses=off")}, name
        assert (len(masked) < len(coded)) == (name == reading), name
    assert not FIGURES[reading].published


def access(figure: Figure, point: Point) -> dict[str, object]:
    """Random loss of each link, and the link's treatment of it."""
    links = network(PAPER.folder / figure.scenario).with_sets(point.sets).resolved()["links"]
    return {name: link.get("arq") for name, link in links.items() if link.get("loss")}


@pytest.mark.parametrize("name", ["5", "6", "11", "14"])
def test_all_links_that_lose_retransmit_once_or_none_does(name: str) -> None:
    figure = FIGURES[f"{name} by link retransmission"]
    assert not figure.published
    once = [point for point in figure.points if "one link retransmission" in str(point.at.get("variant"))]
    assert 2 * len(once) == len(figure.points)
    for point in figure.points:
        there = access(figure, point)
        assert there
        assert set(map(str, there.values())) == {str({"retries": 1}) if point in once else "None"}


@pytest.mark.parametrize("name", ["5", "6", "11", "14"])
def test_links_that_retransmit_stand_beside_the_figures_own_cells(name: str) -> None:
    beside, figure = FIGURES[f"{name} by link retransmission"], FIGURES[name]
    without = {point.name: point.sets for point in beside.points if "one link" not in str(point.at.get("variant"))}
    assert without
    assert without.items() <= {point.name: point.sets for point in figure.points}.items()
    assert beside.schemes == figure.schemes
