//! The kernel's announcements that interfaces, addresses, routes or rules have changed.

use std::task::{Context, Poll};

#[cfg(target_os = "linux")]
use linux::Announcements;

/// The kernel's announcements. If the system announces nothing, the program must query the interfaces regularly.
#[derive(Debug, Default)]
pub struct InterfaceEvents {
    #[cfg(target_os = "linux")]
    open: Option<Announcements>,
}

impl InterfaceEvents {
    /// Starts to receive the announcements. Call this inside a tokio runtime.
    pub fn open() -> Self {
        InterfaceEvents {
            #[cfg(target_os = "linux")]
            open: Announcements::open().ok(),
        }
    }

    /// Reads all announcements. Returns whether any announcements had arrived. If none had arrived, the next
    /// announcement wakes the task.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(open) = &mut self.open {
            let mut any = false;
            loop {
                match open.poll_taken(cx) {
                    Poll::Pending => return any,
                    Poll::Ready(Ok(())) => any = true,
                    Poll::Ready(Err(_)) => {
                        self.open = None;
                        return true;
                    }
                }
            }
        }
        let _: (&mut Context<'_>, Poll<()>) = (cx, Poll::Pending);
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::task::{Context, Poll, ready};

    use rustix::io::Errno;
    use rustix::net::netlink::SocketAddrNetlink;
    use rustix::net::{self, AddressFamily, RecvFlags, SocketFlags, SocketType};
    use tokio::io::unix::AsyncFd;

    /// Groups of `linux/rtnetlink.h`: links, and addresses, routes and rules of IPv4 and of IPv6.
    const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x80 | 0x100 | 0x400 | 0x4_0000;
    /// Size of the read buffer. An announcement may be cut off, because its content is not used.
    const GLIMPSE: usize = 64;

    /// A socket that is a member of the kernel's groups.
    #[derive(Debug)]
    pub(super) struct Announcements(AsyncFd<OwnedFd>);

    impl Announcements {
        pub(super) fn open() -> io::Result<Self> {
            let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK);
            // Protocol 0: routing.
            let socket = net::socket_with(family, SocketType::RAW, flags, None)?;
            net::bind(&socket, &SocketAddrNetlink::new(0, GROUPS))?;
            #[expect(
                deprecated,
                reason = "safe: an owned descriptor stays what it is as long as it is registered"
            )]
            let registered = AsyncFd::new(socket)?;
            Ok(Announcements(registered))
        }

        /// Reads one announcement. An overflow of the kernel's queue (`ENOBUFS`) counts as an announcement.
        pub(super) fn poll_taken(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            loop {
                let mut ready = ready!(self.0.poll_read_ready(cx))?;
                let taken = ready.try_io(|socket| {
                    let mut glimpse = [0; GLIMPSE];
                    match net::recv(socket, &mut glimpse[..], RecvFlags::empty()) {
                        Ok(_) | Err(Errno::NOBUFS) => Ok(()),
                        Err(error) => Err(error.into()),
                    }
                });
                // The socket was not ready after all.
                let Ok(taken) = taken else { continue };
                match taken {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    done => return Poll::Ready(done),
                }
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn without_an_announcement_nothing_is_reported() {
        let mut events = InterfaceEvents::open();
        // The network of the machine may change for other reasons at any time, but such changes come to an end.
        let quiet = async { while poll_fn(|cx| Poll::Ready(events.poll(cx))).await {} };
        assert!(tokio::time::timeout(std::time::Duration::from_secs(5), quiet).await.is_ok());
    }
}
