//! The invariants that the fuzz targets assert; shared with `tests/decoding`.

#[path = "../../tests/decoding/invariants.rs"]
pub mod invariants;
