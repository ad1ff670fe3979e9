//! Who is signed in. Asked once per frame, read by every page inside its Suspense.

use leptos::prelude::*;

use crate::api::session::current_session;
use crate::error::AppError;
use crate::model::user::CurrentSession;

pub type SessionResource = Resource<Result<CurrentSession, AppError>>;

pub fn provide() -> SessionResource {
    let session = Resource::new(|| (), |()| current_session());
    provide_context(session);
    session
}

pub fn get() -> SessionResource {
    expect_context()
}

/// Whether this person may start jobs and send follow-ups. To be asked inside a Suspense.
pub fn can_start_jobs(session: SessionResource) -> bool {
    matches!(session.get(), Some(Ok(session)) if session.can_start_jobs())
}
