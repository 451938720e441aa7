//! Objects of 1 MB arrive bit for bit through loss of up to 40 %, in bursts, late, repeated and out of order,
//! with every code.

use proptest::prelude::*;
use strandcast_coding::Code;
use strandcast_coding::blocks::{
    BlockConfig, BlockReceiver, BlockSender, CannotPush, CannotWrite, Order, SourceId,
};
use strandcast_coding::windows::{WindowConfig, WindowReceiver, WindowSender};
use strandcast_proto::seeds::Seeds;

use crate::common::{Channel, Weather, messages};

const MEGABYTE: usize = 1_000_000;
const LENGTH: usize = 1202;
const BLOCKS: usize = 6;

/// A stream of blocks between two ends.
struct Transfer<'a> {
    code: Code,
    sources: usize,
    object: &'a [Vec<u8>],
    sender: BlockSender,
    receiver: BlockReceiver,
    channel: Channel,
    got: usize,
    sent: usize,
    symbol: Vec<u8>,
}

impl<'a> Transfer<'a> {
    fn new(code: Code, sources: usize, weather: Weather, seeds: &Seeds, object: &'a [Vec<u8>]) -> Self {
        let config = BlockConfig { code, sources, length: LENGTH, blocks: BLOCKS, order: Order::InOrder };
        let sender = BlockSender::new(config, seeds.stream("seed").u64() as u32);
        let (receiver, channel) = (BlockReceiver::new(config), Channel::new(weather, seeds));
        Transfer { code, sources, object, sender, receiver, channel, got: 0, sent: 0, symbol: Vec::new() }
    }

    /// Carries the symbol just written, and compares the delivered messages with the original ones.
    fn carry(&mut self) {
        self.sent += 1;
        let (receiver, object, got) = (&mut self.receiver, self.object, &mut self.got);
        self.channel.carry(&self.symbol, |arrived| {
            // Only late symbols of finished blocks are refused.
            let taken = receiver.receive(arrived);
            assert!(taken.is_ok() || receiver.statistics().stale == receiver.statistics().refused());
            while let Some(message) = receiver.poll() {
                assert!(message.bytes == object[*got], "message {got} of {}", self.code);
                let (block, index) = (*got / self.sources, *got % self.sources);
                assert_eq!(message.id, SourceId { block: block as u32, index: index as u16 });
                *got += 1;
            }
        });
        self.symbol.clear();
    }

    fn send_sources(&mut self, block: u32, held: usize) {
        for index in 0..held as u16 {
            self.sender.write_source(SourceId { block, index }, &mut self.symbol).expect("held");
            self.carry();
        }
    }

    /// Sends a repair symbol, or the source symbols again once the code has no further repair symbol.
    fn send_repair(&mut self, block: u32, held: usize) {
        match self.sender.write_repair(block, &mut self.symbol) {
            Ok(_) => self.carry(),
            Err(CannotWrite::Code(_)) => self.send_sources(block, held),
            Err(why) => panic!("{why}"),
        }
    }

    /// Fills blocks and returns the first new one.
    fn fill(&mut self, pushed: &mut usize) -> u32 {
        let new = (*pushed / self.sources) as u32;
        while *pushed < self.object.len() {
            match self.sender.push(&self.object[*pushed]) {
                Ok(_) => *pushed += 1,
                Err(why) => {
                    assert_eq!(why, CannotPush::Full);
                    return new;
                }
            }
        }
        self.sender.close();
        new
    }

    /// Sends rounds of repair symbols: each round covers the losses of the one before. Returns the number of
    /// symbols sent.
    fn run(mut self, systematic: bool) -> usize {
        let mut pushed = 0;
        while self.got < self.object.len() {
            let new = self.fill(&mut pushed);
            for (block, held, _) in self.sender.blocks().collect::<Vec<_>>() {
                if systematic && block >= new {
                    self.send_sources(block, held);
                    continue;
                }
                let missing = held - self.receiver.rank(block);
                for _ in 0..missing {
                    if block >= self.receiver.first() {
                        self.send_repair(block, held);
                    }
                }
            }
            self.sender.release(self.receiver.first());
        }
        let statistics = self.receiver.statistics();
        assert_eq!(statistics.received + statistics.recovered, self.object.len() as u64);
        assert_eq!(statistics.damaged, 0);
        self.sent
    }
}

fn send_blocks(code: Code, sources: usize, systematic: bool, weather: Weather, seeds: &Seeds) {
    let object = messages(seeds, LENGTH - 2, MEGABYTE);
    Transfer::new(code, sources, weather, seeds, &object).run(systematic);
}

/// Sends all messages with a sliding window, and a repair symbol after every eighth; the window waits for
/// missing messages.
fn send_window(weather: Weather, density: u8, seeds: &Seeds, object: &[Vec<u8>]) {
    let config = WindowConfig { sources: 64, held: 128, length: LENGTH, density };
    let mut sender = WindowSender::new(config, seeds.stream("seed").u64() as u16);
    let mut receiver = WindowReceiver::new(config);
    let mut channel = Channel::new(weather, seeds);
    let mut found: Vec<bool> = vec![false; object.len()];
    let (mut complete, mut symbol) = (0, Vec::new());
    let mut carry = |symbol: &[u8], found: &mut [bool]| {
        channel.carry(symbol, |arrived| {
            let taken = receiver.receive(arrived);
            assert!(taken.is_ok() || receiver.statistics().stale == receiver.statistics().refused());
            while let Some(message) = receiver.poll() {
                let number = message.number as usize;
                assert!(message.bytes == object[number], "message {number}");
                assert!(!found[number], "message {number} twice");
                found[number] = true;
            }
        });
    };
    for (number, message) in object.iter().enumerate() {
        assert_eq!(sender.push(message), Ok(number as u32));
        symbol.clear();
        sender.write_source(number as u32, &mut symbol).expect("in the window");
        carry(&symbol, &mut found);
        while complete < found.len() && found[complete] {
            complete += 1;
        }
        // Complete messages need no repair.
        sender.forget(complete as u32);
        let full = number + 1 == object.len() || number + 1 - complete == config.sources;
        while (number % 8 == 7 || full) && sender.held() > 0 {
            symbol.clear();
            sender.write_repair(&mut symbol).expect("not empty");
            carry(&symbol, &mut found);
            while complete < found.len() && found[complete] {
                complete += 1;
            }
            sender.forget(complete as u32);
            if !full || complete > number {
                break;
            }
        }
    }
    assert_eq!(complete, object.len());
}

fn weather() -> impl Strategy<Value = Weather> {
    let share = |most: f64| (0.0..=1.0).prop_map(move |x: f64| x * most);
    let burst = prop_oneof![Just(1.0), 2.0..20.0];
    (share(0.4), burst, share(0.3), share(0.2)).prop_map(|(loss, burst, late, twice)| Weather {
        loss,
        burst,
        late,
        twice,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_megabyte_arrives_by_a_random_linear_code(weather in weather(), seed: u64, systematic: bool, sources in 1usize..=64) {
        let seeds = Seeds::new(seed, 0);
        send_blocks(Code::Rlc, sources, systematic, weather, &seeds);
    }

    #[test]
    fn a_megabyte_arrives_by_a_fountain(weather in weather(), seed: u64, systematic: bool, sources in 1usize..=64) {
        let seeds = Seeds::new(seed, 0);
        send_blocks(Code::Fountain, sources, systematic, weather, &seeds);
    }

    #[test]
    fn a_megabyte_arrives_by_raptorq(weather in weather(), seed: u64, systematic: bool, sources in 1usize..=64) {
        let seeds = Seeds::new(seed, 0);
        send_blocks(Code::RaptorQ, sources, systematic, weather, &seeds);
    }

    #[test]
    fn a_megabyte_arrives_by_reed_solomon(weather in weather(), seed: u64, repairs in 1u16..40, sources in 1usize..=64) {
        let seeds = Seeds::new(seed, 0);
        let code = Code::ReedSolomon { repairs };
        send_blocks(code, sources, true, weather, &seeds);
    }

    #[test]
    fn a_megabyte_arrives_by_a_sliding_window(weather in weather(), seed: u64, density in 3u8..=15) {
        let seeds = Seeds::new(seed, 0);
        send_window(weather, density, &seeds, &messages(&seeds, LENGTH - 2, MEGABYTE));
    }
}

/// A systematic code without loss sends each source symbol once and nothing else.
#[test]
fn without_loss_source_symbols_suffice() {
    let calm = Weather { loss: 0.0, burst: 1.0, late: 0.0, twice: 0.0 };
    let seeds = Seeds::new(1, 0);
    let object = messages(&seeds, LENGTH - 2, 100_000);
    for code in [Code::Rlc, Code::Fountain, Code::RaptorQ, Code::ReedSolomon { repairs: 4 }] {
        assert_eq!(Transfer::new(code, 16, calm, &seeds, &object).run(true), object.len(), "{code}");
    }
}
