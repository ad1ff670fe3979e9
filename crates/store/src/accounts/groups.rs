//! Roles and projects that follow the groups of a person at the sign-in provider or the proxy.

use sqlx::{Any, AssertSqlSafe, Transaction};

use super::Proof;
use super::admission::{Account, Admitted, account_in};
use super::users::{STAYS_ADMINISTERED, User, access, hold_what_ends, stored_access, stored_projects};
use crate::{Store, StoreError, audit, new_id};
use model::audit::{Action, Actor, AuditEvent};
use model::time::Timestamp;
use model::user::{GivenProjects, Role};

/// What the groups of a person give.
#[derive(Debug, Clone, Copy)]
pub struct Granted<'a> {
    pub role: Role,
    pub projects: &'a GivenProjects,
    /// Whether an account with a password, which an administrator created for all projects, keeps access to them.
    pub keeps_all: bool,
}

/// The result of [`Store::follow_groups`].
pub enum Followed {
    Unchanged,
    /// The account as it is now; `None` if it is gone.
    Changed(Option<Account>),
    /// Nothing was changed: no administrator would remain.
    LastAdministrator,
}

impl Granted<'_> {
    /// The account with what the groups give.
    fn given_to(&self, user: &User) -> User {
        let is_first = user.group_projects.is_none();
        let has_all = user.projects == GivenProjects::All;
        if self.keeps_all && is_first && has_all && !user.password_hash.is_empty() {
            return User { role: self.role, ..user.clone() };
        }
        // The first time, the groups replace the access to all projects that a new account has.
        let projects = if is_first && has_all { GivenProjects::default() } else { user.projects.clone() };
        User { role: self.role, projects, group_projects: Some(self.projects.clone()), ..user.clone() }
    }
}

impl Store {
    /// Sets role and projects from a person's groups. A change ends their sessions and is recorded. It is computed from the account as the
    /// transaction reads it, so that it restores nothing that an administrator has just taken.
    pub async fn follow_groups(
        &self,
        person: &Admitted,
        granted: &Granted<'_>,
        by: &Actor,
        now: Timestamp,
    ) -> Result<Followed, StoreError> {
        if !changes(person, &granted.given_to(person)) {
            return Ok(Followed::Unchanged);
        }
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        let before = match account_in(&mut tx, &person.id).await? {
            Some(Account::Admitted(before)) => before,
            other => return Ok(Followed::Changed(other)),
        };
        let after = granted.given_to(&before);
        if !changes(&before, &after) {
            return Ok(Followed::Changed(Some(Account::Admitted(before))));
        }
        if !write(&mut tx, &before, &after, now).await? {
            return Ok(Followed::LastAdministrator);
        }
        let described = |user: &User| access(user.role, &user.visible());
        let event = AuditEvent::new(Action::UserAccess).on(&before.name).with_detail(format!(
            "{} → {}, by groups",
            described(&before),
            described(&after)
        ));
        let account = account_in(&mut tx, &before.id).await?;
        audit::commit(tx, by, &event, now).await?;
        Ok(Followed::Changed(account))
    }
}

fn changes(before: &User, after: &User) -> bool {
    after.role != before.role || after.group_projects != before.group_projects
}

/// Stores the access of `after`, and puts on hold what the person may no longer start. `false` if no administrator would remain.
async fn write(
    tx: &mut Transaction<'static, Any>,
    before: &User,
    after: &User,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let changed = sqlx::query(AssertSqlSafe(format!(
        "UPDATE users SET role = $2, group_projects = $3, session_stamp = $4, project_access = $5, projects = $6
         WHERE id = $1 AND {STAYS_ADMINISTERED}"
    )))
    .bind(&after.id)
    .bind(after.role.as_str())
    .bind(after.group_projects.as_ref().map(ToString::to_string))
    .bind(new_id())
    .bind(stored_access(&after.projects))
    .bind(stored_projects(&after.projects))
    .execute(&mut **tx)
    .await?;
    if changed.rows_affected() != 1 {
        return Ok(false);
    }
    hold_what_ends(tx, before, after, now).await?;
    Ok(true)
}
