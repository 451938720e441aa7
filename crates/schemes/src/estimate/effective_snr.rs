//! Effective signal-to-noise ratio. A link with white Gaussian noise and this ratio would lose the same share of
//! frames.
//!
//! | Xu et al. (2015) | here |
//! |---|---|
//! | eqs 1, 2: BER = F(SNR), ESNR = F⁻¹(BER) | [`Modulation`] |
//! | eq. 3: FER = error_frame / total_frame | [`EffectiveSnr::close`] |
//! | eq. 4: BER = 1 - (1 - FER)^(1/8L) | [`bit_error_rate`] |
//!
//! `ASSUMED`: the frame error rate is smoothed as (errors + ½)/(frames + 1). Without this smoothing, an interval
//! without errors would have an infinite ratio. An interval without frames changes nothing. Before the first interval
//! the frame error rate is 0.01, with frames of 1500 bytes. The ratio is linear, because eq. 9 adds 1 to it.

use super::{Modulation, Snr};

const FIRST_FRAME_ERROR_RATE: f64 = 0.01;
const FIRST_FRAME_BYTES: f64 = 1500.0;

/// The effective ratio of one path's access link, interval by interval.
#[derive(Clone, Debug)]
pub struct EffectiveSnr {
    modulation: Modulation,
    frame_error_rate: f64,
    frame_bytes: f64,
    snr: Snr,
}

impl EffectiveSnr {
    /// Makes the estimate for a link with `modulation`, before its first interval.
    pub fn new(modulation: Modulation) -> Self {
        let (fer, bytes) = (FIRST_FRAME_ERROR_RATE, FIRST_FRAME_BYTES);
        let snr = modulation.snr_at(bit_error_rate(fer, bytes));
        EffectiveSnr { modulation, frame_error_rate: fer, frame_bytes: bytes, snr }
    }

    /// Ends an interval in which the link sent `frames` frames of `frame_bytes` bytes on average. `errors` of these
    /// frames had an error. If the length is invalid (0 or not finite), the length of the previous interval applies.
    pub fn close(&mut self, frames: u64, errors: u64, frame_bytes: f64) {
        if frames == 0 {
            return;
        }
        if frame_bytes.is_finite() && frame_bytes > 0.0 {
            self.frame_bytes = frame_bytes;
        }
        self.frame_error_rate = (errors.min(frames) as f64 + 0.5) / (frames as f64 + 1.0);
        self.snr = self.modulation.snr_at(bit_error_rate(self.frame_error_rate, self.frame_bytes));
    }

    /// Returns the effective ratio of the last interval with frames.
    pub fn snr(&self) -> Snr {
        self.snr
    }

    /// Returns the smoothed frame error rate of the last interval with frames.
    pub fn frame_error_rate(&self) -> f64 {
        self.frame_error_rate
    }
}

/// Returns the bit error rate by eq. 4. The form of the equation stays precise if both rates are small.
fn bit_error_rate(frame_error_rate: f64, frame_bytes: f64) -> f64 {
    -libm::expm1(libm::log1p(-frame_error_rate) / (8.0 * frame_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{found}, not {expected}");
    }

    /// Because BER is small, it is -ln(1 - FER)/(8L). For example, 1 - 0.99^(1/12000) = 0.01005034/12000 = 8.3753e-7.
    #[test]
    fn eq_4_with_frames_of_1500_bytes() {
        let cases = [(0.01, 8.3753e-7), (0.05, 4.2744e-6), (0.1, 8.7800e-6), (0.2, 1.85953e-5)];
        for (fer, ber) in cases {
            close(bit_error_rate(fer, 1500.0), ber, 1e-4);
        }
        // With frames of one bit, the bit error rate equals the frame error rate.
        close(bit_error_rate(0.3, 0.125), 0.3, 1e-12);
        assert_eq!(bit_error_rate(0.0, 1500.0), 0.0);
        assert_eq!(bit_error_rate(1.0, 1500.0), 1.0);
    }

    /// Qinv(8.3753e-7)² = 4.7888² = 22.93. BPSK has half of this value. 64-QAM has 21 Qinv(12/7 BER)².
    #[test]
    fn eq_2_from_frame_error_rates() {
        let s = |m: Modulation, fer: f64| m.snr_at(bit_error_rate(fer, 1500.0)).value();
        for (fer, bpsk, qam64) in
            [(0.01, 11.47, 460.0), (0.05, 9.91, 394.0), (0.1, 9.22, 366.0), (0.2, 8.50, 336.0)]
        {
            close(s(Modulation::Bpsk, fer), bpsk, 1e-3);
            close(s(Modulation::Qpsk, fer), 2.0 * bpsk, 1e-3);
            close(s(Modulation::Qam64, fer), qam64, 2e-3);
        }
    }

    #[test]
    fn before_anything_one_frame_in_a_hundred() {
        let esnr = EffectiveSnr::new(Modulation::Qpsk);
        assert_eq!(esnr.frame_error_rate(), 0.01);
        close(esnr.snr().value(), 22.93, 1e-3);
    }

    /// (4 + ½)/(99 + 1) = 0.045.
    #[test]
    fn eq_3_is_smoothed() {
        let mut esnr = EffectiveSnr::new(Modulation::Qpsk);
        esnr.close(99, 4, 1000.0);
        assert_eq!(esnr.frame_error_rate(), 0.045);
        let ber = 1.0 - libm::pow(1.0 - 0.045, 1.0 / 8000.0);
        close(Modulation::Qpsk.bit_error_rate(esnr.snr()), ber, 1e-8);
    }

    #[test]
    fn an_interval_without_frames_changes_nothing() {
        let mut esnr = EffectiveSnr::new(Modulation::Bpsk);
        esnr.close(50, 10, 700.0);
        let before = (esnr.snr(), esnr.frame_error_rate());
        esnr.close(0, 0, 1500.0);
        assert_eq!((esnr.snr(), esnr.frame_error_rate()), before);
    }

    #[test]
    fn frame_error_rates_of_0_and_1_stay_finite() {
        for modulation in [Modulation::Qpsk, Modulation::Qam64, Modulation::Dqpsk] {
            let mut esnr = EffectiveSnr::new(modulation);
            let mut last = f64::INFINITY;
            for (frames, errors) in [(1000, 0), (1000, 500), (1000, 1000), (u64::MAX, u64::MAX)] {
                esnr.close(frames, errors, 1500.0);
                let s = esnr.snr().value();
                assert!(s.is_finite() && s >= 0.0 && s < last, "{modulation:?} {errors}/{frames}: {s}");
                last = s;
            }
            // There cannot be more errors than frames.
            esnr.close(10, 20, 1500.0);
            close(esnr.frame_error_rate(), 10.5 / 11.0, 1e-12);
        }
    }

    #[test]
    fn a_length_that_is_none_is_the_last_one() {
        let (mut one, mut other) = (EffectiveSnr::new(Modulation::Qpsk), EffectiveSnr::new(Modulation::Qpsk));
        for esnr in [&mut one, &mut other] {
            esnr.close(100, 1, 400.0);
        }
        one.close(100, 5, 400.0);
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            other.close(100, 5, none);
            assert_eq!(other.snr(), one.snr());
        }
    }

    /// Bit errors are independent. If a link loses the same share of frames with half the length, its ratio is lower.
    #[test]
    fn shorter_frames_in_error_mean_a_lower_ratio() {
        let mut esnr = EffectiveSnr::new(Modulation::Qpsk);
        esnr.close(1000, 20, 1500.0);
        let long = esnr.snr();
        esnr.close(1000, 20, 750.0);
        assert!(esnr.snr() < long);
    }
}
