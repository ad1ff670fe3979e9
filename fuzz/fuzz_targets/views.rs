//! Feeds the decoder `views` with whatever the fuzzer thinks of.

#![no_main]

#[path = "../../tests/decoding/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::views(bytes));
