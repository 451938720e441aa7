//! A netlink socket for questions to the kernel.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{self, AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

use super::message;
use super::refusal::Refusal;

/// Maximum length of a datagram of an answer.
const DATAGRAM: usize = 32 << 10;
/// Maximum number of datagrams per answer. 64 datagrams have room for some thousand stations or routes.
const MAX_DATAGRAMS: usize = 64;
/// Maximum time until an answer is complete.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// A connection to a subsystem of the kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Kernel {
    /// Opens a connection. `None` stands for the routing subsystem, which has the number 0.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(crate) fn open(subsystem: Option<Protocol>) -> Result<Kernel, Refusal> {
        let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
        let socket = net::socket_with(family, SocketType::RAW, flags, subsystem).map_err(refusal)?;
        // Exchanges messages with the kernel only.
        net::connect(&socket, &SocketAddrNetlink::new(0, 0)).map_err(refusal)?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(ANSWER_TIMEOUT))
            .map_err(refusal)?;
        Ok(Kernel { socket, sequence: 0, buffer: vec![0; DATAGRAM] })
    }

    /// Sends a request of type `kind` and passes on the payloads of the messages of type `answer`.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(crate) fn query(
        &mut self,
        (kind, answer): (u16, u16),
        flags: u16,
        header: &[u8],
        attributes: &[(u16, &[u8])],
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), Refusal> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = message::request(kind, flags, self.sequence, header, attributes);
        net::send(&self.socket, &request, SendFlags::empty()).map_err(refusal)?;
        for _ in 0..MAX_DATAGRAMS {
            let (_, length) =
                net::recv(&self.socket, &mut self.buffer[..], RecvFlags::TRUNC).map_err(refusal)?;
            let datagram = self.buffer.get(..length).ok_or(Refusal::Malformed)?;
            if message::parse_answer(datagram, self.sequence, answer, &mut take)? {
                return Ok(());
            }
        }
        Err(Refusal::Malformed)
    }
}

fn refusal(errno: Errno) -> Refusal {
    Refusal::of(errno.raw_os_error())
}
