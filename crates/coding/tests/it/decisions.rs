//! Decisions without payloads equal those with payloads.

use proptest::prelude::*;
use strandcast_coding::fuzzing;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Compares outcome, rank and known symbols in order, for every code, over symbols of an encoder and
    /// forged ones.
    #[test]
    fn decisions_on_coefficients_alone_are_those_with_payloads(script in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::codecs(&script);
    }

    #[test]
    fn whatever_bytes_arrive_are_counted(code in any::<u8>(), script in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut data = vec![code];
        data.extend(script);
        fuzzing::symbols(&data);
    }
}
