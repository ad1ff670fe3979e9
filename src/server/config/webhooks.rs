//! Where outgoing webhooks may lead.

use super::source::{ConfigError, Source};

#[derive(Debug, Clone, Copy)]
pub struct WebhookConfig {
    /// Whether they may lead into private networks and to this machine. An administrator of the panel is not
    /// necessarily one of the network it runs in.
    pub private: bool,
}

impl WebhookConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { private: source.or_default("webhook_private", switch)? })
    }
}

fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("“{text}” is neither true nor false"))
}
