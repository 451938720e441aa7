//! MPEG-2 transport streams (ISO/IEC 13818-1, ITU-T H.222.0): framing, packet headers, continuity and program tables.
//! The module also parses as much of the video as is needed to find frames and their types.

mod continuity;
mod framer;
mod h264;
mod key;
mod kinds;
mod marks;
mod packet;
mod pes;
mod psi;
#[cfg(test)]
mod tests;

pub use continuity::{Continuity, ContinuityChecker, ContinuityCounts};
pub use framer::{Framer, FramerCounts, SEARCH_LIMIT, TsError};
pub use h264::{FrameType, frame_type, is_reference};
pub use key::KeySearch;
pub use marks::{Marker, Marks};
pub use packet::{Adaptation, NULL_PID, PACKET_LEN, Packet, Pcr, SYNC_BYTE};
pub use pes::PesHeader;
pub(crate) use psi::{
    CRC_LEN, PAT_PID, Sections, TABLE_PAT, TABLE_PMT, body, crc32_mpeg2, is_video, parse_pat, remainder,
};
pub use psi::{Program, ProgramTable, Video};
