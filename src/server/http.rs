//! HTTP: the router and its layers, assets, cookies, forms, flash messages, error responses and exported sheets. Only `router` may
//! use `app` and `ui`.

pub mod api_reference;
pub mod assets;
pub mod cookie;
pub mod error_response;
pub mod flash;
pub mod forms;
pub mod problem;
pub mod router;
