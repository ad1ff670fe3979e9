//! Fuzzes the decoder `error_message`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| docket_fuzz::invariants::error_message(bytes));
