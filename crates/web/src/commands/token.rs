//! `docket token`: API tokens, from the command line. A new token is the only text on standard output.

use anyhow::{Context, bail, ensure};
use clap::Subcommand;

use base::clock::Clock;
use base::config::{Database, parse_projects};
use base::work::Docket;
use client::output::{in_one_line, inform, is_discarded, print_line, print_secret};
use model::api_token::{ApiToken, Scopes, TokenDays};
use model::id::ApiTokenId;
use model::user::{GivenProjects, Project};
use service::auth::api_token::TokenText;
use service::people;
use service::people::api_tokens::{checked_name, must_have_one, must_permit};
use store::accounts::api_tokens::{AddedToken, NewApiToken, RotatedToken, TokenSecret};
use store::accounts::users::User;
use store::{Authority, Store};

#[derive(Subcommand)]
pub enum Action {
    /// Create a token and print it; nothing else is written to standard output
    Create {
        /// Its owner: the token never has more rights than this account
        #[arg(long, value_name = "NAME")]
        user: String,
        /// A name for lists, such as the script that uses it
        #[arg(long)]
        name: String,
        /// What it may do: jobs:read, jobs:write, jobs:resolve, analytics:read
        #[arg(long, value_name = "SCOPE,SCOPE")]
        scopes: Scopes,
        /// Its projects [default: all that the owner can see]
        #[arg(long, value_name = "ID,ID")]
        projects: Option<String>,
        /// How many days it is valid, at most 365
        #[arg(long, value_name = "N", default_value_t)]
        days: TokenDays,
    },
    /// List all tokens, one per line: id, last four characters, state, owner, scopes, projects, expiry, last use, name
    List,
    /// Replace a token by one with the same scopes, projects and time of validity, and print it; the old one works for 24 more hours
    Rotate {
        /// The id, as docket token list prints it
        id: ApiTokenId,
    },
    /// Revoke a token from its next request on
    Revoke {
        /// The id, as docket token list prints it
        id: ApiTokenId,
    },
}

/// `all`: the configured projects, if any.
pub async fn token(
    database: &Database,
    all: Option<Vec<Project>>,
    action: Action,
    docket: &Docket,
) -> anyhow::Result<()> {
    let store = Store::open_within(&database.url, database.patience, database.copy).await?;
    let work = docket.command("docket token", Clock::system());
    let by = Authority::from(&work);
    let now = work.now();
    match action {
        Action::Create { user, name, scopes, projects, days } => {
            somebody_must_see_it()?;
            let name = checked_name(&name).map_err(anyhow::Error::msg)?;
            let owner = store.user_by_name(&user).await?;
            let owner = owner
                .with_context(|| format!("there is no user {user}; docket user list shows who there is"))?;
            must_permit(owner.role, &scopes).map_err(anyhow::Error::msg)?;
            let projects = given(projects.as_deref(), all.as_deref(), &owner)?;
            let token = TokenText::random();
            let new = NewApiToken {
                owner: &owner,
                name: &name,
                hash: &token.hash(),
                last_four: token.last_four(),
                scopes: &scopes,
                projects: &projects,
                expires_at: days.after(now),
            };
            match store.add_api_token(by, &new).await? {
                AddedToken::Done(id) => print_or_revoke(&store, by, &token, &id).await?,
                AddedToken::NoOwner => bail!("{user} is disabled, or has not accepted the invitation yet"),
            }
        }
        Action::Rotate { id } => {
            somebody_must_see_it()?;
            let token = TokenText::random();
            let secret = TokenSecret { hash: &token.hash(), last_four: token.last_four() };
            match store.rotate_api_token(by, &id, None, &secret).await? {
                RotatedToken::Done { id: new, works_until, .. } if print_secret(token.expose()) => {
                    inform(&format!("the token {id} works until {works_until}, and {new} replaces it"));
                }
                RotatedToken::Done { id: new, before, .. } => {
                    store.undo_rotation(by, &id, &new, &before).await?;
                    inform(&format!("nobody can have seen the new token, so {id} stays as it was"));
                }
                RotatedToken::Replaced(new) => {
                    bail!("the token {id} was rotated already: rotate {new}, which replaces it")
                }
                RotatedToken::NotActive => {
                    bail!("there is no active token {id}; docket token list shows all tokens")
                }
                RotatedToken::NoOwner => bail!("the owner of the token {id} is disabled"),
            }
        }
        Action::List => {
            for token in store.api_tokens(None, u32::MAX, now).await? {
                print_line(&in_one_line(&line(&token)));
            }
        }
        Action::Revoke { id } => {
            if !store.revoke_api_token(by, &id, None).await? {
                bail!(
                    "there is no token {id}, or it was revoked already; docket token list shows all tokens"
                );
            }
            print_line(&format!("The token {id} is revoked, from the next request on."));
        }
    }
    store.close().await;
    Ok(())
}

fn somebody_must_see_it() -> anyhow::Result<()> {
    ensure!(
        !is_discarded(),
        "standard output is closed or discarded: nobody would see the token, so none was created"
    );
    Ok(())
}

/// Prints a new token. One that cannot be printed is revoked.
async fn print_or_revoke(
    store: &Store,
    by: Authority<'_>,
    token: &TokenText,
    id: &ApiTokenId,
) -> anyhow::Result<()> {
    if !print_secret(token.expose()) {
        store.revoke_api_token(by, id, None).await?;
        inform(&format!("nobody can have seen the token {id}, so it is revoked"));
    }
    Ok(())
}

/// The projects of a new token. Each must be visible to the owner, and configured if the configuration has projects.
fn given(listed: Option<&str>, all: Option<&[Project]>, owner: &User) -> anyhow::Result<GivenProjects> {
    let Some(listed) = listed else { return Ok(GivenProjects::All) };
    let projects = match all {
        Some(all) => people::selected(listed, all, &GivenProjects::default()).map_err(anyhow::Error::msg)?,
        None => {
            let unchecked = parse_projects(listed).map_err(anyhow::Error::msg)?;
            GivenProjects::These(unchecked.into_iter().map(|project| project.id).collect())
        }
    };
    must_have_one(&projects).map_err(anyhow::Error::msg)?;
    if let GivenProjects::These(ids) = &projects
        && let Some(hidden) = ids.iter().find(|id| !owner.may_see(id))
    {
        bail!("{} has no access to the project {hidden}", owner.name);
    }
    Ok(projects)
}

/// The id, the last four characters, and the rest, separated by two spaces.
fn line(token: &ApiToken) -> String {
    let projects = token.projects.as_ref().map_or_else(|| "all projects".to_owned(), |ids| ids.join(","));
    let used = token.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    let state = token.state.as_str().to_lowercase();
    let expiry = format!("until {}", token.expires_at);
    let parts = [
        token.id.as_str(),
        &format!("…{}", token.last_four),
        &state,
        &token.owner,
        &token.scopes.to_string(),
        &projects,
        &expiry,
        &used,
        &token.name,
    ];
    parts.join("  ")
}
