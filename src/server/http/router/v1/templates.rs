//! The endpoint of templates.

use axum::extract::Path;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::errors::ReadErrors;
use crate::model::api_token::Scope;
use crate::model::template::placeholders;
use crate::server::auth::bearer::TokenCaller;
use crate::server::http::problem::Problem;

/// The templates of a project, by name.
#[derive(Serialize, ToSchema)]
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
#[utoipa::path(get, path = "/api/v1/projects/{project}/templates", tag = "Templates", params(("project" = String, Path)),
    responses((status = OK, body = TemplateList, description = "The templates."), ReadErrors))]
pub(super) async fn list_templates(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
) -> Result<Json<TemplateList>, Problem> {
    caller.needs(Scope::JobsRead)?;
    let project = caller.project(&project)?;
    let templates = caller.caller().state.jobs.template_texts(&project).await?.into_iter();
    let templates = templates.map(|template| TemplateBody {
        placeholders: placeholders(&template.text).into_iter().map(str::to_owned).collect(),
        id: template.id.to_string(),
        name: template.name,
        text: template.text,
    });
    Ok(Json(TemplateList { templates: templates.collect() }))
}
