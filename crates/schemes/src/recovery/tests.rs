use strandcast_proto::policy::fixture::{Picture, ack, chunk, loss_of};
use strandcast_proto::policy::{
    AckInfo, ChunkInfo, LossCause, LossPolicy as _, LossTrigger, PathState, Policy as _, Retransmit, Signal,
    Symbol, SymbolKind, SymbolsInFlight,
};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

use super::*;
use crate::schedule::tests::block;

fn random() -> Random {
    Seeds::new(3, 0).stream("ties")
}

fn sfr(config: SfrConfig) -> SplitFastRetransmit {
    SplitFastRetransmit::new(config, random())
}

fn misses(config: SfrConfig, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
    sfr(config).misses(&Picture::new(2).view(), ack, chunk)
}

#[test]
fn only_the_chunk_s_own_path_counts() {
    let config = SfrConfig::default();
    let other = AckInfo { newly_acked_range: None, ..ack(0, 4, (6, 9), 4000) };
    assert_eq!(misses(config, &other, &chunk(5, &[0])), 0, "nothing newly acknowledged here");
    assert_eq!(misses(config, &ack(0, 4, (6, 9), 4000), &chunk(5, &[0])), 1);
    assert_eq!(misses(config, &ack(0, 4, (6, 9), 4000), &chunk(5, &[1])), 0, "it is on path 1");
    assert_eq!(misses(config, &ack(0, 4, (6, 9), 4000), &chunk(10, &[0])), 0, "above all that arrived here");
}

#[test]
fn a_delayed_sack_counts_its_packets_only_where_that_is_sure() {
    let dac = |packets, paths, range| AckInfo {
        dac_count: packets,
        held: Duration::ZERO,
        lateness: Duration::ZERO,
        paths_newly_acked: paths,
        ..ack(0, 4, range, 9000)
    };
    let on = SfrConfig::default();
    assert_eq!(misses(on, &dac(2, 1, (6, 7)), &chunk(5, &[0])), 2);
    assert_eq!(misses(on, &dac(2, 2, (6, 7)), &chunk(5, &[0])), 1, "the packets may be another path's");
    assert_eq!(misses(on, &dac(2, 1, (3, 7)), &chunk(5, &[0])), 1, "one of them left before");
    assert_eq!(misses(SfrConfig { dac: false, ..on }, &dac(2, 1, (6, 7)), &chunk(5, &[0])), 1);
}

#[test]
fn only_gap_blocks_count_where_the_key_says_so() {
    let gap = SfrConfig { dac_acked: DacAcked::Gap, ..SfrConfig::default() };
    let counted = |ack| [SfrConfig::default(), gap].map(|config| misses(config, &ack, &chunk(5, &[0])));
    // A SACK for two packets moves the cumulative TSN to 4, and its gap block has 6 and 7.
    let same = AckInfo { dac_count: 2, lowest_gap_acked: Some(Tsn(6)), ..ack(0, 4, (4, 7), 9000) };
    assert_eq!(counted(same.clone()), [1, 2], "TSN 4 left before chunk 5 and is in no gap block");
    let other = AckInfo { paths_newly_acked: 2, newly_acked_range: Some((Tsn(6), Tsn(7))), ..same.clone() };
    assert_eq!(counted(other), [1, 2], "TSN 4 is of another path and in no gap block");
    let mixed = AckInfo { paths_newly_acked: 2, paths_gap_acked: 2, ..same.clone() };
    assert_eq!(counted(mixed), [1, 1], "the packets may be another path's");
    let across = AckInfo { lowest_gap_acked: Some(Tsn(4)), ..ack(0, 3, (4, 7), 9000) };
    assert_eq!(counted(AckInfo { dac_count: 2, ..across }), [1, 1], "a gap block has one that left before");
    let off = SfrConfig { dac: false, ..gap };
    assert_eq!(misses(off, &same, &chunk(5, &[0])), 1);
}

/// Chunk 5, lost once and sent again on path 0 when 20 was the next new TSN.
fn sent_again() -> ChunkInfo {
    let mut c = chunk(5, &[0, 0]);
    c.losses = 1;
    c.transmissions[0].in_flight = false;
    c.transmissions[1].at = c.transmissions[0].at + Duration::from_millis(80);
    c.transmissions[1].next_tsn = Tsn(20);
    c
}

#[test]
fn a_retransmission_is_missed_only_by_what_left_after_it() {
    let on = SfrConfig::default();
    assert_eq!(misses(on, &ack(0, 4, (18, 19), 9000), &sent_again()), 0, "those left before");
    assert_eq!(misses(on, &ack(0, 4, (20, 21), 9000), &sent_again()), 1);
    let counted = AckInfo { dac_count: 2, ..ack(0, 4, (19, 20), 9000) };
    assert_eq!(misses(on, &counted, &sent_again()), 1, "only one of the two left after it");
    assert_eq!(misses(SfrConfig { repeat: false, ..on }, &ack(0, 4, (20, 21), 9000), &sent_again()), 0);
}

#[test]
fn copies_are_judged_each_by_its_own_path() {
    let mut copies = chunk(5, &[0, 1]);
    let on = SfrConfig { repeat: false, ..SfrConfig::default() };
    assert_eq!(misses(on, &ack(1, 4, (6, 6), 9000), &copies), 1);
    copies.transmissions[0].in_flight = false;
    copies.losses = 1;
    assert_eq!(misses(on, &ack(1, 4, (6, 6), 9000), &copies), 1, "the other copy's loss changes nothing");
    assert_eq!(misses(on, &ack(0, 4, (6, 6), 9000), &copies), 0, "that copy is lost already");
}

/// Three paths with windows of 10, 30, 20 packets and thresholds 50, 40, none.
fn unequal() -> Picture {
    let mut picture = Picture::new(3);
    for (p, (cwnd, ssthresh)) in
        picture.paths.iter_mut().zip([(10_000, Some(50_000)), (30_000, Some(40_000)), (20_000, None)])
    {
        (p.limit.cwnd, p.limit.ssthresh) = (cwnd, ssthresh);
    }
    picture
}

fn goes_to(loss: &mut SplitFastRetransmit, picture: &Picture, chunk: &ChunkInfo) -> u8 {
    match loss.retransmit(&picture.view(), chunk, LossCause::Congestion) {
        Retransmit::On(path) => path.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_retransmission_policy_takes_its_best_path() {
    let rtx = |rtx| sfr(SfrConfig { rtx, ..SfrConfig::default() });
    let mut picture = unequal();
    assert_eq!(goes_to(&mut rtx(Rtx::Same), &picture, &chunk(5, &[0])), 0);
    assert_eq!(goes_to(&mut rtx(Rtx::Cwnd), &picture, &chunk(5, &[0])), 1);
    assert_eq!(goes_to(&mut rtx(Rtx::Ssthresh), &picture, &chunk(5, &[0])), 2, "no threshold is the highest");
    picture.paths[1].in_flight = 30_000;
    assert_eq!(goes_to(&mut rtx(Rtx::Cwnd), &picture, &chunk(5, &[0])), 1, "it waits for room there");
    picture.paths[1].state = PathState::PotentiallyFailed;
    assert_eq!(goes_to(&mut rtx(Rtx::Cwnd), &picture, &chunk(5, &[0])), 2);
    assert_eq!(goes_to(&mut rtx(Rtx::Same), &picture, &chunk(5, &[1])), 2, "its path is not usable");
}

/// Guo, Liu and Lian 2010, §4: retransmissions take the path of the least delay, be it full or not.
#[test]
fn the_lowest_round_trip_time_is_waited_for() {
    let mut loss = sfr(SfrConfig { rtx: Rtx::LowestRtt, ..SfrConfig::default() });
    let mut picture = unequal();
    for (p, rtt) in picture.paths.iter_mut().zip([Some(80), None, Some(30)]) {
        p.srtt = rtt.map(Duration::from_millis);
    }
    picture.paths[2].in_flight = 20_000;
    assert_eq!(goes_to(&mut loss, &picture, &chunk(5, &[0])), 2);
    picture.paths[2].state = PathState::PotentiallyFailed;
    assert_eq!(goes_to(&mut loss, &picture, &chunk(5, &[0])), 0);
    picture.paths[0].state = PathState::Closed;
    assert_eq!(goes_to(&mut loss, &picture, &chunk(5, &[0])), 1, "without a sample, but alone");
}

#[test]
fn asap_takes_any_path_with_room_and_waits_where_it_was_lost() {
    let mut loss = sfr(SfrConfig { rtx: Rtx::Asap, ..SfrConfig::default() });
    let mut picture = unequal();
    picture.paths[1].in_flight = 30_000;
    let mut count = [0; 3];
    for _ in 0..1000 {
        count[usize::from(goes_to(&mut loss, &picture, &chunk(5, &[1])))] += 1;
    }
    assert_eq!(count[1], 0, "no room");
    assert!((400..600).contains(&count[0]), "{count:?}");
    picture.paths[0].in_flight = 10_000;
    picture.paths[2].in_flight = 20_000;
    assert_eq!(goes_to(&mut loss, &picture, &chunk(5, &[1])), 1);
}

#[test]
fn ties_are_broken_evenly() {
    let mut picture = unequal();
    picture.paths.iter_mut().for_each(|p| p.limit.cwnd = 9000);
    let mut loss = sfr(SfrConfig::default());
    let mut count = [0; 3];
    for _ in 0..3000 {
        count[usize::from(goes_to(&mut loss, &picture, &chunk(5, &[0])))] += 1;
    }
    assert!(count.iter().all(|c| (900..1100).contains(c)), "{count:?}");
}

#[test]
fn the_loss_rate_is_that_of_the_last_thousand_transmissions() {
    let mut loss = sfr(SfrConfig { rtx: Rtx::LossRate, ..SfrConfig::default() });
    let picture = Picture::new(2);
    let mut tsn = 0;
    let mut send = |loss: &mut SplitFastRetransmit, path: u8, lost: bool| {
        tsn += 1;
        let mut c = chunk(tsn, &[path]);
        c.transmissions[0].at = Instant::from_millis(u64::from(tsn) / 3);
        loss.on_signal(&picture.view(), &Signal::Sent(&c));
        if lost {
            c.transmissions[0].in_flight = false;
            loss.on_signal(&picture.view(), &loss_of(&c));
            loss.on_signal(&picture.view(), &loss_of(&c));
        }
    };
    // 2 % on path 0, then 1 % on path 1 out of twice as many.
    (0..500).for_each(|i| send(&mut loss, 0, i % 50 == 0));
    (0..1000).for_each(|i| send(&mut loss, 1, i % 100 == 0));
    assert_eq!(goes_to(&mut loss, &picture, &chunk(5000, &[0])), 1);
    // A thousand transmissions without loss clear path 0's history.
    (0..1000).for_each(|_| send(&mut loss, 0, false));
    assert_eq!(goes_to(&mut loss, &picture, &chunk(5000, &[1])), 0);
    // A transmission from before those thousand does not count when it is found lost late.
    let mut old = chunk(3, &[0]);
    old.transmissions[0].at = Instant::from_millis(1);
    old.transmissions[0].in_flight = false;
    loss.on_signal(&picture.view(), &loss_of(&old));
    assert_eq!(goes_to(&mut loss, &picture, &chunk(5000, &[1])), 0);
}

#[test]
fn the_scheduler_may_decide() {
    let picture = Picture::new(2);
    let mut loss = sfr(SfrConfig { rtx: Rtx::Scheduler, ..SfrConfig::default() });
    let verdict = loss.retransmit(&picture.view(), &chunk(5, &[0]), LossCause::Congestion);
    assert_eq!(verdict, Retransmit::Requeue);
}

/// A symbol of block 4 on path 0, which has 16 source symbols.
fn symbol() -> ChunkInfo {
    let symbol = Symbol { block: 4, sources: 16, kind: SymbolKind::Repair };
    ChunkInfo { symbol: Some(symbol), ..chunk(9, &[0]) }
}

/// Block 4 has this rank, and `in_flight` symbols in flight on path 1, which loses a tenth.
fn with_block(rank: u16, in_flight: u32) -> Picture {
    let mut picture = Picture::new(2);
    picture.paths[1].est.loss = Some(0.1);
    let mut block = block(4, 16);
    block.rank = rank;
    let there = SymbolsInFlight { sources: 0, repairs: in_flight };
    block.in_flight.extend([SymbolsInFlight::default(), there]);
    picture.blocks.push(block);
    picture
}

/// The masked loss of a symbol is not sent again while its block gets complete without it, and is once it does not.
#[test]
fn masked_losses_wait_for_coded_packets() {
    let config = SfrConfig { mask_losses: true, ..SfrConfig::default() };
    let verdict =
        |config, picture: &Picture, cause| sfr(config).retransmit(&picture.view(), &symbol(), cause);
    assert_eq!(verdict(config, &with_block(7, 10), LossCause::Wireless), Retransmit::Hold);
    let sent = |verdict| matches!(verdict, Retransmit::On(_));
    assert!(sent(verdict(config, &with_block(7, 9), LossCause::Wireless)), "coded packets were lost as well");
    assert!(sent(verdict(config, &with_block(7, 10), LossCause::PathFailure)), "a timeout");
    assert!(sent(verdict(SfrConfig::default(), &with_block(7, 10), LossCause::Congestion)), "by default");
}

/// RFC 4960 §6.4.1, ns-2's `rtxToAlt_`: fast retransmissions take the next active path as well, in turn.
#[test]
fn alternate_is_the_next_active_path() {
    let mut picture = Picture::new(3);
    let to = |config: SfrConfig, picture: &Picture, path| {
        sfr(config).retransmit(&picture.view(), &chunk(5, &[path]), LossCause::Congestion)
    };
    let config = SfrConfig { rtx: Rtx::Alternate, ..SfrConfig::default() };
    let on = |path| Retransmit::On(strandcast_proto::policy::PathId(path));
    assert_eq!((to(config, &picture, 0), to(config, &picture, 2)), (on(1), on(0)));
    picture.paths[1].state = PathState::Inactive;
    assert_eq!(to(config, &picture, 0), on(2));
    picture.paths[2].state = PathState::Inactive;
    assert_eq!(to(config, &picture, 0), on(0), "no other is active");
}

#[test]
fn fast_retransmissions_of_one_path_at_a_time_stay_or_take_the_alternate() {
    use crate::part::{LossPart as _, Others, Paths};
    let others = Others { paths: Paths::Primary, rounds: false };
    let picture = Picture::new(2);
    let to = |fast_rtx, cause| {
        let mut loss = RfcLossConfig { fast_rtx }.build(&others, &Seeds::new(3, 0));
        loss.retransmit(&picture.view(), &chunk(5, &[0]), cause)
    };
    let on = |path| Retransmit::On(strandcast_proto::policy::PathId(path));
    assert_eq!(to(FastRtx::Same, LossCause::Congestion), on(0));
    assert_eq!(to(FastRtx::Same, LossCause::PathFailure), on(1));
    assert_eq!(to(FastRtx::Alternate, LossCause::Congestion), on(1));
    assert_eq!(to(FastRtx::Alternate, LossCause::PathFailure), on(1));
}

/// Xu et al. (2015): what coding makes up for is not a loss to the windows. By default every loss is.
#[test]
fn losses_are_masked_while_the_block_gets_complete() {
    use LossCause::{Congestion, PathFailure, Wireless};
    use LossTrigger::{FastRetransmit, Timeout};
    let config = SfrConfig { mask_losses: true, ..SfrConfig::default() };
    let cause =
        |config, picture: &Picture, trigger| sfr(config).classify(&picture.view(), &symbol(), trigger);
    // 7 + 0.9 · 10 = 16.
    assert_eq!(cause(config, &with_block(7, 10), FastRetransmit), Wireless);
    assert_eq!(cause(config, &with_block(7, 9), FastRetransmit), Congestion);
    assert_eq!(cause(config, &with_block(6, 10), FastRetransmit), Congestion);
    assert_eq!(cause(config, &with_block(16, 10), Timeout), PathFailure, "a path that fell silent");
    assert_eq!(cause(SfrConfig::default(), &with_block(7, 10), FastRetransmit), Congestion, "the default");
    let mut dead = with_block(7, 10);
    dead.paths[1].state = PathState::Inactive;
    assert_eq!(cause(config, &dead, FastRetransmit), Congestion, "what is in flight there is lost");
    let mut later = with_block(0, 0);
    later.blocks[0].number = 5;
    assert_eq!(cause(config, &later, FastRetransmit), Wireless, "the block is complete");
    assert_eq!(cause(config, &Picture::new(2), FastRetransmit), Congestion, "nothing is coded in blocks");
}
