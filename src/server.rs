//! The pages for the server of the crate `web`, behind the feature `ssr`.

pub mod assets;
pub mod http;
