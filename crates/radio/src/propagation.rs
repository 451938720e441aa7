//! Power that stations receive.

use core::f64::consts::PI;

use crate::config::{MediumConfig, Propagation};

const LIGHT: f64 = 299_792_458.0;
/// Transmitted power in watts. With it, two-ray ground propagation reaches 250 m at ns-2's threshold of 3.652 × 10⁻¹⁰
/// W.
const TRANSMITTED: f64 = 0.281_838_15;
/// Limit of shadowing in standard deviations. Because of this limit, distance bounds the stations in range.
pub(crate) const MOST_DEVIATIONS: f64 = 4.0;

/// Returns the mean power in watts that is received at `distance` metres. Antennas have gain 1, and the system is
/// lossless.
///
/// Friis: Pt·λ²/(4πd)². Two-ray ground: Friis up to the crossover distance 4π·ht·hr/λ, and Pt·ht²·hr²/d⁴
/// beyond it. Log-distance: Friis at 1 m, and the power −n of the distance beyond it.
pub fn mean_power(medium: &MediumConfig, distance: f64) -> f64 {
    let wavelength = LIGHT / (medium.frequency * 1e6);
    let friis = |d: f64| {
        let ratio = wavelength / (4.0 * PI * d);
        TRANSMITTED * ratio * ratio
    };
    // Stations at one place would otherwise receive unbounded power.
    let d = distance.max(0.01);
    match medium.propagation {
        Propagation::FreeSpace => friis(d),
        Propagation::LogDistance if d <= 1.0 => friis(d),
        Propagation::LogDistance => friis(1.0) * libm::pow(d, -medium.exponent),
        Propagation::TwoRay => {
            let height = medium.antenna_height;
            if d < 4.0 * PI * height * height / wavelength {
                return friis(d);
            }
            let ratio = height * height / (d * d);
            TRANSMITTED * ratio * ratio
        }
    }
}

/// Returns the shadowing between the stations `a` and `b` in decibels, which is equal in both directions. The shadowing
/// is normally distributed with the deviation `sigma`, and cut off at four deviations. `key` selects the realisation of
/// the shadowing.
pub fn shadowing(key: u64, a: u32, b: u32, sigma: f64) -> f64 {
    let pair = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
    let unit = |n: u64| ((mix(key ^ mix(pair ^ n)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    // Box and Muller.
    let normal = libm::sqrt(-2.0 * libm::log(unit(0))) * libm::cos(2.0 * PI * unit(0x9e37_79b9_7f4a_7c15));
    sigma * normal.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
}

/// Returns the image of `n` under a bijection of 64 bits whose output looks random (the finalizer of SplitMix64).
fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// Returns the maximum distance in metres at which power can reach `threshold`.
pub(crate) fn reach(medium: &MediumConfig, threshold: f64) -> f64 {
    let margin = libm::pow(10.0, medium.shadowing * MOST_DEVIATIONS / 10.0);
    let (mut near, mut far) = (0.01, 1.0);
    while mean_power(medium, far) * margin >= threshold && far < 1e9 {
        near = far;
        far *= 2.0;
    }
    for _ in 0..60 {
        let middle = (near + far) / 2.0;
        match mean_power(medium, middle) * margin >= threshold {
            true => near = middle,
            false => far = middle,
        }
    }
    far
}
