//! One module a route. A page creates its resources, then lays out named pieces.

pub mod admin_upstream;
pub mod admin_webhooks;
pub mod adopt;
pub mod analytics;
pub mod batch;
pub mod home;
pub mod job;
pub mod jobs;
pub mod login;
pub mod new_batch;
pub mod new_job;
pub mod not_found;
pub mod overview;
pub mod queue;
pub mod set_up;
pub mod templates;
