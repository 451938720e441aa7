//! The header of a PES packet (§2.4.3.6).

/// The parsed part of a PES packet's header. Times are 33-bit counts of 90 kHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PesHeader {
    /// `stream_id`: 0xe0 to 0xef for video.
    pub stream_id: u8,
    /// Presentation time stamp.
    pub pts: Option<u64>,
    /// Decoding time stamp, if it differs from the presentation time stamp.
    pub dts: Option<u64>,
    /// Bytes from the packet's beginning to its data.
    pub data_at: usize,
}

impl PesHeader {
    /// Reads the header at the beginning of `payload`. Returns `None` if it is truncated, or if it does not begin a PES
    /// packet with time stamp flags.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let head = payload.first_chunk::<9>()?;
        // Only streams with the optional header have the bits '10' here. Others are padding, private 2, ECM, EMM and so
        // on.
        if head[..3] != [0, 0, 1] || head[6] >> 6 != 0b10 {
            return None;
        }
        let fields = payload.get(9..9 + usize::from(head[8]))?;
        let flags = head[7] >> 6;
        let pts = if flags & 0b10 != 0 { time_stamp(fields) } else { None };
        let dts = if flags == 0b11 { fields.get(5..).and_then(time_stamp) } else { None };
        Some(PesHeader { stream_id: head[3], pts, dts, data_at: 9 + fields.len() })
    }
}

/// 33 bits in five bytes with a marker bit after the 3rd, 18th and 33rd.
fn time_stamp(field: &[u8]) -> Option<u64> {
    let b = field.first_chunk::<5>()?.map(u64::from);
    Some((b[0] >> 1 & 7) << 30 | b[1] << 22 | (b[2] >> 1) << 15 | b[3] << 7 | b[4] >> 1)
}
