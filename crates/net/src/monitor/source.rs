//! Sources of link counters.

use super::refusal::Refusal;
use super::station::Station;

/// A source of counters, in closures so that tests can emulate radios.
pub(crate) struct Source {
    /// Returns whether the interface of this name may have counters.
    pub(crate) is_wireless: fn(&str) -> bool,
    /// The stations of the interface with this index. May block.
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
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, sockopt};

    use super::super::message::{self, GENL_ID_CTRL, NLM_F_ACK, NLM_F_DUMP, attributes, u16_at};
    use super::super::refusal::Refusal;
    use super::super::station::{ATTR_IFINDEX, GET_STATION, Station};

    const CTRL_CMD_GETFAMILY: u8 = 3;
    const CTRL_ATTR_FAMILY_ID: u16 = 1;
    const CTRL_ATTR_FAMILY_NAME: u16 = 2;

    /// The longest datagram of a kernel dump.
    const DATAGRAM: usize = 32 << 10;
    /// Datagrams per answer; 64 hold some thousand stations.
    const MAX_DATAGRAMS: usize = 64;
    /// Maximum time of an answer.
    const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

    /// Only cfg80211 devices have this entry. A netlink query might make the kernel search for modules each time.
    pub(super) fn is_wireless(interface: &str) -> bool {
        !interface.contains('/')
            && std::fs::exists(format!("/sys/class/net/{interface}/phy80211")).unwrap_or(false)
    }

    /// A connection to nl80211, opened on first use and reopened after an error.
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
        socket: OwnedFd,
        nl80211: u16,
        sequence: u32,
        buffer: Vec<u8>,
    }

    impl Open {
        fn new() -> Result<Open, Refusal> {
            let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
            let socket =
                net::socket_with(family, SocketType::RAW, flags, Some(netlink::GENERIC)).map_err(refusal)?;
            // Exchanges messages with the kernel only.
            net::connect(&socket, &netlink::SocketAddrNetlink::new(0, 0)).map_err(refusal)?;
            sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(ANSWER_TIMEOUT))
                .map_err(refusal)?;
            Ok(Open { socket, nl80211: 0, sequence: 0, buffer: vec![0; DATAGRAM] })
        }

        fn nl80211() -> Result<Open, Refusal> {
            let mut open = Open::new()?;
            open.nl80211 = open.family(b"nl80211\0")?;
            Ok(open)
        }

        /// Returns the number of a family of generic netlink; the name ends with a zero.
        fn family(&mut self, name: &[u8]) -> Result<u16, Refusal> {
            let mut id = None;
            let take = |_, payload: &[u8]| {
                let value = attributes(payload).find(|(kind, _)| *kind == CTRL_ATTR_FAMILY_ID);
                id = value.and_then(|(_, id)| u16_at(id, 0));
            };
            self.query(GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, (CTRL_ATTR_FAMILY_NAME, name), take)?;
            id.ok_or(Refusal::NoFamily)
        }

        fn query(
            &mut self,
            family: u16,
            flags: u16,
            command: u8,
            attribute: (u16, &[u8]),
            mut take: impl FnMut(u8, &[u8]),
        ) -> Result<(), Refusal> {
            self.sequence = self.sequence.wrapping_add(1);
            let request = message::request(family, flags, self.sequence, command, attribute);
            net::send(&self.socket, &request, SendFlags::empty()).map_err(refusal)?;
            for _ in 0..MAX_DATAGRAMS {
                let (_, length) =
                    net::recv(&self.socket, &mut self.buffer[..], RecvFlags::TRUNC).map_err(refusal)?;
                let datagram = self.buffer.get(..length).ok_or(Refusal::Malformed)?;
                if message::parse_answer(datagram, self.sequence, family, &mut take)? {
                    return Ok(());
                }
            }
            Err(Refusal::Malformed)
        }
    }

    fn refusal(errno: Errno) -> Refusal {
        Refusal::of(errno.raw_os_error())
    }

    /// The controller is a family itself and always exists.
    #[cfg(test)]
    #[test]
    fn the_kernel_answers_questions_of_this_form() {
        // Skipped where processes may not open netlink sockets.
        let Ok(mut open) = Open::new() else { return };
        for _ in 0..3 {
            assert_eq!(open.family(b"nlctrl\0"), Ok(GENL_ID_CTRL));
            assert_eq!(open.family(b"no such family\0"), Err(Refusal::NoFamily));
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(super) use linux::Kernel;
