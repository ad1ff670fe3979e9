//! The configured projects.

use url::Url;

use super::error::ConfigError;
use super::setting::OptionalSetting;
use super::source::Source;
use model::id::ProjectId;
use model::name::is_plain;
use model::user::Project;

/// The configured projects, if any, without the URLs of their published pages.
pub fn configured_projects(source: &Source) -> Result<Option<Vec<Project>>, ConfigError> {
    source.raw.projects.parse(parse_projects)
}

/// `id=Name,id=Name`; a missing name defaults to the id.
pub fn parse_projects(text: &str) -> Result<Vec<Project>, String> {
    let mut projects: Vec<Project> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (id, name) = part.split_once('=').unwrap_or((part, part));
        let id: ProjectId = id.trim().parse().map_err(|error| format!("“{}”: {error}", id.trim()))?;
        if projects.iter().any(|project| project.id == id) {
            return Err(format!("the project {id} is there twice"));
        }
        let name = match name.trim() {
            "" => id.to_string(),
            name => name.to_owned(),
        };
        if !is_plain(&name) {
            return Err(format!("the name of {id} has characters that cannot be seen"));
        }
        projects.push(Project { id, name, site: None, is_direct: false });
    }
    if projects.is_empty() { Err("there is no project in it".to_owned()) } else { Ok(projects) }
}

/// `id=https://…,id=https://…`: the base URLs of published pages of some projects.
pub(super) fn parse_sites(text: &str) -> Result<Vec<(ProjectId, String)>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (id, site) = part.split_once('=').ok_or_else(|| format!("“{part}” is no id=https://…"))?;
            let id: ProjectId = id.trim().parse().map_err(|error| format!("“{}”: {error}", id.trim()))?;
            let url = Url::parse(site.trim()).map_err(|error| format!("the address of {id}: {error}"))?;
            let is_plain = matches!(url.scheme(), "http" | "https")
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none();
            match is_plain {
                true => Ok((id, url.as_str().trim_end_matches('/').to_owned())),
                false => Err(format!("the address of {id} is not a plain http or https address")),
            }
        })
        .collect()
}

/// `projects` with the URLs of their published pages. The URL of an unknown project is refused.
pub(super) fn with_sites(
    mut projects: Vec<Project>,
    sites: Vec<(ProjectId, String)>,
) -> Result<Vec<Project>, String> {
    for (id, site) in sites {
        let project = projects.iter_mut().find(|project| project.id == id);
        project.ok_or_else(|| format!("{id} is not among the projects"))?.site = Some(site);
    }
    Ok(projects)
}

/// `projects` with those named in `text` marked as published directly. An unknown project is refused.
pub(super) fn with_direct(mut projects: Vec<Project>, text: &str) -> Result<Vec<Project>, String> {
    for id in text.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        let project = projects.iter_mut().find(|project| project.id.as_str() == id);
        project.ok_or_else(|| format!("{id} is not among the projects"))?.is_direct = true;
    }
    Ok(projects)
}
