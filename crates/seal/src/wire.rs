//! Layout of datagrams: types, offsets, limits (docs/wire-format.md).
