use std::collections::{BTreeMap, BTreeSet};

use allocation_counter::measure;
use strandcast_proto::time::Duration;

use super::*;
use crate::testing;

const CIPHERS: [Cipher; 2] = [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305];

/// Both ends of a handshake.
fn ends(cipher: Cipher) -> (Keys, Keys) {
    testing::keys(cipher).into()
}

fn room(packet: &[u8]) -> Vec<u8> {
    [&[0; 13], packet, &[0; 16]].concat()
}

fn sealed(keys: &mut Keys, path: u8, packet: &[u8]) -> Vec<u8> {
    let mut datagram = room(packet);
    keys.seal(Instant::ZERO, path, &mut datagram).expect("sealed");
    datagram
}

#[test]
fn what_one_end_seals_the_other_opens_where_it_lies() {
    for cipher in CIPHERS {
        let (mut here, mut there) = ends(cipher);
        for (path, packet) in [(0, &b"first"[..]), (0, b"second"), (5, b"third"), (31, b"fourth")] {
            let mut datagram = sealed(&mut here, path, packet);
            assert_eq!(datagram[0], 1);
            assert_eq!(datagram[1..9], there.connection_id(path).expect("a path").0);
            assert!(!datagram.windows(packet.len()).any(|window| window == packet));
            let number = there.open(path, &mut datagram).expect("opened");
            assert_eq!(datagram[13..datagram.len() - 16], *packet);
            assert_eq!(there.highest(path), Some(number));
        }
        let mut back = sealed(&mut there, 0, b"back");
        assert!(here.open(0, &mut back).is_ok());
    }
}

/// One number and one packet on 32 paths in both directions: 64 ids, and no two datagrams alike.
#[test]
fn each_path_and_direction_has_other_ids_and_keys() {
    for cipher in CIPHERS {
        let (mut here, mut there) = ends(cipher);
        let (mut ids, mut bodies) = (BTreeSet::new(), BTreeSet::new());
        for path in 0..PATHS {
            for keys in [&mut here, &mut there] {
                let datagram = sealed(keys, path, b"the same packet");
                ids.insert(datagram[1..9].to_vec());
                bodies.insert(datagram[13..].to_vec());
            }
        }
        assert_eq!((ids.len(), bodies.len()), (64, 64));
    }
}

#[test]
fn a_datagram_opens_on_its_path_and_at_its_receiver_alone() {
    let (mut here, mut there) = ends(Cipher::Aes128Gcm);
    let datagram = sealed(&mut here, 3, b"packet");
    for path in (0..PATHS).filter(|&path| path != 3) {
        assert_eq!(there.open(path, &mut datagram.clone()), Err(Discard::Forged));
        assert_eq!(there.highest(path), None);
    }
    assert_eq!(here.open(3, &mut datagram.clone()), Err(Discard::Forged), "sent back");
    assert!(there.open(3, &mut datagram.clone()).is_ok());
    let (_, mut other) = ends(Cipher::ChaCha20Poly1305);
    assert_eq!(other.open(3, &mut datagram.clone()), Err(Discard::Forged), "another cipher");
}

#[test]
fn there_are_32_paths() {
    let (mut here, mut there) = ends(Cipher::Aes128Gcm);
    for path in [PATHS, 200, 255] {
        assert_eq!(here.seal(Instant::ZERO, path, &mut room(b"packet")), None);
        assert_eq!(there.open(path, &mut room(b"packet")), Err(Discard::Path));
        assert_eq!(there.highest(path), None);
    }
    for path in 0..PATHS {
        let mut datagram = sealed(&mut here, path, b"packet");
        assert_eq!(there.open(path, &mut datagram), Ok(PacketNumber::FIRST));
    }
}

/// RFC 9001 §6.6: 2³⁶ for ChaCha20-Poly1305, 2⁵² for AES-128-GCM, on all paths together.
#[test]
fn forged_datagrams_are_counted_and_end_the_keys_before_the_limit() {
    for (cipher, limit) in [(Cipher::Aes128Gcm, 1 << 52), (Cipher::ChaCha20Poly1305, 1 << 36)] {
        let (mut here, mut there) = ends(cipher);
        let good = sealed(&mut here, 0, b"packet");
        for path in 0..3 {
            assert_eq!(there.open(path, &mut room(b"forged")), Err(Discard::Forged));
        }
        assert_eq!(there.forged(), 3);
        assert_eq!(there.open(0, &mut [1; 31]), Err(Discard::Short));
        assert_eq!(there.forged(), 3);
        there.forged = limit / 2 - 1;
        assert!(!there.renewal_due());
        assert_eq!(there.open(0, &mut room(b"forged")), Err(Discard::Forged));
        assert!(there.renewal_due());
        there.forged = limit - 1;
        assert_eq!(there.open(0, &mut room(b"forged")), Err(Discard::Forged));
        assert_eq!(there.open(0, &mut good.clone()), Err(Discard::Exhausted));
    }
}

#[test]
fn a_new_handshake_is_due_before_packet_numbers_end() {
    let (mut here, _) = ends(Cipher::Aes128Gcm);
    sealed(&mut here, 0, b"packet");
    assert!(!here.renewal_due());
    here.paths[0].send.sender(Cipher::Aes128Gcm).jump(PacketNumber::LAST.full() - (1 << 42));
    assert!(!here.renewal_due());
    here.paths[0].send.sender(Cipher::Aes128Gcm).jump(PacketNumber::LAST.full() - (1 << 42) + 2);
    assert!(here.renewal_due());
}

/// A day of datagrams two minutes apart, in both directions: both ends walk through generations together.
#[test]
fn both_directions_of_a_path_change_generations_together() {
    let (mut here, mut there) = ends(Cipher::Aes128Gcm);
    let mut generations = [0, 0];
    for minute in 0..24 * 60 {
        let now = Instant::ZERO + Duration::from_secs(60) * minute;
        for forth in [true, false] {
            let (from, to) = if forth { (&mut here, &mut there) } else { (&mut there, &mut here) };
            let mut datagram = room(b"packet");
            let number = from.seal(now, 0, &mut datagram).expect("sealed");
            assert_eq!(to.open(0, &mut datagram), Ok(number));
            generations[usize::from(forth)] = number.generation();
        }
    }
    assert_eq!(generations, [719, 719]);
}

/// The first datagrams' keys follow from these ids and secrets, which are overwritten once a path is used.
#[test]
fn the_log_of_keys_names_both_directions_of_a_path_until_it_is_used() {
    let (mut here, there) = ends(Cipher::Aes128Gcm);
    let [(sending, of_sending), (receiving, of_receiving)] = here.log(7).expect("unused");
    let [(there_sending, _), (there_receiving, of_there)] = there.log(7).expect("unused");
    assert_eq!((sending, receiving), (there_receiving, there_sending));
    assert_eq!(Some(receiving), here.connection_id(7));
    let datagram = sealed(&mut here, 7, b"packet");
    let open = |secret| Receiver::new(Cipher::Aes128Gcm, secret).open(&mut datagram.clone());
    assert_eq!(open(of_sending), Ok(PacketNumber::FIRST));
    assert_eq!(open(of_there), Ok(PacketNumber::FIRST));
    assert_eq!(open(of_receiving), Err(Discard::Forged));
    assert!(here.log(7).is_none() && here.log(PATHS).is_none());
    assert_eq!((here.connection_id(7), here.connection_id(PATHS)), (Some(receiving), None));
}

#[test]
fn datagrams_are_sealed_and_opened_without_allocations() {
    for cipher in CIPHERS {
        let (mut here, mut there) = ends(cipher);
        let mut datagram = vec![0; 13 + 1344 + 16];
        let mut exchange = |count: u32| {
            for path in 0..2 {
                for _ in 0..count {
                    here.seal(Instant::ZERO, path, &mut datagram).expect("sealed");
                    there.open(path, &mut datagram).expect("opened");
                }
            }
        };
        exchange(1);
        assert_eq!(measure(|| exchange(10_000)).count_total, 0);
    }
}

/// A path that is used in both directions, in its second generation, and all generations that a forged
/// datagram may request.
#[test]
fn a_path_has_a_few_kibibytes_whatever_comes() {
    let (mut here, mut there) = ends(Cipher::Aes128Gcm);
    let held = measure(|| {
        let mut datagram = sealed(&mut here, 0, b"packet");
        there.open(0, &mut datagram).expect("opened");
        for number in 0..1u32 << 12 {
            let mut forged = room(b"forged");
            forged[9..13].copy_from_slice(&(number << 20).to_be_bytes());
            there.open(0, &mut forged).expect_err("forged");
        }
    });
    println!("{} bytes for both ends", held.bytes_max);
    assert!(held.bytes_max < 12_000, "{} bytes", held.bytes_max);
}

/// The sender makes the receiver hold its maximum: keys of 32 paths to send on, and of 16 to receive on, each
/// with windows in two generations and the keys of later ones that a forged datagram may request.
#[test]
fn the_keys_of_a_handshake_have_a_bound_whatever_the_peer_sends() {
    for cipher in [Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305] {
        let (mut here, _) = ends(cipher);
        let mut held = None;
        let all = measure(|| {
            let (_, mut there) = ends(cipher);
            for path in 0..PATHS {
                for _ in 0..2 {
                    there.open(path, &mut sealed(&mut here, path, b"packet")).expect("opened");
                    here.go_on(path, 1 << 22, u64::MAX);
                }
                for number in 0..1u32 << 12 {
                    let mut forged = room(b"forged");
                    forged[9..13].copy_from_slice(&(number << 20).to_be_bytes());
                    there.open(path, &mut forged).expect_err("forged");
                }
                there.seal(Instant::ZERO, path, &mut room(b"packet")).expect("sealed");
            }
            held = Some(there);
        });
        let freed = -measure(|| drop(held)).bytes_current;
        println!("{cipher}: {freed} bytes, at most {} with the sender's", all.bytes_max);
        assert!((KEYS_HEAP as i64 / 2..=KEYS_HEAP as i64).contains(&freed), "{freed} bytes");
    }
}

/// A datagram on a 17th path makes that path rest on which none arrived for longest, and no other. The next
/// datagram that is newer than all earlier ones wakes it.
#[test]
fn sixteen_paths_are_received_on_at_a_time() {
    let (mut here, mut there) = ends(Cipher::Aes128Gcm);
    for path in 0..16 {
        there.open(path, &mut sealed(&mut here, path, b"packet")).expect("opened");
    }
    // A forged datagram makes no path rest.
    assert_eq!(there.open(16, &mut room(b"forged")), Err(Discard::Forged));
    there.open(0, &mut sealed(&mut here, 0, b"packet")).expect("opened");
    let recorded = sealed(&mut here, 1, b"packet");
    there.open(1, &mut recorded.clone()).expect("opened");
    there.open(16, &mut sealed(&mut here, 16, b"packet")).expect("opened");
    there.open(17, &mut sealed(&mut here, 17, b"packet")).expect("opened");
    let resting = |keys: &Keys| -> Vec<usize> {
        let rests = |(n, path): (usize, &Path)| matches!(path.receive, Receiving::Resting(_)).then_some(n);
        keys.paths.iter().enumerate().filter_map(rests).collect()
    };
    assert_eq!(resting(&there), [2, 3]);
    assert_eq!(there.open(1, &mut recorded.clone()), Err(Discard::Replayed));
    let mut forged = room(b"forged");
    forged[12] = 5;
    assert_eq!(there.open(2, &mut forged), Err(Discard::Forged));
    assert_eq!((there.highest(2), resting(&there)), (Some(PacketNumber::FIRST), vec![2, 3]));
    there.open(2, &mut sealed(&mut here, 2, b"packet")).expect("opened");
    assert_eq!(resting(&there), [3, 4]);
}

/// 32 paths in use at once, also across generations whose keys were derived in advance, with a late datagram
/// and replays.
#[test]
fn a_path_that_rested_takes_each_newer_datagram_once_and_no_older_one() {
    let (mut here, mut there) = ends(Cipher::Aes128Gcm);
    let mut recorded = Vec::new();
    for round in 0..12u32 {
        for path in 0..PATHS {
            let late = sealed(&mut here, path, b"late");
            let datagram = sealed(&mut here, path, b"packet");
            let number = there.open(path, &mut datagram.clone()).expect("opened");
            assert_eq!(there.highest(path), Some(number), "round {round}");
            there.open(path, &mut late.clone()).expect("it does not rest");
            let mut forged = room(b"forged");
            forged[9..13].copy_from_slice(&((number.full() as u32).wrapping_add(3 << 22)).to_be_bytes());
            assert_eq!(there.open(path, &mut forged), Err(Discard::Forged));
            recorded.push((path, datagram));
            recorded.push((path, late));
            here.go_on(path, u64::from(round % 3) << 21, u64::MAX);
        }
        for (path, datagram) in &recorded {
            let discard = there.open(*path, &mut datagram.clone()).expect_err("a replay");
            assert!(matches!(discard, Discard::Replayed | Discard::Generation), "{discard:?}");
        }
    }
}

/// Two paths, one of them 5 s longer, in both directions. Data at 10 Gbit/s of 1344-byte packets (930 060 per
/// second and path, one in 9301 is really sealed), an answer for each datagram that arrives; a minute, half a
/// minute of silence, a minute.
#[test]
fn nothing_is_lost_at_10_gbit_per_second_on_paths_5_s_apart() {
    let mut keys = testing::keys(Cipher::Aes128Gcm);
    let mut wire = BTreeMap::new();
    let (mut sealed, mut opened, mut highest) = (0u64, 0u64, [0; 2]);
    let delay = |path: u8| Duration::from_millis(10 + 5000 * u64::from(path));
    for tick in (0..6000).chain(9000..15_000) {
        let now = Instant::ZERO + Duration::from_millis(10) * tick;
        for path in [0, 1] {
            keys[0].go_on(path, 9300, u64::MAX);
            let mut datagram = room(b"data");
            keys[0].seal(now, path, &mut datagram).expect("sealed");
            wire.insert((now + delay(path), sealed), (1, path, datagram));
            sealed += 1;
        }
        while let Some(entry) = wire.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), (to, path, mut datagram)) = entry.remove_entry();
            let number = keys[to].open(path, &mut datagram).expect("opened");
            highest[to] = highest[to].max(number.generation());
            opened += 1;
            if to == 1 {
                let mut answer = room(b"answer");
                keys[1].seal(at, path, &mut answer).expect("sealed");
                wire.insert((at + delay(path), sealed), (0, path, answer));
                sealed += 1;
            }
        }
    }
    assert_eq!(opened + wire.len() as u64, sealed);
    assert!(opened > 40_000, "{opened}");
    // 12 000 times 9301 numbers are 26.5 generations; answers follow.
    assert_eq!(highest, [26, 26]);
}
