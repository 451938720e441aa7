"""The gain model of Guo, Liu and Lian (2010) against closed forms worked by hand."""

from __future__ import annotations

import importlib.util
import pathlib
import types

import pytest


@pytest.fixture(scope="module")
def model() -> types.ModuleType:
    """The module, which needs nothing of its folder."""
    path = pathlib.Path(__file__).parents[2] / "experiments/guo2010/model.py"
    spec = importlib.util.spec_from_file_location("guo2010_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# With k = (1-p)/p: E[X] = 1/2 + √(2k/3 + 1/4) for b = 1, 2/3 + √(12k + 4)/3 for b = 2. These k make the roots rational.
@pytest.mark.parametrize(
    ("p", "b", "rounds"),
    [(1 / 4, 1, 2), (1 / 10, 1, 3), (1 / 19, 1, 4), (1 / 31, 1, 5), (1 / 2, 2, 2), (1 / 9, 2, 4)],
)
def test_where_the_roots_are_rational(model: types.ModuleType, p: float, b: int, rounds: int) -> None:
    assert model.rounds(p, b) == pytest.approx(rounds)
    assert model.window(p, b) == pytest.approx(2 * rounds / b)
    assert model.duration(p, b) == pytest.approx(rounds + 1)
    assert model.least_gain(p, b) == pytest.approx(0.5 / (rounds + 2))


def test_segments_are_the_area_below_the_window(model: types.ModuleType) -> None:
    """Padhye et al.: X/2 · (W/2 + W - 1) + W/2 for b = 1, with the window from W/2 to W in X round trips."""
    for p in (1 / 4, 1 / 10, 1 / 19, 1 / 31):
        x, w = model.rounds(p), model.window(p)
        assert model.segments(p) == pytest.approx(x / 2 * (w / 2 + w - 1) + w / 2)
    assert model.segments(1 / 4) == pytest.approx(7)


def test_the_paper_s_bound_in_per_cent(model: types.ModuleType) -> None:
    for b, gains in ((1, (4.7, 6.1, 8.2, 10.0)), (2, (3.5, 4.6, 6.5, 8.1))):
        for p, gain in zip((0.01, 0.02, 0.05, 0.1), gains, strict=True):
            assert 100 * model.least_gain(p, b) == pytest.approx(gain, abs=0.05)


def test_small_losses_gain_little(model: types.ModuleType) -> None:
    """√(2b/3p) alone is left of E[X]: the bound goes as ½ √(3p/2b)."""
    for b in (1, 2):
        assert model.least_gain(1e-10, b) == pytest.approx(0.5 * (3e-10 / (2 * b)) ** 0.5, rel=1e-3)
    assert model.least_gain(0) == model.least_gain_with_timeouts(0) == 0


def test_timeouts_by_hand(model: types.ModuleType) -> None:
    """At p = 1/4 the window is 4: Q = (37/64) (1 + 27/64 · 1/4)/(1 - 81/256) = 10471/11200."""
    q = 10471 / 11200
    assert model.timeout_share(1 / 4) == pytest.approx(q)
    series = 1 + 1 / 4 + 2 / 16 + 4 / 64 + 8 / 256 + 16 / 1024 + 32 / 4096
    assert model.timeouts(1 / 4) == pytest.approx(series / (3 / 4))
    by_hand = (0.5 + q * 0.5) / (3 + 1 + q * (4 * series / 0.75 + 1))
    assert model.least_gain_with_timeouts(1 / 4, timeout=4) == pytest.approx(by_hand)


def test_every_loss_of_a_small_window_is_a_timeout(model: types.ModuleType) -> None:
    assert model.window(0.5) < 3
    assert model.timeout_share(0.5) == 1
    assert 0 < model.timeout_share(1e-4) < 0.06


def test_the_bound_is_below_the_gain(model: types.ModuleType) -> None:
    """With x the bound: (1 + p)/(1 - x) - 1 > x."""
    for p in (1e-4, 0.01, 0.1, 0.5):
        x = model.least_gain(p)
        assert model.gain(p) == pytest.approx((1 + p) / (1 - x) - 1)
        assert model.gain(p) > x


def test_a_single_path_is_padhye_s_with_a_recovery(model: types.ModuleType) -> None:
    assert model.throughput(1 / 4) == pytest.approx(7 / 4), "7 segments in 3 round trips and one of recovery"
    assert model.throughput(1 / 4, saved=0.5) == pytest.approx(7 * 1.25 / 3.5)


def test_a_frame_for_a_figure(model: types.ModuleType) -> None:
    frame = model.curves([0.1, 0.25], timeout=4)
    assert frame.columns == ["loss", "b", "gain", "least_gain", "least_gain_with_timeouts"]
    assert frame.filter(loss=0.1, b=1)["least_gain"].item() == pytest.approx(0.1)
    assert frame.filter(loss=0.25, b=1)["least_gain_with_timeouts"].item() == model.least_gain_with_timeouts(0.25)
    assert frame["b"].to_list() == [1, 2, 1, 2]


@pytest.mark.parametrize(("p", "b"), [(-0.1, 1), (1, 1), (1.5, 1), (float("nan"), 1), (0.1, 0)])
def test_what_makes_no_sense_is_refused(model: types.ModuleType, p: float, b: int) -> None:
    with pytest.raises(ValueError, match=r"is more than 0 and less than 1|stands for 1 segment or more"):
        model.least_gain(p, b)
    with pytest.raises(ValueError, match=r"is more than 0 and less than 1|stands for 1 segment or more"):
        model.least_gain_with_timeouts(p, b)


def test_a_timeout_takes_time(model: types.ModuleType) -> None:
    with pytest.raises(ValueError, match="more than 0 round trips"):
        model.least_gain_with_timeouts(0.1, timeout=0)
