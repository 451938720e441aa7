//! Bit error rates over white Gaussian noise. The module has the function F from signal-to-noise ratio to bit error
//! rate, and its inverse.
//!
//! In Xu et al., 2015, F depends on the technology (eqs 1 and 2), and the paper refers to a table of 802.11a/g. The
//! forms of F use the linear ratio s per symbol, and Q(x) = erfc(x/√2)/2:
//!
//! | modulation | F(s) | where it is found |
//! |---|---|---|
//! | BPSK | Q(√(2s)) | 802.11a/g 6 and 9 Mbit/s |
//! | QPSK | Q(√s) | 802.11a/g 12 and 18 Mbit/s, 802.16 (QPSK 1/2, 3/4), WCDMA (behind despreading) |
//! | 16-QAM | ¾ Q(√(s/5)) | 802.11a/g 24 and 36 Mbit/s, 802.16, HSDPA |
//! | 64-QAM | 7/12 Q(√(s/21)) | 802.11a/g 48 and 54 Mbit/s, 802.16 |
//! | DBPSK | ½ exp(-s) | 802.11 1 Mbit/s |
//! | DQPSK | (√2+1)/√(8π√2) x^(-½) exp(-(2-√2) x), x = s/2 | 802.11 2 Mbit/s |
//!
//! The first four forms are in Table 2 of Halperin et al., "Predictable 802.11 packet delivery from wireless channel
//! measurements" (SIGCOMM 2010). The last two are the textbook forms that ns-3 has for DSSS. In ns-3, these forms use
//! the energy per bit, x = E_b/N_0. A DQPSK symbol carries two bits.
//!
//! `ASSUMED`: the coding of the link is ignored. A coded link therefore has the effective ratio of an uncoded link with
//! the same bit error rate. The DQPSK form is an approximation. The DQPSK form is too large near s = 0, and is limited
//! to ½.

use core::f64::consts::{PI, SQRT_2};

use strandcast_keys::words;

use super::Snr;

words! {
    /// Modulation, which determines the number of bits per symbol.
    pub enum Modulation {
        /// Quadrature phase shift keying.
        Qpsk = "qpsk",
        /// Binary phase shift keying.
        Bpsk = "bpsk",
        /// Quadrature amplitude modulation, 4 bits per symbol.
        Qam16 = "16qam",
        /// Quadrature amplitude modulation, 6 bits per symbol.
        Qam64 = "64qam",
        /// Differential binary phase shift keying.
        Dbpsk = "dbpsk",
        /// Differential quadrature phase shift keying.
        Dqpsk = "dqpsk",
    }
}

/// Least bit error rate whose inverse is computed. At this rate one frame of 1500 bytes in 10⁸ is in error.
const MIN_BER: f64 = 1e-12;
/// A signal-to-noise ratio that is higher than the ratio of any modulation at [`MIN_BER`]. 64-QAM has the highest of
/// these ratios, 1037.
const MOST_SNR: f64 = 2048.0;

impl Modulation {
    /// Eq. 1, BER = F(SNR). It falls from [`worst_bit_error_rate`](Self::worst_bit_error_rate) as the ratio rises.
    pub fn bit_error_rate(self, snr: Snr) -> f64 {
        let s = snr.value();
        match self {
            Modulation::Bpsk => gaussian_tail(libm::sqrt(2.0 * s)),
            Modulation::Qpsk => gaussian_tail(libm::sqrt(s)),
            Modulation::Qam16 => 0.75 * gaussian_tail(libm::sqrt(s / 5.0)),
            Modulation::Qam64 => 7.0 / 12.0 * gaussian_tail(libm::sqrt(s / 21.0)),
            Modulation::Dbpsk => 0.5 * libm::exp(-s),
            Modulation::Dqpsk => {
                let x = s / 2.0;
                let factor = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2);
                (factor / libm::sqrt(x) * libm::exp(-(2.0 - SQRT_2) * x)).min(0.5)
            }
        }
    }

    /// Eq. 2, SNR = F⁻¹(BER). Bit error rates below 10⁻¹² count as 10⁻¹². The result is 0 for the worst bit error rate
    /// and above it.
    pub fn snr_at(self, ber: f64) -> Snr {
        if ber >= self.worst_bit_error_rate() {
            return Snr::ZERO;
        }
        let ber = ber.max(MIN_BER);
        let (mut low, mut high) = (0.0, MOST_SNR);
        // The function is called at most a few times per second. The bisection needs no other form of F, and is fast
        // enough for this.
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            if self.bit_error_rate(Snr::new(middle)) > ber {
                low = middle;
            } else {
                high = middle;
            }
        }
        Snr::new(high)
    }

    /// Bit error rate of noise without a signal.
    pub fn worst_bit_error_rate(self) -> f64 {
        match self {
            Modulation::Bpsk | Modulation::Qpsk | Modulation::Dbpsk | Modulation::Dqpsk => 0.5,
            Modulation::Qam16 => 0.75 / 2.0,
            Modulation::Qam64 => 7.0 / 24.0,
        }
    }
}

/// Q(x), the probability that a standard normal variable exceeds `x`.
fn gaussian_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Modulation> {
        Modulation::WORDS.iter().map(|w| Modulation::from_word(w).expect("every word is known"))
    }

    fn close(what: &str, found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{what}: {found}, not {expected}");
    }

    /// Q(1) = 0.158655, Q(2) = 0.0227501, Q(3) = 1.349898e-3, Q(4.753424) = 1e-6 (tables of the normal distribution).
    #[test]
    fn eq_1_from_tables_of_the_normal_distribution() {
        let cases = [
            (Modulation::Bpsk, 2.0, 0.022_750_132),
            (Modulation::Bpsk, 0.5, 0.158_655_254),
            (Modulation::Qpsk, 9.0, 1.349_898e-3),
            (Modulation::Qpsk, 22.595_043, 1e-6),
            (Modulation::Qam16, 20.0, 0.75 * 0.022_750_132),
            (Modulation::Qam64, 189.0, 7.0 / 12.0 * 1.349_898e-3),
        ];
        for (modulation, s, ber) in cases {
            close(&format!("{modulation:?}"), modulation.bit_error_rate(Snr::new(s)), ber, 1e-6);
        }
    }

    /// DBPSK at x = 10: e⁻¹⁰/2 = 2.269996e-5. The factor of DQPSK is 2.4142136/5.9618004 = 0.4049471. At x = 4, the
    /// result is 0.2024735 · e^(-2.3431458) = 0.2024735 · 0.09602509. At x = 10, the result is 0.1280555 · 0.002857339.
    #[test]
    fn eq_1_of_the_dsss_modulations() {
        close("DBPSK", Modulation::Dbpsk.bit_error_rate(Snr::new(10.0)), 2.269_996_5e-5, 1e-7);
        close("DQPSK, x = 4", Modulation::Dqpsk.bit_error_rate(Snr::new(8.0)), 0.019_442_54, 1e-6);
        close("DQPSK, x = 10", Modulation::Dqpsk.bit_error_rate(Snr::new(20.0)), 3.658_980_4e-4, 1e-6);
    }

    /// Differential detection of the same symbols needs a higher ratio, and so do more bits per symbol.
    #[test]
    fn modulations_keep_their_order() {
        use Modulation::{Bpsk, Dbpsk, Dqpsk, Qam16, Qam64, Qpsk};
        for ber in [1e-3, 1e-5, 1e-9] {
            let s = |m: Modulation| m.snr_at(ber).value();
            assert!(s(Bpsk) < s(Qpsk) && s(Qpsk) < s(Qam16) && s(Qam16) < s(Qam64));
            assert!(s(Bpsk) < s(Dbpsk) && s(Qpsk) < s(Dqpsk), "{ber}");
            close("QPSK is two BPSKs", s(Qpsk), 2.0 * s(Bpsk), 1e-9);
        }
    }

    #[test]
    fn eq_2_undoes_eq_1() {
        for modulation in all() {
            for exponent in -23..=-1 {
                let ber = modulation.worst_bit_error_rate() * libm::pow(10.0, f64::from(exponent) / 2.0);
                let again = modulation.bit_error_rate(modulation.snr_at(ber));
                close(&format!("{modulation:?} {ber}"), again, ber.max(1e-12), 1e-9);
            }
        }
    }

    #[test]
    fn degenerate_bit_error_rates() {
        for modulation in all() {
            let worst = modulation.worst_bit_error_rate();
            assert_eq!(modulation.bit_error_rate(Snr::ZERO), worst, "{modulation:?}");
            assert_eq!(modulation.snr_at(worst), Snr::ZERO);
            assert_eq!(modulation.snr_at(1.0), Snr::ZERO);
            let best = modulation.snr_at(0.0);
            assert_eq!(best, modulation.snr_at(1e-12));
            close(&format!("{modulation:?}"), modulation.bit_error_rate(best), 1e-12, 1e-6);
            assert!(modulation.bit_error_rate(Snr::new(f64::INFINITY)) == 0.0);
        }
    }
}
