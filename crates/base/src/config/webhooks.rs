//! The allowed targets of outgoing webhooks.

use super::error::ConfigError;
use super::setting::switch;
use super::source::Source;

#[derive(Debug, Clone, Copy)]
pub struct WebhookConfig {
    /// Whether webhooks may target private networks and the loopback interface. An administrator of Docket may have no
    /// rights in its network.
    pub private: bool,
}

impl WebhookConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { private: source.raw.webhook_private.parse(switch)? })
    }
}
