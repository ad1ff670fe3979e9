//! The retention of the audit log.

use super::source::{ConfigError, Source, whole_number};

#[derive(Debug, Clone, Copy)]
pub struct AuditConfig {
    /// In days; 0 retains all records.
    pub days: u32,
}

impl AuditConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { days: source.or_default("audit_days", whole_number(0))? })
    }
}
