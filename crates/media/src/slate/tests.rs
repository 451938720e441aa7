//! A sender comes and goes: what a player sees obeys ISO/IEC 13818-1.

mod clips;
mod cuts;
mod stream;
