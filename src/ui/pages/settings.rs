//! `/account`, `/admin/users`, `/admin/audit`: pages of plain forms, which work without JavaScript.

pub mod account;
pub mod audit;
mod passkeys;
pub mod required_factor;
mod second_factor;
pub mod users;
