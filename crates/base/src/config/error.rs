//! The error of an invalid configuration.

use thiserror::Error;

/// An invalid configuration, as one sentence that names the key.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ConfigError(pub String);
