//! The configured projects.

use crate::model::id::ProjectId;
use crate::model::name::is_plain;
use crate::model::user::Project;

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
        projects.push(Project { id, name });
    }
    if projects.is_empty() { Err("there is no project in it".to_owned()) } else { Ok(projects) }
}
