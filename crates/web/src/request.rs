//! What server functions and routes share about a request and its response: codings, cookies, forms, flash messages and errors.

pub mod codings;
pub mod cookie;
pub mod error_response;
pub mod flash;
pub mod forms;
pub mod problem;
