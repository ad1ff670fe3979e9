//! The server functions that the layers of `web` treat differently from others.

use leptos::server_fn::ServerFn;

use api::api_tokens::CreateToken;
use api::archive_and_tags::{ArchiveJobs, DismissJobs, TagJobs, UnarchiveJobs, UndismissJobs, UntagJobs};
use api::batches::{PrepareBatch, UseTemplate};
use api::jobs::{CreateJob, ImportJob, JobStatuses, SaveDraft, SendFollowUp, SimilarJobs};
use api::templates::SaveTemplate;
use api::users::{ChangePerson, InvitePerson};
use api::webhooks::{AddWebhook, ChooseWebhookEvents};
use web::http::layers::Endpoints;

pub(super) const ENDPOINTS: Endpoints = Endpoints {
    polled: JobStatuses::PATH,
    with_prompt: &[
        ImportJob::PATH,
        CreateJob::PATH,
        SendFollowUp::PATH,
        SaveDraft::PATH,
        SimilarJobs::PATH,
        SaveTemplate::PATH,
        PrepareBatch::PATH,
        UseTemplate::PATH,
    ],
    with_repeated_fields: &[
        (ArchiveJobs::PATH, "jobs"),
        (UnarchiveJobs::PATH, "jobs"),
        (DismissJobs::PATH, "jobs"),
        (UndismissJobs::PATH, "jobs"),
        (TagJobs::PATH, "jobs"),
        (UntagJobs::PATH, "jobs"),
        (InvitePerson::PATH, "projects"),
        (ChangePerson::PATH, "projects"),
        (CreateToken::PATH, "scopes"),
        (CreateToken::PATH, "projects"),
        (AddWebhook::PATH, "events"),
        (ChooseWebhookEvents::PATH, "events"),
    ],
};
