//! The upstream: a client for its four operations, behind the governor's budget. Must not decide what a failure means
//! for a job; it reports only how far a request can have come.

mod body;
pub mod client;
mod connection;
pub mod decode;
mod error;
pub mod governor;
pub mod health;
mod key;
pub mod page_views;
mod retry;

pub use client::Upstream;
pub use error::UpstreamError;
