//! HTTP: the routes of the pages.

pub mod router;
