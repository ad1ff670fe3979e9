//! The results of the command palette. Writes nothing, and does not call the upstream.

use std::collections::HashSet;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::filter::parse;
use base::nfc::nfc;
use base::query_permits::QueryPermit;
use model::error::AppError;
use model::id::ProjectId;
use model::job::Job;
use model::job_query::JobQuery;
use model::links;
use model::palette::{Found, PaletteItem};
use model::saved_template::TemplateText;
use model::user::Role;
use store::jobs::list::{JobFilter, Sections};

/// The maximum number of results of each kind.
const MOST: usize = 8;

impl Jobs {
    /// The templates whose name contains all words of `q`, and the jobs that the list finds with it.
    pub async fn palette(
        &self,
        permit: &QueryPermit,
        caller: &Caller,
        project: &ProjectId,
        q: &str,
    ) -> Result<Found, AppError> {
        let sort = if q.trim().is_empty() { "changed" } else { "" };
        let (_, filter) = parse(&JobQuery::default().with("q", q.trim()).with("sort", sort))?;
        let found = self.store.jobs(permit, project, &filter).await?.jobs;
        let mut jobs = self.named(permit, project, filter).await?;
        jobs.extend(found);
        let mut known = HashSet::new();
        jobs.retain(|job| known.insert(job.id.clone()));
        let words: Vec<String> = nfc(q).split_whitespace().map(str::to_lowercase).collect();
        let has_words = |template: &TemplateText| {
            let name = template.name.to_lowercase();
            words.iter().all(|word| name.contains(word.as_str()))
        };
        let may_start = caller.user.role >= Role::Operator;
        let templates = self.store.template_texts(project).await?;
        let templates = templates.into_iter().filter(has_words).take(MOST);
        Ok(Found {
            templates: templates.map(|template| of_template(project, template, may_start)).collect(),
            jobs: jobs.iter().take(MOST).map(of_job).collect(),
        })
    }
}

impl Jobs {
    /// The newest jobs with the whole search as one of their names. They precede jobs that only contain its words.
    async fn named(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        search: JobFilter,
    ) -> Result<Vec<Job>, AppError> {
        let Some(name) = search.text else { return Ok(Vec::new()) };
        let filter = JobFilter { named: Some(name), archived: search.archived, ..JobFilter::default() };
        let Sections { jobs: [named], .. } = self.store.sections(permit, project, [(&filter, MOST)]).await?;
        Ok(named)
    }
}

fn of_template(project: &ProjectId, template: TemplateText, may_start: bool) -> PaletteItem {
    let project = project.as_str();
    let href = match may_start {
        true => links::new_job_by(project, template.id.as_str(), ""),
        false => links::templates(project),
    };
    PaletteItem { name: template.name, detail: String::new(), href, status: None }
}

fn of_job(job: &Job) -> PaletteItem {
    PaletteItem {
        name: job.title(),
        detail: job.author.clone(),
        href: links::job(job.project.as_str(), job.id.as_str()),
        status: Some(job.badge()),
    }
}
