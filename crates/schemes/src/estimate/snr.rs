//! Signal-to-noise ratios, linear and in decibels. The signal-to-noise ratios have two types, so that arithmetic cannot
//! mix them.

/// A ratio of two powers: the energy of a symbol divided by the spectral density of the noise, after despreading. It is
/// not negative.
#[derive(Copy, Clone, PartialEq, PartialOrd, Debug)]
pub struct Snr(f64);

impl Snr {
    /// Ratio if there is only noise.
    pub const ZERO: Snr = Snr(0.0);

    /// Returns `ratio`, or 0 if it is negative or not a number.
    pub fn new(ratio: f64) -> Self {
        Snr(ratio.max(0.0))
    }

    /// Ratio from decibels.
    pub fn from_db(db: Decibel) -> Self {
        Snr::new(libm::pow(10.0, db.0 / 10.0))
    }

    /// Returns the ratio in decibels. Returns minus infinity for 0.
    pub fn to_db(self) -> Decibel {
        Decibel(10.0 * libm::log10(self.0))
    }

    /// The linear ratio, as in Shannon's formula.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// Ten times the decimal logarithm of a ratio of powers.
#[derive(Copy, Clone, PartialEq, PartialOrd, Debug)]
pub struct Decibel(pub f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_decibels_are_a_factor_of_ten() {
        for (db, ratio) in [(0.0, 1.0), (10.0, 10.0), (20.0, 100.0), (-10.0, 0.1), (3.0, 1.995_262_3)] {
            assert!((Snr::from_db(Decibel(db)).value() / ratio - 1.0).abs() < 1e-7, "{db} dB");
            assert!((Snr::new(ratio).to_db().0 - db).abs() < 1e-6, "{ratio}");
        }
    }

    #[test]
    fn nothing_but_noise_is_minus_infinity_and_back() {
        assert_eq!(Snr::ZERO.to_db(), Decibel(f64::NEG_INFINITY));
        assert_eq!(Snr::from_db(Decibel(f64::NEG_INFINITY)), Snr::ZERO);
        assert_eq!(Snr::new(-1.0), Snr::ZERO);
        assert_eq!(Snr::new(f64::NAN), Snr::ZERO);
    }
}
