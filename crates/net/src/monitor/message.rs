//! Netlink messages in the machine's byte order: headers, attributes, generic netlink requests and ends of answers
//! (`linux/netlink.h`, `linux/genetlink.h`).

use super::refusal::Refusal;

/// Marks a request.
const NLM_F_REQUEST: u16 = 1;
/// Requests an acknowledgement after the answer.
pub(super) const NLM_F_ACK: u16 = 4;
/// Requests all entries.
pub(super) const NLM_F_DUMP: u16 = 0x300;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_OVERRUN: u16 = 4;

/// The controller family, which resolves the names of the others.
pub(super) const GENL_ID_CTRL: u16 = 0x10;

/// Bytes of `struct nlmsghdr` and of `struct genlmsghdr`.
const HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;
/// Bytes of `struct nlattr`; attributes and messages are aligned to it.
const ALIGN: usize = 4;
/// Mask of an attribute's type; the other bits are flags for nesting and byte order.
const TYPE: u16 = 0x3fff;

/// A generic netlink request with one attribute.
pub(super) fn request(
    family: u16,
    flags: u16,
    sequence: u32,
    command: u8,
    attribute: (u16, &[u8]),
) -> Vec<u8> {
    let (kind, value) = attribute;
    let attribute = ALIGN + value.len();
    let length = HEADER + GENERIC_HEADER + attribute.next_multiple_of(ALIGN);
    let short = |length: usize| u16::try_from(length).expect("attributes of requests are a few bytes");
    let mut all = Vec::with_capacity(length);
    all.extend(u32::from(short(length)).to_ne_bytes());
    all.extend(family.to_ne_bytes());
    all.extend((flags | NLM_F_REQUEST).to_ne_bytes());
    all.extend(sequence.to_ne_bytes());
    // Port id: the kernel fills in the sender.
    all.extend(0u32.to_ne_bytes());
    all.extend([command, 1, 0, 0]);
    all.extend(short(attribute).to_ne_bytes());
    all.extend(kind.to_ne_bytes());
    all.extend(value);
    all.resize(length, 0);
    all
}

/// Types and values of attributes, up to the first malformed one.
pub(super) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let kind = u16_at(rest, 2)? & TYPE;
        let value = rest.get(ALIGN..length)?;
        rest = rest.get(length.next_multiple_of(ALIGN)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// Parses a datagram of the answer to the request `sequence` and passes on the command and attributes of `family`'s
/// messages. Returns whether the answer is complete.
///
/// # Errors
/// The kernel's refusal, or [`Refusal::Malformed`].
pub(super) fn parse_answer(
    datagram: &[u8],
    sequence: u32,
    family: u16,
    mut take: impl FnMut(u8, &[u8]),
) -> Result<bool, Refusal> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let (message, after) = split(rest).ok_or(Refusal::Malformed)?;
        rest = after;
        if message.sequence != sequence {
            continue;
        }
        match message.kind {
            // Code 0 is the acknowledgement; the end of a dump also carries a code.
            NLMSG_ERROR | NLMSG_DONE => return end(&message),
            NLMSG_OVERRUN => return Err(Refusal::Malformed),
            kind if kind == family => {
                let command = *message.payload.first().ok_or(Refusal::Malformed)?;
                take(command, message.payload.get(GENERIC_HEADER..).ok_or(Refusal::Malformed)?);
            }
            _ => {}
        }
    }
    Ok(false)
}

struct Message<'a> {
    kind: u16,
    sequence: u32,
    payload: &'a [u8],
}

/// Splits off the first message.
fn split(all: &[u8]) -> Option<(Message<'_>, &[u8])> {
    let length = usize::try_from(u32_at(all, 0)?).ok()?;
    let payload = all.get(HEADER..length)?;
    let message = Message { kind: u16_at(all, 4)?, sequence: u32_at(all, 8)?, payload };
    Some((message, all.get(length.next_multiple_of(ALIGN)..).unwrap_or(&[])))
}

fn end(message: &Message<'_>) -> Result<bool, Refusal> {
    match u32_at(message.payload, 0).map(u32::cast_signed) {
        Some(0) => Ok(true),
        // Dumps of old kernels end without a code.
        None if message.kind == NLMSG_DONE => Ok(true),
        Some(code) if code < 0 => Err(Refusal::of(code.saturating_neg())),
        _ => Err(Refusal::Malformed),
    }
}

/// The value of an attribute that is a `u16`.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_ne_bytes(*b))
}

/// The value of an attribute that is a `u32`.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_ne_bytes(*b))
}
