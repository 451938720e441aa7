//! Quality as seen by a viewer.

use core::time::Duration;

use crate::ts::FrameType;

/// Playout continuity: the fraction of the playing time without gaps, 0 to 1; 1 without playing time.
pub fn playout_continuity(played: Duration, gaps: Duration) -> f64 {
    if played.is_zero() {
        return 1.0;
    }
    (1.0 - gaps.as_secs_f64() / played.as_secs_f64()).max(0.0)
}

/// Determines which frames can be decoded. Frames are in display order. Each has its type (`None` for a header), and a
/// flag that is true if it was received. A header is decodable if it was received. An I frame is decodable if it and
/// the last header before it were received. A P frame is decodable if it was received and the last I or P frame before
/// it is decodable. A B frame is decodable if it was received, and if both the preceding and the following I or P
/// frame, as far as they exist, are decodable.
pub fn decodable(frames: &[(Option<FrameType>, bool)]) -> Vec<bool> {
    let mut decodable = vec![false; frames.len()];
    // A list without a header needs no header. Without an earlier reference frame, only an I frame is decodable.
    let (mut header, mut reference) = (true, None);
    for (i, &(kind, received)) in frames.iter().enumerate() {
        decodable[i] = match kind {
            None => {
                header = received;
                received
            }
            Some(FrameType::I) => received && header,
            Some(FrameType::P) => received && reference == Some(true),
            Some(FrameType::B) => continue,
        };
        if kind.is_some() {
            reference = Some(decodable[i]);
        }
    }
    let is_reference = |kind| matches!(kind, Some(FrameType::I | FrameType::P));
    let mut behind = None;
    for i in (0..frames.len()).rev() {
        match frames[i] {
            (Some(FrameType::B), received) => {
                let before = (0..i).rev().find(|&j| is_reference(frames[j].0)).map(|j| decodable[j]);
                let some = before.is_some() || behind.is_some();
                decodable[i] = received && some && before.unwrap_or(true) && behind.unwrap_or(true);
            }
            (kind, _) if is_reference(kind) => behind = Some(decodable[i]),
            _ => {}
        }
    }
    decodable
}

/// Returns the PSNR in dB of the picture that is displayed for each frame. The frames are as in [`decodable`], and a
/// header has the value `None`. The PSNR comes from a model without pictures: a decodable frame has the PSNR of the
/// encoder (I 36 dB, P 34 dB, B 33 dB). For any other frame, the last decodable frame is repeated. The first repetition
/// reduces the PSNR by 6 dB, and each further repetition by 1.5 dB, down to at least 15 dB. Differences between values
/// are meaningful, but absolute values are not.
pub fn frozen_psnr_db(frames: &[(Option<FrameType>, bool)]) -> Vec<Option<f64>> {
    const MIN_DB: f64 = 15.0;
    let mut shown: Option<(f64, f64)> = None;
    let mut psnr = |(&(kind, _), decodable): (&(Option<FrameType>, bool), bool)| {
        let encoder = match kind? {
            FrameType::I => 36.0,
            FrameType::P => 34.0,
            FrameType::B => 33.0,
        };
        if decodable {
            shown = Some((encoder, 0.0));
            return Some(encoder);
        }
        let Some((encoder, still)) = &mut shown else { return Some(MIN_DB) };
        let frozen = (*encoder - 6.0 - 1.5 * *still).max(MIN_DB);
        *still += 1.0;
        Some(frozen)
    };
    frames.iter().zip(decodable(frames)).map(&mut psnr).collect()
}

/// Pictures per second of a video whose messages have no picture numbers. ASSUMED, as are [`NOMINAL_GROUP`] and
/// [`FREEZE`].
pub const NOMINAL_PICTURES: u32 = 25;
/// Pictures in a group of such a video. No picture depends on a picture of another group.
pub const NOMINAL_GROUP: u64 = 25;
/// Longest time for which one picture may be displayed. If the picture is displayed longer, the video is frozen.
pub const FREEZE: Duration = Duration::from_millis(200);

/// Returns the nominal picture of a message. `captured` is the time at which the message was captured, since the start
/// of the video. Times of capture may be rounded to microseconds.
pub fn nominal_picture(captured: Duration) -> u64 {
    let pictures = (captured + Duration::from_nanos(40)).as_nanos() * u128::from(NOMINAL_PICTURES);
    (pictures / 1_000_000_000) as u64
}

/// Determines which nominal pictures can be decoded. Pictures are in ascending order, each with a flag that is true if
/// the whole picture was received. A picture cannot be decoded if it or an earlier picture of its group was not
/// received.
pub fn nominal_decodable(pictures: impl IntoIterator<Item = (u64, bool)>) -> Vec<bool> {
    let (mut group, mut whole) = (None, true);
    let mut next = |(picture, received): (u64, bool)| {
        if group.replace(picture / NOMINAL_GROUP) != Some(picture / NOMINAL_GROUP) {
            whole = true;
        }
        whole &= received;
        whole
    };
    pictures.into_iter().map(&mut next).collect()
}

/// Counts the pictures displayed for longer than [`FREEZE`]. A picture that is followed by n pictures that
/// cannot be decoded is displayed for n + 1 pictures.
pub fn freezes(decodable: impl IntoIterator<Item = bool>, picture: Duration) -> u64 {
    let (mut count, mut missing) = (0, 0_u32);
    for shown in decodable.into_iter().chain([true]) {
        if shown {
            count += u64::from(missing > 0 && picture.saturating_mul(missing + 1) > FREEZE);
            missing = 0;
        } else {
            missing = missing.saturating_add(1);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_stays_on_for_more_than_200_ms_is_a_freeze() {
        let count = |text: &str, ms| freezes(text.chars().map(|c| c == '1'), Duration::from_millis(ms));
        // A picture lasts 40 ms. With four missing pictures, the picture before them is displayed for exactly 200 ms,
        // with five for 240 ms.
        assert_eq!([count("1000011", 40), count("10000011", 40), count("1000001100000", 40)], [0, 1, 2]);
        assert_eq!([count("", 40), count("000000", 40), count("11", 300), count("101", 101)], [0, 1, 0, 1]);
    }

    #[test]
    fn a_nominal_picture_needs_those_before_it_in_its_group() {
        let lost = [30, 49, 60];
        let all = nominal_decodable((0..100).map(|picture| (picture, !lost.contains(&picture))));
        let shown: Vec<usize> = (0..100).filter(|&i| all[i]).collect();
        let expected: Vec<usize> = (0..30).chain(50..60).chain(75..100).collect();
        assert_eq!(shown, expected);
        let at = |us| nominal_picture(Duration::from_micros(us));
        assert_eq!([at(0), at(39_999), at(40_000), at(999_999), at(1_000_000)], [0, 0, 1, 24, 25]);
    }

    /// One letter per frame, lower case if it was lost.
    fn frames(text: &str) -> Vec<(Option<FrameType>, bool)> {
        let kind = |c: char| match c.to_ascii_uppercase() {
            'I' => Some(FrameType::I),
            'P' => Some(FrameType::P),
            'B' => Some(FrameType::B),
            _ => None,
        };
        text.chars().map(|c| (kind(c), c.is_ascii_uppercase())).collect()
    }

    /// Returns a string with 1 for each decodable frame and 0 for each other frame.
    fn seen(text: &str) -> String {
        decodable(&frames(text)).iter().map(|&d| if d { '1' } else { '0' }).collect()
    }

    #[test]
    fn frames_need_their_references() {
        for (received, expected) in [
            ("IBBPBBPBBI", "1111111111"),
            ("IBBpBBPBBI", "1000000001"),
            ("IBBPBBpBBI", "1111000001"),
            ("iBBPBBPBBI", "0000000001"),
            ("IbBPBBPBBI", "1011111111"),
            ("IBBPBBPBBi", "1111111000"),
            ("IBBPBB", "111111"),
            ("PBI", "001"),
            ("BBI", "111"),
            ("B", "0"),
            ("HIPhIPHI", "11100011"),
            ("", ""),
        ] {
            assert_eq!(seen(received), expected, "{received}");
        }
    }

    #[test]
    fn the_model_freezes_the_last_picture() {
        let psnr = |text| frozen_psnr_db(&frames(text));
        assert_eq!(psnr("IppI"), [36.0, 30.0, 28.5, 36.0].map(Some));
        assert_eq!(psnr("HIPB"), [None, Some(36.0), Some(34.0), Some(33.0)]);
        assert_eq!(psnr("ip"), [Some(15.0); 2], "nothing was ever seen");
        assert_eq!(psnr("Ippppppppppppp")[10..], [16.5, 15.0, 15.0, 15.0].map(Some), "36 - 6 - 1.5 (d - 1)");
    }
}
