//! Feeds the decoder `job` with whatever the fuzzer thinks of.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| docket_fuzz::invariants::job(bytes));
