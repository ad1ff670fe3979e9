//! The pages of settings: asks for what one shows and has it drawn. Beside `reading` the only place outside the router that knows
//! `ui`, and of it only what draws text.

use crate::error::AppError;
use crate::model::user::Role;
use crate::server::audit::page as log;
use crate::server::auth::guard::Caller;
use crate::server::auth::roles;
use crate::ui::links;
use crate::ui::pages::settings::{account, audit};

/// What stands below the title of the page at `path`, as HTML. `query` is that of its address.
pub async fn page(caller: &Caller, path: &str, query: &str) -> Result<String, AppError> {
    let told = caller.panel.flash.take(&caller.user.id).await;
    let drawn = match path {
        links::ACCOUNT => account::drawn(&caller.session(), told.as_ref()),
        links::AUDIT => {
            roles::at_least(Role::Admin, caller.user.role)?;
            audit::drawn(&log::page(caller, query).await?)
        }
        _ => return Err(AppError::not_found("There is no such page of settings.")),
    };
    Ok(drawn.into_html())
}
