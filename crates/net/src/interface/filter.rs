//! The kernel's check of the source interface of packets.

/// Strictness of Linux's check of the sources of IPv4 packets on an interface (RFC 3704): the stricter of two settings.
/// 1 drops packets whose source is reached by another interface. `None`: the system does not say.
pub fn rp_filter(interface: &str) -> Option<u32> {
    let read = |of: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{of}/rp_filter")).ok()?;
        text.trim().parse().ok()
    };
    read(interface).into_iter().chain(read("all")).max()
}
