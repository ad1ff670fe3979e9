//! The templates of a project.

use leptos::prelude::*;

use model::error::AppError;
#[cfg(feature = "ssr")]
use model::id::optional;
#[cfg(feature = "ssr")]
use model::saved_template::TemplateText;
use model::saved_template::{SavedTemplate, TemplateForm};
#[cfg(feature = "ssr")]
use service::jobs::templates::{PromptTemplate, TemplateName, TypedTemplate};
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::forms;

/// The project's templates by name, each with its scorecard. `cursor`: the header `docket-next` of an earlier part.
#[server(prefix = "/api", endpoint = "templates/list")]
pub async fn list_templates(project: String, cursor: Option<String>) -> Result<Vec<SavedTemplate>, AppError> {
    forms::respond_with_part(all_templates(project).await?, cursor.as_deref())
}

/// As [`list_templates`], all at once for their page.
#[cfg(feature = "ssr")]
pub async fn all_templates(project: String) -> Result<Vec<SavedTemplate>, AppError> {
    let (caller, state) = guard::of::<ListTemplates>()?;
    let project = caller.project(&project)?;
    let permit = caller.query_permit().await?;
    state.jobs.templates(&permit, &project).await
}

/// The project's templates by name, for a page to start from.
#[cfg(feature = "ssr")]
pub async fn template_texts(project: String) -> Result<Vec<TemplateText>, AppError> {
    let (caller, state) = guard::of::<ListTemplates>()?;
    let project = caller.project(&project)?;
    state.jobs.template_texts(&project).await
}

/// The initial values of the form for a new template or, with `template`, for that one.
#[server(prefix = "/api", endpoint = "templates/form")]
pub async fn get_template_form(project: String, template: Option<String>) -> Result<TemplateForm, AppError> {
    let (caller, state) = guard::of::<GetTemplateForm>()?;
    let project = caller.project(&project)?;
    state.jobs.template_form(&caller, &project, optional(template.as_deref())?).await
}

/// Saves a new template, or changes `template`; returns its id.
#[server(prefix = "/api", endpoint = "templates/save")]
pub async fn save_template(
    project: String,
    template: Option<String>,
    name: String,
    text: String,
) -> Result<String, AppError> {
    let (caller, state) = guard::of::<SaveTemplate>()?;
    let project = caller.project(&project)?;
    let prompt = PromptTemplate::parse(&text, state.jobs.prompt_max());
    let parsed = name.parse::<TemplateName>().and_then(|name| Ok((name, prompt?)));
    let typed = TypedTemplate { template: optional(template.as_deref())?, name, text };
    let id = state.jobs.save_template(&caller, &project, typed, parsed).await?;
    leptos_axum::redirect(&format!("/p/{project}/templates"));
    Ok(id.to_string())
}

/// Deletes a template. Jobs created from it keep their prompt.
#[server(prefix = "/api", endpoint = "templates/remove")]
pub async fn remove_template(project: String, template: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<RemoveTemplate>()?;
    let project = caller.project(&project)?;
    state.jobs.remove_template(&caller, &project, optional(Some(&template))?).await?;
    forms::redirect_to(&format!("/p/{project}/templates"));
    Ok(())
}
