//! Sources of link counters.

use super::station::Station;
use crate::netlink::Refusal;

/// A source of counters. It consists of functions, so that tests can emulate radios.
pub(crate) struct Source {
    /// Returns whether the interface of this name may have counters.
    pub(crate) is_wireless: fn(&str) -> bool,
    /// The stations of the interface with this index. The function may block.
    pub(crate) stations: Box<dyn FnMut(u32) -> Result<Vec<Station>, Refusal> + Send>,
}

impl Source {
    /// The kernel's counters.
    #[cfg(target_os = "linux")]
    pub(super) fn kernel() -> Source {
        let mut kernel = linux::Kernel::default();
        Source { is_wireless: linux::is_wireless, stations: Box::new(move |index| kernel.stations(index)) }
    }

    /// The source of other systems, which has no counters.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn kernel() -> Source {
        Source { is_wireless: |_| false, stations: Box::new(|_| Err(Refusal::NoFamily)) }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::net::netlink;

    use super::super::station::{ATTR_IFINDEX, GET_STATION, Station};
    use crate::netlink::message::{NLM_F_ACK, NLM_F_DUMP, attributes, generic, u16_at};
    use crate::netlink::{self as asked, Refusal};

    /// The generic netlink family that translates the names of other families to numbers.
    const GENL_ID_CTRL: u16 = 0x10;
    const CTRL_CMD_GETFAMILY: u8 = 3;
    const CTRL_ATTR_FAMILY_ID: u16 = 1;
    const CTRL_ATTR_FAMILY_NAME: u16 = 2;

    /// Returns whether the interface is wireless. Only devices of cfg80211, the part of Linux that configures wireless
    /// devices, have the entry `phy80211` in their folder of /sys/class/net. With a netlink query instead of this
    /// entry, the kernel might search for modules each time.
    pub(super) fn is_wireless(interface: &str) -> bool {
        !interface.contains('/')
            && std::fs::exists(format!("/sys/class/net/{interface}/phy80211")).unwrap_or(false)
    }

    /// A connection to nl80211. The connection is opened at its first use, and opened again after an error.
    #[derive(Debug, Default)]
    pub(in super::super) struct Kernel(Option<Open>);

    impl Kernel {
        /// The stations of an interface.
        ///
        /// # Errors
        /// [`Refusal`].
        pub(in super::super) fn stations(&mut self, index: u32) -> Result<Vec<Station>, Refusal> {
            let mut open = match self.0.take() {
                Some(open) => open,
                None => Open::nl80211()?,
            };
            let mut found = Vec::new();
            let (family, attribute) = (open.nl80211, (ATTR_IFINDEX, &index.to_ne_bytes()[..]));
            let take = |command, payload: &[u8]| found.extend(Station::parse(command, payload));
            open.query(family, NLM_F_DUMP, GET_STATION, attribute, take)?;
            self.0 = Some(open);
            Ok(found)
        }
    }

    #[derive(Debug)]
    struct Open {
        kernel: asked::Kernel,
        nl80211: u16,
    }

    impl Open {
        fn new() -> Result<Open, Refusal> {
            Ok(Open { kernel: asked::Kernel::open(Some(netlink::GENERIC))?, nl80211: 0 })
        }

        fn nl80211() -> Result<Open, Refusal> {
            let mut open = Open::new()?;
            open.nl80211 = open.family(b"nl80211\0")?;
            Ok(open)
        }

        /// Returns the number of a generic netlink family. The name ends with a zero byte.
        fn family(&mut self, name: &[u8]) -> Result<u16, Refusal> {
            let mut id = None;
            let take = |_, payload: &[u8]| {
                let value = attributes(payload).find(|(kind, _)| *kind == CTRL_ATTR_FAMILY_ID);
                id = value.and_then(|(_, id)| u16_at(id, 0));
            };
            self.query(GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, (CTRL_ATTR_FAMILY_NAME, name), take)?;
            id.ok_or(Refusal::NoFamily)
        }

        /// Passes on the command and the attributes of each message of the answer.
        fn query(
            &mut self,
            family: u16,
            flags: u16,
            command: u8,
            attribute: (u16, &[u8]),
            mut take: impl FnMut(u8, &[u8]),
        ) -> Result<(), Refusal> {
            let mut complete = true;
            let header = [command, 1, 0, 0];
            self.kernel.query((family, family), flags, &header, &[attribute], |payload| {
                match generic(payload) {
                    Some((command, attributes)) => take(command, attributes),
                    None => complete = false,
                }
            })?;
            if complete { Ok(()) } else { Err(Refusal::Malformed) }
        }
    }

    /// The controller is itself a family, and always exists.
    #[cfg(test)]
    #[test]
    fn the_kernel_answers_questions_of_this_form() {
        // The test is skipped on machines that do not let processes open netlink sockets.
        let Ok(mut open) = Open::new() else { return };
        for _ in 0..3 {
            assert_eq!(open.family(b"nlctrl\0"), Ok(GENL_ID_CTRL));
            assert_eq!(open.family(b"no such family\0"), Err(Refusal::NoFamily));
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(super) use linux::Kernel;
