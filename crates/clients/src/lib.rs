//! All outgoing HTTP: to the platform, with the budget of its calls, to code hosts, to the provider of single sign-on, and to the receivers of
//! webhooks.

pub mod code_host;
mod current_key;
pub mod provider;
pub mod upstream;
pub mod webhook;
