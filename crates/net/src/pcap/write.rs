//! Writes captures: datagrams with IP and UDP headers that this module reconstructs.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use strandcast_proto::path::FourTuple;
use strandcast_proto::time::Instant;

use crate::driver::{PacketDirection, PacketTap};

/// Classic pcap with nanosecond time stamps.
const MAGIC: u32 = 0xa1b2_3c4d;
/// LINKTYPE_RAW: each packet begins with its IPv4 or IPv6 header.
const LINKTYPE_RAW: u32 = 101;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
const IPV4_HEADER: usize = 20;

/// Writes a capture. The headers are not the original ones. They have a TTL of 64, no fragments, and correct lengths
/// and checksums.
#[derive(Debug)]
pub struct PcapWriter<W> {
    to: W,
    packet: Vec<u8>,
}

impl<W: Write> PcapWriter<W> {
    /// Starts a capture by writing the file header.
    ///
    /// # Errors
    /// The writer's error.
    pub fn new(mut to: W) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend_from_slice(&MAGIC.to_le_bytes());
        header.extend_from_slice(&2u16.to_le_bytes());
        header.extend_from_slice(&4u16.to_le_bytes());
        for word in [0, 0, 0x4_0000, LINKTYPE_RAW] {
            header.extend_from_slice(&u32::to_le_bytes(word));
        }
        to.write_all(&header)?;
        Ok(PcapWriter { to, packet: Vec::new() })
    }

    /// Adds a datagram. `at` is its time stamp: the time since 1970.
    ///
    /// # Errors
    /// Returns the writer's error. Returns [`InvalidInput`](io::ErrorKind::InvalidInput) and writes nothing if the
    /// payload does not fit in one UDP datagram.
    pub fn datagram(
        &mut self,
        at: Duration,
        from: SocketAddr,
        to: SocketAddr,
        payload: &[u8],
    ) -> io::Result<()> {
        let whole = UDP_HEADER + payload.len();
        let inside = if both_v6(from.ip(), to.ip()) { whole } else { IPV4_HEADER + whole };
        if inside > usize::from(u16::MAX) {
            let words = format!("{} bytes do not fit in a UDP datagram", payload.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        self.packet.clear();
        write_ip(&mut self.packet, from.ip(), to.ip(), whole);
        let start = self.packet.len();
        for half in [from.port(), to.port(), whole as u16, 0] {
            self.packet.extend_from_slice(&half.to_be_bytes());
        }
        self.packet.extend_from_slice(payload);
        let sum = udp_checksum(from.ip(), to.ip(), &self.packet[start..]);
        self.packet[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
        let len = self.packet.len() as u32;
        for word in [at.as_secs() as u32, at.subsec_nanos(), len, len] {
            self.to.write_all(&word.to_le_bytes())?;
        }
        self.to.write_all(&self.packet)
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// The writer's error.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: Write + Send + 'static> PcapWriter<W> {
    /// Returns a tap for a driver that writes packets to this capture. The first error ends the capture, and `failed`
    /// is called with the error.
    pub fn into_tap(self, failed: impl FnOnce(io::Error) + Send + 'static) -> PacketTap {
        let mut writer = Some((self, failed));
        // The driver's clock has an arbitrary origin. The first time stamp of the clock is mapped to the present.
        let mut origin = None;
        Box::new(move |now: Instant, tuple: &FourTuple, way: PacketDirection, payload: &[u8]| {
            let Some((pcap, _)) = &mut writer else { return };
            let since = now - Instant::ZERO;
            let wall = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let origin = *origin.get_or_insert_with(|| wall().saturating_sub(since));
            let (from, to) = match way {
                PacketDirection::Sent => (tuple.local, tuple.remote),
                PacketDirection::Received => (tuple.remote, tuple.local),
            };
            if let Err(error) = pcap.datagram(origin + since, from, to, payload)
                && let Some((_, failed)) = writer.take()
            {
                failed(error);
            }
        })
    }
}

/// Returns whether the datagram gets an IPv6 header.
fn both_v6(from: IpAddr, to: IpAddr) -> bool {
    from.is_ipv6() && to.is_ipv6()
}

/// Writes the IP header. The IP version is the version of `to`, because the local address of a socket on all addresses
/// is unspecified.
fn write_ip(out: &mut Vec<u8>, from: IpAddr, to: IpAddr, payload_len: usize) {
    match (from, to) {
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            out.extend_from_slice(&[0x60, 0, 0, 0]);
            out.extend_from_slice(&(payload_len as u16).to_be_bytes());
            out.extend_from_slice(&[UDP, 64]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
        }
        (from, to) => {
            let start = out.len();
            out.extend_from_slice(&[0x45, 0]);
            out.extend_from_slice(&((IPV4_HEADER + payload_len) as u16).to_be_bytes());
            // The identification is 0, and the flag "don't fragment" is set.
            out.extend_from_slice(&[0, 0, 0x40, 0, 64, UDP, 0, 0]);
            out.extend_from_slice(&v4(from));
            out.extend_from_slice(&v4(to));
            let sum = !fold(sum(&out[start..]));
            out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

/// Converts an address to IPv4. An IPv6 address becomes the unspecified address.
fn v4(ip: IpAddr) -> [u8; 4] {
    match ip.to_canonical() {
        IpAddr::V4(v4) => v4.octets(),
        IpAddr::V6(_) => [0; 4],
    }
}

/// The UDP checksum (RFC 768, RFC 8200 §8.1). The UDP checksum includes the pseudo-header. If the checksum is 0, it is
/// sent as all ones.
fn udp_checksum(from: IpAddr, to: IpAddr, segment: &[u8]) -> u16 {
    let addresses = match (from, to) {
        (IpAddr::V6(from), IpAddr::V6(to)) => sum(&from.octets()) + sum(&to.octets()),
        (from, to) => sum(&v4(from)) + sum(&v4(to)),
    };
    let total = addresses + segment.len() as u64 + u64::from(UDP) + sum(segment);
    match !fold(total) {
        0 => 0xffff,
        sum => sum,
    }
}

/// The sum of the 16-bit words. An odd last byte is padded with zero (RFC 1071).
fn sum(bytes: &[u8]) -> u64 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |b| u64::from(*b));
    bytes.chunks(2).map(word).sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
        let mut pcap = PcapWriter::new(Vec::new()).unwrap();
        let at = Duration::new(1_700_000_000, 123_456_789);
        pcap.datagram(at, from.parse().unwrap(), to.parse().unwrap(), payload).unwrap();
        pcap.to
    }

    #[test]
    fn headers_have_types_and_lengths() {
        let file = capture("10.0.0.1:40000", "192.0.2.1:9899", b"hello");
        assert_eq!(file[..4], [0x4d, 0x3c, 0xb2, 0xa1]);
        assert_eq!(file[20..24], [101, 0, 0, 0]);
        assert_eq!(file[24..28], 1_700_000_000u32.to_le_bytes());
        assert_eq!(file[28..32], 123_456_789u32.to_le_bytes());
        assert_eq!(file[32..40], [33, 0, 0, 0, 33, 0, 0, 0]);
        let packet = &file[40..];
        assert_eq!((packet.len(), packet[0], &packet[2..4]), (33, 0x45, &[0, 33][..]));
        assert_eq!((&packet[12..16], &packet[16..20]), (&[10, 0, 0, 1][..], &[192, 0, 2, 1][..]));
        assert_eq!(packet[20..26], [0x9c, 0x40, 0x26, 0xab, 0, 13]);
        assert_eq!(&packet[28..], b"hello");
    }

    /// RFC 1071: the sum over a header or segment with its checksum in place is all ones.
    #[test]
    fn checksums_hold() {
        for payload in [&b"even"[..], b"odd", b"", &[0xff; 1372]] {
            let file = capture("10.0.0.1:40000", "192.0.2.1:9899", payload);
            let (ip, udp) = file[40..].split_at(20);
            assert_eq!(fold(sum(ip)), 0xffff);
            assert_eq!(fold(sum(&ip[12..]) + 17 + udp.len() as u64 + sum(udp)), 0xffff);
            let file = capture("[2001:db8::1]:40000", "[2001:db8::2]:9899", payload);
            let (ip, udp) = file[40..].split_at(40);
            assert_eq!(ip[0] >> 4, 6);
            assert_eq!(fold(sum(&ip[8..]) + 17 + udp.len() as u64 + sum(udp)), 0xffff);
        }
    }

    #[test]
    fn lengths_above_those_of_udp_are_refused() {
        for (from, to, most) in [
            ("10.0.0.1:1", "10.0.0.2:2", 65_507),
            ("[::]:1", "10.0.0.2:2", 65_507),
            ("[2001:db8::1]:1", "[2001:db8::2]:2", 65_527),
        ] {
            let mut pcap = PcapWriter::new(Vec::new()).unwrap();
            let mut add = |len| {
                let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
                pcap.datagram(Duration::ZERO, from, to, &vec![0; len]).map_err(|error| error.kind())
            };
            assert_eq!(add(most), Ok(()), "{to}");
            assert_eq!(add(most + 1), Err(io::ErrorKind::InvalidInput), "{to}");
        }
    }

    #[test]
    fn an_error_ends_the_capture_and_is_reported_once() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (report, heard) = std::sync::mpsc::channel();
        let pcap = PcapWriter { to: Full, packet: Vec::new() };
        let mut tap = pcap.into_tap(move |e| report.send(e.kind()).unwrap());
        for _ in 0..2 {
            tap(Instant::ZERO, &FourTuple::loopback(1, 2), PacketDirection::Sent, b"x");
        }
        assert_eq!(heard.iter().collect::<Vec<_>>(), [io::ErrorKind::StorageFull]);
    }
}
