//! Reads UDP datagrams from captures.

use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

const UDP: u8 = 17;
/// The longest record, bytes: tcpdump's limit.
const LONGEST: usize = 262_144;

/// Reason why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PcapError {
    /// The file has no whole header.
    #[error("it is not a capture")]
    NoHeader,
    /// The file is in the format pcapng.
    #[error("it is a pcapng file: convert it with editcap -F pcap")]
    Pcapng,
    /// The file is in another format.
    #[error("it is not a capture in the pcap format")]
    Format,
    /// The packets of the capture begin with a header of an unknown type.
    #[error("its link type {0} is unknown: capture Ethernet, IP or -i any")]
    Link(u32),
    /// A record has this number of bytes, which is more than any packet has.
    #[error("the file is damaged: a record has {0} bytes")]
    Damaged(usize),
    /// The system cannot read the file.
    #[error(transparent)]
    Read(io::Error),
}

/// Reads the UDP datagrams of a capture: a classic pcap file, as tcpdump and [`PcapWriter`](super::PcapWriter) write it.
/// Its times have microseconds or nanoseconds. Its packets begin with an Ethernet header, an IP header, or the header of
/// Linux's device `any` or of BSD's loopback.
#[derive(Debug)]
pub struct PcapReader<R> {
    from: R,
    big_endian: bool,
    nanoseconds: bool,
    link: u32,
    packet: Vec<u8>,
    /// Number of packets without a complete UDP datagram.
    others: u64,
}

/// A datagram of a capture.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured<'a> {
    /// Time since 1970 at which the datagram was captured.
    pub at: Duration,
    /// Address of the sender.
    pub from: SocketAddr,
    /// Address of the receiver.
    pub to: SocketAddr,
    /// Content of the datagram. The caller may change it, for example to decrypt it in place.
    pub payload: &'a mut [u8],
}

impl<R: Read> PcapReader<R> {
    /// Reads the header of the file.
    ///
    /// # Errors
    /// Returns [`PcapError::Read`] if the system cannot read the file. All other errors mean that the file is not a
    /// capture of a known format and link type.
    pub fn open(mut from: R) -> Result<Self, PcapError> {
        let mut header = [0; 24];
        if !whole(from.read_exact(&mut header))? {
            return Err(PcapError::NoHeader);
        }
        let (big_endian, nanoseconds) = match header[..4] {
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, false),
            [0x4d, 0x3c, 0xb2, 0xa1] => (false, true),
            [0xa1, 0xb2, 0xc3, 0xd4] => (true, false),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, true),
            [0x0a, 0x0d, 0x0d, 0x0a] => return Err(PcapError::Pcapng),
            _ => return Err(PcapError::Format),
        };
        let mut capture =
            PcapReader { from, big_endian, nanoseconds, link: 0, packet: Vec::new(), others: 0 };
        // The upper bits of the field tell whether frames end with a checksum.
        capture.link = capture.word(&header, 20) & 0xffff;
        match ip_offset(capture.link, &[0; 64]) {
            Some(_) => Ok(capture),
            None => Err(PcapError::Link(capture.link)),
        }
    }

    /// Returns the number of packets so far that have no complete UDP datagram: packets of other protocols, fragments,
    /// and packets that were cut off.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Returns the next UDP datagram, or `None` at the end. If the last record is incomplete, it is left out.
    ///
    /// # Errors
    /// Returns [`PcapError::Damaged`] or [`PcapError::Read`].
    pub fn datagram(&mut self) -> Result<Option<Captured<'_>>, PcapError> {
        loop {
            let mut header = [0; 16];
            if !whole(self.from.read_exact(&mut header))? {
                return Ok(None);
            }
            let [seconds, fraction, captured, original] = [0, 4, 8, 12].map(|at| self.word(&header, at));
            let length = captured as usize;
            if length > LONGEST {
                return Err(PcapError::Damaged(length));
            }
            self.packet.resize(length, 0);
            if !whole(self.from.read_exact(&mut self.packet))? {
                return Ok(None);
            }
            let nanoseconds = if self.nanoseconds { fraction } else { fraction.saturating_mul(1000) };
            let found = (captured == original).then(|| udp(self.link, &self.packet)).flatten();
            let Some((from, to, start, end)) = found else {
                self.others += 1;
                continue;
            };
            let at = Duration::from_secs(seconds.into()) + Duration::from_nanos(nanoseconds.into());
            return Ok(Some(Captured { at, from, to, payload: &mut self.packet[start..end] }));
        }
    }

    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }
}

/// Returns true if all bytes were read, and false at the end of the file.
fn whole(read: io::Result<()>) -> Result<bool, PcapError> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(PcapError::Read(error)),
    }
}

/// Returns the offset of the IP header in a packet of this link type. Returns `None` if the type is unknown or the
/// packet is too short.
fn ip_offset(link: u32, packet: &[u8]) -> Option<usize> {
    match link {
        // In order: loopback of BSD, Ethernet with VLAN tags, raw IP, and Linux's `-i any` in versions 1 and 2.
        0 => Some(4),
        1 => {
            let mut at = 12;
            while packet.get(at..at + 2)? == [0x81, 0x00] {
                at += 4;
            }
            Some(at + 2)
        }
        101 => Some(0),
        113 => Some(16),
        276 => Some(20),
        _ => None,
    }
}

/// Returns the addresses of a UDP datagram that is not fragmented, and the position of its payload.
fn udp(link: u32, packet: &[u8]) -> Option<(SocketAddr, SocketAddr, usize, usize)> {
    let at = ip_offset(link, packet)?;
    let ip = packet.get(at..)?;
    let (from, to, header): (IpAddr, IpAddr, usize) = match ip.first()? >> 4 {
        4 => {
            let fragment = u16::from_be_bytes(*ip.get(6..)?.first_chunk()?) & 0x3fff != 0;
            if *ip.get(9)? != UDP || fragment {
                return None;
            }
            let address = |at: usize| Some(Ipv4Addr::from(*ip.get(at..)?.first_chunk::<4>()?));
            (address(12)?.into(), address(16)?.into(), usize::from(ip[0] & 15) * 4)
        }
        6 => {
            if *ip.get(6)? != UDP {
                return None;
            }
            let address = |at: usize| Some(Ipv6Addr::from(*ip.get(at..)?.first_chunk::<16>()?));
            (address(8)?.into(), address(24)?.into(), 40)
        }
        _ => return None,
    };
    let udp = ip.get(header..)?;
    let port = |at: usize| Some(u16::from_be_bytes(*udp.get(at..)?.first_chunk()?));
    // If the kernel has not yet cut the data into datagrams, the data may be longer than this 16-bit field allows.
    let length = match usize::from(port(4)?) {
        0 => udp.len(),
        length => length,
    };
    let start = at + header + 8;
    let end = at + header + length;
    (start <= end && end <= packet.len()).then_some((
        SocketAddr::new(from, port(0)?),
        SocketAddr::new(to, port(2)?),
        start,
        end,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap::PcapWriter;

    const AT: Duration = Duration::new(1_700_000_000, 123_456_000);

    /// Makes a capture of raw IP with these datagrams, in the format of [`PcapWriter`].
    fn written(datagrams: &[(&str, &str, &[u8])]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut pcap = PcapWriter::new(&mut file).unwrap();
        for (from, to, payload) in datagrams {
            pcap.datagram(AT, from.parse().unwrap(), to.parse().unwrap(), payload).unwrap();
        }
        file
    }

    /// Time, addresses and payload of a datagram.
    type Read = (Duration, String, Vec<u8>);

    fn all(file: &[u8]) -> Result<(Vec<Read>, u64), String> {
        let told = |error: PcapError| error.to_string();
        let mut capture = PcapReader::open(file).map_err(told)?;
        let mut found = Vec::new();
        while let Some(datagram) = capture.datagram().map_err(told)? {
            found.push((
                datagram.at,
                format!("{} {}", datagram.from, datagram.to),
                datagram.payload.to_vec(),
            ));
        }
        Ok((found, capture.others()))
    }

    const SENT: [(&str, &str, &[u8]); 3] = [
        ("10.0.0.1:40000", "192.0.2.1:9899", b"first"),
        ("[2001:db8::1]:1", "[2001:db8::2]:2", b""),
        ("10.0.0.1:40000", "192.0.2.1:9899", &[7; 1400]),
    ];

    #[test]
    fn what_was_written_is_read() {
        let (found, others) = all(&written(&SENT)).unwrap();
        let expected: Vec<_> =
            SENT.iter().map(|(from, to, payload)| (AT, format!("{from} {to}"), payload.to_vec())).collect();
        assert_eq!((found, others), (expected, 0));
    }

    /// Makes records in the other byte order, with microseconds, and with a link header before each packet.
    fn relinked(file: &[u8], link: u8, header: &[u8]) -> Vec<u8> {
        let swapped = |word: &[u8]| word.iter().rev().copied().collect::<Vec<u8>>();
        let mut out = vec![0xa1, 0xb2, 0xc3, 0xd4];
        out.extend([0; 16]);
        out.extend([0, 0, 0, link]);
        let mut rest = &file[24..];
        while !rest.is_empty() {
            let words: Vec<u32> =
                rest[..16].chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
            let len = words[2] as usize;
            let with = (len + header.len()) as u32;
            for word in [words[0], words[1] / 1000, with, with] {
                out.extend(swapped(&word.to_le_bytes()));
            }
            out.extend(header);
            out.extend(&rest[16..16 + len]);
            rest = &rest[16 + len..];
        }
        out
    }

    #[test]
    fn links_byte_orders_and_clocks_of_other_programs_are_read() {
        let file = written(&SENT);
        let ethernet = [[0; 12].as_slice(), &[0x81, 0, 0, 5, 8, 0]].concat();
        for (link, header) in [(1, &ethernet[..]), (1, &[0; 14]), (113, &[0; 16]), (0, &[0; 4])] {
            assert_eq!(all(&relinked(&file, link, header)), all(&file), "{link}");
        }
        assert!(all(&relinked(&file, 105, &[])).unwrap_err().contains("105"));
    }

    #[test]
    fn files_cut_anywhere_give_what_is_whole_and_no_panic() {
        let file = written(&SENT);
        for len in 0..file.len() {
            match all(&file[..len]) {
                Ok((found, _)) => assert!(len >= 24 && found.len() < SENT.len()),
                Err(_) => assert!(len < 24),
            }
        }
    }

    #[test]
    fn errors_of_the_system_are_told_from_short_files() {
        #[derive(Debug)]
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::IsADirectory.into())
            }
        }
        let broken = PcapReader::open(Broken).expect_err("nothing can be read");
        assert!(matches!(broken, PcapError::Read(error) if error.kind() == io::ErrorKind::IsADirectory));
        for short in [0, 23] {
            assert!(matches!(PcapReader::open(&[0xa1; 23][..short]), Err(PcapError::NoHeader)), "{short}");
        }
    }

    #[test]
    fn any_changed_byte_is_read_or_refused() {
        let file = written(&SENT[..2]);
        for at in 0..file.len() {
            for value in [0, 1, 0x45, 0x60, 0x7f, 0xff] {
                let mut changed = file.clone();
                changed[at] = value;
                // Reading must not panic, whatever the file contains.
                let _ = all(&changed);
            }
        }
    }

    #[test]
    fn other_protocols_fragments_and_cut_packets_are_counted() {
        let file = written(&[SENT[0]]);
        let ip = 24 + 16;
        for (at, value) in [(ip + 9, 6), (ip + 6, 0x20), (ip + 7, 1), (ip, 0x55)] {
            let mut changed = file.clone();
            changed[at] = value;
            assert_eq!(all(&changed), Ok((Vec::new(), 1)), "{at}");
        }
        let mut cut = file.clone();
        cut[24 + 12] += 1;
        assert_eq!(all(&cut), Ok((Vec::new(), 1)));
    }
}
