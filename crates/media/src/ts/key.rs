//! Key frames: pictures that refer to no other pictures, and at which decoding may start.

/// `stream_type`s of the program map (ISO/IEC 13818-1, Table 2-34).
const MPEG1: u8 = 0x01;
const MPEG2: u8 = 0x02;
const MPEG4_PART2: u8 = 0x10;
const H264: u8 = 0x1b;
const H265: u8 = 0x24;
const H266: u8 = 0x33;

/// Searches for a key frame in the data of a picture, which may arrive in pieces. Each byte is searched once.
#[derive(Debug, Default)]
pub struct KeySearch {
    /// Bytes that may begin a start code, or the header after one.
    rest: Vec<u8>,
    /// True if a sequence header has arrived (MPEG-1 and MPEG-2).
    sequence: bool,
    /// Number of bytes that have arrived.
    bytes: usize,
    /// Number of bytes that were compared with a start code.
    #[cfg(test)]
    pub(crate) compared: usize,
}

/// Meaning of the bytes after a start code.
enum Found {
    /// A picture; the value is true for a key frame.
    Picture(bool),
    Other,
    /// More bytes are needed.
    Unknown,
}

impl KeySearch {
    /// Number of bytes that have arrived.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Searches further data. Returns whether decoding may start at the picture, which is video of this `stream_type`.
    /// Returns `None` until the picture's first header has arrived, and for an unknown kind of video.
    ///
    /// Decoding may start at the following pictures: an IDR picture of H.264, an IRAP picture of H.265 or H.266, an
    /// intra picture of MPEG-1 or MPEG-2 after a sequence header, and an intra picture of MPEG-4 part 2.
    pub fn push(&mut self, stream_type: u8, data: &[u8]) -> Option<bool> {
        self.bytes += data.len();
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(data);
        let mut from = 0;
        while let Some(at) = self.start_code(&rest[from..]) {
            match self.judge(stream_type, &rest[from + at + 3..]) {
                Found::Picture(key) => return Some(key),
                Found::Other => from += at + 3,
                Found::Unknown => {
                    self.rest = rest.split_off(from + at);
                    return None;
                }
            }
        }
        self.rest = rest.split_off(from.max(rest.len().saturating_sub(2)));
        None
    }

    /// Position of the first start code.
    fn start_code(&mut self, bytes: &[u8]) -> Option<usize> {
        let found = bytes.windows(3).position(|w| w == [0, 0, 1]);
        #[cfg(test)]
        {
            self.compared += found.map_or(bytes.len(), |at| at + 3);
        }
        found
    }

    fn judge(&mut self, stream_type: u8, after: &[u8]) -> Found {
        let Some((&code, body)) = after.split_first() else { return Found::Unknown };
        let key = match stream_type {
            H264 => h264(code),
            H265 => h265(code),
            H266 => match body.first() {
                Some(second) => h266(*second),
                None => return Found::Unknown,
            },
            MPEG1 | MPEG2 => {
                self.sequence |= code == 0xb3;
                // picture_header: temporal_reference (10 bits), picture_coding_type (3 bits).
                match (code, body.get(1)) {
                    (0, Some(kind)) => Some(self.sequence && kind >> 3 & 7 == 1),
                    (0, None) => return Found::Unknown,
                    _ => None,
                }
            }
            // vop_coding_type: two bits after vop_start_code.
            MPEG4_PART2 if code == 0xb6 => match body.first() {
                Some(kind) => Some(kind >> 6 == 0),
                None => return Found::Unknown,
            },
            _ => None,
        };
        key.map_or(Found::Other, Found::Picture)
    }
}

/// `nal_unit_type` (ITU-T H.264, Table 7-1): 5 is a slice of an IDR picture, and 1 to 4 are other slices.
fn h264(header: u8) -> Option<bool> {
    match header & 0x1f {
        5 => Some(true),
        1..=4 => Some(false),
        _ => None,
    }
}

/// `nal_unit_type` (ITU-T H.265, Table 7-1): 16 to 23 are IRAP pictures, and values below 16 are other pictures.
fn h265(header: u8) -> Option<bool> {
    match header >> 1 & 0x3f {
        16..=23 => Some(true),
        0..=15 => Some(false),
        _ => None,
    }
}

/// `nal_unit_type` in the second byte (ITU-T H.266, Table 5): 7 to 9 are IRAP pictures, and 0 to 3 and 10 are other
/// pictures.
fn h266(header: u8) -> Option<bool> {
    match header >> 3 {
        7..=9 => Some(true),
        0..=3 | 10 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the verdict on data. The verdict must be the same if the data arrive byte by byte.
    fn is_key(stream_type: u8, data: &[u8]) -> Option<bool> {
        let whole = KeySearch::default().push(stream_type, data);
        let mut search = KeySearch::default();
        let pieces = data.iter().find_map(|byte| search.push(stream_type, &[*byte]));
        assert_eq!(whole, pieces, "{data:?}");
        whole
    }

    #[test]
    fn each_byte_is_searched_once() {
        // The first header of the picture does not arrive: the data contain only SEI messages of H.264.
        let data: Vec<u8> =
            (0..16_384).map(|k| if k % 1000 == 3 { 6 } else { u8::from(k % 1000 == 2) }).collect();
        let mut search = KeySearch::default();
        assert!(data.chunks(184).all(|piece| search.push(H264, piece).is_none()));
        assert_eq!(search.bytes(), data.len());
        // In addition, bytes that may begin a start code are compared again: at most two bytes per packet and per code.
        let again = 2 * (data.len() / 184 + data.len() / 1000 + 2);
        assert!((data.len()..=data.len() + again).contains(&search.compared), "{}", search.compared);
    }

    #[test]
    fn idr_pictures_of_h264_are_keys_and_intra_slices_are_not() {
        let delimiter = [0, 0, 0, 1, 9, 0x10];
        let unit =
            |nal: u8| [&delimiter[..], &[0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 1, nal, 0x88]].concat();
        assert_eq!(is_key(H264, &unit(0x65)), Some(true));
        assert_eq!(is_key(H264, &unit(0x41)), Some(false));
        assert_eq!(is_key(H264, &unit(0x06)), None, "no slice has begun");
        assert_eq!(is_key(H264, &delimiter), None);
    }

    #[test]
    fn irap_pictures_are_keys() {
        // CRA_NUT is 21 and TRAIL_R is 1 in H.265; VPS is 32.
        assert_eq!(is_key(H265, &[0, 0, 1, 32 << 1, 1, 9, 0, 0, 1, 21 << 1, 1]), Some(true));
        assert_eq!(is_key(H265, &[0, 0, 1, 1 << 1, 1, 9]), Some(false));
        // IDR_N_LP is 8, GDR_NUT 10, TRAIL_NUT 0, SPS_NUT 15 in H.266.
        assert_eq!(is_key(H266, &[0, 0, 1, 0, 15 << 3, 9, 0, 0, 1, 0, 8 << 3]), Some(true));
        assert_eq!(is_key(H266, &[0, 0, 1, 0, 10 << 3]), Some(false));
        assert_eq!(is_key(H266, &[0, 0, 1, 0]), None);
    }

    #[test]
    fn intra_pictures_of_mpeg_2_need_a_sequence_header() {
        let picture = |kind: u8| [0, 0, 1, 0, 0x02, 0x80 | kind << 3];
        let sequence = [0, 0, 1, 0xb3, 0x2d, 0x02, 0x40, 0x33];
        assert_eq!(is_key(MPEG2, &[&sequence[..], &picture(1)].concat()), Some(true));
        assert_eq!(is_key(MPEG2, &[&sequence[..], &picture(2)].concat()), Some(false));
        assert_eq!(is_key(MPEG2, &picture(1)), Some(false));
        assert_eq!(is_key(MPEG4_PART2, &[0, 0, 1, 0xb6, 0x10]), Some(true));
        assert_eq!(is_key(MPEG4_PART2, &[0, 0, 1, 0xb6, 0x50]), Some(false));
        assert_eq!(is_key(0x06, &[0, 0, 1, 0x65]), None);
    }
}
