use strandcast_proto::policy::Tariff;

use super::*;
use crate::interface::{Hardware, PathSpec};

/// A modem: name, index, hardware address, USB port.
fn modem(name: &str, index: u32, mac: &str, usb: Option<&str>) -> Interface {
    let mut hardware = Hardware::default();
    (hardware.mac, hardware.usb) = (mac.parse().ok(), usb.map(str::to_owned));
    let (index, addresses) = (Some(index), Vec::new());
    Interface { name: name.to_owned(), index, up: true, loopback: false, addresses, hardware }
}

/// Links that follow these interfaces, one request for each.
fn links(of: &[&str], interfaces: &[Interface]) -> PathSockets {
    let mut sockets = PathSockets::default();
    for name in of {
        sockets.add_uplink(Uplink::new(PathSpec::interface(*name), &[]), None);
    }
    sockets.follow(interfaces, &mut Routes::default());
    sockets
}

/// The name of each link. The name of a link without an interface is in brackets.
fn names(sockets: &PathSockets) -> Vec<String> {
    let name = |link: &UplinkState| match link.present {
        true => link.uplink.name.clone(),
        false => format!("[{}]", link.uplink.name),
    };
    sockets.uplinks.iter().map(name).collect()
}

/// The names of the links after each list of interfaces.
fn play(of: &[&str], lists: &[&[Interface]]) -> Vec<Vec<String>> {
    let mut sockets = links(of, lists[0]);
    let mut all = vec![names(&sockets)];
    for interfaces in &lists[1..] {
        assert_eq!(sockets.follow(interfaces, &mut Routes::default()), [], "no link is new");
        all.push(names(&sockets));
    }
    all
}

const A: &str = "0c:5b:8f:00:00:0a";
const B: &str = "0c:5b:8f:00:00:0b";

#[test]
fn a_modem_returns_under_another_name() {
    let [before, after] = [modem("wwan0", 3, A, None), modem("wwan1", 7, A, None)];
    let seen = play(&["wwan0"], &[&[before], &[], &[after]]);
    assert_eq!(seen, [["wwan0"], ["[wwan0]"], ["wwan1"]]);
}

#[test]
fn two_modems_return_with_each_others_names() {
    let both = [modem("wwan0", 3, A, None), modem("wwan1", 4, B, None)];
    let (b, a) = (modem("wwan0", 7, B, None), modem("wwan1", 8, A, None));
    let seen = play(&["wwan0", "wwan1"], &[&both, &[], std::slice::from_ref(&b), &[b.clone(), a]]);
    assert_eq!(seen[2], [format!("[wwan0 ({A})]"), "wwan0".to_owned()], "no two links have one name");
    assert_eq!(seen[3], ["wwan1", "wwan0"]);
}

#[test]
fn sticks_with_one_address_are_known_by_their_ports() {
    let both = [modem("eth1", 3, A, Some("1-1")), modem("eth2", 4, A, Some("1-2"))];
    let swapped = [modem("eth1", 7, A, Some("1-2")), modem("eth2", 8, A, Some("1-1"))];
    assert_eq!(play(&["eth1", "eth2"], &[&both, &[], &swapped])[2], ["eth2", "eth1"]);
    // In a third port, with the other stick still there, only the name is left.
    let third = [modem("eth2", 4, A, Some("1-2")), modem("eth1", 9, A, Some("1-3"))];
    assert_eq!(play(&["eth1", "eth2"], &[&both, &both[1..], &third])[2], ["eth1", "eth2"]);
}

#[test]
fn an_address_that_two_interfaces_have_proves_nothing() {
    // A VLAN has the address of its device.
    let lists: [&[Interface]; 3] =
        [&[modem("eth0", 3, A, None)], &[], &[modem("eth0.5", 7, A, None), modem("eth1", 8, A, None)]];
    assert_eq!(play(&["eth0"], &lists)[2], ["[eth0]"]);
}

#[test]
fn a_phone_returns_with_another_address_in_its_port() {
    let [before, after] = [
        modem("usb0", 3, "02:00:00:00:00:01", Some("1-4")),
        modem("usb1", 5, "06:00:00:00:00:02", Some("1-4")),
    ];
    assert_eq!(play(&["usb0"], &[&[before], &[], &[after]])[2], ["usb1"]);
}

#[test]
fn an_interface_without_hardware_returns_under_its_name() {
    let tunnel = |index| modem("tun0", index, "", None);
    let other = modem("tun1", 9, "", None);
    assert_eq!(play(&["tun0"], &[&[tunnel(3)], &[other], &[tunnel(8)]]), [["tun0"], ["[tun0]"], ["tun0"]]);
}

#[test]
fn costs_follow_the_modem() {
    let both = [modem("wwan0", 3, A, None), modem("wwan1", 4, B, None)];
    let mut sockets = links(&["wwan0", "wwan1"], &both);
    let class = |class| Tariff { class, ..Tariff::default() };
    sockets.tariffs =
        vec![("wwan0".into(), class(1)), ("wwan1".into(), class(2)), ("wwan9".into(), class(9))];
    sockets.follow(&[], &mut Routes::default());
    sockets.follow(&[modem("wwan0", 7, B, None), modem("wwan1", 8, A, None)], &mut Routes::default());
    let seen: Vec<_> = sockets.tariffs.iter().map(|(name, t)| (name.as_str(), t.class)).collect();
    assert_eq!(seen, [("wwan1", 1), ("wwan0", 2), ("wwan9", 9)]);
}
