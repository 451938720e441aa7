//! A line or area chart over time as inline SVG.

use std::fmt::Write;

use serde::Serialize;

use super::axis::{label, ticks};

const RIGHT: f64 = 12.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 30.0;

/// Size of a drawing in user units, which are approximately pixels. The style sets the font size.
struct Frame {
    /// CSS class of the drawing. Depending on the width of the screen, the style shows one of two drawings.
    class: &'static str,
    width: f64,
    height: f64,
    left: f64,
    time_ticks: usize,
}

/// Layouts for wide and narrow screens.
const FRAMES: [Frame; 2] = [
    Frame { class: "wide", width: 900.0, height: 240.0, left: 58.0, time_ticks: 10 },
    Frame { class: "narrow", width: 340.0, height: 220.0, left: 50.0, time_ticks: 5 },
];
/// Half the width of the label of a band.
const LABEL: f64 = 75.0;

/// A line of a chart: a value over time.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Series {
    /// Name of the line in the legend.
    pub(super) name: String,
    /// CSS class of the line: `p0`, `p1`, … for paths, or a special class.
    pub(super) class: String,
    /// Seconds and values, in order of time. At a missing value the line has a gap.
    pub(super) points: Vec<(f64, Option<f64>)>,
}

/// A chart over time.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// The title.
    pub(super) title: String,
    /// A sentence that explains the chart.
    pub(super) caption: String,
    /// Unit of the values.
    pub(super) unit: &'static str,
    /// The series of the chart. If `stacked` is true, each series is drawn on top of the previous ones.
    pub(super) series: Vec<Series>,
    /// True if the chart has stacked areas in place of lines.
    pub(super) stacked: bool,
    /// Start, end and label of a shaded band.
    pub(super) band: Option<(f64, f64, String)>,
    /// A horizontal line at a value, with its label.
    pub(super) level: Option<(f64, String)>,
    /// End of the time axis, in seconds.
    pub(super) end_s: f64,
}

/// The mapping of values to coordinates.
struct Scale<'a> {
    frame: &'a Frame,
    end_s: f64,
    top: f64,
}

impl Scale<'_> {
    fn x(&self, s: f64) -> f64 {
        self.frame.left + s / self.end_s * (self.right() - self.frame.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom() - (value / self.top).min(1.0) * self.tall()
    }

    fn right(&self) -> f64 {
        self.frame.width - RIGHT
    }

    fn bottom(&self) -> f64 {
        self.frame.height - BOTTOM
    }

    fn tall(&self) -> f64 {
        self.bottom() - TOP
    }
}

impl Chart {
    /// Returns the chart with title, legend and caption, as an HTML `figure`.
    pub(super) fn html(&self) -> String {
        let stacked = self.stacked.then(|| stack(&self.series));
        let series = stacked.as_ref().unwrap_or(&self.series);
        let values = series.iter().flat_map(|s| s.points.iter().filter_map(|p| p.1));
        let highest = values.chain(self.level.iter().map(|l| l.0)).fold(0.0, f64::max);
        let value_ticks = ticks(highest * 1.05, 4);
        let top = value_ticks.last().copied().unwrap_or(1.0);
        let svgs: String = FRAMES
            .iter()
            .map(|frame| {
                let scale = Scale { frame, end_s: self.end_s.max(1.0), top };
                self.svg(&scale, series, &value_ticks)
            })
            .collect();
        self.figure(&svgs, top)
    }

    fn svg(&self, scale: &Scale, series: &[Series], value_ticks: &[f64]) -> String {
        let Frame { class, width, height, left, .. } = scale.frame;
        let mut svg = format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" data-left=\"{left}\" data-right=\"{}\" \
             role=\"img\" aria-label=\"{}\">",
            scale.right(),
            escape(&self.title),
        );
        self.band(scale, &mut svg);
        self.grid(scale, value_ticks, &mut svg);
        if self.stacked {
            areas(scale, series, &mut svg);
        } else {
            lines(scale, series, &mut svg);
        }
        self.level(scale, &mut svg);
        let _ = writeln!(svg, "<line class=\"cursor\" y1=\"{TOP}\" y2=\"{}\"/></svg>", scale.bottom());
        svg
    }

    fn figure(&self, svgs: &str, top: f64) -> String {
        let mut legend = String::new();
        for s in &self.series {
            let _ = write!(legend, "<span class=\"key {}\">{}</span>", s.class, escape(&s.name));
        }
        let data = serde_json::json!({
            "series": self.series.iter().map(|s| (&s.name, s.points.iter().map(|p| (round(p.0), p.1.map(round)))
                .collect::<Vec<_>>())).collect::<Vec<_>>(),
            "unit": self.unit, "end": self.end_s.max(1.0), "top": top,
        });
        format!(
            "<figure class=\"chart\"><figcaption><h2>{}</h2><p>{}</p></figcaption><div class=\"legend\">{legend}\
             <output></output></div>\n{svgs}<script type=\"application/json\">{}</script></figure>\n",
            escape(&self.title),
            escape(&self.caption),
            // Inside a script element HTML recognises end tags and comments. After `<!--<script>` an end tag does not
            // end the element. In JSON, `<` occurs only in strings, which can contain it as an escape.
            data.to_string().replace('<', "\\u003c"),
        )
    }

    fn band(&self, scale: &Scale, svg: &mut String) {
        let Some((from, to, text)) = &self.band else { return };
        let (x, width) = (scale.x(*from), scale.x(*to) - scale.x(*from));
        let middle = (x + width / 2.0).min(scale.right() - LABEL).max(scale.frame.left + LABEL);
        let _ = write!(
            svg,
            "<rect class=\"band\" x=\"{x:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{}\"/>\
             <text class=\"band-label\" x=\"{middle:.1}\" y=\"{}\">{}</text>",
            scale.tall(),
            TOP - 8.0,
            escape(text)
        );
    }

    fn grid(&self, scale: &Scale, value_ticks: &[f64], svg: &mut String) {
        let left = scale.frame.left;
        for &value in value_ticks {
            let y = scale.y(value);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{left}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick y\" x=\"{}\" y=\"{:.1}\">{}</text>",
                scale.right(),
                left - 8.0,
                y + 4.0,
                label(value)
            );
        }
        for s in ticks(scale.end_s, scale.frame.time_ticks).into_iter().filter(|s| *s <= scale.end_s) {
            let (x, y) = (scale.x(s), scale.bottom() + 18.0);
            let _ = write!(svg, "<text class=\"tick x\" x=\"{x:.1}\" y=\"{y}\">{} s</text>", label(s));
        }
        let (y, unit) = (TOP + scale.tall() / 2.0, escape(self.unit));
        let _ = write!(svg, "<text class=\"unit\" transform=\"translate(13 {y}) rotate(-90)\">{unit}</text>");
    }

    fn level(&self, scale: &Scale, svg: &mut String) {
        let Some((value, text)) = &self.level else { return };
        let y = scale.y(*value);
        let _ = write!(
            svg,
            "<line class=\"level\" x1=\"{}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"level-label\" x=\"{}\" y=\"{:.1}\">{}</text>",
            scale.frame.left,
            scale.right(),
            scale.right() - 4.0,
            y - 5.0,
            escape(text)
        );
    }
}

/// Stacks the series: each value is added to the sum of the series before it. All series have the same times, and a
/// missing value counts as zero.
fn stack(series: &[Series]) -> Vec<Series> {
    let mut sums: Vec<f64> = Vec::new();
    let mut stacked = Vec::new();
    for s in series {
        sums.resize(sums.len().max(s.points.len()), 0.0);
        let points = s.points.iter().zip(&mut sums).map(|((at, value), sum)| {
            *sum += value.unwrap_or(0.0);
            (*at, Some(*sum))
        });
        stacked.push(Series { points: points.collect(), ..s.clone() });
    }
    stacked
}

fn areas(scale: &Scale, stacked: &[Series], svg: &mut String) {
    let mut below: Vec<(f64, f64)> = Vec::new();
    for s in stacked {
        let upper: Vec<(f64, f64)> =
            s.points.iter().map(|(at, v)| (scale.x(*at), scale.y(v.unwrap_or(0.0)))).collect();
        if below.is_empty() {
            below = upper.iter().map(|(x, _)| (*x, scale.y(0.0))).collect();
        }
        let outline =
            path_data(upper.iter().copied()) + &path_data(below.iter().rev().copied()).replacen('M', "L", 1);
        let _ = write!(svg, "<path class=\"area {}\" d=\"{outline}Z\"/>", s.class);
        let _ = write!(svg, "<path class=\"line {}\" d=\"{}\"/>", s.class, path_data(upper.iter().copied()));
        below = upper;
    }
}

fn lines(scale: &Scale, series: &[Series], svg: &mut String) {
    for s in series {
        let mut d = String::new();
        for run in s.points.split(|(_, value)| value.is_none()) {
            d += &path_data(run.iter().filter_map(|(at, v)| v.map(|v| (scale.x(*at), scale.y(v)))));
        }
        let _ = write!(svg, "<path class=\"line {}\" d=\"{d}\"/>", s.class);
    }
}

fn path_data(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (i, (x, y)) in points.enumerate() {
        let _ = write!(d, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
    }
    d
}

fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Text as HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_or_hide_the_script_of_a_chart() {
        let name = "<!--<script></script>\"&".to_owned();
        let chart = Chart {
            title: name.clone(),
            caption: name.clone(),
            unit: "ms",
            series: vec![Series { name: name.clone(), class: "c0".into(), points: vec![(0.0, Some(1.0))] }],
            stacked: false,
            band: Some((0.0, 1.0, name.clone())),
            level: Some((1.0, name.clone())),
            end_s: 1.0,
        };
        let html = chart.html();
        assert!(!html.contains("<!--"), "{html}");
        let (_, script) = html.split_once("<script type=\"application/json\">").expect("one script");
        let (data, rest) = script.split_once("</script>").expect("its end");
        assert!(!data.contains('<') && rest == "</figure>\n", "{html}");
        let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(data["series"][0][0], *name);
    }
}
