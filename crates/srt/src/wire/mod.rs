//! Layout of packets (draft-sharabayko-srt, *Packet Structure*).

mod handshake;
mod km;
mod losses;
mod packet;

pub(crate) use handshake::{
    Extension, Extensions, Handshake, HsMessage, Kind, MAGIC, MAX_STREAM_ID, address_field, flag,
};
pub(crate) use km::{KeyMaterial, KmState, SALT};
pub(crate) use losses::{Losses, write_losses};
pub(crate) use packet::{Ack, Body, Data, HEADER, KeyFlag, Packet, Writer};

/// Returns the 32-bit word at `offset`.
fn word(data: &[u8], offset: usize) -> Option<u32> {
    let bytes = data.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}
