//! Findings: conclusions from the facts, and remedies.

use std::net::SocketAddr;

use super::report::{Finding, Link, Peer, Probed, Report};

/// Size of a socket's buffer in bytes if Linux has its default limit of 212 992. The kernel counts twice this limit. A
/// smaller size shows that the limit was changed.
const LEAST_BUFFER: usize = 2 * 212_992;
/// Size in bytes of the IP packet with the first message of a handshake: 1200 bytes plus the headers of UDP and IP.
const HANDSHAKE: u16 = 1228;
/// Greatest difference of two clocks in seconds that is not a fault.
const CLOCK: f64 = 10.0;
/// Greatest number of seconds by which a file may be newer than the clock. The tolerance is needed because file servers
/// have other clocks.
const FILE: f64 = 120.0;

/// Adds findings and notes to the report.
pub(super) fn judge(report: &mut Report) {
    let mut all = Vec::new();
    machine(report, &mut all);
    let some_work = report.links.iter().any(|link| link.back == Some(true));
    for link in &report.links {
        route(link, report, &mut all);
        udp(link, some_work, &mut all);
        size(link, &mut all);
        mapping(link, report.peer.as_ref(), &mut all);
    }
    if report.links.is_empty() {
        all.push(finding(
            "no-interface",
            None,
            [
                "no network interface is up and has an address",
                "cables, modems or the network manager",
                "ip -br addr",
            ],
        ));
    }
    if let Some(peer) = &report.peer {
        receiver(peer, report, some_work, &mut all);
        clocks(peer, &mut all);
    }
    let notes = notes(report, &all);
    (report.findings, report.notes) = (all, notes);
}

fn finding(code: &'static str, link: Option<&Link>, [what, cause, mend]: [&str; 3]) -> Finding {
    let link = link.map(|link| link.name.clone());
    Finding { code, link, what: what.into(), cause: cause.into(), mend: mend.into() }
}

fn machine(report: &Report, all: &mut Vec<Finding>) {
    let machine = &report.machine;
    for error in &machine.store_errors {
        let (what, mend) = error.rsplit_once(": ").unwrap_or((error, "restore it from a copy"));
        let mend = mend.strip_prefix("run ").unwrap_or(mend);
        all.push(finding(
            "store-unreadable",
            None,
            [what, "the file's owner, its mode or its content", mend],
        ));
    }
    if let Some((receive, send)) = machine.buffers.filter(|(receive, send)| *receive.min(send) < LEAST_BUFFER)
    {
        let what = format!(
            "the kernel grants sockets too little memory: {receive} bytes for receiving and {send} for sending, \
             instead of at least {LEAST_BUFFER} for each"
        );
        let mend = "sysctl -w net.core.rmem_max=4194304 net.core.wmem_max=4194304";
        all.push(finding(
            "small-buffers",
            None,
            [&what, "net.core.rmem_max and wmem_max are below Linux's default", mend],
        ));
    }
    if let Some((file, ahead)) = machine.clock.newer_file.as_ref().filter(|(_, ahead)| *ahead > FILE) {
        let what = format!("{file} was written {} in the future", span(*ahead));
        all.push(finding("clock", None, [&what, "this machine's clock is slow", SET_CLOCK]));
    }
}

const SET_CLOCK: &str = "timedatectl set-ntp true";

fn route(link: &Link, report: &Report, all: &mut Vec<Finding>) {
    if let (Some(code), Some(why)) = (link.hindered_by, &link.hindrance) {
        let what = why.split(": ").next().unwrap_or(why);
        let (cause, mend) = match code {
            "route-in-other-table" => ("a rule of this interface's table is missing", link.mend.as_deref()),
            "route-missing" => {
                ("its default route is missing, or another one took its place", link.mend.as_deref())
            }
            _ => ("it is unplugged, down or named otherwise", None),
        };
        all.push(finding(code, Some(link), [what, cause, mend.unwrap_or("ip -br addr")]));
    }
    let carries = |link: &Link| match report.peer {
        Some(_) => link.back == Some(true),
        None => link.route.is_some(),
    };
    let twin = |name: &String| report.links.iter().any(|other| other.name == *name && carries(other));
    if !link.twins.is_empty() && !carries(link) && link.twins.iter().any(twin) {
        let what =
            format!("{} has the same subnet as {}, and carries nothing", link.name, link.twins.join(", "));
        let cause = "two modems of one make: the default route of one took the place of the other's";
        let mend = match link.route.as_ref().and_then(|route| route.gateway) {
            Some(gateway) => format!("ip route replace default via {gateway} dev {} metric 1000", link.name),
            None => format!("ip route replace default via GATEWAY dev {} metric 1000", link.name),
        };
        all.push(finding("twin-subnets", Some(link), [&what, cause, &mend]));
    }
    if link.unbound {
        let what = format!("this user may not bind a socket to {}", link.name);
        let cause = "before Linux 5.7 only root may: the routing table then chooses the interface";
        all.push(finding(
            "not-bound",
            Some(link),
            [&what, cause, "run as root, or give each address a rule (docs/operate/modems.md)"],
        ));
    }
}

/// Findings about UDP in both directions.
fn udp(link: &Link, some_work: bool, all: &mut Vec<Finding>) {
    let (Some(probed), Some(remote)) = (link.probed, link.remote) else { return };
    if link.back == Some(true) {
        return;
    }
    let (name, host, port) = (&link.name, remote.ip(), remote.port());
    if link.drops_answers {
        let what =
            format!("answers to {name} are dropped: rp_filter is 1 there, and the route back is another one");
        let mend = format!("sysctl -w net.ipv4.conf.{name}.rp_filter=2");
        return all.push(finding(
            "rp-filter",
            Some(link),
            [&what, "a strict rp_filter with several default routes", &mend],
        ));
    }
    let (code, what, cause, mend) = match (probed, link.out) {
        (Probed::Forbidden, _) => (
            "udp-blocked-out",
            format!("this machine blocks outgoing UDP to {remote} over {name}"),
            "a packet filter of this machine",
            format!("nft list ruleset; allow UDP to port {port}"),
        ),
        (Probed::Unreachable, _) => (
            "unreachable",
            format!("a router says that {host} is out of reach over {name}"),
            "no route further on, or a filter",
            format!("ask the operator of this network; traceroute -i {name} {host} shows where packets stop"),
        ),
        (_, Some(true)) => (
            "udp-blocked-back",
            format!("UDP over {name} reaches the receiver, and its answers do not come back"),
            "a filter or a NAT between, or of this machine",
            format!("allow UDP from port {port} of {host} inbound; else leave {name} out (--path)"),
        ),
        (_, Some(false)) => (
            "udp-blocked-out",
            format!("UDP over {name} does not reach the receiver, which other links do"),
            "the network of this link blocks UDP, or this port",
            format!("allow UDP to port {port} outbound, or take another port (docs/operate/modems.md)"),
        ),
        (_, None) if some_work => (
            "udp-blocked",
            format!("nothing comes back over {name}, although other links work"),
            "UDP is blocked there, out or back",
            format!("allow UDP to port {port}, and the answers, in this network"),
        ),
        // The finding about the receiver already reports this.
        (_, None) => return,
    };
    all.push(finding(code, Some(link), [&what, cause, &mend]));
}

/// Findings about the sizes of packets.
fn size(link: &Link, all: &mut Vec<Finding>) {
    let Some(expected) = link.mtu.filter(|_| matches!(link.probed, Some(Probed::Sealed | Probed::Plain)))
    else {
        return;
    };
    let name = &link.name;
    let arrived = link.path_mtu.unwrap_or(0);
    if arrived < expected {
        let what = match arrived {
            0 => format!("over {name} only the smallest packets arrive, and no router says why"),
            _ => format!(
                "over {name} packets above {arrived} bytes vanish, and no router says why: the system expects {expected}"
            ),
        };
        let mend = match arrived {
            0 => format!("ip link set {name} mtu 1280; ask the operator of this network"),
            _ => format!("ip link set {name} mtu {arrived}"),
        };
        let cause = "a tunnel or a modem with a smaller MTU, and a filter that drops ICMP (a black hole)";
        all.push(finding("mtu-black-hole", Some(link), [&what, cause, &mend]));
    } else if arrived < HANDSHAKE {
        let what =
            format!("over {name} packets have at most {arrived} bytes, and a handshake needs {HANDSHAKE}");
        all.push(finding(
            "mtu-too-small",
            Some(link),
            [&what, "the MTU of the interface or of a tunnel", &format!("ip link set {name} mtu 1400")],
        ));
    }
}

/// Findings about the mappings of NATs.
fn mapping(link: &Link, peer: Option<&Peer>, all: &mut Vec<Finding>) {
    let silence = peer.and_then(|peer| peer.silence_s).unwrap_or(0.0);
    let name = &link.name;
    let moved = link.seen_later.filter(|later| link.seen.is_some_and(|before| before != *later));
    let idle = "a NAT that drops idle mappings: such a link of a stream is then found again only when this side sends";
    let mend = "raise the NAT's UDP timeout above 30 s (Linux: sysctl -w net.netfilter.nf_conntrack_udp_timeout=120)";
    if let (Some(before), Some(later)) = (link.seen, moved) {
        let what = format!(
            "a NAT changed the address of {name} after {silence:.0} s of silence: the receiver saw {before} before, and \
             {later} afterwards"
        );
        all.push(finding("nat-mapping-moved", Some(link), [&what, idle, mend]));
    } else if link.kept == Some(false) {
        let what = format!(
            "after {silence:.0} s of silence a NAT no longer passes the receiver's packets to {name}"
        );
        all.push(finding("nat-mapping-lost", Some(link), [&what, idle, mend]));
    }
}

/// Findings about the receiver, unless a link is the cause.
fn receiver(peer: &Peer, report: &Report, some_work: bool, all: &mut Vec<Finding>) {
    let sealed = |probed| report.links.iter().any(|link| link.probed == Some(probed));
    let at = report.links.iter().find_map(|link| link.remote).or(report.asked.first().copied());
    let Some(at) = at else { return };
    if peer.connected {
        return;
    }
    if sealed(Probed::Plain) && peer.expected.is_some() {
        let what = format!("the receiver at {at} runs without encryption");
        return all.push(finding(
            "receiver-plain",
            None,
            [&what, "it was started with --plain", "start it without --plain"],
        ));
    }
    if let Some(refusal) = &peer.refusal {
        let code = if peer.key_refused { "key-refused" } else { "refused" };
        let (what, mend) = refusal.split_once(": ").unwrap_or((refusal, "see the receiver's lines"));
        let cause = match peer.key_refused {
            true => "this machine's key was revoked there, or its pairing was closed",
            false => "the receiver's program or its state",
        };
        let what = format!("the receiver at {at} {what}");
        return all.push(finding(code, None, [&what, cause, mend]));
    }
    if sealed(Probed::Sealed) {
        // At an address without a pairing, nothing further was tried.
        let Some(expected) = &peer.expected else { return };
        let small = report.links.iter().all(|link| link.path_mtu.is_none_or(|mtu| mtu < HANDSHAKE));
        if small {
            return;
        }
        let what =
            format!("a receiver listens at {at}, but not as {expected}, which this machine is paired with");
        let cause = "it runs as another user, with another key file, or was set up anew; or another machine has the address";
        let mend =
            "run the receiver as the user who paired (strandcast key show names its key), or pair again";
        return all.push(finding("wrong-identity", None, [&what, cause, mend]));
    }
    if sealed(Probed::Plain) {
        return;
    }
    silent(peer, at, report, some_work, all);
}

/// Adds the finding that no receiver answered.
fn silent(peer: &Peer, at: SocketAddr, report: &Report, some_work: bool, all: &mut Vec<Finding>) {
    let no_program = report.links.iter().any(|link| link.probed == Some(Probed::NoProgram));
    let asked = report.links.iter().any(|link| link.probed.is_some());
    if let Some(port) = peer.other_port {
        let what = format!("no program listens at {at}, and a receiver does at port {port}");
        let mend =
            format!("start the receiver at :{}, or pair again with --host {}:{port}", at.port(), at.ip());
        return all.push(finding(
            "wrong-port",
            None,
            [&what, "the receiver and the pairing name different ports", &mend],
        ));
    }
    if no_program {
        let what = format!("the host {} answers that no program listens at UDP port {}", at.ip(), at.port());
        let mend = format!("start it there: strandcast receive :{} OUTPUT", at.port());
        return all.push(finding(
            "receiver-absent",
            None,
            [&what, "the receiver does not run, or listens at another port", &mend],
        ));
    }
    let blames_links = all.iter().any(|f| f.link.is_some() && f.code != "not-bound");
    if asked && !some_work && !blames_links {
        let what = format!("nothing comes back from {at}, over any link");
        let cause = "the host is off, its firewall or router drops the port, or the networks here block UDP, out or back";
        let mend = format!(
            "at the receiver: allow and forward UDP port {}; strandcast doctor there; here: try another network",
            at.port()
        );
        all.push(finding("no-answer", None, [&what, cause, &mend]));
    }
}

fn clocks(peer: &Peer, all: &mut Vec<Finding>) {
    let Some(ahead) = peer.clock_ahead_s.filter(|ahead| ahead.abs() > CLOCK) else { return };
    let side = if ahead > 0.0 { "ahead of" } else { "behind" };
    let what = format!("this machine's clock is {} {side} the receiver's", span(ahead.abs()));
    let cause =
        "one of the two clocks is wrong: pairing strings end at the wrong time, and statistics do not match";
    all.push(finding("clock", None, [&what, cause, SET_CLOCK]));
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 86_400.0 - 3600.0 => format!("{:.1} days", s / 86_400.0),
        s if s >= 2.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 120.0 => format!("{:.0} min", s / 60.0),
        s => format!("{s:.0} s"),
    }
}

fn notes(report: &Report, findings: &[Finding]) -> Vec<String> {
    let mut notes = Vec::new();
    let machine = &report.machine;
    if machine.identity.is_some() && machine.key.is_none() && machine.store_errors.is_empty() {
        notes.push("this machine has no identity yet: strandcast key pair or key add makes one".to_owned());
    }
    for link in &report.links {
        let found = findings.iter().any(|f| f.link.as_ref() == Some(&link.name));
        if let Some(why) = link.hindrance.as_ref().filter(|_| !found) {
            notes.push(format!("not used: {}: {why}", link.name));
        }
        let twins = findings.iter().any(|f| f.code == "twin-subnets");
        if !link.twins.is_empty() && !twins && link.route.is_some() {
            notes.push(format!(
                "{} has the same subnet as {}, and a route of its own",
                link.name,
                link.twins.join(", ")
            ));
        }
    }
    let asked = report.peer.as_ref().filter(|peer| peer.connected && !peer.answered);
    if asked.is_some() {
        notes.push(
            "the receiver does not say how it sees this machine: an older program, or `perf server`"
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Report of a machine and a receiver without faults, over one link.
    fn healthy() -> Report {
        let at = |text: &str| Some(text.parse().unwrap());
        let link = Link {
            name: "wlan0".into(),
            remote: at("203.0.113.9:9899"),
            probed: Some(Probed::Sealed),
            out: Some(true),
            back: Some(true),
            mtu: Some(1500),
            path_mtu: Some(1500),
            seen: at("198.51.100.7:4242"),
            seen_later: at("198.51.100.7:4242"),
            kept: Some(true),
            ..Link::default()
        };
        let peer = Peer { connected: true, answered: true, silence_s: Some(30.0), ..Peer::default() };
        let mut report = Report { links: vec![link], peer: Some(peer), ..Report::default() };
        report.machine.buffers = Some((LEAST_BUFFER, LEAST_BUFFER));
        report
    }

    fn codes(change: impl FnOnce(&mut Report)) -> Vec<&'static str> {
        let mut report = healthy();
        change(&mut report);
        judge(&mut report);
        report.findings.iter().map(|finding| finding.code).collect()
    }

    fn peer(report: &mut Report) -> &mut Peer {
        report.peer.as_mut().expect("there is one")
    }

    #[test]
    fn a_healthy_machine_has_no_findings() {
        assert!(codes(|_| ()).is_empty());
        assert!(codes(|report| peer(report).clock_ahead_s = Some(-5.0)).is_empty());
        assert!(codes(|report| report.machine.clock.newer_file = Some(("identity".into(), 60.0))).is_empty());
    }

    #[test]
    fn buffers_below_the_default_are_small() {
        let small = |receive, send| codes(|report| report.machine.buffers = Some((receive, send)));
        assert_eq!(small(LEAST_BUFFER - 1, LEAST_BUFFER), ["small-buffers"]);
        assert_eq!(small(8 << 20, 65_536), ["small-buffers"]);
        assert!(small(8 << 20, 8 << 20).is_empty());
    }

    #[test]
    fn a_clock_that_is_days_off_is_named_in_both_directions() {
        for (ahead, words) in [(2.0 * 86_400.0, "2.0 days ahead of"), (-2.0 * 86_400.0, "2.0 days behind")] {
            let mut report = healthy();
            peer(&mut report).clock_ahead_s = Some(ahead);
            judge(&mut report);
            let [found] = &report.findings[..] else { panic!("{:?}", report.findings) };
            assert!(found.code == "clock" && found.what.contains(words), "{}", found.what);
        }
        let slow = codes(|report| report.machine.clock.newer_file = Some(("identity".into(), 172_800.0)));
        assert_eq!(slow, ["clock"]);
    }

    #[test]
    fn mappings_that_end_are_named_once() {
        assert_eq!(codes(|report| report.links[0].kept = Some(false)), ["nat-mapping-lost"]);
        let moved = codes(|report| report.links[0].seen_later = Some("198.51.100.7:1".parse().unwrap()));
        assert_eq!(moved, ["nat-mapping-moved"]);
    }

    #[test]
    fn a_link_is_blamed_only_where_another_one_works() {
        let second = |out, back, probed| {
            codes(|report| {
                let remote = report.links[0].remote;
                let (name, probed) = ("wwan0".to_owned(), Some(probed));
                let link = Link { name, remote, out, back, probed, ..Link::default() };
                report.links.push(link);
            })
        };
        assert_eq!(second(Some(true), Some(false), Probed::Silent), ["udp-blocked-back"]);
        assert_eq!(second(Some(false), Some(false), Probed::Silent), ["udp-blocked-out"]);
        assert_eq!(second(None, Some(false), Probed::Silent), ["udp-blocked"]);
        assert_eq!(second(None, Some(false), Probed::Forbidden), ["udp-blocked-out"]);
        let alone = codes(|report| {
            *peer(report) = Peer::default();
            let link = &mut report.links[0];
            (link.out, link.back, link.probed) = (None, Some(false), Some(Probed::Silent));
            (link.path_mtu, link.kept, link.seen_later) = (None, None, None);
        });
        assert_eq!(alone, ["no-answer"]);
    }
}
