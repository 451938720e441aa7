//! The presets by name.

use crate::error::SpecError;
use crate::preset;
use crate::scheme::Preset;

/// Returns all presets, in the order of listings.
pub fn presets() -> &'static [Preset] {
    const ALL: &[Preset] = &[
        preset::bond::PRESET,
        preset::strand::PRESET,
        preset::sctp::PRESET,
        preset::cmt::PRESET,
        preset::lia::PRESET,
        preset::mptcp::MPTCP,
        preset::mptcp::UNCOUPLED,
        preset::mptcp::CUBIC,
        preset::mptcp::EWTCP,
        preset::mptcp::COUPLED,
        preset::mptcp::OLIA,
        preset::mptcp::BALIA,
        preset::mptcp::WVEGAS,
        preset::mptcp::MPSQRT,
        preset::mptcp::MPIAD,
        preset::mptcp::MPCUBIC,
        preset::mptcp::MPMTP,
        preset::redundant::PRESET,
        preset::mpr::PRESET,
        preset::cmt_la::PRESET,
        preset::cmt_qa::PRESET,
        preset::cmt_cl::PRESET,
        preset::cmt_cl::FRIENDLY,
        preset::fmtcp::PRESET,
        preset::nc_mptcp::PRESET,
        preset::sctp_rev::REV,
        preset::sctp_rev::REV_PLUS,
    ];
    ALL
}

/// Returns the preset called `name`.
///
/// # Errors
/// [`SpecError::UnknownScheme`], with a suggestion if `name` looks misspelt.
pub fn lookup(name: &str) -> Result<&'static Preset, SpecError> {
    let found = presets().iter().find(|p| p.name == name);
    found.ok_or_else(|| SpecError::unknown_scheme(name, presets().iter().map(|p| p.name)))
}
