//! Netlink messages in the machine's byte order: headers, attributes, requests, and the ends of answers
//! (`linux/netlink.h`).

use super::refusal::Refusal;

/// Marks a request.
const NLM_F_REQUEST: u16 = 1;
/// Requests an acknowledgement after the answer.
pub(crate) const NLM_F_ACK: u16 = 4;
/// Requests all entries.
pub(crate) const NLM_F_DUMP: u16 = 0x300;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_OVERRUN: u16 = 4;

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;
/// Bytes of `struct genlmsghdr`.
const GENERIC_HEADER: usize = 4;
/// Bytes of `struct nlattr`. The lengths of attributes and messages are rounded up to a multiple of this length.
const ALIGN: usize = 4;
/// Mask of an attribute's type; the other bits are flags for nesting and byte order.
const TYPE: u16 = 0x3fff;

/// A request: the header of its family and its attributes.
pub(crate) fn request(
    kind: u16,
    flags: u16,
    sequence: u32,
    header: &[u8],
    attributes: &[(u16, &[u8])],
) -> Vec<u8> {
    let short = |length: usize| u16::try_from(length).expect("requests are short");
    let mut all = vec![0; 4];
    all.extend(kind.to_ne_bytes());
    all.extend((flags | NLM_F_REQUEST).to_ne_bytes());
    all.extend(sequence.to_ne_bytes());
    // Port id 0: the kernel inserts the sender's port id.
    all.extend(0u32.to_ne_bytes());
    all.extend(header);
    for (kind, value) in attributes {
        all.extend(short(ALIGN + value.len()).to_ne_bytes());
        all.extend(kind.to_ne_bytes());
        all.extend(*value);
        all.resize(all.len().next_multiple_of(ALIGN), 0);
    }
    let length = u32::from(short(all.len()));
    all[..4].copy_from_slice(&length.to_ne_bytes());
    all
}

/// The types and values of the attributes. A malformed attribute ends the list.
pub(crate) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let kind = u16_at(rest, 2)? & TYPE;
        let value = rest.get(ALIGN..length)?;
        rest = rest.get(length.next_multiple_of(ALIGN)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// Reads a datagram of the answer to the request `sequence`. Passes on the payloads of messages of type `answer`. A
/// payload is the header of the family, followed by attributes. Returns whether the answer is complete.
///
/// # Errors
/// The error that the kernel returned, or [`Refusal::Malformed`].
pub(crate) fn parse_answer(
    datagram: &[u8],
    sequence: u32,
    answer: u16,
    mut take: impl FnMut(&[u8]),
) -> Result<bool, Refusal> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let (message, after) = split(rest).ok_or(Refusal::Malformed)?;
        rest = after;
        if message.sequence != sequence {
            continue;
        }
        match message.kind {
            // An error code of 0 means an acknowledgement. The end of a dump also carries a code.
            NLMSG_ERROR | NLMSG_DONE => return end(&message),
            NLMSG_OVERRUN => return Err(Refusal::Malformed),
            kind if kind == answer => take(message.payload),
            _ => {}
        }
    }
    Ok(false)
}

/// Command and attributes of a message of generic netlink (`linux/genetlink.h`).
pub(crate) fn generic(payload: &[u8]) -> Option<(u8, &[u8])> {
    Some((*payload.first()?, payload.get(GENERIC_HEADER..)?))
}

struct Message<'a> {
    kind: u16,
    sequence: u32,
    payload: &'a [u8],
}

/// Splits a buffer into its first message and the rest.
fn split(all: &[u8]) -> Option<(Message<'_>, &[u8])> {
    let length = usize::try_from(u32_at(all, 0)?).ok()?;
    let payload = all.get(HEADER..length)?;
    let message = Message { kind: u16_at(all, 4)?, sequence: u32_at(all, 8)?, payload };
    Some((message, all.get(length.next_multiple_of(ALIGN)..).unwrap_or(&[])))
}

fn end(message: &Message<'_>) -> Result<bool, Refusal> {
    match u32_at(message.payload, 0).map(u32::cast_signed) {
        Some(0) => Ok(true),
        // In old kernels, the message at the end of a dump has no code.
        None if message.kind == NLMSG_DONE => Ok(true),
        Some(code) if code < 0 => Err(Refusal::of(code.saturating_neg())),
        _ => Err(Refusal::Malformed),
    }
}

/// The value of an attribute that is a `u16`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_ne_bytes(*b))
}

/// The value of an attribute that is a `u32`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_ne_bytes(*b))
}
