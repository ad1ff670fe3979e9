//! What the fuzz targets assert: the promises of `tests/decoding`, which the tests assert too.

#[path = "../../tests/decoding/invariants.rs"]
pub mod invariants;
