//! Without payloads every decision is the one made with them.

use proptest::prelude::*;
use strandcast_coding::fuzzing;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Outcome, rank, what is known and in which order, for every code, over symbols of an encoder and forged ones.
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
