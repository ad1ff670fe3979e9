//! HTTP: the router and its layers, and the description of the JSON API.

pub mod api_reference;
pub mod router;
