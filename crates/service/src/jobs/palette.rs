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
use model::saved_view::SavedViewPage;
use model::user::Role;
use store::jobs::list::{JobFilter, Sections};
use store::jobs::saved_views::SavedViewScope;

/// The maximum number of results of each kind.
const MOST: usize = 8;

impl Jobs {
    /// The templates and saved views whose name contains all words of `q`, the pages whose path contains `q`, and the jobs that the list finds with it.
    pub async fn palette(
        &self,
        permit: &QueryPermit,
        caller: &Caller,
        project: &ProjectId,
        q: &str,
    ) -> Result<Found, AppError> {
        let sort = if q.trim().is_empty() { "changed" } else { "" };
        let (_, filter) = parse(&JobQuery::default().with("q", q.trim()).with("sort", sort), self.today())?;
        let found = self.store.jobs(permit, project, &filter).await?.jobs;
        let mut jobs = self.named(permit, project, filter).await?;
        jobs.extend(found);
        let mut known = HashSet::new();
        jobs.retain(|job| known.insert(job.id.clone()));
        let words: Vec<String> = nfc(q).split_whitespace().map(str::to_lowercase).collect();
        let has_words = |name: &str| {
            let name = name.to_lowercase();
            words.iter().all(|word| name.contains(word.as_str()))
        };
        let may_start = caller.user.role >= Role::Operator;
        let templates = self.store.template_texts(project).await?;
        let templates = templates.into_iter().filter(|template| has_words(&template.name)).take(MOST);
        let views = self.views_in_palette(caller, project).await?;
        let pages = self.suggest_pages(permit, project, q).await?;
        Ok(Found {
            templates: templates.map(|template| of_template(project, template, may_start)).collect(),
            jobs: jobs.iter().take(MOST).map(of_job).collect(),
            views: views.into_iter().filter(|view| has_words(&view.name)).take(MOST).collect(),
            pages: pages.into_iter().take(MOST).map(|path| of_page(project, path)).collect(),
        })
    }

    /// The caller's saved views and shared ones, of both pages.
    async fn views_in_palette(
        &self,
        caller: &Caller,
        project: &ProjectId,
    ) -> Result<Vec<PaletteItem>, AppError> {
        let mut found = Vec::new();
        for (of, page, detail) in [
            (SavedViewPage::Jobs, links::jobs(project.as_str()), "Jobs"),
            (SavedViewPage::Analytics, links::analytics(project.as_str()), "Analytics"),
        ] {
            let scope = SavedViewScope { project, of, user_id: &caller.user.id };
            let views = self.store.saved_views(scope).await?;
            found.extend(views.into_iter().map(|view| PaletteItem {
                name: view.name,
                detail: detail.to_owned(),
                href: format!("{page}?{}", view.query),
                status: None,
            }));
        }
        Ok(found)
    }

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

fn of_page(project: &ProjectId, path: String) -> PaletteItem {
    let href = links::page_report(project.as_str(), &path);
    PaletteItem { name: path, detail: "Page views".to_owned(), href, status: None }
}

fn of_job(job: &Job) -> PaletteItem {
    PaletteItem {
        name: job.title(),
        detail: job.author.clone(),
        href: links::job(job.project.as_str(), job.id.as_str()),
        status: Some(job.badge()),
    }
}
