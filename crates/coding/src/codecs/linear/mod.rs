//! Random linear codes. A repair symbol is a sum of source symbols. Its coefficients are computed from its seed.

mod decoder;
mod encoder;

pub(crate) use decoder::LinearDecoder;
pub(crate) use encoder::LinearEncoder;
