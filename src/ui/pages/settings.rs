//! `/account`, `/admin/users` and its pages of one person, API tokens, `/admin/audit`: pages of plain forms, which work without JavaScript.

mod access_fields;
pub mod account;
pub mod all_tokens;
pub mod audit;
mod passkeys;
pub mod person;
pub mod required_factor;
mod second_factor;
mod token_table;
pub mod tokens;
pub mod users;
