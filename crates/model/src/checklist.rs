//! The first steps in a new installation.

use serde::{Deserialize, Serialize};

/// Which steps are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checklist {
    pub job: bool,
    pub template: bool,
    pub invitation: bool,
    pub webhook: bool,
}

impl Checklist {
    pub fn is_complete(&self) -> bool {
        self.job && self.template && self.invitation && self.webhook
    }
}
