//! The endpoint of templates.

use axum::Extension;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use futures::stream::{self, StreamExt};
use serde::Serialize;
use utoipa::ToSchema;

use super::errors::ReadErrors;
use super::long_list::LongBody;
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use model::api_token::Scope;
use model::error::AppError;
use model::saved_template::TemplateText;
use model::template::placeholders;
use service::response_size::Room;

/// The templates of a project, by name.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes responses")]
pub(super) struct TemplateList {
    templates: Vec<TemplateBody>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Template)]
struct TemplateBody {
    id: String,
    name: String,
    /// With placeholders such as `{{page}}`.
    text: String,
    /// The names of its placeholders, in order of appearance.
    placeholders: Vec<String>,
}

/// The templates of a project.
#[utoipa::path(get, path = "/api/v1/projects/{project}/templates", tag = "Templates", security(("token" = ["jobs:read"])), params(("project" = String, Path)),
    responses((status = OK, body = TemplateList, description = "The templates."), ReadErrors))]
pub(super) async fn list_templates(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
) -> Result<Response, Problem> {
    caller.needs(Scope::JobsRead)?;
    let project = caller.project(&project)?;
    let jobs = caller.state().jobs.clone();
    let ids = jobs.template_ids(&project).await?;
    let templates = stream::iter(ids).then(move |id| {
        let (jobs, project) = (jobs.clone(), project.clone());
        async move {
            let template = jobs.template(&project, &id).await?;
            Ok::<Vec<TemplateBody>, AppError>(template.map(TemplateBody::from).into_iter().collect())
        }
    });
    LongBody::object(&NoOtherFields {}, "templates", templates.boxed())?
        .respond(StatusCode::OK, &caller)
        .await
}

/// A template in the result of a tool, with the beginning of its text.
#[derive(Serialize)]
struct CutTemplate {
    #[serde(flatten)]
    template: TemplateBody,
    /// Whether `text` is cut; `…` stands at its end.
    truncated: bool,
}

/// The templates of a project in the result of a tool.
#[derive(Serialize)]
pub(super) struct CutTemplates {
    templates: Vec<CutTemplate>,
    /// Whether further templates do not fit.
    truncated: bool,
}

/// The length of a template's text in the result of a tool, in characters.
const TEXT_MAX_CHARS: usize = 2_000;

impl CutTemplate {
    fn of(mut template: TemplateBody) -> Self {
        let end = template.text.char_indices().nth(TEXT_MAX_CHARS).map(|(at, _)| at);
        if let Some(end) = end {
            template.text.truncate(end);
            template.text.push('…');
        }
        Self { template, truncated: end.is_some() }
    }
}

/// The templates of a project that fit into `room`.
pub(super) async fn cut(
    caller: &TokenCaller,
    project: &str,
    mut room: Room,
) -> Result<CutTemplates, Problem> {
    caller.needs(Scope::JobsRead)?;
    let project = caller.project(project)?;
    let jobs = &caller.state().jobs;
    let mut templates = Vec::new();
    for id in jobs.template_ids(&project).await? {
        // One that was deleted meanwhile is skipped.
        if let Some(template) = jobs.template(&project, &id).await? {
            let template = CutTemplate::of(template.into());
            if !room.takes(&template) {
                return Ok(CutTemplates { templates, truncated: true });
            }
            templates.push(template);
        }
    }
    Ok(CutTemplates { templates, truncated: false })
}

/// The list is the only field.
#[derive(Serialize)]
struct NoOtherFields {}

impl From<TemplateText> for TemplateBody {
    fn from(TemplateText { id, name, text }: TemplateText) -> Self {
        let placeholders = placeholders(&text).into_iter().map(str::to_owned).collect();
        Self { id: id.to_string(), name, text, placeholders }
    }
}
