//! A line or area chart over time as inline SVG.

use super::axis::{label, ticks};
use serde::Serialize;
use std::fmt::Write;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 30.0;

/// A value over time.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Series {
    /// What it is called in the legend.
    pub(super) name: String,
    /// CSS class: `p0`, `p1`, … for paths, or one of its own.
    pub(super) class: String,
    /// Seconds and values, in order of time; a missing value breaks the line.
    pub(super) points: Vec<(f64, Option<f64>)>,
}

/// A chart over time.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// Above it.
    pub(super) title: String,
    /// One sentence: what to see.
    pub(super) caption: String,
    /// Unit of the values.
    pub(super) unit: &'static str,
    /// The values; if `stacked`, each on top of the ones before.
    pub(super) series: Vec<Series>,
    /// Areas one on top of the other, instead of lines.
    pub(super) stacked: bool,
    /// Shaded time with its label.
    pub(super) band: Option<(f64, f64, String)>,
    /// A level with its label.
    pub(super) level: Option<(f64, String)>,
    /// The end of the time axis, seconds.
    pub(super) end_s: f64,
}

/// Where values are on the drawing.
struct Scale {
    end_s: f64,
    top: f64,
}

impl Scale {
    fn x(&self, s: f64) -> f64 {
        LEFT + s / self.end_s * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (value / self.top).min(1.0) * (HEIGHT - TOP - BOTTOM)
    }
}

impl Chart {
    /// The chart with title, legend and caption, as an HTML `figure`.
    pub(super) fn html(&self) -> String {
        let stacked = self.stacked.then(|| stack(&self.series));
        let series = stacked.as_ref().unwrap_or(&self.series);
        let values = series.iter().flat_map(|s| s.points.iter().filter_map(|p| p.1));
        let highest = values.chain(self.level.iter().map(|l| l.0)).fold(0.0, f64::max);
        let value_ticks = ticks(highest * 1.05, 4);
        let top = value_ticks.last().copied().unwrap_or(1.0);
        let scale = Scale { end_s: self.end_s.max(1.0), top };
        let mut svg = String::new();
        self.grid(&scale, &value_ticks, &mut svg);
        if self.stacked {
            areas(&scale, series, &mut svg);
        } else {
            lines(&scale, series, &mut svg);
        }
        self.level(&scale, &mut svg);
        self.figure(&svg, top)
    }

    fn figure(&self, svg: &str, top: f64) -> String {
        let mut legend = String::new();
        for s in &self.series {
            let _ = write!(legend, "<span class=\"key {}\">{}</span>", s.class, escape(&s.name));
        }
        let data = serde_json::json!({
            "series": self.series.iter().map(|s| (&s.name, s.points.iter().map(|p| (round(p.0), p.1.map(round)))
                .collect::<Vec<_>>())).collect::<Vec<_>>(),
            "unit": self.unit, "end": self.end_s.max(1.0), "top": top,
            "box": [LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM],
        });
        format!(
            "<figure class=\"chart\"><figcaption><h2>{}</h2><p>{}</p></figcaption><div class=\"legend\">{legend}\
             <output></output></div>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">{svg}\
             <line class=\"cursor\" y1=\"{TOP}\" y2=\"{}\"/></svg>\n\
             <script type=\"application/json\">{}</script></figure>\n",
            escape(&self.title),
            escape(&self.caption),
            escape(&self.title),
            HEIGHT - BOTTOM,
            // Inside a script element only its end tag has a meaning.
            data.to_string().replace("</", "<\\/"),
        )
    }

    fn grid(&self, scale: &Scale, value_ticks: &[f64], svg: &mut String) {
        if let Some((from, to, text)) = &self.band {
            let (x, width) = (scale.x(*from), scale.x(*to) - scale.x(*from));
            let height = HEIGHT - TOP - BOTTOM;
            let _ = write!(
                svg,
                "<rect class=\"band\" x=\"{x:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height}\"/>\
                 <text class=\"band-label\" x=\"{:.1}\" y=\"{}\">{}</text>",
                x + width / 2.0,
                TOP - 8.0,
                escape(text)
            );
        }
        for &value in value_ticks {
            let y = scale.y(value);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick y\" x=\"{}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                label(value)
            );
        }
        for s in ticks(scale.end_s, 10).into_iter().filter(|s| *s <= scale.end_s) {
            let (x, y) = (scale.x(s), HEIGHT - BOTTOM + 18.0);
            let _ = write!(svg, "<text class=\"tick x\" x=\"{x:.1}\" y=\"{y}\">{} s</text>", label(s));
        }
        let (y, unit) = (TOP + (HEIGHT - TOP - BOTTOM) / 2.0, escape(self.unit));
        let _ = write!(svg, "<text class=\"unit\" transform=\"translate(13 {y}) rotate(-90)\">{unit}</text>");
    }

    fn level(&self, scale: &Scale, svg: &mut String) {
        let Some((value, text)) = &self.level else { return };
        let y = scale.y(*value);
        let _ = write!(
            svg,
            "<line class=\"level\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"level-label\" x=\"{}\" y=\"{:.1}\">{}</text>",
            WIDTH - RIGHT,
            WIDTH - RIGHT - 4.0,
            y - 5.0,
            escape(text)
        );
    }
}

/// Each series on top of the sum of those before; all have the same times, missing values count as zero.
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
