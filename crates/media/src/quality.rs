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

/// Determines which frames can be decoded. Frames are in display order, each with its type (`None`: a header) and
/// whether it was received. A header is decodable if received; an I frame if it and the last header before it were
/// received; a P frame if it was received and the last I or P frame before it is decodable; a B frame if it was
/// received and both the preceding and the following I or P frames, as far as they exist, are decodable.
pub fn decodable(frames: &[(Option<FrameType>, bool)]) -> Vec<bool> {
    let mut decodable = vec![false; frames.len()];
    // A list without a header requires none; without a preceding reference only an I frame is decodable.
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

/// PSNR of the displayed picture per frame, in dB, for frames as in [`decodable`]; `None` for a header. This is a
/// model without pictures: a decodable frame has its encoder's PSNR (I 36 dB, P 34, B 33). Otherwise the
/// last decodable frame is repeated, which costs 6 dB, and 1.5 dB more for each further repetition, with a minimum of
/// 15 dB. Differences are meaningful, absolute values are not.
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

#[cfg(test)]
mod tests {
    use super::*;

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

    /// The frames that can be decoded as 1, the others as 0.
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
