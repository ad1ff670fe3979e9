//! People: accounts, sign-in, sessions, invitations and their limits.

pub mod admission;
pub mod api_tokens;
pub mod checklist;
pub(crate) mod flash_messages;
pub mod groups;
pub mod identities;
pub mod invitations;
pub mod one_time_links;
pub mod passkeys;
pub mod rate_limits;
pub mod second_factors;
pub mod sessions;
pub(crate) mod token_notices;
pub mod users;

/// Permits a write without an admitted request: the arguments of the function that writes prove who sends them, such as a session id, a password that
/// was checked, or a code. For the rows that grant access.
pub(crate) struct Proof(());

impl Proof {
    pub(in crate::accounts) const fn new() -> Self {
        Self(())
    }
}
