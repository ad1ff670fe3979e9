//! The first administrator: created with the configured password, or by a one-time link in the log.

use secrecy::SecretString;

use super::{one_time_link, password, token};
use base::config::{ConfigError, PublicUrl};
use base::work::Work;
use store::Store;

/// The name of the administrator created with a configured password.
pub const NAME: &str = "admin";

/// How long a set-up link is valid.
const LINK_SECONDS: i64 = 48 * 3600;

/// Refuses a configured password that people could not choose either.
pub fn check(configured: Option<&SecretString>) -> Result<(), ConfigError> {
    let problem = configured.and_then(|chosen| password::check_choice(chosen, NAME).err());
    let explain = |problem| {
        ConfigError(format!(
            "DOCKET_ADMIN_PASSWORD: {problem} If user {NAME} exists already, it is not needed. An example: DOCKET_ADMIN_PASSWORD='a few unrelated words'"
        ))
    };
    problem.map_or(Ok(()), |problem| Err(explain(problem)))
}

/// Ensures that a person can sign in. Without any user, creates `admin` with the given password, or logs a link for
/// creating the administrator.
pub async fn ensure(
    store: &Store,
    work: &Work,
    configured: Option<SecretString>,
    public_url: &PublicUrl,
) -> anyhow::Result<()> {
    if !store.users().await?.is_empty() {
        return Ok(());
    }
    if let Some(chosen) = configured {
        let hash = password::hash(chosen).await?;
        // Another process may have created an account meanwhile.
        if store.add_first_administrator(work, NAME, &hash).await? {
            tracing::info!("user admin created with the configured password");
        }
        return Ok(());
    }
    let secret = token::new();
    store.put_setup_link(work, &token::hash(&secret), work.now().plus_seconds(LINK_SECONDS)).await?;
    tracing::warn!(
        "nobody can sign in yet: open {} within 48 hours to create the administrator",
        one_time_link::url(public_url, &secret)
    );
    Ok(())
}
