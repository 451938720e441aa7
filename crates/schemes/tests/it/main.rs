//! Integration tests of `strandcast-schemes`, one binary.

mod coded;
mod combinations;
mod copies;
mod end_to_end;
mod keys;
mod plain_peers;
mod properties;
mod silence;
mod specs;
mod symbols_allocate_nothing;
mod windows_allocate_nothing;
