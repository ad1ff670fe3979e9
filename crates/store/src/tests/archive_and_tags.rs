//! Archiving, tags and saved views.

use super::*;
use crate::jobs::archive_and_tags::TAGS_MAX;
use crate::jobs::saved_views::{SAVED_VIEWS_MAX, SavedViewScope};
use model::id::JobId;
use model::job::TimelineMark;
use model::saved_view::SavedViewPage;
use model::tag::Tag;

impl Ledger {
    async fn ids(&self) -> Vec<JobId> {
        let listed = self.store.jobs(&permit().await, &self.project, &JobFilter::default()).await.unwrap();
        listed.jobs.into_iter().map(|job| job.id).collect()
    }
}

fn tag(text: &str) -> Tag {
    text.parse().unwrap()
}

#[tokio::test]
async fn only_changed_jobs_are_returned() {
    let ledger = Ledger::new().await;
    for intent in ["a", "b"] {
        ledger.commit(intent, intent).await.unwrap();
    }
    let ids = ledger.ids().await;
    let ada = &ledger.author;
    let (store, project) = (&ledger.store, &ledger.project);
    assert_eq!(
        store.mark(Authority::Test(ada, NOON), TimelineMark::Archived, project, &ids[..1]).await.unwrap(),
        ids[..1]
    );
    assert_eq!(
        store.mark(Authority::Test(ada, NOON), TimelineMark::Archived, project, &ids).await.unwrap(),
        ids[1..]
    );
    assert_eq!(
        store.mark(Authority::Test(ada, NOON), TimelineMark::Archived, project, &[]).await.unwrap(),
        []
    );
    let elsewhere = "api".parse().unwrap();
    assert_eq!(
        store.mark(Authority::Test(ada, NOON), TimelineMark::Restored, &elsewhere, &ids).await.unwrap(),
        []
    );
    assert_eq!(
        store.mark(Authority::Test(ada, NOON), TimelineMark::Restored, project, &ids).await.unwrap().len(),
        2
    );
    assert_eq!(store.tag(Authority::Test(ada, NOON), &elsewhere, &ids, &tag("sdk")).await.unwrap(), []);
    assert_eq!(
        store.tag(Authority::Test(ada, NOON), project, &ids[..1], &tag("SDK")).await.unwrap().len(),
        1
    );
    assert_eq!(store.tag(Authority::Test(ada, NOON), project, &ids, &tag("sdk")).await.unwrap(), ids[1..]);
    assert_eq!(store.untag(Authority::Test(ada, NOON), &elsewhere, &ids, &tag("sdk")).await.unwrap(), []);
    assert_eq!(store.untag(Authority::Test(ada, NOON), project, &ids, &tag("Sdk")).await.unwrap().len(), 2);
}

#[tokio::test]
async fn tags_of_a_job_have_a_limit() {
    let ledger = Ledger::new().await;
    ledger.commit("a", "a").await.unwrap();
    let (ids, by) = (ledger.ids().await, ledger.author.clone());
    for n in 0..TAGS_MAX {
        assert_eq!(
            ledger
                .store
                .tag(Authority::Test(&by, NOON), &ledger.project, &ids, &tag(&format!("t{n}")))
                .await
                .unwrap()
                .len(),
            1
        );
    }
    assert_eq!(
        ledger.store.tag(Authority::Test(&by, NOON), &ledger.project, &ids, &tag("one-more")).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn saved_views_have_a_limit_and_remain_replaceable() {
    let ledger = Ledger::new().await;
    let (store, by) = (&ledger.store, ledger.author.clone());
    let scope =
        SavedViewScope { project: &ledger.project, of: SavedViewPage::Jobs, user_id: &ledger.author.id };
    for n in 0..SAVED_VIEWS_MAX {
        let name = format!("view {n}").parse().unwrap();
        assert!(store.save_view(Authority::Test(&by, NOON), scope, &name, "q=a", false).await.unwrap());
    }
    assert!(
        !store
            .save_view(Authority::Test(&by, NOON), scope, &"another".parse().unwrap(), "q=a", false)
            .await
            .unwrap()
    );
    assert!(
        store
            .save_view(Authority::Test(&by, NOON), scope, &"view 1".parse().unwrap(), "q=b", true)
            .await
            .unwrap()
    );
    let stored = store.saved_views(scope).await.unwrap();
    let replaced = stored.iter().find(|view| view.name == "view 1").unwrap();
    assert_eq!(
        (stored.len() as i64, replaced.query.as_str(), replaced.shared),
        (SAVED_VIEWS_MAX, "q=b", true)
    );
}
