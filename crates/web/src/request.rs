//! What server functions and routes share about a request and its response: cookies, forms, flash messages and errors.

pub mod cookie;
pub mod error_response;
pub mod flash;
pub mod forms;
pub mod problem;
