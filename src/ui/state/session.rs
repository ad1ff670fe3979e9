//! Who is signed in. Asked once per frame, read by every page inside its Suspense.

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::session::GetCurrentSession;
use crate::model::user::CurrentSession;
use crate::ui::state::asked::Asked;

pub type AskedSession = Asked<CurrentSession>;

pub fn provide() -> AskedSession {
    let session = Asked::once(|| call(GetCurrentSession {}));
    provide_context(session);
    session
}

pub fn get() -> AskedSession {
    expect_context()
}

/// Whether this person may start jobs and send follow-ups. To be asked inside a Suspense.
pub fn can_start_jobs(session: AskedSession) -> bool {
    matches!(session.get(), Some(Ok(session)) if session.can_start_jobs())
}
