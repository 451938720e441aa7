//! Random linear codes. A repair symbol is a sum of source symbols, each multiplied by a coefficient. The coefficients
//! are computed from the repair symbol's seed.

mod decoder;
mod encoder;

pub(crate) use decoder::LinearDecoder;
pub(crate) use encoder::LinearEncoder;
