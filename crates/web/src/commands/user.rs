//! `docket user`: accounts, from the command line. A password is read from a prompt or standard input, never
//! from an argument, where other users of the machine could see it.

use std::io::{IsTerminal, stdin};

use anyhow::{Context, bail};
use clap::Subcommand;
use secrecy::SecretString;

use base::clock::Clock;
use base::config::{Database, parse_projects};
use base::username;
use base::work::Docket;
use client::output::{in_one_line, print_line};
use model::user::{GivenProjects, Project, Role};
use service::auth::password;
use service::people;
use store::{Authority, Store};

#[derive(Subcommand)]
pub enum Action {
    /// Add an account
    Add {
        name: String,
        /// viewer, operator or admin
        #[arg(long)]
        role: Role,
        /// Give access to all projects; this is the default without --projects
        #[arg(long, conflicts_with = "projects")]
        all_projects: bool,
        /// Give access to these projects only; an empty list gives access to none
        #[arg(long, value_name = "ID,ID")]
        projects: Option<String>,
    },
    /// Set a new password
    Passwd { name: String },
    /// Disable an account from its next request on
    Disable { name: String },
    /// Enable an account again
    Enable { name: String },
    /// Remove the second factor of a person who has lost it
    ResetSecondFactor { name: String },
    /// List all accounts
    List,
}

/// `all`: the configured projects, if any.
pub async fn user(
    database: &Database,
    all: Option<Vec<Project>>,
    action: Action,
    docket: &Docket,
) -> anyhow::Result<()> {
    let store = Store::open_within(&database.url, database.patience, database.copy).await?;
    let work = docket.command("docket user", Clock::system());
    let by = Authority::from(&work);
    match action {
        Action::Add { name, role, all_projects: _, projects } => {
            let name = username::parse_typed(&name).map_err(anyhow::Error::msg)?;
            let projects = given(projects.as_deref(), all.as_deref())?;
            let hash = password::hash(read_password(&name)?).await?;
            if !store.add_person(by, &name, role, &projects, &hash).await? {
                bail!(
                    "there is a user {name} already, or one whose name looks the same (docket user list); \
                     docket user passwd {name} sets a new password"
                );
            }
            print_line(&format!("{name} can sign in as {role}."));
        }
        Action::Passwd { name } => {
            let hash = password::hash(read_password(&name)?).await?;
            must_exist(store.set_password_hash(by, &name, &hash).await?, &name)?;
            print_line(&format!("{name} has a new password; sessions under the old one have ended."));
        }
        Action::Disable { name } => {
            must_exist(store.user_by_name(&name).await?.is_some(), &name)?;
            if !store.set_disabled(by, &name, true).await? {
                bail!("{name} is the last administrator; make another person one first");
            }
            print_line(&format!("{name} is disabled, from the next request on."));
        }
        Action::Enable { name } => {
            must_exist(store.set_disabled(by, &name, false).await?, &name)?;
            print_line(&format!("{name} can sign in again."));
        }
        Action::ResetSecondFactor { name } => {
            let user = store.user_by_name(&name).await?;
            must_exist(user.is_some(), &name)?;
            let id = user.map(|user| user.id).unwrap_or_default();
            print_line(&match store.reset_second_factors(by, &id).await? {
                true => {
                    format!(
                        "{name} is signed out everywhere, signs in with the password alone, and can set up a second factor anew."
                    )
                }
                false => format!("{name} has no second factor; nothing was changed."),
            });
        }
        Action::List => {
            let guarded = store.with_second_factor().await?;
            for user in store.users().await? {
                let disabled = if user.disabled { "  disabled" } else { "" };
                let factor = if guarded.contains(&user.id) { "  second factor" } else { "" };
                let limited =
                    user.limits().map(|projects| projects.iter().map(ToString::to_string).collect());
                let limited = limited.map(|ids: Vec<String>| match ids.is_empty() {
                    true => "  no project".to_owned(),
                    false => format!("  only {}", ids.join(",")),
                });
                print_line(&in_one_line(&format!(
                    "{:<24}  {}{}{factor}{disabled}",
                    user.name,
                    user.role,
                    limited.unwrap_or_default()
                )));
            }
        }
    }
    store.close().await;
    Ok(())
}

/// Parses comma-separated project ids; `None` means all. Without configured projects, they are not checked.
fn given(listed: Option<&str>, all: Option<&[Project]>) -> anyhow::Result<GivenProjects> {
    let Some(listed) = listed else { return Ok(GivenProjects::All) };
    if let Some(all) = all {
        return people::selected(listed, all, &GivenProjects::default()).map_err(anyhow::Error::msg);
    }
    let unchecked = parse_projects(listed).map_err(anyhow::Error::msg)?;
    Ok(GivenProjects::These(unchecked.into_iter().map(|project| project.id).collect()))
}

fn must_exist(found: bool, name: &str) -> anyhow::Result<()> {
    if found { Ok(()) } else { bail!("there is no user {name}; docket user list shows who there is") }
}

fn read_password(name: &str) -> anyhow::Result<SecretString> {
    let text = if stdin().is_terminal() {
        let first = rpassword::prompt_password("Password: ")?;
        if rpassword::prompt_password("Once more: ")? != first {
            bail!("the two passwords differ; nothing was changed");
        }
        first
    } else {
        let mut line = String::new();
        stdin().read_line(&mut line).context("reading the password from standard input")?;
        line.trim_end_matches(['\r', '\n']).to_owned()
    };
    let secret = SecretString::from(text);
    password::check_choice(&secret, name).map_err(anyhow::Error::msg)?;
    Ok(secret)
}
