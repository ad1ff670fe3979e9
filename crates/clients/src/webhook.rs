//! The receivers of webhooks: which addresses are allowed, and the requests.

pub mod address;
pub mod client;
mod network;
mod reach;

pub use reach::reach;
