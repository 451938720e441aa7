//! Formats a report as text.

use std::net::IpAddr;

use strandcast::doctor::{Finding, Link, Probed, Report};

/// The main routing table, and the routing table of this machine's own addresses.
const MAIN: u32 = 254;
const LOCAL: u32 = 255;
/// Space between two columns.
const GAP: &str = "  ";
const HEAD: [&str; 8] = ["link", "address", "route", "rp_filter", "UDP", "MTU", "seen as", "after silence"];

/// Writes the report: a table of links, facts about the machine and the receiver, findings, and notes.
pub(super) fn page(report: &Report) -> String {
    let mut out = String::new();
    if !report.links.is_empty() {
        let mut rows = vec![HEAD.map(str::to_owned)];
        rows.extend(report.links.iter().map(row));
        out += &table(&rows);
        out.push('\n');
    }
    out += &receiver(report);
    out += &machine(report);
    for found in &report.findings {
        out += &finding(found);
    }
    for note in &report.notes {
        out += &format!("\nnote: {note}\n");
    }
    if report.findings.is_empty() {
        out += "\nno findings\n";
    }
    out
}

fn row(link: &Link) -> [String; 8] {
    let none = || "-".to_owned();
    let shown = |ip: &&IpAddr| !matches!(ip, IpAddr::V6(v6) if v6.is_unicast_link_local());
    let address =
        link.route.as_ref().map(|route| route.source).or(link.addresses.iter().find(shown).copied());
    let route = link.route.as_ref().map_or_else(none, |route| {
        let table = match route.table {
            MAIN => "main".to_owned(),
            LOCAL => "local".to_owned(),
            0 => "?".to_owned(),
            other => other.to_string(),
        };
        route.gateway.map_or(table.clone(), |via| format!("{table} via {via}"))
    });
    let udp = match (link.probed, link.out, link.back) {
        (None, ..) => none(),
        (Some(Probed::NoProgram), ..) => "no program".to_owned(),
        (_, Some(true), Some(true)) => "out, back".to_owned(),
        (_, Some(true), _) => "out only".to_owned(),
        (Some(Probed::Forbidden), ..) => "forbidden".to_owned(),
        (_, Some(false), _) => "not out".to_owned(),
        _ => "nothing".to_owned(),
    };
    let mtu = match (link.path_mtu, link.mtu) {
        (Some(arrived), Some(expected)) if arrived < expected => format!("{arrived} of {expected}"),
        (Some(arrived), _) => arrived.to_string(),
        (None, Some(expected)) if link.probed.is_none() => expected.to_string(),
        _ => none(),
    };
    let seen = match (link.seen, link.local) {
        (Some(seen), Some(local)) if seen == local => "itself (no NAT)".to_owned(),
        (Some(seen), _) => seen.to_string(),
        _ => none(),
    };
    let kept = match (link.kept, link.seen_later == link.seen) {
        (None, _) => none(),
        (Some(true), true) => "still there".to_owned(),
        (Some(true), false) => {
            link.seen_later.map_or_else(|| "still there".to_owned(), |at| format!("now {at}"))
        }
        (Some(false), _) => "lost".to_owned(),
    };
    let filter = link.rp_filter.map_or_else(none, |value| value.to_string());
    let address = address.map_or_else(none, |ip| ip.to_string());
    [link.name.clone(), address, route, filter, udp, mtu, seen, kept]
}

/// Formats rows with aligned columns.
fn table(rows: &[[String; 8]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let line = |row: &[String; 8]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join(GAP).trim_end())
    };
    rows.iter().map(line).collect()
}

fn receiver(report: &Report) -> String {
    let (Some(target), Some(peer)) = (&report.target, &report.peer) else { return String::new() };
    let asked: Vec<String> = report.asked.iter().map(ToString::to_string).collect();
    let mut line = format!("receiver: {target} at {}", asked.join(", "));
    if let Some(key) = &peer.expected {
        line += &format!(", {key}");
    }
    line += if peer.connected { ", connected" } else { "" };
    if let Some(ahead) = peer.clock_ahead_s {
        line += &format!(", clocks differ by {:.1} s", ahead.abs());
    }
    line + "\n"
}

fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let mut line = String::from("machine:");
    if let Some((receive, send)) = machine.buffers {
        line += &format!(" socket buffers {} and {} kB,", receive / 1000, send / 1000);
    }
    line += &match (&machine.key, &machine.identity) {
        (Some(key), Some(path)) => format!(" identity {key} in {path}"),
        (None, Some(path)) => format!(" no identity in {path}"),
        _ => " no identity".to_owned(),
    };
    line + "\n"
}

fn finding(found: &Finding) -> String {
    let Finding { code, what, cause, mend, .. } = found;
    format!("\n{code}: {what}\n  cause: {cause}\n  mend:  {mend}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandcast::doctor::Route;

    #[test]
    fn a_page_has_a_row_for_each_link_and_a_paragraph_for_each_finding() {
        let at = |text: &str| Some(text.parse().unwrap());
        let route = Route {
            table: MAIN,
            gateway: Some("10.0.0.1".parse().unwrap()),
            source: "10.0.0.2".parse().unwrap(),
        };
        let good = Link {
            name: "wlan0".into(),
            route: Some(route),
            rp_filter: Some(2),
            probed: Some(Probed::Sealed),
            out: Some(true),
            back: Some(true),
            mtu: Some(1500),
            path_mtu: Some(1400),
            local: at("10.0.0.2:4000"),
            seen: at("198.51.100.7:4242"),
            seen_later: at("198.51.100.7:4242"),
            kept: Some(true),
            ..Link::default()
        };
        let bad = Link {
            name: "wwan0".into(),
            addresses: vec!["fe80::1".parse().unwrap(), "10.0.1.2".parse().unwrap()],
            ..Link::default()
        };
        let (what, cause, mend) = ("it is bad".into(), "a cause".into(), "a command".into());
        let findings = vec![Finding { code: "bad", link: Some("wwan0".into()), what, cause, mend }];
        let text = page(&Report { links: vec![good, bad], findings, ..Report::default() });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "wlan0  10.0.0.2  main via 10.0.0.1  2          out, back  1400 of 1500  198.51.100.7:4242  still there"
        );
        assert_eq!(
            lines[2],
            "wwan0  10.0.1.2  -                  -          -          -             -                  -"
        );
        assert!(text.ends_with("\nbad: it is bad\n  cause: a cause\n  mend:  a command\n"), "{text}");
        assert!(page(&Report::default()).ends_with("\nno findings\n"));
    }
}
