//! The pages, one file or folder per route. Rendered on the server only; interactive parts are islands. Pages get their data
//! from the server functions in `api`, and must not use `server`.

pub mod admin_upstream;
pub mod admin_webhooks;
pub mod analytics;
pub mod api_reference;
pub mod batch;
pub mod batches;
mod copy_button;
mod fetch_days;
pub mod frame;
pub mod help;
pub mod home;
pub mod import;
pub mod job;
mod job_row;
pub mod jobs;
mod linked_status;
pub mod login;
mod markdown;
pub mod new_batch;
pub mod new_job;
pub mod not_found;
pub mod notifications;
mod outcome;
pub mod overview;
mod page_head;
mod platform_notice;
mod prompt_form;
pub mod queue;
mod request;
pub mod reviews;
mod saved_views_bar;
pub mod set_up;
pub mod settings;
pub mod sign_in_step;
pub mod templates;
mod unstarted_batches;
