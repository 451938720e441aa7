//! Random linear codes: repair symbols are sums of source symbols, by coefficients that their seeds give.

mod decoder;
mod encoder;

pub(crate) use decoder::LinearDecoder;
pub(crate) use encoder::LinearEncoder;
