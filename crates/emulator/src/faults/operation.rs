//! The operation of a request, from its method and path alone.

use axum::http::Method;
use serde::{Deserialize, Serialize};

/// An operation of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    FollowUp,
    Get,
    Views,
}

/// The operations that a fault applies to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FaultTarget {
    #[default]
    Any,
    Create,
    FollowUp,
    Get,
    Views,
}

impl Operation {
    /// `None` for any other request.
    pub(super) fn of(method: &Method, path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (method.as_str(), segments.as_slice()) {
            ("POST", ["v2", "agent", _, "job"]) => Some(Self::Create),
            ("POST", ["v2", "agent", _, "job", _, "message"]) => Some(Self::FollowUp),
            ("GET", ["v2", "agent", _, "job", _]) => Some(Self::Get),
            ("GET", ["v1", "analytics", _, "views"]) => Some(Self::Views),
            _ => None,
        }
    }
}

impl FaultTarget {
    pub(super) fn matches(self, operation: Operation) -> bool {
        match self {
            Self::Any => true,
            Self::Create => operation == Operation::Create,
            Self::FollowUp => operation == Operation::FollowUp,
            Self::Get => operation == Operation::Get,
            Self::Views => operation == Operation::Views,
        }
    }
}
