//! Agreement of both ends in the handshake: the parameter of INIT and INIT ACK (docs/models/coding.md), and the shape
//! of a direction's blocks or window. The shape follows from the parameter and from the a_rwnd of the side that
//! decodes. Both ends compute the same shape.

use bytes::Bytes;
use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, Order};
use strandcast_coding::symbol::REPAIR_HEADER;
use strandcast_coding::windows::WindowConfig;

use super::config::{Coding, RepairCode, RepairCoding};
use super::covered;

/// Version of the parameter. Later versions must not change the meaning of these codes.
const VERSION: u8 = 1;
/// Length of the parameter's value in bytes.
const LENGTH: usize = 6;
/// Maximum number of source symbols of a block, and of a window.
const MOST_SOURCES: u16 = 256;
const WIDEST: u16 = 1024;
/// Valid bytes of a symbol's payload.
const LENGTHS: core::ops::RangeInclusive<u16> = 64..=9000;
/// Number of source symbols of a block if its sender lets the receive buffer determine it: the usual number, and the
/// number for a small buffer.
const USUAL: (u16, u16) = (16, 8);
const SMALL_BUFFER: u32 = 128 << 10;
/// Bounds of the number of open blocks: one block must fill while another is repaired, and the scheduler must be able
/// to inspect all open blocks.
const FEWEST_BLOCKS: u64 = 2;
const MOST_BLOCKS: u64 = 256;
/// Maximum number of open blocks of repair. Messages of older blocks are too old to be useful.
const MOST_REPAIRED: u64 = 32;
/// Minimum number of messages in a repair window or block that shrinks to the peer's receive buffer.
const NARROWEST: u16 = 4;
/// Bytes of a DATA chunk before its user data.
const DATA_HEADER: usize = 16;

/// Announcement of one side that it decodes. It includes the shape of the data that this side sends, if it codes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Announced(pub Option<Shape>);

/// Coding of the data of one side.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub mode: Mode,
    pub code: Code,
    /// Maximum number of source symbols of a block or a window; 0 means that the receive buffer determines the number,
    /// which is possible only for blocks.
    pub sources: u16,
    /// Bytes of a repair symbol's payload.
    pub symbol_length: u16,
}

/// Kind of the symbols of one direction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Symbols of blocks of one stream of bytes: [`Coding::Blocks`].
    Blocks,
    /// Messages, and sums of messages as repair symbols in addition: [`Coding::Repair`].
    Repair,
}

/// Coding of one direction, on which both ends agree.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Agreed {
    pub mode: Mode,
    pub code: Code,
    /// Maximum number of source symbols of a block or a window.
    pub sources: u16,
    /// Bytes of a repair symbol's payload, and of a source symbol after its length.
    pub symbol_length: u16,
    /// Number of blocks held open at once; 1 for windows.
    pub blocks: u16,
}

impl Announced {
    /// Returns the announcement of a side that codes by `coding` and whose packets have room for `chunks` bytes of
    /// chunks.
    pub fn new(coding: Option<&Coding>, chunks: usize) -> Self {
        let room = chunks.saturating_sub(DATA_HEADER + REPAIR_HEADER).min(usize::from(*LENGTHS.end()));
        // It is even for Reed–Solomon.
        let symbol_length = room as u16 & !1;
        let shape = coding.map(|coding| match coding {
            Coding::Blocks(b) => {
                Shape { mode: Mode::Blocks, code: b.code, sources: b.sources, symbol_length }
            }
            Coding::Repair(r) => {
                let sources = r.sources();
                Shape { mode: Mode::Repair, code: r.code(sources), sources, symbol_length }
            }
        });
        Announced(shape.filter(|shape| shape.number().is_some()))
    }

    /// Returns the announcement as [`new`](Self::new) does; `None` in a build without codecs, because such a build
    /// neither codes nor decodes.
    pub fn offered(coding: Option<&Coding>, chunks: usize) -> Option<Self> {
        Code::BUILT.then(|| Announced::new(coding, chunks))
    }

    /// Reads the parameter's value; `None` if it has another version. A peer of another version neither decodes nor
    /// codes for this side.
    pub fn read(value: &[u8]) -> Option<Self> {
        let value: &[u8; LENGTH] = value.try_into().ok()?;
        let [version, code, rest @ ..] = value;
        let number = |at: usize| u16::from_be_bytes([rest[at], rest[at + 1]]);
        let (sources, symbol_length) = (number(0), number(2));
        if *version != VERSION {
            return None;
        }
        let (mode, code) = match code {
            0 => return Some(Announced(None)),
            1 => (Mode::Blocks, Code::Rlc),
            2 => (Mode::Blocks, Code::Fountain),
            3 => (Mode::Repair, Code::Sliding),
            4 => (Mode::Repair, Code::RaptorQ),
            5 => (Mode::Repair, reed_solomon(sources)),
            _ => return None,
        };
        Some(Announced(Some(Shape { mode, code, sources, symbol_length })))
    }

    /// Returns the parameter's value.
    pub fn write(&self) -> Bytes {
        let mut out = Vec::with_capacity(LENGTH);
        let nothing = Shape { mode: Mode::Blocks, code: Code::Rlc, sources: 0, symbol_length: 0 };
        let shape = self.0.unwrap_or(nothing);
        out.extend([VERSION, self.0.and_then(|s| s.number()).unwrap_or(0)]);
        for number in [shape.sources, shape.symbol_length] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.into()
    }

    /// Returns the coding towards a peer that announced `a_rwnd`; `None` if there is no coding.
    pub fn agreed(&self, a_rwnd: u32) -> Option<Agreed> {
        self.0?.towards(a_rwnd)
    }
}

impl Shape {
    /// Returns the parameter's code; `None` for codes that are not sent.
    fn number(&self) -> Option<u8> {
        match (self.mode, self.code) {
            (Mode::Blocks, Code::Rlc) => Some(1),
            (Mode::Blocks, Code::Fountain) => Some(2),
            (Mode::Repair, Code::Sliding) => Some(3),
            (Mode::Repair, Code::RaptorQ) => Some(4),
            (Mode::Repair, Code::ReedSolomon { .. }) => Some(5),
            _ => None,
        }
    }

    fn towards(mut self, a_rwnd: u32) -> Option<Agreed> {
        let most = if self.code.slides() { WIDEST } else { MOST_SOURCES };
        if self.sources == 0 && self.mode == Mode::Blocks {
            self.sources = if a_rwnd < SMALL_BUFFER { USUAL.1 } else { USUAL.0 };
        }
        let even = self.symbol_length.is_multiple_of(2);
        if !(1..=most).contains(&self.sources) || !LENGTHS.contains(&self.symbol_length) || !even {
            return None;
        }
        match self.mode {
            Mode::Blocks => {
                let block = u64::from(self.sources) * u64::from(self.symbol_length);
                let blocks = (u64::from(a_rwnd) / block).clamp(FEWEST_BLOCKS, MOST_BLOCKS);
                (self.fitting(a_rwnd) >= blocks).then(|| self.agreed(blocks))
            }
            Mode::Repair => {
                let least = if self.code.slides() { 1 } else { FEWEST_BLOCKS };
                while self.fitting(a_rwnd) < least {
                    if self.sources / 2 < NARROWEST {
                        return None;
                    }
                    self.sources /= 2;
                    if let Code::ReedSolomon { repairs } = &mut self.code {
                        *repairs = covered::reed_solomon_repairs(self.sources);
                    }
                }
                let blocks = if self.code.slides() { 1 } else { self.fitting(a_rwnd).min(MOST_REPAIRED) };
                Some(self.agreed(blocks))
            }
        }
    }

    fn agreed(&self, blocks: u64) -> Agreed {
        let Shape { mode, code, sources, symbol_length } = *self;
        Agreed { mode, code, sources, symbol_length, blocks: blocks as u16 }
    }

    /// Returns the number of decoders of this shape for which twice the receive buffer has room.
    fn fitting(&self, a_rwnd: u32) -> u64 {
        2 * u64::from(a_rwnd) / memory(self.code, self.sources.into(), self.symbol_length.into())
    }
}

/// Returns the bytes of symbols and coefficients that a decoder keeps. This is only a rule that both ends share. The
/// decoder's own bound counts all other memory.
fn memory(code: Code, sources: u64, length: u64) -> u64 {
    let row = |bytes: u64| bytes.next_multiple_of(64);
    match code {
        Code::Rlc | Code::Fountain => (sources + 1) * (row(sources) + row(length)),
        Code::Sliding => (HELD * sources + 1) * (row(HELD * sources) + row(length)),
        // Source symbols, a second copy of those that arrived, and repair symbols.
        Code::RaptorQ => (3 * sources + 16) * length,
        Code::ReedSolomon { repairs } => {
            let symbols = sources + u64::from(repairs);
            symbols * length + 2 * symbols.next_power_of_two() * row(length)
        }
    }
}

/// Number of windows that a receiver holds, so that it can use repair symbols whose windows overlap.
const HELD: u64 = 2;

impl Agreed {
    /// Configuration of the blocks. Blocks of a stream of bytes return their messages in order. Blocks of repair return
    /// each message as soon as it is known.
    pub fn blocks(&self) -> BlockConfig {
        BlockConfig {
            code: self.code,
            sources: self.sources.into(),
            length: self.symbol_length.into(),
            blocks: self.blocks.into(),
            order: if self.mode == Mode::Blocks { Order::InOrder } else { Order::AsKnown },
        }
    }

    /// Approximate bytes of symbols and coefficients that a receiver keeps.
    pub fn kept(&self) -> usize {
        let one = memory(self.code, self.sources.into(), self.symbol_length.into());
        usize::try_from(u64::from(self.blocks) * one).unwrap_or(usize::MAX)
    }

    /// Configuration of the window, if the code slides.
    pub fn window(&self) -> WindowConfig {
        let sources = usize::from(self.sources);
        WindowConfig {
            sources,
            held: HELD as usize * sources,
            length: self.symbol_length.into(),
            density: 15,
        }
    }
}

impl RepairCoding {
    /// Maximum number of source symbols that a repair symbol covers.
    fn sources(&self) -> u16 {
        self.window.clamp(1, if self.code == RepairCode::Rlc { WIDEST } else { MOST_SOURCES })
    }

    fn code(&self, sources: u16) -> Code {
        match self.code {
            RepairCode::Rlc => Code::Sliding,
            RepairCode::RaptorQ => Code::RaptorQ,
            RepairCode::ReedSolomon => reed_solomon(sources),
        }
    }
}

fn reed_solomon(sources: u16) -> Code {
    Code::ReedSolomon { repairs: covered::reed_solomon_repairs(sources) }
}

#[cfg(test)]
mod tests;
