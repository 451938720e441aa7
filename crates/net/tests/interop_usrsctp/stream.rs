//! The bytes that `usrsctp_peer` sends and expects, and their fingerprints, as defined at the beginning of
//! that program.

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// Multiples of the message size tried for a message after missing ones.
const RESYNC_STEPS: usize = 1 << 16;

pub fn pattern(from: u64, len: usize) -> Vec<u8> {
    (from..from + len as u64).map(|i| (i * 131 + (i >> 8)) as u8).collect()
}

fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

/// One direction of the association.
#[derive(Debug)]
pub struct Half {
    pub bytes: u64,
    pub messages: u64,
    fnv1a: u64,
    sum: u64,
}

impl Default for Half {
    fn default() -> Self {
        Half { bytes: 0, messages: 0, fnv1a: FNV_BASIS, sum: 0 }
    }
}

impl Half {
    pub fn count(&mut self, message: &[u8]) {
        self.bytes += message.len() as u64;
        self.messages += 1;
        self.fnv1a = fnv1a(self.fnv1a, message);
        self.sum = self.sum.wrapping_add(fnv1a(FNV_BASIS, message));
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "bytes": self.bytes,
            "messages": self.messages,
            "fnv1a64": format!("{:016x}", self.fnv1a),
            "sum64": format!("{:016x}", self.sum),
        })
    }
}

/// Positions of received messages in the pattern.
#[derive(Debug, Default)]
pub struct Places {
    offset: u64,
    pub unplaced: u64,
}

impl Places {
    pub fn take(&mut self, message: &[u8], size: u64) {
        let starts = (0..RESYNC_STEPS as u64).map(|step| self.offset + step * size);
        match starts.into_iter().find(|at| pattern(*at, message.len()) == message) {
            Some(at) => self.offset = at + message.len() as u64,
            None => self.unplaced += 1,
        }
    }
}
