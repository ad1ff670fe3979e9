//! Components shared by pages and islands. They use the model and the endpoints' paths, but not `pages`.

pub mod badge;
pub mod batch_progress;
pub mod bell;
pub mod cost;
pub mod dismiss;
pub mod empty;
pub mod failure;
pub mod form;
pub mod icon;
pub mod job_effect;
pub mod job_row;
pub mod job_status;
pub mod list_news;
pub mod live_source;
pub mod localized;
pub mod long_text;
pub mod marked;
pub mod menu;
pub mod meters;
pub mod new_job_link;
pub mod next_action;
pub mod notice;

pub mod page_job_link;
pub mod pages_table;
pub mod palette;
pub mod passkeys;
pub mod pull_request;
pub mod read_only;
pub mod similar_jobs;
pub mod table;
pub mod tag_link;
pub mod time;
pub mod unmarked;
pub mod waiting;
pub mod ways_to_start;
