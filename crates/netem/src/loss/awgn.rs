//! Probabilities of bit errors and frame errors with white Gaussian noise.

use core::f64::consts::{PI, SQRT_2};

/// Modulation: the relation between bits, symbols and the signal-to-noise ratio. In the formulas, s is the linear ratio
/// per symbol, and Q is the tail of the normal distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// BER = Q(√(2s)).
    Bpsk,
    /// BER = Q(√s).
    Qpsk,
    /// BER = ¾ Q(√(s/5)).
    Qam16,
    /// BER = 7/12 Q(√(s/21)).
    Qam64,
    /// BER = ½ exp(-s).
    Dbpsk,
    /// BER = (√2+1)/√(8π√2) x^(-½) exp(-(2-√2) x) with x = s/2, and at most ½.
    Dqpsk,
}

impl Modulation {
    /// Returns the probability that a bit is wrong at a signal-to-noise ratio of `snr_db` decibels.
    pub fn bit_error_rate(self, snr_db: f64) -> f64 {
        let s = libm::pow(10.0, snr_db / 10.0);
        let q = |x: f64| 0.5 * libm::erfc(libm::sqrt(x / 2.0));
        match self {
            Modulation::Bpsk => q(2.0 * s),
            Modulation::Qpsk => q(s),
            Modulation::Qam16 => 0.75 * q(s / 5.0),
            Modulation::Qam64 => 7.0 / 12.0 * q(s / 21.0),
            Modulation::Dbpsk => 0.5 * libm::exp(-s),
            Modulation::Dqpsk => {
                let (x, factor) = (s / 2.0, (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2));
                (factor / libm::sqrt(x) * libm::exp(-(2.0 - SQRT_2) * x)).min(0.5)
            }
        }
    }
}

/// Returns the probability that at least one bit of `bytes` bytes is wrong. Bit errors are independent of each other.
pub fn frame_error_rate(bit_error_rate: f64, bytes: usize) -> f64 {
    -libm::expm1(8.0 * bytes as f64 * libm::log1p(-bit_error_rate))
}
