//! API tokens, of which only the hashes are stored.

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::admission::{self, Account};
use super::users::{User, read_given};
use crate::{
    Authority, Change, Store, StoreError, audit, instant, limits, new_id, optional_instant, optional_word,
    word,
};
use model::api_token::{ApiToken, NOTICE_DAYS, ROTATION_SECONDS, Scopes, TokenState, notices_due};
use model::audit::{Action, Actor, AuditEvent};
use model::id::ApiTokenId;
use model::limits::API_TOKENS;
use model::time::Timestamp;
use model::user::GivenProjects;

/// The time between two writes of the last use, in milliseconds.
const LAST_USE_EVERY_MILLIS: i64 = 3_600_000;

/// How many revoked or expired tokens of a person are stored.
const INACTIVE_OF_PERSON: i64 = 50;

/// A token to store.
pub struct NewApiToken<'a> {
    pub owner: &'a User,
    pub name: &'a str,
    pub hash: &'a str,
    pub last_four: &'a str,
    pub scopes: &'a Scopes,
    pub projects: &'a GivenProjects,
    pub expires_at: Timestamp,
}

/// A stored token, as a request with it needs it.
#[derive(Debug, Clone)]
pub struct StoredApiToken {
    pub id: ApiTokenId,
    pub name: String,
    pub created_at: Timestamp,
    pub scopes: Scopes,
    pub projects: GivenProjects,
    pub expires_at: Timestamp,
    pub is_revoked: bool,
    pub last_used_at: Option<Timestamp>,
}

/// The result of [`Store::add_api_token`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddedToken {
    Done(ApiTokenId),
    /// The owner is disabled, was removed, or has not accepted their invitation.
    NoOwner,
}

/// What is stored of the text of a token.
pub struct TokenSecret<'a> {
    pub hash: &'a str,
    pub last_four: &'a str,
}

/// What [`Store::undo_rotation`] restores of the old token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeRotation {
    expires_at: Timestamp,
    notices_seen: i64,
}

/// The result of [`Store::rotate_api_token`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RotatedToken {
    Done {
        id: ApiTokenId,
        /// Until when the old token works.
        works_until: Timestamp,
        before: BeforeRotation,
    },
    /// There is no such token, or it expired or was revoked.
    NotActive,
    /// It was rotated already, to the token with this id.
    Replaced(ApiTokenId),
    /// As in [`AddedToken`].
    NoOwner,
}

impl Store {
    /// Adds a token. Deletes the oldest revoked and expired ones of its owner beyond a limit.
    pub async fn add_api_token(
        &self,
        by: Authority<'_>,
        new: &NewApiToken<'_>,
    ) -> Result<AddedToken, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let owner = admission::account_in(&mut tx, &new.owner.id).await?;
        if owner.and_then(Account::admitted).is_none() {
            return Ok(AddedToken::NoOwner);
        }
        let id = new_token_id()?;
        insert(&mut tx, &id, new, now).await?;
        let event = AuditEvent::new(Action::ApiTokenCreate).on(&id).with_detail(described(new));
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        Ok(AddedToken::Done(id))
    }

    /// Replaces an active token of the person `owner`, or (`None`) of anyone, by one with the same name, scopes, projects and time of validity. The old one
    /// works for [`ROTATION_SECONDS`] more, so that its scripts can be changed meanwhile.
    pub async fn rotate_api_token(
        &self,
        by: Authority<'_>,
        id: &ApiTokenId,
        owner: Option<&str>,
        secret: &TokenSecret<'_>,
    ) -> Result<RotatedToken, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let row = sqlx::query(
            "SELECT * FROM api_tokens WHERE id = $1 AND ($2 = '' OR user_id = $2) AND revoked_at IS NULL AND expires_at > $3",
        )
        .bind(id.as_str())
        .bind(owner.unwrap_or_default())
        .bind(now.as_millis())
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else { return Ok(RotatedToken::NotActive) };
        if let Some(by) = optional_word(&row, "replaced_by")? {
            return Ok(RotatedToken::Replaced(by));
        }
        let owner = admission::account_in(&mut tx, &row.try_get::<String, _>("user_id")?).await?;
        let Some(owner) = owner.and_then(Account::admitted) else { return Ok(RotatedToken::NoOwner) };
        let (created_at, expires_at) = (instant(&row, "created_at")?, instant(&row, "expires_at")?);
        let (name, old): (String, String) = (row.try_get("name")?, row.try_get("last_four")?);
        let new = NewApiToken {
            owner: &owner,
            name: &name,
            hash: secret.hash,
            last_four: secret.last_four,
            scopes: &word(&row, "scopes")?,
            projects: &read_given(&row.try_get::<String, _>("projects")?)?,
            expires_at: Timestamp::from_millis(
                now.as_millis() + expires_at.as_millis() - created_at.as_millis(),
            ),
        };
        let before = BeforeRotation { expires_at, notices_seen: row.try_get("notices_seen")? };
        let works_until = now.plus_seconds(ROTATION_SECONDS).min(expires_at);
        let new_id = new_token_id()?;
        replace(&mut tx, id, &owner, works_until, &new_id, now).await?;
        insert(&mut tx, &new_id, &new, now).await?;
        let detail = format!("{}, replaces …{old}, which works until {works_until}", described(&new));
        let event = AuditEvent::new(Action::ApiTokenCreate).on(&new_id).with_detail(detail);
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        Ok(RotatedToken::Done { id: new_id, works_until, before })
    }

    /// Revokes the token `new`, and restores the token `old` that it replaced: nobody has seen the new one.
    pub async fn undo_rotation(
        &self,
        by: Authority<'_>,
        old: &ApiTokenId,
        new: &ApiTokenId,
        before: &BeforeRotation,
    ) -> Result<(), StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        sqlx::query(
            "UPDATE api_tokens SET expires_at = $3, notices_seen = $4, replaced_by = NULL WHERE id = $1 AND replaced_by = $2",
        )
        .bind(old.as_str())
        .bind(new.as_str())
        .bind(before.expires_at.as_millis())
        .bind(before.notices_seen)
        .execute(&mut *tx)
        .await?;
        revoke(&mut tx, &by, new, None, now).await?;
        Ok(tx.commit().await?)
    }

    /// At most `most` tokens of a person, or (`None`) of everyone: those that are valid first, and the newest of them first.
    pub async fn api_tokens(
        &self,
        owner: Option<&str>,
        most: u32,
        now: Timestamp,
    ) -> Result<Vec<ApiToken>, StoreError> {
        let rows = sqlx::query(
            "SELECT t.*, u.name AS owner, u.disabled_at FROM api_tokens t JOIN users u ON u.id = t.user_id
             WHERE $1 = '' OR t.user_id = $1
             ORDER BY t.revoked_at IS NOT NULL OR t.expires_at <= $2, t.created_at DESC, t.id DESC LIMIT $3",
        )
        .bind(owner.unwrap_or_default())
        .bind(now.as_millis())
        .bind(i64::from(most))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| listed(row, now)).collect()
    }

    /// The token with this hash, and the account of its owner.
    pub async fn api_token(&self, hash: &str) -> Result<Option<(StoredApiToken, Account)>, StoreError> {
        let sql = format!(
            "SELECT {}, t.id AS token_id, t.name AS token_name, t.created_at AS token_created_at, t.scopes AS token_scopes, t.projects AS token_projects, t.expires_at AS token_expires_at,
                 t.revoked_at AS token_revoked_at, t.last_used_at AS token_last_used_at
             FROM api_tokens t JOIN users u ON u.id = t.user_id {} WHERE t.token_hash = $1",
            admission::COLUMNS,
            admission::JOIN
        );
        let row = sqlx::query(AssertSqlSafe(sql)).bind(hash).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(None) };
        let token = StoredApiToken {
            id: word(&row, "token_id")?,
            name: row.try_get("token_name")?,
            created_at: instant(&row, "token_created_at")?,
            scopes: word(&row, "token_scopes")?,
            projects: read_given(&row.try_get::<String, _>("token_projects")?)?,
            expires_at: instant(&row, "token_expires_at")?,
            is_revoked: optional_instant(&row, "token_revoked_at")?.is_some(),
            last_used_at: optional_instant(&row, "token_last_used_at")?,
        };
        Ok(Some((token, admission::account(&row)?)))
    }

    /// Revokes a token, of the person `owner` or (`None`) of anyone; `false` if there is no such token that is not revoked.
    pub async fn revoke_api_token(
        &self,
        by: Authority<'_>,
        id: &ApiTokenId,
        owner: Option<&str>,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let is_revoked = revoke(&mut tx, &by, id, owner, now).await?;
        tx.commit().await?;
        Ok(is_revoked)
    }

    /// Records the use of a token, unless one of the last hour is recorded.
    pub async fn note_api_token_use(&self, token: &StoredApiToken, now: Timestamp) -> Result<(), StoreError> {
        let at = now.as_millis();
        let recent = at - LAST_USE_EVERY_MILLIS + 1..=at;
        if token.last_used_at.is_some_and(|last| recent.contains(&last.as_millis())) {
            return Ok(());
        }
        // Another process may have recorded it meanwhile. A time in the future is from before a clock rollback.
        sqlx::query(
            "UPDATE api_tokens SET last_used_at = $2
             WHERE id = $1 AND (last_used_at IS NULL OR NOT (last_used_at BETWEEN $3 AND $2))",
        )
        .bind(token.id.as_str())
        .bind(at)
        .bind(*recent.start())
        .execute(self.counter())
        .await?;
        Ok(())
    }
}

/// Inserts a token, and deletes the oldest revoked and expired ones of its owner beyond a limit.
/// Revokes a token: see [`Store::revoke_api_token`].
async fn revoke(
    tx: &mut Transaction<'static, Any>,
    by: &Actor,
    id: &ApiTokenId,
    owner: Option<&str>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let revoked = sqlx::query(
        "UPDATE api_tokens SET revoked_at = $3 WHERE id = $1 AND ($2 = '' OR user_id = $2) AND revoked_at IS NULL
         RETURNING last_four, (SELECT name FROM users WHERE id = user_id) AS owner",
    )
    .bind(id.as_str())
    .bind(owner.unwrap_or_default())
    .bind(now.as_millis())
    .fetch_optional(&mut **tx)
    .await?;
    let Some(revoked) = revoked else { return Ok(false) };
    let (name, last_four): (String, String) = (revoked.try_get("owner")?, revoked.try_get("last_four")?);
    let event = AuditEvent::new(Action::ApiTokenRevoke).on(id);
    audit::record_often(tx, by, &event.with_detail(format!("of {name}, …{last_four}")), now).await?;
    Ok(true)
}

/// Ends a token that another one replaces. A replaced one does not count as a token of its owner, so that one at the limit can rotate; as many may be
/// replaced and still work.
async fn replace(
    tx: &mut Transaction<'static, Any>,
    id: &ApiTokenId,
    owner: &User,
    works_until: Timestamp,
    new: &ApiTokenId,
    now: Timestamp,
) -> Result<(), StoreError> {
    limits::leave_room(&API_TOKENS, active(tx, owner, "IS NOT NULL", now).await?)?;
    sqlx::query("UPDATE api_tokens SET expires_at = $2, notices_seen = $3, replaced_by = $4 WHERE id = $1")
        .bind(id.as_str())
        .bind(works_until.as_millis())
        // No notice of what its owner has just done.
        .bind(i64::try_from(NOTICE_DAYS.len()).unwrap_or(i64::MAX))
        .bind(new.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// How many tokens of a person work whose `replaced_by` is so.
async fn active(
    tx: &mut Transaction<'static, Any>,
    owner: &User,
    replaced: &str,
    now: Timestamp,
) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar(AssertSqlSafe(format!(
        "SELECT COUNT(*) FROM api_tokens
         WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2 AND replaced_by {replaced}"
    )));
    Ok(count.bind(&owner.id).bind(now.as_millis()).fetch_one(&mut **tx).await?)
}

async fn insert(
    tx: &mut Transaction<'static, Any>,
    id: &ApiTokenId,
    new: &NewApiToken<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    limits::leave_room(&API_TOKENS, active(tx, new.owner, "IS NULL", now).await?)?;
    sqlx::query(
        "INSERT INTO api_tokens (id, user_id, name, token_hash, last_four, scopes, projects, created_at, expires_at, notices_seen)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(id.as_str())
    .bind(&new.owner.id)
    .bind(new.name)
    .bind(new.hash)
    .bind(new.last_four)
    .bind(new.scopes.to_string())
    .bind(new.projects.to_string())
    .bind(now.as_millis())
    .bind(new.expires_at.as_millis())
    // No notice of what its owner has just chosen.
    .bind(i64::from(notices_due(new.expires_at, now)))
    .execute(&mut **tx)
    .await?;
    let inactive: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM api_tokens WHERE user_id = $1 AND (revoked_at IS NOT NULL OR expires_at <= $2)
         ORDER BY created_at DESC, id LIMIT 1000000 OFFSET $3",
    )
    .bind(&new.owner.id)
    .bind(now.as_millis())
    .bind(INACTIVE_OF_PERSON)
    .fetch_all(&mut **tx)
    .await?;
    delete(tx, &inactive).await
}

fn new_token_id() -> Result<ApiTokenId, StoreError> {
    let id = new_id();
    id.parse().map_err(|_| StoreError::Corrupt(id))
}

/// Deletes tokens together with their cells of the rate limit.
pub(crate) async fn delete(tx: &mut Transaction<'static, Any>, ids: &[String]) -> Result<(), StoreError> {
    for id in ids {
        sqlx::query("DELETE FROM rate_limits WHERE cell = $1").bind(cell(id)).execute(&mut **tx).await?;
        sqlx::query("DELETE FROM api_tokens WHERE id = $1").bind(id).execute(&mut **tx).await?;
    }
    Ok(())
}

/// The cell that counts the requests with a token.
pub fn cell(id: &str) -> String {
    format!("api token {id}")
}

/// A token as recorded in the audit log.
fn described(new: &NewApiToken<'_>) -> String {
    let projects = match new.projects {
        GivenProjects::All => "all projects".to_owned(),
        selected => format!("projects {selected}"),
    };
    format!("of {}, …{}, {}, {projects}, until {}", new.owner.name, new.last_four, new.scopes, new.expires_at)
}

fn listed(row: &AnyRow, now: Timestamp) -> Result<ApiToken, StoreError> {
    let expires_at = instant(row, "expires_at")?;
    let state = if row.try_get::<Option<i64>, _>("revoked_at")?.is_some() {
        TokenState::Revoked
    } else if expires_at <= now {
        TokenState::Expired
    } else if row.try_get::<Option<i64>, _>("disabled_at")?.is_some() {
        TokenState::OwnerDisabled
    } else if row.try_get::<Option<String>, _>("replaced_by")?.is_some() {
        TokenState::Replaced
    } else {
        TokenState::Active
    };
    let projects = match read_given(&row.try_get::<String, _>("projects")?)? {
        GivenProjects::All => None,
        GivenProjects::These(ids) => Some(ids.iter().map(ToString::to_string).collect()),
    };
    Ok(ApiToken {
        id: word(row, "id")?,
        name: row.try_get("name")?,
        owner: row.try_get("owner")?,
        last_four: row.try_get("last_four")?,
        scopes: word(row, "scopes")?,
        projects,
        created_at: instant(row, "created_at")?,
        expires_at,
        last_used_at: optional_instant(row, "last_used_at")?,
        state,
    })
}
