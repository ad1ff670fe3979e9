//! The retention of the audit log.

use super::error::ConfigError;
use super::setting::whole_number;
use super::source::Source;

#[derive(Debug, Clone, Copy)]
pub struct AuditConfig {
    /// In days; 0 retains all records.
    pub days: u32,
}

impl AuditConfig {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { days: source.raw.audit_days.parse(whole_number(0))? })
    }
}
