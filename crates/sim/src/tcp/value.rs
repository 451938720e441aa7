//! A constant as given in text.

/// The value of a key of [`Config`](super::Config).
#[derive(Clone, Debug, PartialEq)]
pub enum TcpValue {
    /// A number: bytes, packets, seconds (units already applied).
    Number(f64),
    /// A word (`recovery = "sack"`).
    Word(String),
    /// A switch.
    Switch(bool),
}
