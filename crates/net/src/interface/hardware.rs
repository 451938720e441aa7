//! Identity of an interface's hardware, which stays when the interface gets another name or another index.

use std::fmt;

use super::address::Interface;

/// Hardware address of an Ethernet or Wi-Fi interface (48 bits, IEEE 802).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mac(pub [u8; 6]);

/// Properties by which an interface is recognised after it was unplugged. Each is `None` if the system does not report
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hardware {
    /// The permanent hardware address. If the device has none, the current address.
    pub mac: Option<Mac>,
    /// The USB port and the function of the device there, as Linux names them (`1-2.3:1.0`): bus, ports of the hubs,
    /// configuration, and number of the function.
    pub usb: Option<String>,
}

impl Mac {
    /// Returns whether a program chose the address, and no manufacturer (IEEE 802, bit U/L). Phones and virtual
    /// interfaces may choose another one each time.
    pub fn is_local(self) -> bool {
        self.0[0] & 2 != 0
    }
}

impl Hardware {
    /// Hardware with this address and this USB port.
    pub fn new(mac: Option<Mac>, usb: Option<String>) -> Hardware {
        Hardware { mac, usb }
    }

    /// Returns whether both are the same device in the same USB port. Addresses of manufacturers do not change. A device
    /// that chooses its address, as phones do, may have another one each time.
    pub fn same_port(&self, other: &Hardware) -> bool {
        let differ = match (self.mac, other.mac) {
            (Some(a), Some(b)) => a != b && !(a.is_local() && b.is_local()),
            _ => false,
        };
        self.usb.is_some() && self.usb == other.usb && !differ
    }

    /// The hardware without its address, if another one of these interfaces has the address too.
    pub fn proven(&self, interfaces: &[Interface]) -> Hardware {
        let alone = interfaces.iter().filter(|i| i.hardware.same_mac(self)).count() < 2;
        Hardware { mac: self.mac.filter(|_| alone), usb: self.usb.clone() }
    }

    /// Returns whether both can be the same device: `later` is what was seen of it after `self`.
    pub fn may_be(&self, later: &Hardware) -> bool {
        let less = later.mac.is_none() && (later.usb.is_none() || later.usb == self.usb);
        *self == Hardware::default() || less || self.same_port(later) || self.same_mac(later)
    }

    /// A name for people: USB port and function, or else the hardware address.
    pub fn name(&self) -> Option<String> {
        let port = self.usb.as_ref().map(|port| format!("usb {port}"));
        port.or_else(|| self.mac.map(|mac| mac.to_string()))
    }

    /// Returns whether both have the same hardware address. Sticks of one brand may share an address, and so may the
    /// virtual interfaces of one device: an address proves something only while no other interface has it.
    pub fn same_mac(&self, other: &Hardware) -> bool {
        self.mac.is_some() && self.mac == other.mac
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl std::str::FromStr for Mac {
    type Err = ();

    /// Parses six pairs of hexadecimal digits with colons between them.
    fn from_str(text: &str) -> Result<Mac, ()> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit()));
            *byte = u8::from_str_radix(part.ok_or(())?, 16).map_err(|_| ())?;
        }
        if parts.next().is_some() { Err(()) } else { Ok(Mac(bytes)) }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::hardware;

/// Returns an empty list: the system does not report hardware.
#[cfg(not(target_os = "linux"))]
pub(super) fn hardware() -> Vec<(u32, Hardware)> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Hardware, Mac};
    use crate::netlink::Kernel;
    use crate::netlink::message::{NLM_F_DUMP, attributes, u32_at};

    // `linux/rtnetlink.h`, `linux/if_link.h`.
    const RTM_NEWLINK: u16 = 16;
    const RTM_GETLINK: u16 = 18;
    const IFLA_ADDRESS: u16 = 1;
    const IFLA_EXT_MASK: u16 = 29;
    const IFLA_PERM_ADDRESS: u16 = 54;
    const IFLA_PARENT_DEV_NAME: u16 = 56;
    const IFLA_PARENT_DEV_BUS_NAME: u16 = 57;
    /// Leaves counters out of the answer.
    const SKIP_STATS: u32 = 1 << 3;
    /// Bytes of `struct ifinfomsg`.
    const HEADER: usize = 16;

    /// The hardware of the interface with each index.
    pub(in super::super) fn hardware() -> Vec<(u32, Hardware)> {
        let mut all = Vec::new();
        let Ok(mut kernel) = Kernel::open(None) else { return all };
        let mask = SKIP_STATS.to_ne_bytes();
        let asked = [(IFLA_EXT_MASK, &mask[..])];
        // An answer that ends early leaves the remaining interfaces without hardware.
        let _ = kernel.query((RTM_GETLINK, RTM_NEWLINK), NLM_F_DUMP, &[0; HEADER], &asked, |payload| {
            all.extend(link(payload));
        });
        all
    }

    /// Reads one message: `struct ifinfomsg`, followed by attributes.
    pub(super) fn link(payload: &[u8]) -> Option<(u32, Hardware)> {
        let (index, rest) = (u32_at(payload, 4)?, payload.get(HEADER..)?);
        let value = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
        let mac = value(IFLA_PERM_ADDRESS).and_then(mac).or_else(|| value(IFLA_ADDRESS).and_then(mac));
        let on_usb = value(IFLA_PARENT_DEV_BUS_NAME).and_then(text) == Some("usb");
        let parent = value(IFLA_PARENT_DEV_NAME).and_then(text).filter(|_| on_usb);
        Some((index, Hardware { mac, usb: parent.map(str::to_owned) }))
    }

    /// An address other than zero, which stands for none.
    fn mac(value: &[u8]) -> Option<Mac> {
        let bytes = <[u8; 6]>::try_from(value).ok()?;
        (bytes != [0; 6]).then_some(Mac(bytes))
    }

    /// A string, which ends with a zero byte.
    fn text(value: &[u8]) -> Option<&str> {
        std::str::from_utf8(value.strip_suffix(&[0]).unwrap_or(value)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mac(text: &str) -> Mac {
        text.parse().expect("an address")
    }

    fn hardware(address: &str, usb: Option<&str>) -> Hardware {
        Hardware { mac: Some(mac(address)), usb: usb.map(str::to_owned) }
    }

    #[test]
    fn addresses_parse_and_print() {
        assert_eq!(mac("0c:5B:8f:27:9a:64").to_string(), "0c:5b:8f:27:9a:64");
        for wrong in ["", "0c:5b:8f:27:9a", "0c:5b:8f:27:9a:64:00", "0c:5b:8f:27:9a:+4", "0c5b.8f27.9a64"] {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
        assert!(mac("02:00:00:00:00:01").is_local() && !mac("0c:5b:8f:27:9a:64").is_local());
    }

    #[test]
    fn a_port_is_the_same_device_unless_the_manufacturers_address_differs() {
        let stick = hardware("0c:5b:8f:27:9a:64", Some("1-2"));
        assert!(stick.same_port(&stick));
        assert!(!stick.same_port(&hardware("0c:5b:8f:27:9a:64", Some("1-3"))));
        assert!(!stick.same_port(&hardware("0c:5b:8f:00:00:01", Some("1-2"))));
        // A phone draws an address each time it is plugged in.
        let phone = hardware("02:11:22:33:44:55", Some("1-4"));
        assert!(phone.same_port(&hardware("06:01:02:03:04:05", Some("1-4"))));
        let stick = hardware("0c:5b:8f:27:9a:64", Some("1-4"));
        assert!(!phone.same_port(&stick) && !stick.same_port(&phone), "a phone in the port of a stick");
        assert!(!Hardware::default().same_port(&Hardware::default()));
        assert!(!Hardware::default().same_mac(&Hardware::default()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_reports_the_addresses_that_sysfs_has() {
        let known = super::hardware();
        for interface in crate::interface::interfaces().expect("they are listed") {
            let folder = std::path::Path::new("/sys/class/net").join(&interface.name);
            let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            let index = read("ifindex").trim().parse().ok();
            // Another namespace may be mounted there.
            let Some(index) = index.filter(|index| Some(*index) == interface.index) else { continue };
            let (_, hardware) = known.iter().find(|(at, _)| *at == index).expect("all are reported");
            assert_eq!(interface.hardware, *hardware);
            // Type 1 is Ethernet (`linux/if_arp.h`); kind 0 is a permanent address.
            if read("type").trim() == "1" && read("addr_assign_type").trim() == "0" {
                assert_eq!(hardware.mac, read("address").trim().parse().ok(), "{}", interface.name);
            } else if interface.loopback {
                assert_eq!(*hardware, Hardware::default());
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_message_of_the_kernel() {
        let attribute = |kind: u16, value: &[u8]| {
            let mut bytes = Vec::from(u16::try_from(4 + value.len()).expect("short").to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let mut message = vec![0; 16];
        message[4..8].copy_from_slice(&7_u32.to_ne_bytes());
        message.extend(attribute(1, &[2, 0, 0, 0, 0, 9]));
        message.extend(attribute(56, b"1-2.3:1.0\0"));
        message.extend(attribute(57, b"usb\0"));
        assert_eq!(linux::link(&message), Some((7, hardware("02:00:00:00:00:09", Some("1-2.3:1.0")))));
        // The address that the manufacturer gave replaces the current one.
        message.extend(attribute(54, &[0x0c, 0x5b, 0x8f, 0x27, 0x9a, 0x64]));
        assert_eq!(linux::link(&message), Some((7, hardware("0c:5b:8f:27:9a:64", Some("1-2.3:1.0")))));
        // Cut at each byte: no panic.
        (0..message.len()).for_each(|end| drop(linux::link(&message[..end])));
        let mut other = vec![0; 16];
        other.extend(attribute(1, &[0; 6]));
        other.extend(attribute(56, b"0000:00:03.0\0"));
        other.extend(attribute(57, b"pci\0"));
        assert_eq!(linux::link(&other), Some((0, Hardware::default())));
    }
}
