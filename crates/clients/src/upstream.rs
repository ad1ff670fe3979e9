//! The upstream: a client for its four operations, behind the governor's budget. It reports how far a failed request
//! may have come; the jobs decide what that means.

mod body;
pub mod client;
mod connection;
pub mod decode;
mod error;
pub mod governor;
pub mod health;
pub mod page_views;
mod poll_pause;
mod retry;

pub use client::Upstream;
pub use error::UpstreamError;
