//! Points of plots over time.

/// Maximum number of points in a series. A screen has fewer columns.
const POINTS: usize = 1500;

/// A time without figures that is longer than this number of seconds is a gap. Statistics have one line per second.
const GAP_S: f64 = 3.0;

/// Seconds and values. At a missing value the plotted line has a gap.
pub(super) type Points = Vec<(f64, Option<f64>)>;

/// Adds a point. If the time since the last point is too long, also adds a gap.
pub(super) fn add(points: &mut Points, at: f64, value: Option<f64>) {
    if let Some((last, _)) = points.last().copied()
        && at - last > GAP_S
    {
        points.extend([(last + 1.0, None), (at - 1.0, None)]);
    }
    points.push((at, value));
}

/// Method that combines several points into one point. A rate uses the mean, and other figures use the value that is
/// worst for the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Mean,
    Least,
    Most,
}

/// Returns how many lines of statistics each point of a series stands for, given the number of points.
pub(super) fn each(points: usize) -> usize {
    points.div_ceil(POINTS).max(1)
}

/// Replaces neighbouring points by a single point. The page of a whole day thus stays small and still shows short
/// faults.
pub(super) fn thin(points: &mut Points, fold: Fold) {
    let each = each(points.len());
    if each == 1 {
        return;
    }
    let one = |part: &[(f64, Option<f64>)]| {
        let values = part.iter().filter_map(|(_, value)| *value);
        let value = match fold {
            Fold::Mean => {
                let (sum, number) = values.fold((0.0, 0), |(sum, number), value| (sum + value, number + 1));
                (number > 0).then(|| sum / f64::from(number))
            }
            Fold::Least => values.reduce(f64::min),
            Fold::Most => values.reduce(f64::max),
        };
        (part[0].0, value)
    };
    *points = points.chunks(each).map(one).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_stream_is_thinned_to_what_was_worst() {
        let of = |fold| {
            let mut points: Points = (0..86_400).map(|n| (f64::from(n), Some(f64::from(n % 100)))).collect();
            points[70_000].1 = Some(-1.0);
            points[80_000].1 = None;
            thin(&mut points, fold);
            assert!(points.len() <= POINTS && points.iter().all(|(_, value)| value.is_some()));
            points.into_iter().filter_map(|(_, value)| value).collect::<Vec<_>>()
        };
        let (least, most, mean) = (of(Fold::Least), of(Fold::Most), of(Fold::Mean));
        // The last point may combine fewer lines than the other points.
        let whole = &least[..least.len() - 1];
        assert!(least.contains(&-1.0) && whole.iter().all(|value| *value < 50.0), "{least:?}");
        assert!(most.iter().all(|value| *value > 50.0), "{most:?}");
        let whole = mean.iter().sum::<f64>() / mean.len() as f64;
        assert!((whole - 49.5).abs() < 0.1, "{whole}");
    }
}
