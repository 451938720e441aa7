//! The random linear codes allocate no memory per symbol in steady state, at either end.

use allocation_counter::measure;
use strandcast_coding::Code;
use strandcast_coding::blocks::{BlockConfig, BlockReceiver, BlockSender, Order};
use strandcast_coding::windows::{WindowConfig, WindowReceiver, WindowSender};

const LENGTH: usize = 1202;
const SOURCES: usize = 16;

/// Transfers 200 blocks. Each loses two source symbols, and its last symbols arrive late.
fn transfer(sender: &mut BlockSender, receiver: &mut BlockReceiver, symbol: &mut Vec<u8>) {
    let message = [7; LENGTH - 2];
    for _ in 0..200 {
        let mut block = 0;
        for index in 0..SOURCES {
            let id = sender.push(&message).expect("room");
            block = id.block;
            symbol.clear();
            sender.write_source(id, symbol).expect("held");
            if index % 8 != 3 {
                receiver.receive(symbol).expect("taken");
            }
        }
        while receiver.first() == block {
            symbol.clear();
            sender.write_repair(block, symbol).expect("closed");
            receiver.receive(symbol).expect("taken");
            while let Some(given) = receiver.poll() {
                assert_eq!(given.bytes, message);
            }
        }
        sender.release(receiver.first());
    }
}

#[test]
fn blocks_allocate_nothing() {
    for code in [Code::Rlc, Code::Fountain] {
        let config = BlockConfig { code, sources: SOURCES, length: LENGTH, blocks: 2, order: Order::InOrder };
        let (mut sender, mut receiver) = (BlockSender::new(config, 1), BlockReceiver::new(config));
        let mut symbol = Vec::with_capacity(2 * LENGTH);
        transfer(&mut sender, &mut receiver, &mut symbol);
        let counted = measure(|| transfer(&mut sender, &mut receiver, &mut symbol));
        assert_eq!(counted.count_total, 0, "{code}: {counted:?}");
        let statistics = receiver.statistics();
        assert_eq!((statistics.received, statistics.recovered), (400 * 14, 400 * 2));
    }
}

#[test]
fn windows_allocate_nothing() {
    let config = WindowConfig { sources: SOURCES, held: 2 * SOURCES, length: LENGTH, density: 15 };
    let (mut sender, mut receiver) = (WindowSender::new(config, 1), WindowReceiver::new(config));
    let mut symbol = Vec::with_capacity(2 * LENGTH);
    let mut run = || {
        for _ in 0..3200 {
            let number = sender.push(&[7; LENGTH - 2]).expect("it fits");
            symbol.clear();
            sender.write_source(number, &mut symbol).expect("held");
            if number % 16 != 5 {
                receiver.receive(&symbol).expect("taken");
            }
            if number % 8 == 7 {
                symbol.clear();
                sender.write_repair(&mut symbol).expect("not empty");
                receiver.receive(&symbol).expect("taken");
            }
            while receiver.poll().is_some() {}
        }
        *receiver.statistics()
    };
    run();
    let mut after = None;
    let counted = measure(|| after = Some(run()));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    let statistics = after.expect("it ran");
    assert_eq!((statistics.received, statistics.recovered), (6000, 400));
}
