//! Feeds the decoder `error_message` with whatever the fuzzer thinks of.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| docket_fuzz::invariants::error_message(bytes));
