//! The pages of settings: asks for what one shows and has it drawn. Beside `reading` the only place outside the router that knows
//! `ui`, and of it only what draws text.

use crate::error::AppError;
use crate::model::settings::Told;
use crate::model::user::Role;
use crate::server::audit::page as log;
use crate::server::auth::guard::Caller;
use crate::server::store::invitations::Invited;
use crate::ui::links;
use crate::ui::markup::Markup;
use crate::ui::pages::settings::account::{self, Account, Place};
use crate::ui::pages::settings::audit;
use crate::ui::pages::settings::second_factor;
use crate::ui::pages::settings::users::{self, People, Person, State};

/// What stands below the title of the page at `path`, as HTML. `query` is that of its address.
pub async fn page(caller: &Caller, path: &str, query: &str) -> Result<String, AppError> {
    let drawn = match path {
        links::ACCOUNT => account(caller, told(caller).await.as_ref()).await?,
        links::USERS => {
            caller.must_be(Role::Admin)?;
            users(caller, told(caller).await.as_ref()).await?
        }
        links::AUDIT => {
            caller.must_be(Role::Admin)?;
            audit::drawn(&log::page(caller, query).await?)
        }
        _ => return Err(AppError::not_found("There is no such page of settings.")),
    };
    Ok(drawn.into_html())
}

/// What came of the last form, once.
async fn told(caller: &Caller) -> Option<Told> {
    caller.panel.flash.take(&caller.user.id).await
}

async fn account(caller: &Caller, told: Option<&Told>) -> Result<Markup, AppError> {
    let sessions = crate::server::account::sessions(caller).await?;
    let places = sessions.into_iter().map(|session| Place {
        is_here: caller.session.as_ref() == Some(&session.id_hash),
        id: session.id_hash,
        device: session.device,
        address: session.address,
        since: session.created_at,
        last_used: session.last_used_at,
    });
    let who = caller.session();
    let account = Account {
        sees_all: who.projects.len() == caller.panel.projects.len(),
        who: &who,
        places: places.collect(),
        now: caller.panel.clock.now(),
    };
    let factor = caller.panel.second_factors.state(&caller.user).await?;
    Ok([account::drawn(&account, told), second_factor::drawn(&factor, told)].into_iter().collect())
}

async fn users(caller: &Caller, told: Option<&Told>) -> Result<Markup, AppError> {
    let people = caller.panel.store.people().await?;
    let guarded = caller.panel.store.with_second_factor().await?;
    let person = |Invited { user, until }| Person {
        state: match until {
            _ if user.disabled => State::Disabled,
            Some(until) => State::Invited(until),
            None => State::Active,
        },
        is_you: user.id == caller.user.id,
        has_second_factor: guarded.contains(&user.id),
        projects: user.projects.map(|projects| projects.iter().map(ToString::to_string).collect()),
        id: user.id,
        name: user.name,
        role: user.role,
        last_seen: user.last_seen_at,
    };
    let page = People {
        people: people.into_iter().map(person).collect(),
        projects: &caller.panel.projects,
        now: caller.panel.clock.now(),
    };
    Ok(users::drawn(&page, told))
}
