//! People: accounts, sign-in, sessions, invitations and their limits.

pub mod api_tokens;
pub mod checklist;
pub(crate) mod flash_messages;
pub mod identities;
pub mod invitations;
pub mod one_time_links;
pub mod passkeys;
pub mod rate_limits;
pub mod second_factors;
pub mod sessions;
pub(crate) mod token_notices;
pub mod users;
