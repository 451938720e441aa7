//! Opening a path's socket.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use quinn_udp::UdpSocketState;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;

/// Size of the kernel buffer that is requested for each direction, in bytes. The kernel grants at most
/// `net.core.{r,w}mem_max`.
const KERNEL_BUFFER: usize = 4 << 20;

/// The addresses and the interface to which a socket is bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindSpec {
    /// The local address. `None` stands for any address: IPv6 and IPv4, if the machine has both.
    pub address: Option<IpAddr>,
    /// Zone of a link-local IPv6 address: the index of the address's interface. 0 for any other address.
    pub scope: u32,
    /// The interface for all traffic in both directions.
    pub interface: Option<String>,
    /// The local UDP port. 0: the system chooses one.
    pub port: u16,
}

/// The restriction of a socket to its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The socket is bound to its interface. The kernel uses only routes of this interface.
    Interface,
    /// The socket is only bound to its address. The kernel's routing table chooses the interface. There are two reasons
    /// for this: it was requested, or the user has no permission to bind a socket to an interface. Before Linux 5.7,
    /// only root had this permission.
    Address,
    /// The socket is bound to neither interface nor address: a server's socket on all addresses.
    Nothing,
}

/// Reason why a socket could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// No interface has this name.
    #[error("no network interface is called {0}")]
    NoInterface(String),
    /// The system refuses to bind the socket to the interface, and there is no address that could be bound instead.
    #[error("this user may not bind to interface {0}: give its address instead")]
    InterfaceRefused(String),
    /// The port is in use.
    #[error("UDP port {} is in use on {}", .0.port(), .0.ip())]
    PortInUse(SocketAddr),
    /// The address is not one of this machine's.
    #[error("{0} is not an address of this machine")]
    NoAddress(IpAddr),
    /// The user needs a special permission for this port.
    #[error("UDP port {0} needs root or CAP_NET_BIND_SERVICE, as all below 1024 do: choose another one")]
    PortRefused(u16),
    /// Any other error.
    #[error("cannot open a UDP socket on {0}: {1}")]
    Other(SocketAddr, #[source] io::Error),
}

/// A path's socket. The path's socket is not connected, because one socket of a server serves all peers.
#[derive(Debug)]
pub struct PathSocket {
    pub(super) io: UdpSocket,
    pub(super) state: UdpSocketState,
    pub(super) local: SocketAddr,
    bound: Bound,
}

impl PathSocket {
    /// Opens a socket. Call this inside a tokio runtime.
    ///
    /// # Errors
    /// [`SocketError`], a one-line diagnostic.
    pub fn bind(spec: &BindSpec) -> Result<PathSocket, SocketError> {
        match spec.address {
            Some(IpAddr::V6(v6)) if v6.is_unicast_link_local() => {
                bind_to(spec, SocketAddrV6::new(v6, spec.port, 0, spec.scope).into())
            }
            Some(address) => bind_to(spec, SocketAddr::new(address, spec.port)),
            None => {
                // One IPv6 socket also serves IPv4. Systems without IPv6 use an IPv4 socket.
                let any = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), spec.port);
                match bind_to(spec, any) {
                    Err(SocketError::Other(..) | SocketError::NoAddress(_)) => {
                        bind_to(spec, SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), spec.port))
                    }
                    done => done,
                }
            }
        }
    }

    /// The address and port to which it is bound.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Restriction of the socket to its network.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// Sizes of the socket's kernel buffers in bytes: (receive, send).
    ///
    /// # Errors
    /// The system's error.
    pub fn kernel_buffers(&self) -> io::Result<(usize, usize)> {
        let socket = (&self.io).into();
        let receive = self.state.recv_buffer_size(socket)?;
        Ok((receive, self.state.send_buffer_size((&self.io).into())?))
    }
}

fn bind_to(spec: &BindSpec, local: SocketAddr) -> Result<PathSocket, SocketError> {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::AddrInUse => SocketError::PortInUse(local),
        io::ErrorKind::AddrNotAvailable => SocketError::NoAddress(local.ip()),
        io::ErrorKind::PermissionDenied if (1..1024).contains(&local.port()) => {
            SocketError::PortRefused(local.port())
        }
        _ => SocketError::Other(local, e),
    };
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP)).map_err(failed)?;
    if local.is_ipv6() {
        socket.set_only_v6(!local.ip().is_unspecified()).map_err(failed)?;
    }
    // A buffer that is smaller than requested only reduces speed.
    let _ = socket.set_recv_buffer_size(KERNEL_BUFFER);
    let _ = socket.set_send_buffer_size(KERNEL_BUFFER);
    let bound = match &spec.interface {
        Some(name) => bind_interface(&socket, name, local)?,
        None if local.ip().is_unspecified() => Bound::Nothing,
        None => Bound::Address,
    };
    socket.bind(&local.into()).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    let io = UdpSocket::from_std(socket.into()).map_err(failed)?;
    let state = UdpSocketState::new((&io).into()).map_err(failed)?;
    let local = io.local_addr().map_err(failed)?;
    Ok(PathSocket { io, state, local, bound })
}

fn bind_interface(socket: &Socket, name: &str, local: SocketAddr) -> Result<Bound, SocketError> {
    match bind_device(socket, name, local) {
        Ok(()) => Ok(Bound::Interface),
        Err(e) if matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
            match local.ip().is_unspecified() {
                true => Err(SocketError::InterfaceRefused(name.to_owned())),
                false => Ok(Bound::Address),
            }
        }
        Err(_) => Err(SocketError::NoInterface(name.to_owned())),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bind_device(socket: &Socket, name: &str, _local: SocketAddr) -> io::Result<()> {
    if name.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    socket.bind_device(Some(name.as_bytes()))
}

#[cfg(target_os = "macos")]
fn bind_device(socket: &Socket, name: &str, local: SocketAddr) -> io::Result<()> {
    let interfaces = if_addrs::get_if_addrs()?;
    let index = interfaces.iter().find(|i| i.name == name).and_then(|i| i.index);
    let index = index.and_then(std::num::NonZeroU32::new).ok_or(io::ErrorKind::NotFound)?;
    match local {
        SocketAddr::V4(_) => socket.bind_device_by_index_v4(Some(index)),
        SocketAddr::V6(_) => socket.bind_device_by_index_v6(Some(index)),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn bind_device(_socket: &Socket, _name: &str, _local: SocketAddr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
