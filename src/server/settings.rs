//! The pages of settings: asks for what one shows and has it drawn. Beside `reading` the only place outside the router that knows
//! `ui`, and of it only what draws text.

use crate::error::AppError;
use crate::server::auth::guard::Caller;
use crate::ui::links;
use crate::ui::pages::settings::account;

/// What stands below the title of the page at `path`, as HTML. `query` is that of its address.
pub async fn page(caller: &Caller, path: &str, _query: &str) -> Result<String, AppError> {
    let told = caller.panel.flash.take(&caller.user.id).await;
    let drawn = match path {
        links::ACCOUNT => account::drawn(&caller.session(), told.as_ref()),
        _ => return Err(AppError::not_found("There is no such page of settings.")),
    };
    Ok(drawn.into_html())
}
