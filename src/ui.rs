//! The user interface. Must not use `server`: pages get their data from the server functions in `api`.

pub mod charts;
pub mod clock;
pub mod components;
#[cfg(feature = "ssr")]
pub mod document;
pub mod islands;
pub mod locale;
#[cfg(feature = "ssr")]
pub mod look;
pub mod marks;
#[cfg(feature = "ssr")]
pub mod pages;
