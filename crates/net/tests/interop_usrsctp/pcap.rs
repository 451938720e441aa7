//! What a peer sent and received, as a capture file: IPv4 and UDP headers are put back in front.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::SocketAddrV4;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
/// Raw IP.
const LINKTYPE_RAW: u32 = 101;
const IP_AND_UDP: usize = 28;

pub struct Capture {
    file: BufWriter<File>,
}

impl Capture {
    pub fn create(path: &Path) -> Self {
        let mut file = BufWriter::new(File::create(path).expect("a capture file"));
        let mut head = Vec::new();
        for word in [MAGIC_MICROSECONDS, 0x0004_0002, 0, 0, 65_535, LINKTYPE_RAW] {
            head.extend(word.to_le_bytes());
        }
        file.write_all(&head).expect("room on the disk");
        Capture { file }
    }

    pub fn write(&mut self, from: SocketAddrV4, to: SocketAddrV4, payload: &[u8]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock past 1970");
        let len = IP_AND_UDP + payload.len();
        let mut record = Vec::with_capacity(16 + len);
        for word in [now.as_secs() as u32, now.subsec_micros(), len as u32, len as u32] {
            record.extend(word.to_le_bytes());
        }
        let ip = record.len();
        record.extend([0x45, 0]);
        record.extend((len as u16).to_be_bytes());
        record.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        record.extend(from.ip().octets());
        record.extend(to.ip().octets());
        let checksum = internet_checksum(&record[ip..]);
        record[ip + 10..ip + 12].copy_from_slice(&checksum.to_be_bytes());
        record.extend(from.port().to_be_bytes());
        record.extend(to.port().to_be_bytes());
        record.extend((len as u16 - 20).to_be_bytes());
        // No UDP checksum.
        record.extend([0, 0]);
        record.extend(payload);
        self.file.write_all(&record).expect("room on the disk");
    }
}

fn internet_checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(folded as u16)
}
