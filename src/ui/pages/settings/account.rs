//! `/account`: a person's own account.

use crate::model::settings::Told;
use crate::model::user::CurrentSession;
use crate::ui::markup::{Markup, markup};

pub fn drawn(who: &CurrentSession, _told: Option<&Told>) -> Markup {
    markup(
        r#"<dl class="facts"><div><dt>Username</dt><dd>{}</dd></div><div><dt>Role</dt><dd>{}</dd></div></dl>"#,
        &[&who.username, &who.role.as_str()],
    )
}
