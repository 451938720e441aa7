//! Entry points for fuzzers, and for tests that run the fuzzers' saved inputs. Each function accepts any input and
//! reads it as a script of actions. Each function panics if a required property does not hold.

use std::ops::Range;

use crate::blocks::{BlockConfig, BlockReceiver, Order};
use crate::code::Code;
use crate::codec::{Decoder, Encoder, Outcome};
use crate::symbol::Header;
use crate::windows::{WindowConfig, WindowReceiver};

const CODES: [Code; 5] =
    [Code::Rlc, Code::Fountain, Code::Sliding, Code::RaptorQ, Code::ReedSolomon { repairs: 8 }];
const LENGTH: usize = 40;

/// Passes symbols to a receiver. The first byte of the input selects the receiver. The remaining input consists of
/// symbols, each preceded by its length. A header that was read must be written as the same bytes. The counters of the
/// receiver must agree with the symbols that it received.
pub fn symbols(data: &[u8]) {
    let Some((&choice, mut rest)) = data.split_first() else {
        return;
    };
    let order = if choice & 0x80 == 0 { Order::InOrder } else { Order::AsKnown };
    let length = if choice & 0x40 == 0 { LENGTH } else { 0 };
    let code = CODES[usize::from(choice & 0x3f) % CODES.len()];
    let mut blocks = BlockReceiver::new(BlockConfig { code, sources: 12, length, blocks: 3, order });
    let mut window = WindowReceiver::new(WindowConfig { sources: 12, held: 20, length, density: 15 });
    let mut given = 0;
    // Limit per symbol: the work of a whole block or window for the receiver of an honest sender, and of
    // closing the maximum number.
    let most =
        4 * (12 * code.fair_work(12, 12, length) + 20 * Code::Sliding.fair_work(12, 20, length)) + 1024;
    while let Some((&length, after)) = rest.split_first() {
        let (symbol, after) = after.split_at(after.len().min(length.into()));
        rest = after;
        given += 1;
        if let Ok((header, payload)) = Header::read(symbol) {
            let mut written = Vec::new();
            header.write(&mut written);
            assert_eq!(written, symbol[..symbol.len() - payload.len()]);
            assert_eq!(header.length(), written.len());
        }
        let before = blocks.work() + window.work();
        let _ = blocks.receive(symbol);
        while let Some(message) = blocks.poll() {
            assert!(message.bytes.len() <= LENGTH);
        }
        let _ = window.receive(symbol);
        while let Some(message) = window.poll() {
            assert!(message.bytes.len() <= LENGTH);
        }
        let work = blocks.work() + window.work() - before;
        assert!(work <= most, "{code}: {work} work of {most} for a symbol");
    }
    for counted in [blocks.statistics(), window.statistics()] {
        assert_eq!(counted.innovative + counted.redundant + counted.refused(), given);
    }
}

/// Compares a decoder with a second decoder that only uses coefficients. Both decoders receive symbols of an encoder
/// and forged symbols. Both decoders must make the same decisions. If all symbols come from the encoder, the decoder
/// must return the source symbols. The work for one symbol must not exceed the work for a whole block or window.
pub fn codecs(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let code = CODES[usize::from(choice & 0x7f) % CODES.len()];
    let mut run = Codecs::new(code);
    for operation in rest.chunks_exact(4) {
        run.step(operation[0], operation[1], u16::from_be_bytes([operation[2], operation[3]]));
    }
}

const CAPACITY: usize = 10;

struct Codecs {
    code: Code,
    encoder: Box<dyn Encoder>,
    full: Box<dyn Decoder>,
    bare: Box<dyn Decoder>,
    /// Number of symbols that were dropped. The number of dropped symbols is also the number of the encoder's first
    /// symbol.
    forgotten: u64,
    honest: bool,
}

impl Codecs {
    fn new(code: Code) -> Self {
        let encoder = code.encoder(CAPACITY, LENGTH);
        let (full, bare) = (code.decoder(CAPACITY, LENGTH), code.decoder(CAPACITY, 0));
        let mut run = Codecs { code, encoder, full, bare, forgotten: 0, honest: true };
        run.refill();
        run
    }

    fn content(number: u64) -> [u8; LENGTH] {
        std::array::from_fn(|i| ((number + 1) * 0x9E37 + i as u64 * 0x85).to_le_bytes()[i & 1])
    }

    fn refill(&mut self) {
        while self.encoder.held() < CAPACITY {
            let number = self.forgotten + self.encoder.held() as u64;
            self.encoder.push(&Self::content(number));
        }
    }

    /// Executes one step of the script, and checks its work. A step adds a symbol and reads the symbols that are then
    /// known.
    fn step(&mut self, kind: u8, a: u8, b: u16) {
        let before = self.full.work() + self.bare.work();
        self.act(kind, a, b);
        let work = self.full.work() + self.bare.work() - before;
        let most = 2 * CAPACITY as u64 * self.code.fair_work(CAPACITY, CAPACITY, LENGTH) + 1024;
        assert!(work <= most, "{}: {work} work of {most} for a step", self.code);
    }

    fn act(&mut self, kind: u8, a: u8, b: u16) {
        let place = usize::from(a) % (CAPACITY + 1);
        match kind % 8 {
            0..=2 => {
                let payload = Self::content(self.forgotten + place as u64);
                let outcome = self.full.source(place, &payload);
                assert_eq!(self.bare.source(place, &[]), outcome);
                // An earlier forged symbol may have contradicted this one about the block.
                let refused = outcome == Outcome::Refused;
                assert!(if place >= CAPACITY { refused } else { !refused || !self.honest });
            }
            3 | 4 => self.repair(b),
            // A repair symbol with an arbitrary span and payload.
            5 if a & 0x80 != 0 => {
                self.honest = false;
                let span = place..usize::from(a >> 4);
                self.both(span, u32::from(b) << (a & 7), &Self::content(b.into()));
            }
            6 => {
                let count = if self.code.slides() { place.min(3) } else { CAPACITY };
                self.full.forget(count);
                self.bare.forget(count);
                self.encoder.forget(count);
                self.forgotten += count as u64;
                self.refill();
                self.honest |= !self.code.slides();
            }
            _ => {}
        }
        self.compare();
    }

    fn repair(&mut self, b: u16) {
        let seed = if self.code.slides() { u32::from(b) | u32::from(b & 15) << 16 } else { u32::from(b) };
        let mut payload = Vec::new();
        if self.encoder.repair(seed, &mut payload).is_ok() {
            let outcome = self.both(0..CAPACITY, seed, &payload);
            assert!(outcome != Outcome::Refused || !self.honest, "as above");
        }
    }

    fn both(&mut self, span: Range<usize>, seed: u32, payload: &[u8]) -> Outcome {
        let outcome = self.full.repair(span.clone(), seed, payload);
        assert_eq!(self.bare.repair(span, seed, &[]), outcome);
        outcome
    }

    fn compare(&mut self) {
        assert_eq!(self.full.rank(), self.bare.rank());
        assert!(self.full.rank() <= CAPACITY);
        let mut known = self.full.next_known();
        assert_eq!(known, self.bare.next_known());
        while known.is_some() {
            known = self.full.next_known();
            assert_eq!(known, self.bare.next_known());
        }
        for place in 0..CAPACITY {
            let found = self.full.known(place);
            assert_eq!(found.is_some(), self.bare.known(place).is_some());
            if let Some(found) = found.filter(|_| self.honest) {
                assert_eq!(found, Self::content(self.forgotten + place as u64));
            }
        }
    }
}
