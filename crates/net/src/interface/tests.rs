use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use super::*;
use crate::socket::BindSpec;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn at(text: &str) -> SocketAddr {
    SocketAddr::new(ip(text), 9)
}

fn interface(name: &str, addresses: &[&str]) -> Interface {
    let addresses: Vec<_> =
        addresses.iter().map(|a| InterfaceAddress { ip: ip(a), prefix_len: 24 }).collect();
    Interface {
        name: name.into(),
        index: Some(1),
        up: true,
        loopback: addresses.iter().any(|a| a.ip.is_loopback()),
        addresses,
        hardware: Hardware::default(),
    }
}

/// A machine with loopback, Wi-Fi and two radios, one of them down.
fn machine() -> Vec<Interface> {
    let mut down = interface("wwan1", &["198.51.100.9"]);
    down.up = false;
    vec![
        interface("lo", &["127.0.0.1", "::1"]),
        interface("wlan0", &["fe80::1", "192.0.2.7", "2001:db8::7"]),
        interface("wwan0", &["198.51.100.7"]),
        down,
    ]
}

#[test]
fn paths_parse_and_print() {
    let spec: PathSpec = "if=wlan0".parse().unwrap();
    assert_eq!(spec, PathSpec { interface: Some("wlan0".into()), ..PathSpec::default() });
    let spec: PathSpec = "bind=192.0.2.7,mtu=1400".parse().unwrap();
    assert_eq!(spec, PathSpec { address: Some(ip("192.0.2.7")), mtu: Some(1400), interface: None });
    let spec: PathSpec = "bind=[2001:db8::7]".parse().unwrap();
    assert_eq!(spec.address, Some(ip("2001:db8::7")));
    for text in ["if=wlan0", "bind=192.0.2.7,mtu=1400", "if=a.b-c@d,bind=::1,mtu=576"] {
        assert_eq!(text.parse::<PathSpec>().unwrap().to_string(), text);
    }
}

#[test]
fn each_mistake_has_its_own_error() {
    use PathSpecError as E;
    let cases = [
        ("", E::Unknown("".into())),
        ("wlan0", E::Unknown("wlan0".into())),
        ("iface=wlan0", E::Unknown("iface=wlan0".into())),
        ("if=wlan0,", E::Unknown("".into())),
        ("if=", E::NoName),
        ("bind=wlan0", E::BadAddress("wlan0".into())),
        ("bind=192.0.2.7:80", E::BadAddress("192.0.2.7:80".into())),
        ("if=a,mtu=575", E::BadMtu("575".into())),
        ("if=a,mtu=65536", E::BadMtu("65536".into())),
        ("if=a,mtu=big", E::BadMtu("big".into())),
        ("if=a,if=b", E::Duplicate("if")),
        ("bind=::1,bind=::1", E::Duplicate("bind")),
        ("mtu=1400", E::Unbound("mtu=1400".into())),
    ];
    for (text, expected) in cases {
        let error = text.parse::<PathSpec>().unwrap_err();
        assert_eq!(error, expected, "{text}");
        assert!(!error.to_string().contains('\n'));
    }
}

#[test]
fn a_path_is_bound_to_interface_and_address_whichever_is_named() {
    let bound = |spec: &str, remote: &str| {
        spec.parse::<PathSpec>().unwrap().bind_spec(&machine(), at(remote)).unwrap()
    };
    let expected = |name: &str, address: &str| BindSpec {
        interface: Some(name.into()),
        address: Some(ip(address)),
        scope: u32::from(address.starts_with("fe80")),
        port: 0,
    };
    assert_eq!(bound("if=wlan0", "203.0.113.1"), expected("wlan0", "192.0.2.7"));
    assert_eq!(bound("if=wlan0", "2001:db8:1::1"), expected("wlan0", "2001:db8::7"));
    assert_eq!(bound("if=wlan0", "fe80::2"), expected("wlan0", "fe80::1"));
    assert_eq!(bound("bind=198.51.100.7", "203.0.113.1"), expected("wwan0", "198.51.100.7"));
}

#[test]
fn link_local_addresses_are_on_one_link() {
    let spec: PathSpec = "bind=fe80::1%wlan0".parse().unwrap();
    let expected = PathSpec { interface: Some("wlan0".into()), address: Some(ip("fe80::1")), mtu: None };
    assert_eq!(spec, expected);
    for text in ["bind=fe80::1%", "bind=192.0.2.7%wlan0", "bind=2001:db8::7%wlan0"] {
        let bad = text.strip_prefix("bind=").unwrap().to_owned();
        assert_eq!(text.parse::<PathSpec>().unwrap_err(), PathSpecError::BadAddress(bad));
    }
    assert_eq!("bind=fe80::1%a,if=a".parse::<PathSpec>().unwrap_err(), PathSpecError::Duplicate("if"));
    let zoned = |zone| SocketAddr::V6(SocketAddrV6::new("fe80::2".parse().unwrap(), 9, 0, zone));
    // All interfaces of this machine have index 1.
    let bound = spec.bind_spec(&machine(), zoned(1)).unwrap();
    assert_eq!(
        (bound.scope, bound.address, bound.interface.as_deref()),
        (1, Some(ip("fe80::1")), Some("wlan0"))
    );
    let error = spec.bind_spec(&machine(), zoned(7)).unwrap_err();
    assert_eq!(error, PathError::OtherLink(zoned(7), "wlan0".into()));
    // An address without a zone gets that of the path.
    assert_eq!(on_link(zoned(0), 3), zoned(3));
    assert_eq!((on_link(zoned(5), 3), on_link(at("2001:db8::1"), 3)), (zoned(5), at("2001:db8::1")));
}

#[test]
fn inside_the_machine_no_interface_is_bound() {
    let bound = |spec: &str, remote: &str| {
        spec.parse::<PathSpec>().unwrap().bind_spec(&machine(), at(remote)).unwrap()
    };
    for (spec, remote) in [
        ("bind=127.0.0.2", "127.0.0.1"),
        ("if=lo", "127.0.0.1"),
        ("if=wlan0", "127.0.0.1"),
        ("if=wlan0", "198.51.100.7"),
    ] {
        let BindSpec { interface, address, .. } = bound(spec, remote);
        assert!(interface.is_none() && address.is_some(), "{spec} {remote}");
    }
}

#[test]
fn paths_that_this_machine_lacks_are_refused() {
    use PathError as E;
    let error = |spec: &str, remote: &str| {
        spec.parse::<PathSpec>().unwrap().bind_spec(&machine(), at(remote)).unwrap_err()
    };
    let far = "203.0.113.1";
    assert_eq!(error("if=eth9", far), E::NoInterface("eth9".into()));
    assert_eq!(error("if=wwan1", far), E::Down("wwan1".into()));
    assert_eq!(error("if=wwan0", "2001:db8::1"), E::NoFamily("wwan0".into(), ip("2001:db8::1")));
    assert_eq!(error("if=wwan0", "fe80::7"), E::NoFamily("wwan0".into(), ip("fe80::7")));
    assert_eq!(error("if=lo", far), E::Loopback("lo".into(), ip(far)));
    assert_eq!(error("bind=192.0.2.8", far), E::NotLocal(ip("192.0.2.8")));
    let elsewhere = E::OtherInterface(ip("192.0.2.7"), "wlan0".into(), "wwan0".into());
    assert_eq!(error("if=wwan0,bind=192.0.2.7", far), elsewhere);
    assert_eq!(error("bind=2001:db8::7", far), E::OtherFamily(ip("2001:db8::7"), ip(far)));
    for absent in ["if=eth9", "if=wwan*9", "if=wwan1", "bind=192.0.2.8"] {
        assert!(error(absent, far).may_pass(), "{absent} may come");
    }
    assert!(
        !elsewhere.may_pass() && !error("bind=2001:db8::7", far).may_pass(),
        "no interface to come mends these"
    );
}

#[test]
fn this_machine_has_a_loopback_with_its_prefix() {
    let all = interfaces().unwrap();
    let lo = all.iter().find(|i| i.owns(ip("127.0.0.1"))).unwrap();
    assert!(lo.loopback && lo.up && lo.owns(ip("127.3.2.1")));
    let address = lo.addresses.iter().find(|a| a.ip == ip("127.0.0.1")).unwrap();
    assert_eq!(address.prefix_len, 8);
}

#[test]
fn a_pattern_stands_for_the_names_that_fit_and_never_for_loopback() {
    let named = |spec: &str| {
        let spec: PathSpec = spec.parse().unwrap();
        let machine = machine();
        let names = machine.iter().filter(|i| spec.names(i)).map(|i| i.name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(named("if=wwan*"), ["wwan0", "wwan1"]);
    assert_eq!(named("if=w*0"), ["wlan0", "wwan0"]);
    assert_eq!(named("if=wwan?"), ["wwan0", "wwan1"]);
    assert_eq!(named("if=*"), ["wlan0", "wwan0", "wwan1"]);
    assert_eq!(named("if=*lan*"), ["wlan0"]);
    assert_eq!(named("if=wwan0"), ["wwan0"]);
    assert_eq!(named("if=lo"), ["lo"]);
    assert_eq!((named("if=wwan"), named("if=?"), named("if=lo*")), (vec![], vec![], vec![]));
    assert_eq!(named(&format!("if={}x", "*".repeat(40))), Vec::<String>::new());
    assert!(PathSpec::any().is_pattern() && PathSpec::any().follows_interfaces());
}
