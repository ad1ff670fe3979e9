//! The user interface. Must not use `server`: pages get their data from the server functions in `api`.

pub mod charts;
pub mod clock;
pub mod components;
pub mod islands;
#[cfg(feature = "ssr")]
pub mod pages;
