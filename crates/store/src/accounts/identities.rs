//! People who sign in through an OpenID Connect provider, by issuer and subject.

use sqlx::AssertSqlSafe;

use super::Proof;
use super::admission::{self, Account};
use super::users;
use crate::{Store, StoreError, audit};
use model::audit::{Action, Actor, AuditEvent};
use model::time::Timestamp;
use model::user::{GivenProjects, Role};

/// A person's identity at their provider.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    pub issuer: &'a str,
    pub subject: &'a str,
}

impl Store {
    pub async fn account_by_identity(&self, identity: Identity<'_>) -> Result<Option<Account>, StoreError> {
        let sql = format!(
            "SELECT {} FROM users u JOIN identities ON identities.user_id = u.id {}
             WHERE identities.issuer = $1 AND identities.subject = $2",
            admission::COLUMNS,
            admission::JOIN
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(identity.issuer)
            .bind(identity.subject)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(admission::account).transpose()
    }

    /// Adds a person without a password, whose name comes from a proxy; `false` if the name exists.
    pub async fn add_vouched_user(
        &self,
        name: &str,
        role: Role,
        projects: &GivenProjects,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        let Some(id) = users::insert(&mut tx, name, role, &GivenProjects::default(), "", now).await? else {
            return Ok(false);
        };
        users::give_by_groups(&mut tx, &id, projects).await?;
        let event = AuditEvent::new(Action::UserAdd).on(name).with_detail(format!("{role}, by the proxy"));
        audit::commit(tx, &Actor::docket(), &event, now).await?;
        Ok(true)
    }

    /// Adds a person with their identity and without a password; `false` if the name or the identity exists.
    pub async fn add_user_of(
        &self,
        identity: Identity<'_>,
        name: &str,
        role: Role,
        projects: &GivenProjects,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        let Some(id) = users::insert(&mut tx, name, role, &GivenProjects::default(), "", now).await? else {
            return Ok(false);
        };
        users::give_by_groups(&mut tx, &id, projects).await?;
        let known = sqlx::query(
            "INSERT INTO identities (issuer, subject, user_id) VALUES ($1, $2, $3)
             ON CONFLICT (issuer, subject) DO NOTHING",
        )
        .bind(identity.issuer)
        .bind(identity.subject)
        .bind(&id)
        .execute(&mut *tx)
        .await?;
        if known.rows_affected() != 1 {
            return Ok(false);
        }
        let event =
            AuditEvent::new(Action::UserAdd).on(name).with_detail(format!("{role}, by single sign-on"));
        audit::commit(tx, &Actor::docket(), &event, now).await?;
        Ok(true)
    }
}
