//! HTTP: the pages, and the router with them.

pub mod router;
