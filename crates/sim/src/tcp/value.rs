//! A constant of TCP as text or number.

/// Value of a key of [`Config`](super::Config).
#[derive(Clone, Debug, PartialEq)]
pub enum TcpValue {
    /// A number of bytes, packets or seconds. Units are already applied.
    Number(f64),
    /// A word, as in `recovery = "sack"`.
    Word(String),
    /// A switch that is on or off.
    Switch(bool),
}
