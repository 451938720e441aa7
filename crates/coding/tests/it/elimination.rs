//! Compares the linear decoder with Gaussian elimination of all symbols since the start, which multiplies in
//! the field bit by bit.

use proptest::prelude::*;
use strandcast_coding::codec::Outcome;
use strandcast_coding::{Code, TinyMt32};

const CAPACITY: usize = 7;
const LENGTH: usize = 70;

fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= if b & 1 == 1 { a } else { 0 };
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0x1d };
        b >>= 1;
    }
    product
}

fn inverse(a: u8) -> u8 {
    (1..=255).find(|&b| multiply(a, b) == 1).expect("not 0")
}

/// Reduced rows over all symbols since the start; `gone` columns are removed from the rows by projection.
fn reduced(mut rows: Vec<Vec<u8>>, gone: usize) -> Vec<Vec<u8>> {
    let width = rows.first().map_or(0, Vec::len);
    let mut rank = 0;
    for column in 0..width {
        let Some(lead) = (rank..rows.len()).find(|&i| rows[i][column] != 0) else {
            continue;
        };
        rows.swap(rank, lead);
        let factor = inverse(rows[rank][column]);
        let row: Vec<u8> = rows[rank].iter().map(|&c| multiply(c, factor)).collect();
        rows[rank].clone_from(&row);
        for (i, other) in rows.iter_mut().enumerate().filter(|&(i, _)| i != rank) {
            let factor = other[column];
            let _ = i;
            other.iter_mut().zip(&row).for_each(|(c, &r)| *c ^= multiply(factor, r));
        }
        rank += 1;
    }
    rows.truncate(rank);
    // In echelon form, the rows that lead with a removed column are those that need it.
    rows.retain(|row| row[..gone.min(width)].iter().all(|&c| c == 0));
    rows
}

fn coefficients(code: Code, seed: u32, count: usize) -> Vec<u8> {
    let mut generator = TinyMt32::new(seed & 0xffff);
    let mut coefficient = || match code {
        Code::Rlc => generator.next_u32() as u8,
        _ => {
            // RFC 8681 §3.6.
            if seed >> 16 == 15 || (generator.next_u32() & 15) <= seed >> 16 {
                loop {
                    let drawn = generator.next_u32() as u8;
                    if drawn != 0 {
                        break drawn;
                    }
                }
            } else {
                0
            }
        }
    };
    (0..count).map(|_| coefficient()).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Source(usize),
    Repair(usize, usize, u16, u8),
    Forget(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..CAPACITY).prop_map(Step::Source),
        5 => (0..CAPACITY, 1..=CAPACITY, any::<u16>(), 0u8..=15).prop_map(|(a, b, s, d)| Step::Repair(a, b, s, d)),
        1 => (1..=3usize).prop_map(Step::Forget),
    ];
    prop::collection::vec(step, 1..40)
}

fn content(number: usize) -> Vec<u8> {
    (0..LENGTH).map(|i| (number * 131 + i * 29 + ((number * i) >> 3)) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_known_is_what_the_symbols_determine(steps in steps(), slides in any::<bool>()) {
        let code = if slides { Code::Sliding } else { Code::Rlc };
        let mut decoder = code.decoder(CAPACITY, LENGTH);
        let width = CAPACITY + 3 * steps.len();
        let (mut rows, mut gone) = (Vec::new(), 0);
        for step in steps {
            match step {
                Step::Source(place) => {
                    let before = reduced(rows.clone(), gone).len();
                    let mut row = vec![0; width];
                    row[gone + place] = 1;
                    rows.push(row);
                    let outcome = decoder.source(place, &content(gone + place));
                    prop_assert_eq!(outcome == Outcome::Innovative, reduced(rows.clone(), gone).len() > before);
                }
                Step::Repair(start, count, key, density) => {
                    let span = start..(start + count).min(CAPACITY);
                    let seed = u32::from(key) | if slides { u32::from(density) << 16 } else { 0 };
                    let drawn = coefficients(code, seed, span.len());
                    let mut row = vec![0; width];
                    let mut payload = vec![0; LENGTH];
                    for (&c, place) in drawn.iter().zip(span.clone()) {
                        row[gone + place] = c;
                        payload.iter_mut().zip(content(gone + place)).for_each(|(p, s)| *p ^= multiply(c, s));
                    }
                    let before = reduced(rows.clone(), gone).len();
                    rows.push(row);
                    let outcome = decoder.repair(span, seed, &payload);
                    prop_assert_eq!(outcome == Outcome::Innovative, reduced(rows.clone(), gone).len() > before);
                }
                Step::Forget(count) => {
                    gone += count;
                    decoder.forget(count);
                }
            }
            let left = reduced(rows.clone(), gone);
            prop_assert_eq!(decoder.rank(), left.len());
            for place in 0..CAPACITY {
                let unit = |row: &Vec<u8>| row.iter().enumerate().all(|(i, &c)| c == u8::from(i == gone + place));
                let found = decoder.known(place);
                prop_assert_eq!(found.is_some(), left.iter().any(unit), "place {}", place);
                if let Some(found) = found {
                    prop_assert_eq!(found, &content(gone + place)[..]);
                }
            }
        }
    }
}
