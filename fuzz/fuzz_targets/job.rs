//! Fuzzes the decoder `job`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| docket_fuzz::invariants::job(bytes));
