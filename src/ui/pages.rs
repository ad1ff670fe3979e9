//! One module a route. A page creates its resources, then lays out named pieces.

pub mod admin_upstream;
pub mod admin_webhooks;
pub mod analytics;
pub mod home;
pub mod job;
pub mod jobs;
pub mod login;
pub mod new_job;
pub mod not_found;
pub mod overview;
pub mod set_up;
