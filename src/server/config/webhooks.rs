//! Which addresses outgoing webhooks may have.

use super::source::{ConfigError, Source, switch};

#[derive(Debug, Clone, Copy)]
pub struct WebhookConfig {
    /// Whether webhooks may use addresses of private networks and of this machine. An administrator of Docket is not
    /// necessarily one of the network it runs in.
    pub private: bool,
}

impl WebhookConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { private: source.or_default("webhook_private", switch)? })
    }
}
