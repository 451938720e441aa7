//! Agreement of both ends in the handshake on coding. INIT and INIT ACK carry a parameter for it
//! (docs/models/coding.md). The agreement gives the shape of the blocks or the window of each direction. The shape
//! follows from the parameter, and from the a_rwnd of the side that decodes. Both ends compute an identical shape.

use bytes::Bytes;
use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, Order};
use strandcast_coding::symbol::REPAIR_HEADER;
use strandcast_coding::windows::WindowConfig;

use super::config::{Coding, RepairCode, RepairCoding};
use super::covered;

/// Version of the parameter. Later versions must not change the meaning of the codes of this version.
const VERSION: u8 = 1;
/// Length of the parameter's value in bytes.
const LENGTH: usize = 6;
/// Maximum number of source symbols of a block or a window.
const MOST_SOURCES: u16 = 256;
const WIDEST: u16 = 1024;
/// Permitted numbers of bytes of a symbol's payload.
const LENGTHS: core::ops::RangeInclusive<u16> = 64..=9000;
/// Two numbers of source symbols per block: the usual number, and the number for a small buffer. The two numbers apply
/// if a sender lets the peer's receive buffer determine the number.
const USUAL: (u16, u16) = (16, 8);
const SMALL_BUFFER: u32 = 128 << 10;
/// Minimum number of open blocks, because one block must fill while another is repaired.
const FEWEST_BLOCKS: u64 = 2;
const MOST_BLOCKS: u64 = 256;
/// Maximum number of open blocks in the mode repair. Messages of older blocks would be too old to be useful.
const MOST_REPAIRED: u64 = 32;
/// Minimum number of messages of a repair window or block. The window or block shrinks to this number if the peer's
/// receive buffer is small.
const NARROWEST: u16 = 4;
/// Bytes that precede the user data in a DATA chunk.
const DATA_HEADER: usize = 16;

/// Announcement of a side that it can decode. If this side codes, the announcement has the shape of the data that it
/// sends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Announced(pub Option<Shape>);

/// Coding of the data of one side.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub mode: Mode,
    pub code: Code,
    /// Maximum number of source symbols of a block or a window. 0 means that the receive buffer determines the number;
    /// only blocks permit 0.
    pub sources: u16,
    /// Number of bytes of a repair symbol's payload.
    pub symbol_length: u16,
}

/// Kind of the symbols of one direction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Symbols of blocks: messages form one stream of bytes, which is cut into blocks. See [`Coding::Blocks`].
    Blocks,
    /// Messages as usual, and in addition repair symbols, which are sums of messages. See [`Coding::Repair`].
    Repair,
}

/// Coding of one direction on which both ends agreed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Agreed {
    pub mode: Mode,
    pub code: Code,
    /// Maximum number of source symbols of a block or a window.
    pub sources: u16,
    /// Number of bytes of a repair symbol's payload. A source symbol has the same number after its length field.
    pub symbol_length: u16,
    /// Number of blocks that are open at once; 1 for windows.
    pub blocks: u16,
}

impl Announced {
    /// Returns the announcement of a side that codes as in `coding`. The packets of this side have room for `chunks`
    /// bytes of chunks.
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

    /// Returns the announcement that [`new`](Self::new) returns, or `None` in a build without codecs. A build without
    /// codecs neither codes nor decodes.
    pub fn offered(coding: Option<&Coding>, chunks: usize) -> Option<Self> {
        Code::BUILT.then(|| Announced::new(coding, chunks))
    }

    /// Reads the parameter's value. Returns `None` if the value has another version. A peer of another version does not
    /// code for this side, and does not decode its data.
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

    /// Returns the coding of data for a peer that announced `a_rwnd`; `None` if there is no coding.
    pub fn agreed(&self, a_rwnd: u32) -> Option<Agreed> {
        self.0?.towards(a_rwnd)
    }
}

impl Shape {
    /// Returns the number of the code in the parameter; `None` for codes that are never sent.
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

    /// Returns the number of decoders of this shape that fit into twice the receive buffer.
    fn fitting(&self, a_rwnd: u32) -> u64 {
        2 * u64::from(a_rwnd) / memory(self.code, self.sources.into(), self.symbol_length.into())
    }
}

/// Returns the bytes of symbols and coefficients that a decoder keeps. The formula is only a rule that both ends share.
/// The decoder's own bound also counts all other memory.
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

/// Number of windows that a receiver holds, so that repair symbols with overlapping windows are usable.
const HELD: u64 = 2;

impl Agreed {
    /// Configuration of the blocks. In the mode blocks, messages are returned in order. In the mode repair, each
    /// message is returned as soon as it is known.
    pub fn blocks(&self) -> BlockConfig {
        BlockConfig {
            code: self.code,
            sources: self.sources.into(),
            length: self.symbol_length.into(),
            blocks: self.blocks.into(),
            order: if self.mode == Mode::Blocks { Order::InOrder } else { Order::AsKnown },
        }
    }

    /// Returns the approximate bytes of symbols and coefficients that a receiver keeps.
    pub fn kept(&self) -> usize {
        let one = memory(self.code, self.sources.into(), self.symbol_length.into());
        usize::try_from(u64::from(self.blocks) * one).unwrap_or(usize::MAX)
    }

    /// Returns the configuration of the window, if the code has a sliding window.
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
    /// Returns the maximum number of source symbols that a repair symbol covers.
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
