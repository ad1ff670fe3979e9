//! Fuzzes the decoder `views`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| docket_fuzz::invariants::views(bytes));
