#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strandcast_media::fuzzing::slate(data));
