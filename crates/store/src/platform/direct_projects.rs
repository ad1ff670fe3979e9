//! The projects whose changes the platform publishes without pull requests. `jobs::direct_projects` stores them.

/// An expression: 1 if the platform publishes the changes of the project directly. The argument is a column or a placeholder.
pub(crate) fn is_direct(project: &str) -> String {
    format!("(SELECT COUNT(*) FROM direct_projects d WHERE d.project = {project} AND d.is_direct = 1)")
}
