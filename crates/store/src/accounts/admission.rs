//! Whether the person of an account may enter. Each way in reads it here: the password, a session, the second step, a passkey, the sign-in
//! provider, the header of a proxy, an API token and a one-time link.

use std::ops::Deref;

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::Proof;
use super::users::{User, end_invitation, user};
use crate::{Store, StoreError, audit};
use base::nfc::nfc;
use model::audit::{Action, AuditEvent};
use model::time::Timestamp;

/// The columns of an account `u`, together with those of its invitation. [`account`] reads them.
pub(crate) const COLUMNS: &str =
    "u.*, v.expires_at AS invited_until, v.on_hold_since AS invitation_on_hold_since";

/// The join of a query with [`COLUMNS`].
pub(crate) const JOIN: &str = "LEFT JOIN invitations v ON v.user_id = u.id";

/// An account, and whether its person may enter.
#[derive(Debug, Clone)]
pub enum Account {
    Admitted(Admitted),
    Refused(User, NotAdmitted),
}

/// A person who may enter: the account is enabled, and the invitation is accepted. Only [`account`] makes one. Sessions and the callers of
/// requests need it.
#[derive(Debug, Clone)]
pub struct Admitted(User);

/// Why a person may not enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAdmitted {
    Disabled,
    /// They have not accepted the invitation, whose link is valid until this time.
    Invited {
        until: Timestamp,
    },
    /// An administrator must release the invitation first.
    InvitationOnHold,
}

impl Account {
    /// The person, if they may enter.
    pub fn admitted(self) -> Option<Admitted> {
        match self {
            Self::Admitted(admitted) => Some(admitted),
            Self::Refused(..) => None,
        }
    }

    /// The account itself, whether or not its person may enter.
    pub fn user(&self) -> &User {
        match self {
            Self::Admitted(Admitted(user)) | Self::Refused(user, _) => user,
        }
    }
}

impl Deref for Admitted {
    type Target = User;

    fn deref(&self) -> &User {
        &self.0
    }
}

/// The account of a row with [`COLUMNS`].
pub(crate) fn account(row: &AnyRow) -> Result<Account, StoreError> {
    let user = user(row)?;
    let invited_until: Option<i64> = row.try_get("invited_until")?;
    let on_hold_since: Option<i64> = row.try_get("invitation_on_hold_since")?;
    let refusal = match invited_until {
        _ if user.disabled => NotAdmitted::Disabled,
        None => return Ok(Account::Admitted(Admitted(user))),
        Some(_) if on_hold_since.is_some() => NotAdmitted::InvitationOnHold,
        Some(until) => NotAdmitted::Invited { until: Timestamp::from_millis(until) },
    };
    Ok(Account::Refused(user, refusal))
}

/// The account with this id, as a transaction sees it.
pub(crate) async fn account_in(
    connection: &mut AnyConnection,
    id: &str,
) -> Result<Option<Account>, StoreError> {
    let row = sqlx::query(AssertSqlSafe(format!("SELECT {COLUMNS} FROM users u {JOIN} WHERE u.id = $1")))
        .bind(id)
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(account).transpose()
}

impl Store {
    /// The account with this name, in any form of normalization.
    pub async fn account_by_name(&self, name: &str) -> Result<Option<Account>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM users u {JOIN} WHERE u.name = $1");
        let row =
            sqlx::query(AssertSqlSafe(sql)).bind(nfc(name).into_owned()).fetch_optional(&self.pool).await?;
        row.as_ref().map(account).transpose()
    }

    pub async fn account_by_id(&self, id: &str) -> Result<Option<Account>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM users u {JOIN} WHERE u.id = $1");
        let row = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_optional(&self.pool).await?;
        row.as_ref().map(account).transpose()
    }

    /// Accepts the invitation of a person whom a proxy names, unless it is on hold, and records their visit. The proxy identifies the person, so
    /// the end of the link does not matter. `None` if the account is gone.
    pub async fn accept_invitation(
        &self,
        id: &str,
        client_ip: &str,
        detail: &str,
        now: Timestamp,
    ) -> Result<Option<Account>, StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        let before = account_in(&mut tx, id).await?;
        let Some(Account::Refused(user, NotAdmitted::Invited { .. })) = before else { return Ok(before) };
        end_invitation(&mut tx, id).await?;
        sqlx::query("UPDATE users SET last_seen_at = $2 WHERE id = $1")
            .bind(id)
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        let accepted = account_in(&mut tx, id).await?;
        let event = AuditEvent::new(Action::UserJoin).with_detail(detail);
        audit::commit(tx, &user.actor(client_ip), &event, now).await?;
        Ok(accepted)
    }

    /// Records that a person without a session was here.
    pub async fn note_visit(&self, user: &str, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query("UPDATE users SET last_seen_at = $2 WHERE id = $1")
            .bind(user)
            .bind(now.as_millis())
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(())
    }
}
