//! Domain types: plain data and pure logic, shared by server and browser. Must not depend on sqlx, axum, reqwest,
//! leptos or browser APIs.

/// The error message for a text that is not a valid value of a type.
pub type ParseError = &'static str;

pub mod account;
pub mod analytics_query;
pub mod analytics_report;
pub mod api_token;
pub mod audit;
pub mod audit_query;
pub mod batch;
pub mod budget;
pub mod checklist;
pub mod day;
pub mod draft;
pub mod error;
pub mod excerpt;
pub mod flash;
pub mod headers;
pub mod history;
pub mod id;
pub mod job;
pub mod job_query;
pub mod lifecycle;
pub mod links;
pub mod name;
pub mod page_path;
pub mod page_views;
pub mod paging;
pub mod palette;
pub mod passkey;
pub mod people;
pub mod preset;
pub mod pull_request;
pub mod queue;
pub mod saved_template;
pub mod saved_view;
pub mod script;
pub mod selection;
pub mod similar;
pub mod source_links;
pub mod tag;
pub mod template;
pub mod time;
pub mod trigrams;
pub mod unfilled;
pub mod upstream;
pub mod url_encoding;
pub mod user;
pub mod webhook;
