//! People: their roles, projects, passwords and last use. Also the set-up links that create the first account.

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::Proof;
use super::second_factors;
use crate::jobs::on_hold;
use crate::{Authority, Change, Store, StoreError, audit, limits, new_id, word};
use base::nfc::nfc;
use base::username;
use base::work::Work;
use model::audit::{Action, Actor, AuditEvent};
use model::id::ProjectId;
use model::limits::USERS;
use model::time::Timestamp;
use model::user::{GivenProjects, Role};

/// Whether the person `$1` may get the role `$2`, which is empty if they are disabled: at least one administrator must remain.
pub(super) const STAYS_ADMINISTERED: &str =
    "($2 = 'admin' OR role <> 'admin' OR disabled_at IS NOT NULL OR EXISTS (
     SELECT 1 FROM users other WHERE other.id <> $1 AND other.role = 'admin' AND other.disabled_at IS NULL
     AND NOT EXISTS (SELECT 1 FROM invitations WHERE user_id = other.id)))";

/// A stored person. `Debug` omits the password hash.
#[derive(Clone)]
pub struct User {
    pub id: String,
    pub name: String,
    pub role: Role,
    /// The projects granted by an administrator. A project that is no longer configured stays in the list.
    pub projects: GivenProjects,
    /// The projects granted by their groups; `None` where groups do not decide.
    pub group_projects: Option<GivenProjects>,
    /// Empty without a password.
    pub password_hash: String,
    /// Sessions with another stamp are invalid.
    pub session_stamp: String,
    pub last_seen_at: Option<Timestamp>,
    pub disabled: bool,
}

impl User {
    pub fn actor(&self, client_ip: &str) -> Actor {
        Actor { id: self.id.clone(), name: self.name.clone(), client_ip: client_ip.to_owned() }
    }
}

impl Store {
    /// Adds a person who may see every project; `false` if the name exists.
    pub async fn add_user(
        &self,
        by: Authority<'_>,
        name: &str,
        role: Role,
        password_hash: &str,
    ) -> Result<bool, StoreError> {
        self.add_person(by, name, role, &GivenProjects::All, password_hash).await
    }

    /// Adds the first administrator; `false` if there is an account.
    pub async fn add_first_administrator(
        &self,
        work: &Work,
        name: &str,
        password_hash: &str,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(work).begin().await?;
        let accounts: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM users").fetch_one(&mut *tx).await?;
        let (role, projects) = (Role::Admin, GivenProjects::All);
        if accounts > 0 || insert(&mut tx, name, role, &projects, password_hash, now).await?.is_none() {
            return Ok(false);
        }
        let event = AuditEvent::new(Action::UserAdd).on(name).with_detail(access(role, &projects));
        audit::commit(tx, &by, &event, now).await?;
        Ok(true)
    }

    /// Adds a person who may see `projects`; `false` if the name exists.
    pub async fn add_person(
        &self,
        by: Authority<'_>,
        name: &str,
        role: Role,
        projects: &GivenProjects,
        password_hash: &str,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        if insert(&mut tx, name, role, projects, password_hash, now).await?.is_none() {
            return Ok(false);
        }
        let event = AuditEvent::new(Action::UserAdd).on(name).with_detail(access(role, projects));
        audit::commit(tx, &by, &event, now).await?;
        Ok(true)
    }

    /// The account with this name, in any form of normalization.
    pub async fn user_by_name(&self, name: &str) -> Result<Option<User>, StoreError> {
        let row = sqlx::query("SELECT * FROM users WHERE name = $1")
            .bind(&*nfc(name))
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(user).transpose()
    }

    pub async fn user_by_id(&self, id: &str) -> Result<Option<User>, StoreError> {
        let row =
            sqlx::query("SELECT * FROM users WHERE id = $1").bind(id).fetch_optional(&self.pool).await?;
        row.as_ref().map(user).transpose()
    }

    /// All people, by name.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        let rows = sqlx::query("SELECT * FROM users ORDER BY name").fetch_all(&self.pool).await?;
        rows.iter().map(user).collect()
    }

    /// Sets a new password and ends the person's sessions; `false` if the name does not exist. If someone else sets it, also resets the count of
    /// wrong codes. The password replaces an invitation, so that its link cannot set another one.
    pub async fn set_password_hash(
        &self,
        by: Authority<'_>,
        name: &str,
        password_hash: &str,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let id: Option<String> = sqlx::query_scalar(
            "UPDATE users SET password_hash = $2, session_stamp = $3 WHERE name = $1 RETURNING id",
        )
        .bind(name)
        .bind(password_hash)
        .bind(new_id())
        .fetch_optional(&mut *tx)
        .await?;
        let Some(id) = id else { return Ok(false) };
        if id != by.id {
            second_factors::forget_wrong_codes(&mut tx, &id).await?;
        }
        let mut event = AuditEvent::new(Action::UserPassword).on(name);
        if end_invitation(&mut tx, &id).await? {
            event = event.with_detail("instead of the invitation");
        }
        audit::commit(tx, &by, &event, now).await?;
        Ok(true)
    }

    /// Stores the same password hashed with other parameters, unless another one was set meanwhile. Sessions stay valid.
    pub async fn rehash(&self, id: &str, old: &str, new: &str) -> Result<(), StoreError> {
        sqlx::query("UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2")
            .bind(id)
            .bind(old)
            .bind(new)
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(())
    }

    /// Changes a person's role and projects, and ends their sessions. Puts the queued prompts on hold that they may no longer start. `false` if there is no
    /// such person, or no administrator would remain.
    pub async fn set_access(
        &self,
        by: Authority<'_>,
        id: &str,
        role: Role,
        projects: &GivenProjects,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let before =
            sqlx::query("SELECT * FROM users WHERE id = $1").bind(id).fetch_optional(&mut *tx).await?;
        let Some(before) = before.as_ref().map(user).transpose()? else { return Ok(false) };
        let changed = sqlx::query(AssertSqlSafe(format!(
            "UPDATE users SET role = $2, project_access = $3, projects = $4, session_stamp = $5
             WHERE id = $1 AND {STAYS_ADMINISTERED}"
        )))
        .bind(id)
        .bind(role.as_str())
        .bind(stored_access(projects))
        .bind(stored_projects(projects))
        .bind(new_id())
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() != 1 {
            return Ok(false);
        }
        let change = format!("{} → {}", access(before.role, &before.projects), access(role, projects));
        let after = User { role, projects: projects.clone(), ..before.clone() };
        hold_what_ends(&mut tx, &before, &after, now).await?;
        let event = AuditEvent::new(Action::UserAccess).on(&before.name).with_detail(change);
        audit::commit(tx, &by, &event, now).await?;
        Ok(true)
    }

    /// Disables a person, ends their sessions and puts their queued prompts on hold, or enables them again; `false` if the name does not exist, or no
    /// administrator would remain.
    pub async fn set_disabled(
        &self,
        by: Authority<'_>,
        name: &str,
        disabled: bool,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let id: Option<String> = sqlx::query_scalar("SELECT id FROM users WHERE name = $1")
            .bind(name)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(id) = id else { return Ok(false) };
        let changed = sqlx::query(AssertSqlSafe(format!(
            "UPDATE users SET disabled_at = $3, session_stamp = $4 WHERE id = $1 AND {STAYS_ADMINISTERED}"
        )))
        .bind(&id)
        .bind(if disabled { "" } else { Role::Admin.as_str() })
        .bind(disabled.then_some(now.as_millis()))
        .bind(new_id())
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() != 1 {
            return Ok(false);
        }
        if disabled {
            on_hold::put_everything_on_hold(&mut tx, &id, now).await?;
        }
        let action = if disabled { Action::UserDisable } else { Action::UserEnable };
        audit::commit(tx, &by, &AuditEvent::new(action).on(name), now).await?;
        Ok(true)
    }

    /// Replaces all set-up links with the one with this token hash.
    pub async fn put_setup_link(
        &self,
        work: &Work,
        token_hash: &str,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        sqlx::query("DELETE FROM setup_links").execute(&mut *tx).await?;
        sqlx::query("INSERT INTO setup_links (token_hash, expires_at) VALUES ($1, $2)")
            .bind(token_hash)
            .bind(expires_at.as_millis())
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }

    /// Creates an administrator with a valid set-up link, and deletes the link; `false` if the link is invalid or an account exists.
    pub async fn spend_setup_link(
        &self,
        token_hash: &str,
        name: &str,
        password_hash: &str,
        client_ip: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        let spent = sqlx::query(
            "DELETE FROM setup_links WHERE token_hash = $1 AND expires_at > $2
             AND NOT EXISTS (SELECT 1 FROM users)",
        )
        .bind(token_hash)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if spent.rows_affected() != 1 {
            return Ok(false);
        }
        let Some(id) = insert(&mut tx, name, Role::Admin, &GivenProjects::All, password_hash, now).await?
        else {
            return Ok(false);
        };
        let by = Actor { id, name: name.to_owned(), client_ip: client_ip.to_owned() };
        audit::commit(tx, &by, &AuditEvent::new(Action::SetUp), now).await?;
        Ok(true)
    }
}

/// Puts on hold what a person may no longer do since their role or projects changed from `before` to `after`.
pub(super) async fn hold_what_ends(
    tx: &mut Transaction<'static, Any>,
    before: &User,
    after: &User,
    now: Timestamp,
) -> Result<(), StoreError> {
    match after.role {
        Role::Admin => Ok(()),
        role if role < before.role || role < Role::Operator => {
            on_hold::put_everything_on_hold(tx, &after.id, now).await
        }
        _ => {
            on_hold::put_links_on_hold(tx, &after.id, now).await?;
            match after.limits() {
                Some(limits) => on_hold::put_prompts_on_hold(tx, &after.id, &limits, now).await,
                None => Ok(()),
            }
        }
    }
}

impl User {
    /// Whether this person may see a project. Administrators see all of them.
    pub fn may_see(&self, project: &ProjectId) -> bool {
        self.role == Role::Admin || self.visible().contains(project)
    }

    /// Whether the prompts of this person in a project may be sent.
    pub(crate) fn may_start_jobs_in(&self, project: &ProjectId) -> bool {
        !self.disabled && self.role >= Role::Operator && self.may_see(project)
    }

    /// The projects granted by an administrator and by groups.
    pub(super) fn visible(&self) -> GivenProjects {
        match &self.group_projects {
            Some(of_groups) => self.projects.clone().and(of_groups),
            None => self.projects.clone(),
        }
    }

    /// Whether a session of this account, as it was when a request was admitted, is valid for the account `now`.
    pub(crate) fn has_same_session(&self, now: &Self) -> bool {
        self.has_same_access(now) && self.session_stamp == now.session_stamp
    }

    /// Whether the account `now` has the rights with which a request of this one was admitted.
    pub fn has_same_access(&self, now: &Self) -> bool {
        !now.disabled
            && self.role == now.role
            && self.projects == now.projects
            && self.group_projects == now.group_projects
    }

    /// The only projects they may see; `None` for all.
    pub fn limits(&self) -> Option<Vec<ProjectId>> {
        match self.visible() {
            GivenProjects::All => None,
            GivenProjects::These(ids) => Some(ids),
        }
    }
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

/// Inserts a person and returns their id; `None` if the name exists, or looks like that of another account.
pub(crate) async fn insert(
    connection: &mut sqlx::AnyConnection,
    name: &str,
    role: Role,
    projects: &GivenProjects,
    password_hash: &str,
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    let skeleton = username::skeleton(name);
    let names: Vec<String> = sqlx::query_scalar("SELECT name FROM users").fetch_all(&mut *connection).await?;
    if names.iter().any(|other| username::skeleton(other) == skeleton) {
        return Ok(None);
    }
    let id = new_id();
    let there = sqlx::query_scalar("SELECT COUNT(*) FROM users").fetch_one(&mut *connection).await?;
    limits::leave_room(&USERS, there)?;
    let added = sqlx::query(
        "INSERT INTO users (id, name, role, projects, password_hash, session_stamp, created_at, project_access)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO NOTHING",
    )
    .bind(&id)
    .bind(name)
    .bind(role.as_str())
    .bind(stored_projects(projects))
    .bind(password_hash)
    .bind(new_id())
    .bind(now.as_millis())
    .bind(stored_access(projects))
    .execute(connection)
    .await?;
    Ok((added.rows_affected() == 1).then_some(id))
}

/// Sets the projects that groups grant to a new person.
pub(crate) async fn give_by_groups(
    connection: &mut sqlx::AnyConnection,
    id: &str,
    projects: &GivenProjects,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE users SET group_projects = $2 WHERE id = $1")
        .bind(id)
        .bind(projects.to_string())
        .execute(connection)
        .await?;
    Ok(())
}

/// Removes the invitation of a person who accepted it.
pub(super) async fn end_invitation(
    connection: &mut sqlx::AnyConnection,
    user: &str,
) -> Result<bool, StoreError> {
    let ended =
        sqlx::query("DELETE FROM invitations WHERE user_id = $1").bind(user).execute(connection).await?;
    Ok(ended.rows_affected() == 1)
}

pub(crate) fn user(row: &AnyRow) -> Result<User, StoreError> {
    let projects: Option<String> = row.try_get("projects")?;
    let group_projects: Option<String> = row.try_get("group_projects")?;
    let last_seen_at: Option<i64> = row.try_get("last_seen_at")?;
    Ok(User {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: word(row, "role")?,
        projects: match row.try_get::<String, _>("project_access")?.as_str() {
            "all" => GivenProjects::All,
            _ => GivenProjects::These(read(projects.as_deref().unwrap_or_default())?),
        },
        group_projects: group_projects.map(|projects| read_given(&projects)).transpose()?,
        password_hash: row.try_get("password_hash")?,
        session_stamp: row.try_get("session_stamp")?,
        last_seen_at: last_seen_at.map(Timestamp::from_millis),
        disabled: row.try_get::<Option<i64>, _>("disabled_at")?.is_some(),
    })
}

/// A person's role and projects as recorded in the audit log: `operator`, who sees all projects, or `operator, sees docs`.
pub(crate) fn access(role: Role, projects: &GivenProjects) -> String {
    match stored_projects(projects) {
        None => role.to_string(),
        Some(none) if none.is_empty() => format!("{role}, sees no project"),
        Some(projects) => format!("{role}, sees {projects}"),
    }
}

pub(super) fn stored_access(projects: &GivenProjects) -> &'static str {
    match projects {
        GivenProjects::All => "all",
        GivenProjects::These(_) => "selected",
    }
}

/// The selected ids, separated by commas; `None` for all, as versions before 0034 read it.
pub(super) fn stored_projects(projects: &GivenProjects) -> Option<String> {
    match projects {
        GivenProjects::All => None,
        selected => Some(selected.to_string()),
    }
}

pub(super) fn read_given(projects: &str) -> Result<GivenProjects, StoreError> {
    match projects {
        "*" => Ok(GivenProjects::All),
        ids => Ok(GivenProjects::These(read(ids)?)),
    }
}

fn read(projects: &str) -> Result<Vec<ProjectId>, StoreError> {
    let ids = projects.split(',').filter(|id| !id.is_empty());
    ids.map(|id| id.parse().map_err(|_| StoreError::Corrupt(format!("“{id}” in projects")))).collect()
}
