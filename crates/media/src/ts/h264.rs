//! Frame types of H.264 video (ITU-T H.264), from the first bytes of a frame.

/// Dependence of a frame on others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameType {
    /// Predicted from frames before and after it.
    B,
    /// Predicted from frames before it.
    P,
    /// Independent of other frames.
    I,
}

const NAL_SLICE: u8 = 1;
const NAL_IDR_SLICE: u8 = 5;
const NAL_DELIMITER: u8 = 9;

/// Returns the type of the frame that begins `data` (byte stream format, Annex B). `data` must include the first slice
/// header or the access unit delimiter. The slice has precedence, because a delimiter names all types that the frame
/// may contain.
pub fn frame_type(data: &[u8]) -> Option<FrameType> {
    let mut delimited = None;
    let mut rest = data;
    while let Some(at) = rest.windows(3).position(|w| w == [0, 0, 1]) {
        rest = &rest[at + 3..];
        let (&header, body) = rest.split_first()?;
        match header & 0x1f {
            NAL_IDR_SLICE => return Some(FrameType::I),
            NAL_SLICE => return slice_type(body).or(delimited),
            NAL_DELIMITER => delimited = body.first().and_then(|&b| primary_pic_type(b >> 5)),
            _ => {}
        }
    }
    delimited
}

/// Returns whether other frames may refer to the frame that begins `data`. The result comes from `nal_ref_idc` of the
/// frame's first slice (§7.4.1). Returns `None` if no slice begins in `data`.
pub fn is_reference(data: &[u8]) -> Option<bool> {
    let headers = data.windows(4).filter(|w| w[..3] == [0, 0, 1]).map(|w| w[3]);
    let mut slices = headers.filter(|header| matches!(header & 0x1f, NAL_SLICE | NAL_IDR_SLICE));
    slices.next().map(|header| header >> 5 & 3 != 0)
}

/// Table 7-5, without the types of the Extended profile.
fn primary_pic_type(value: u8) -> Option<FrameType> {
    match value {
        0 => Some(FrameType::I),
        1 => Some(FrameType::P),
        2 => Some(FrameType::B),
        _ => None,
    }
}

/// `first_mb_in_slice` and `slice_type` (Table 7-6) begin the slice header.
fn slice_type(body: &[u8]) -> Option<FrameType> {
    let mut bits = body.iter().flat_map(|&byte| (0..8).rev().map(move |k| byte >> k & 1));
    exp_golomb(&mut bits)?;
    match exp_golomb(&mut bits)? % 5 {
        0 | 3 => Some(FrameType::P),
        1 => Some(FrameType::B),
        _ => Some(FrameType::I),
    }
}

/// `ue(v)` of §9.1, up to 31 leading zeros.
fn exp_golomb(bits: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut zeros = 0;
    while bits.next()? == 0 {
        zeros += 1;
        if zeros > 31 {
            return None;
        }
    }
    let mut value = 1_u64;
    for _ in 0..zeros {
        value = value << 1 | u64::from(bits.next()?);
    }
    u32::try_from(value - 1).ok()
}
