//! A made-up run with known numbers.

use strandcast_proto::coding::{Coding, CodingStats, RepairCode, RepairCoding, RepairWhen};

use super::*;
use crate::live::CodingNow;
use crate::live::report::chart::{Chart, Series};
use crate::live::stats::Sides;

fn summary(paths: usize) -> Summary {
    let path = |i: usize| PathReport {
        name: format!("path<{i}>"),
        bytes: 1_000_000,
        share: 1.0 / paths as f64,
        goodput_bps: 333_000.0,
        loss: 0.01,
        rtt_ms: Some(50.0),
        down_s: 0.0,
        retransmissions: 12,
        verdicts: Verdicts { potentially_failed: 3, needless_pf: 2, ..Verdicts::default() },
        link_bps: 900_000.0,
        link_delay_ms: 15.0,
        link_loss: 0.005,
    };
    Summary {
        network: "field".into(),
        scheme: "cmt".into(),
        profile: "live",
        latency_ms: 2000,
        seed: 1,
        duration_s: 26.0,
        messages_sent: 2300,
        messages_delivered: 2298,
        messages_late: 1,
        messages_lost: 1,
        late_or_lost: 2.0 / 2300.0,
        bytes_sent: 3_000_000,
        bytes_delivered: 2_998_000,
        bytes_identical: true,
        underflows: 1,
        continuity: 0.999,
        shifts: 0,
        shift_ms: 0.0,
        largest_shift_ms: 0.0,
        clock_jumps: 0,
        media_bps: 1e6,
        black_hole_path: "wifi".into(),
        black_hole_s: (10.0, 15.0),
        paths: (0..paths).map(path).collect(),
        wire: Default::default(),
        coding: None,
        failures: Vec::new(),
    }
}

fn recording(paths: usize) -> Recording {
    let samples = (0..=100).map(|n| {
        let at_s = f64::from(n) * 0.25;
        let path = |i: usize| PathSample {
            bytes: (at_s * 40_000.0) as u64,
            rtt_ms: (n > 2).then_some(40.0 + i as f64 * 30.0 + (at_s * 2.0).sin() * 10.0),
            window_bytes: 10_000 + (at_s * 900.0) as u64,
        };
        Sample { at_s, paths: (0..paths).map(path).collect(), buffer_ms: Some(1900.0), coding: None }
    });
    Recording {
        names: (0..paths).map(|i| format!("path<{i}>")).collect(),
        samples: samples.collect(),
        events: vec![(10.0, "wifi enters a black hole & stays".into())],
        delays: (0..250).map(|n| (f64::from(n) * 0.1, 0.08)).collect(),
    }
}

/// Start and end tags must pair up outside of the scripts, or the page does not parse as meant.
fn assert_balanced(html: &str, tags: &[&str]) {
    for tag in tags {
        let open = html.matches(&format!("<{tag} ")).count() + html.matches(&format!("<{tag}>")).count();
        assert_eq!(open, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn the_page_is_whole_and_stands_alone() {
    let page = summary(3).html("a trial", &recording(3));
    assert_balanced(
        &page,
        &["html", "head", "body", "main", "figure", "svg", "table", "section", "script", "style"],
    );
    for url in ["http://", "https://", "src=", "href=", "url("] {
        assert!(!page.contains(url), "{url}");
    }
    assert!(
        !page.contains(">path<0>") && page.contains("path&lt;0&gt;") && page.contains("hole &amp; stays")
    );
    assert_eq!(
        page.matches("class=\"band\"").count(),
        2 * 5,
        "the black hole is in both drawings of every plot"
    );
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn a_run_without_samples_still_gives_a_page() {
    let page = summary(0).html("a trial", &Recording::default());
    assert!(page.contains("</html>") && !page.contains("NaN"));
}

/// A program that makes a report of its own may put any number into it.
#[test]
fn numbers_that_are_no_times_give_a_page() {
    for value in [f64::NAN, f64::INFINITY, -1.0, 1e308, 5e-324] {
        let mut summary = summary(2);
        summary.paths[0].rtt_ms = Some(value);
        let mut recording = recording(2);
        recording.delays.extend([(value, 0.08), (1e9, 0.08), (1.0, value), (value, value)]);
        assert!(summary.html("a trial", &recording).contains("</html>"), "{value}");
        assert_eq!(summary.lines().len(), 4, "{value}");
        recording.samples.last_mut().unwrap().at_s = value;
        let page = summary.html("a trial", &recording);
        assert!(page.len() < 10_000_000, "{value}: {} bytes", page.len());
    }
    let mut path = PathReport { rtt_ms: Some(-1.0), ..PathReport::default() };
    assert_eq!(path.rtt(), "-");
    path.rtt_ms = Some(43.0);
    assert_eq!(path.rtt(), "43 ms");
}

/// A run with 812 repair symbols at 4.9 % of 5 %, which recovered 37 messages.
fn coded() -> (Summary, Recording) {
    let repair = RepairCoding { code: RepairCode::Rlc, redundancy: 0.05, when: RepairWhen::Late, window: 64 };
    let stats = CodingStats {
        sources_sent: 16_572,
        source_bytes: 16_572_000,
        repairs_sent: 812,
        repair_bytes: 812_000,
        repairs_received: 790,
        recovered: 37,
        ..CodingStats::default()
    };
    let coding =
        CodingNow::of(&stats, Sides { sends: Some(Coding::Repair(repair)), receives: None }).unwrap();
    let mut recording = recording(3);
    for (n, sample) in recording.samples.iter_mut().enumerate() {
        let recovered = 37 * n as u64 / 100;
        sample.coding = Some(CodingSample { recovered, ..CodingSample::of(&coding, 1, 2) });
    }
    (Summary { coding: Some(coding), ..summary(3) }, recording)
}

#[test]
fn repair_is_shown_beside_late_and_lost() {
    let (summary, recording) = coded();
    let page = summary.html("a trial", &recording);
    assert!(page.contains("<h3>recovered</h3><b>37</b><span>by 812 repair symbols</span>"));
    assert!(page.contains("<h3>redundancy</h3><b>4.9 %</b><span>of 5.0 % allowed</span>"));
    assert!(page.find("<h3>lost").unwrap() < page.find("<h3>recovered").unwrap());
    assert!(page.contains("Recovered, late and lost") && page.contains(">Redundancy<"));
    assert_balanced(&page, &["main", "figure", "svg", "table", "section", "script"]);
    // From nothing to the most: the line of what was recovered climbs, that of what was lost is level.
    let plot = &page[page.find("Recovered, late and lost").unwrap()..];
    let (recovered, lost) = (corners(plot, "p0"), corners(plot, "p2"));
    assert!(recovered[0].1 > recovered[100].1 && lost[0].1 == lost[100].1);
    let plain = super::tests::summary(3).html("a trial", &super::tests::recording(3));
    assert!(
        !plain.contains("ecovered") && !plain.contains("edundancy"),
        "nothing is shown of what is not there"
    );
}

#[test]
fn failures_are_told() {
    let mut failed = summary(3);
    failed.failures.push("lte carried 3.0 % of the bytes, less than 5 %".into());
    let page = failed.html("a trial", &recording(3));
    assert!(page.contains("lte carried 3.0 %") && !page.contains("was delivered"));
}

/// Corners of the path with `class` in user units.
fn corners(html: &str, class: &str) -> Vec<(f64, f64)> {
    let start = html.find(&format!("<path class=\"line {class}\" d=\"")).unwrap();
    let d = html[start..].split('"').nth(3).unwrap();
    let corner = |text: &str| {
        let (x, y) = text.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    d.split(['M', 'L']).filter(|t| !t.is_empty()).map(corner).collect()
}

#[test]
fn lines_are_where_the_values_are() {
    let points = vec![(0.0, Some(0.0)), (5.0, Some(50.0)), (10.0, Some(100.0))];
    let series = |class: &str, points| Series { name: class.into(), class: class.into(), points };
    let mut chart = Chart {
        title: "t".into(),
        caption: "c".into(),
        unit: "ms",
        series: vec![series("p0", points.clone()), series("p1", points)],
        stacked: false,
        band: None,
        level: None,
        end_s: 10.0,
    };
    let line = corners(&chart.html(), "p0");
    assert_eq!(line, [(58.0, 210.0), (473.0, 148.0), (888.0, 86.0)]);
    assert_eq!(line, corners(&chart.html(), "p1"));
    chart.stacked = true;
    // The axis went up to 150; stacked it goes up to 300: p0 lies at half its former height, p1 on top of it.
    let (below, above) = (corners(&chart.html(), "p0"), corners(&chart.html(), "p1"));
    assert_eq!((below[2], above[2]), ((888.0, 148.0), (888.0, 86.0)));
}

#[test]
fn a_missing_value_breaks_the_line() {
    let points = vec![(0.0, Some(1.0)), (1.0, None), (2.0, Some(1.0)), (3.0, Some(1.0))];
    let series = vec![Series { name: "x".into(), class: "p0".into(), points }];
    let chart = Chart {
        title: String::new(),
        caption: String::new(),
        unit: "",
        series,
        stacked: false,
        band: None,
        level: None,
        end_s: 3.0,
    };
    let html = chart.html();
    let d = html.split("<path class=\"line p0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!((d.matches('M').count(), d.matches('L').count()), (2, 1));
}

/// Text between each `before` and the next `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    text.split(before).skip(1).map(|rest| rest.split(after).next().unwrap()).collect()
}

/// A telephone shows 390 px, 344 px of them inside of a card: letters of 12 px in a drawing 340 wide stay 12 px.
#[test]
fn plots_have_a_drawing_for_telephones() {
    let page = summary(3).html("a trial", &recording(3));
    let narrow = between(&page, "<svg class=\"narrow\"", "</svg>");
    assert_eq!((narrow.len(), between(&page, "<svg class=\"wide\"", "</svg>").len()), (5, 5));
    let style = &between(&page, "<style>", "</style>")[0];
    assert!(style.contains("svg { display: block; width: 100%; height: auto; font: 12px"));
    let telephone = style.split("@media (max-width: 640px)").nth(1).unwrap();
    assert!(
        telephone.contains(".wide { display: none; }") && telephone.contains(".narrow { display: block; }")
    );
    for svg in narrow {
        assert!(svg.contains("viewBox=\"0 0 340 220\""));
        for x in between(svg, " x=\"", "\"") {
            let x: f64 = x.parse().unwrap();
            assert!((0.0..=340.0).contains(&x), "{x}");
        }
        let ticks = between(svg, "<text class=\"tick x\" x=\"", "\"");
        let places: Vec<f64> = ticks.iter().map(|x| x.parse().unwrap()).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 36.0), "labels keep apart: {places:?}");
    }
}

/// On a telephone the row of headings is not shown: every value brings its own.
#[test]
fn every_value_of_a_path_has_its_columns_name() {
    let page = summary(2).html("a trial", &recording(2));
    let table = &between(&page, "<table class=\"cards\">", "</table>")[0];
    assert!(table.contains(">3 (2 needlessly), 0"));
    let head: Vec<_> =
        between(table, "<th>", "<").iter().map(|name| name.trim_end_matches("</tr>")).collect();
    assert_eq!(head.len(), 10);
    for row in between(table.split("<tbody>").nth(1).unwrap(), "<tr>", "</tr>") {
        assert_eq!(between(row, "<td data-label=\"", "\""), head);
        assert_eq!(row.matches("<td").count(), 10);
    }
}

/// The label of a time at the plot's edge stays inside of it.
#[test]
fn labels_stay_inside() {
    let mut early = summary(1);
    early.black_hole_s = (0.0, 1.0);
    let page = early.html("a trial", &recording(1));
    for x in between(&page, "class=\"band-label\" x=\"", "\"") {
        assert!(x.parse::<f64>().unwrap() >= 120.0, "{x}");
    }
}
