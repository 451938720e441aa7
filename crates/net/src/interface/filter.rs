//! The kernel's check whether packets arrive on the expected interface.

/// Strictness of Linux's check of the source addresses of IPv4 packets on an interface (RFC 3704). Linux has two such
/// settings, and the stricter one applies. With the value 1, Linux drops a packet if packets to its source would leave
/// by another interface. `None`: the system does not report the setting.
pub fn rp_filter(interface: &str) -> Option<u32> {
    let read = |of: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{of}/rp_filter")).ok()?;
        text.trim().parse().ok()
    };
    read(interface).into_iter().chain(read("all")).max()
}
