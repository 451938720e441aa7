//! Probe packets of path MTU discovery: HEARTBEAT and PAD, alone in a packet of the size under test (RFC 8899
//! §6.2.1.2).

use bytes::Bytes;

use super::{Assembler, Transmit};
use crate::path::packet_size;
use crate::policy::{PathId, PathState};
use crate::time::Instant;
use crate::wire::PacketWriter;
use crate::wire::chunk::{HEADER_LEN, Pad};

impl Assembler<'_> {
    /// Appends a probe packet if one is due.
    pub fn mtu_probe(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        self.cx.config.mtu_discovery?;
        (0..self.cx.paths.len()).find_map(|i| self.mtu_probe_on(now, PathId(i as u8), buf))
    }

    fn mtu_probe_on(&mut self, now: Instant, path: PathId, buf: &mut Vec<u8>) -> Option<Transmit> {
        let i = path.index();
        let tuple = self.cx.paths[i].tuple;
        if !self.cx.paths[i].discovery.as_ref()?.due() {
            return None;
        }
        // The loss of a probe only depends on its size if the path is otherwise in order.
        let fine = self.cx.state.is_open() && self.cx.paths.view(i).state == PathState::Active;
        let fine = fine && !self.cx.unproven(path);
        let rto = self.cx.paths.view(i).rto;
        let (discovery, random) = (self.cx.paths[i].discovery.as_mut()?, &mut self.cx.random);
        if !fine {
            discovery.put_off();
            return None;
        }
        let (size, nonce) = discovery.send(now, rto, || random.u64())?;
        let limit = packet_size(tuple.remote, size, &self.cx.config);
        let header = self.header(None);
        let envelope = self.cx.config.envelope;
        let mut w = PacketWriter::within(envelope, buf, header);
        w.chunk(&self.cx.heartbeat(path, nonce, 0));
        let data = Bytes::from(vec![0; w.remaining(limit).saturating_sub(HEADER_LEN)]);
        w.chunk(&Pad { data });
        let len = w.finish();
        self.cx.paths[i].stats.mtu_probes += 1;
        self.packet_left(now, path, len, false);
        let len = len + envelope.len();
        Some(Transmit { tuple, len, segment_size: len, fragment: false })
    }
}
