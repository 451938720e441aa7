//! Random linear codes: repair symbols are sums of source symbols with coefficients that follow from seeds.

mod decoder;
mod encoder;

pub(crate) use decoder::LinearDecoder;
pub(crate) use encoder::LinearEncoder;
