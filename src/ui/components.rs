//! Pieces that pages are made of. They know the model and what pages share (`state`), never `api`.

pub mod badge;
pub mod empty;
pub mod failure;
pub mod filed;
pub mod frame;
pub mod icon;
pub mod job_row;
pub mod keys;
pub mod loading;
pub mod moment;
pub mod new_job_link;
pub mod other_ways;
pub mod page_head;
pub mod post_form;
pub mod prompt_field;
pub mod pull_request;
pub mod queue_choice;
pub mod search_form;
pub mod similar_jobs;
pub mod submit_button;
pub mod tag_link;
pub mod toasts;
pub mod waiting;
