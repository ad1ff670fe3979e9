//! How a connection reaches the server: directly, or through a connection pooler, where a session may not have settings of its own. The first
//! connection begins with a setting that only a server keeps: a pooler such as PgBouncer refuses or ignores it.

use std::str::FromStr;

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, Connection, Row};
use url::Url;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Direct,
    Pooled,
}

const SETTING: &str = "options[docket.route]";

/// The server's session was started by this connection, and belongs to it.
const IS_DIRECT: &str = "SELECT COALESCE(current_setting('docket.route', true), '') = 'direct'";

/// Settings of the session would reach other clients of the pooler.
pub(super) const POOLER_APPEARED: &str =
    "a connection pooler is in front of it now, which was not there at the start. Restart Docket.";

const OPTIONS_IGNORED: &str = "a connection pooler is in front of it, which ignores the `options` of its URL. \
    Set them for the user instead, with ALTER ROLE … SET, and remove them from the URL.";

const NO_TRANSACTIONS: &str = "a connection pooler in front of it allows no transactions. Let it assign connections \
    for each transaction or session (PgBouncer: `pool_mode = transaction`).";

/// Connects, and finds the route.
pub(super) async fn connect(url: &str) -> Result<(AnyConnection, Route), sqlx::Error> {
    match AnyConnection::connect_with(&Route::Direct.url(url)?).await {
        Ok(mut connection) => match Route::of(&mut connection).await? {
            Route::Direct => Ok((connection, Route::Direct)),
            Route::Pooled => {
                connection.close().await?;
                pooled(url).await
            }
        },
        Err(error) if may_refuse_settings(&error) => pooled(url).await,
        Err(error) => Err(error),
    }
}

async fn pooled(url: &str) -> Result<(AnyConnection, Route), sqlx::Error> {
    let mut connection = AnyConnection::connect_with(&Route::Pooled.url(url)?).await?;
    if has_options(url) {
        return Err(sqlx::Error::Configuration(OPTIONS_IGNORED.into()));
    }
    match connection.begin().await {
        Ok(tx) => tx.rollback().await?,
        Err(error) if allows_no_transactions(&error) => {
            return Err(sqlx::Error::Configuration(NO_TRANSACTIONS.into()));
        }
        Err(error) => return Err(error),
    }
    Ok((connection, Route::Pooled))
}

/// Whether the other side may have refused the setting: not the user (28), the database (3D), or any connection (53, 57).
fn may_refuse_settings(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| !["28", "3D", "53", "57"].iter().any(|class| code.starts_with(class)))
}

/// Whether a pooler assigns its connections for single statements.
fn allows_no_transactions(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message().contains("statement pooling"))
}

fn has_options(url: &str) -> bool {
    let is_option = |key: &str| key == "options" || key.starts_with("options[");
    Url::parse(url).is_ok_and(|url| url.query_pairs().any(|(key, _)| is_option(&key)))
}

impl Route {
    /// The route of a connection that began with [`SETTING`].
    pub(super) async fn of(connection: &mut AnyConnection) -> Result<Self, sqlx::Error> {
        let row = sqlx::raw_sql(IS_DIRECT).fetch_one(connection).await?;
        Ok(if row.try_get(0)? { Self::Direct } else { Self::Pooled })
    }

    pub(super) fn url(self, url: &str) -> Result<AnyConnectOptions, sqlx::Error> {
        let mut url = Url::parse(url).map_err(|error| sqlx::Error::Configuration(error.into()))?;
        match self {
            Self::Direct => url.query_pairs_mut().append_pair(SETTING, "direct"),
            // A statement of an earlier transaction may be unknown to the server of the next one.
            Self::Pooled => url.query_pairs_mut().append_pair("statement-cache-capacity", "0"),
        };
        AnyConnectOptions::from_str(url.as_str())
    }

    /// Statements that apply settings: to the session, or to a transaction that has begun. A commit must survive a crash of the server: otherwise a
    /// prompt that was sent would be sent again.
    pub(super) fn statements(self, settings: &[(&str, &str)]) -> String {
        let is_local = self == Self::Pooled;
        let commits = format!(
            "SELECT set_config('synchronous_commit', 'on', {is_local}) WHERE current_setting('synchronous_commit') = 'off'"
        );
        let settings = settings.iter().filter_map(|(name, value)| match (self, *name) {
            (Self::Direct, name) => Some(format!("; SET {name} = '{value}'")),
            // Each transaction names its own.
            (Self::Pooled, "default_transaction_isolation") => None,
            (Self::Pooled, "default_transaction_read_only") => Some("; SET TRANSACTION READ ONLY".to_owned()),
            (Self::Pooled, name) => Some(format!("; SET LOCAL {name} = '{value}'")),
        });
        settings.fold(commits, |all, statement| all + &statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_pooled_route_end_with_the_transaction() {
        let settings = [
            ("default_transaction_isolation", "read committed"),
            ("default_transaction_read_only", "on"),
            ("statement_timeout", "7"),
        ];
        let pooled = Route::Pooled.statements(&settings);
        assert!(
            pooled.ends_with("; SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '7'"),
            "{pooled}"
        );
        assert!(pooled.contains("'on', true)"), "{pooled}");
        let direct = Route::Direct.statements(&settings);
        assert!(
            direct.ends_with("; SET statement_timeout = '7'") && direct.contains("'on', false)"),
            "{direct}"
        );
    }

    #[test]
    fn options_of_the_url_are_found() {
        for (url, expected) in [
            ("postgres://docket@db/docket?options=-cjit%3Doff", true),
            ("postgres://docket@db/docket?options%5Bjit%5D=off", true),
            ("postgres://docket@db/docket?application_name=options", false),
        ] {
            assert_eq!(has_options(url), expected, "{url}");
        }
    }
}
