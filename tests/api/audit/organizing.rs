//! Archiving, tags, notes and saved views are recorded.

use model::audit::Record;

use super::recorded::{TYPED, id, is_complete_without_secrets, post, settings};
use super::{recorded, records};
use crate::helpers::TestApp;

#[tokio::test]
async fn archiving_tags_notes_and_saved_views_leave_one_record_each() {
    let app = TestApp::with(settings()).await;
    app.upstream.accepts_jobs().await;
    let (ada, olga) = (app.sign_in("ada").await, app.operator().await);
    let (one, other) = (olga.created(TYPED).await, olga.created(TYPED).await);
    let (one, both) = (id(&one).to_owned(), format!("{},{}", id(&one), id(&other)));
    let text_of =
        |record: &Record| format!("{} {} {} {}", record.actor, record.action, record.project, record.detail);
    for (verb, fields, expected) in [
        ("archive", vec![("jobs", one.as_str())], "olga archive docs "),
        ("archive", vec![("jobs", &both)], "olga archive docs "),
        ("unarchive", vec![("jobs", &both)], "olga unarchive docs 2 jobs"),
        ("tag", vec![("jobs", &one), ("tag", "sdk")], "olga tag docs sdk"),
        ("untag", vec![("jobs", &both), ("tag", "SDK")], "olga untag docs SDK"),
        ("add-page", vec![("jobs", &both), ("path", "/a")], "olga page_add docs /a, 2 jobs"),
        ("remove-page", vec![("jobs", &one), ("path", "/a")], "olga page_remove docs /a"),
    ] {
        let (_, record) = recorded(&app, post(&olga, &format!("/api/jobs/{verb}"), &fields)).await;
        assert_eq!(text_of(&record), expected);
        assert_eq!(record.subject.is_empty(), record.detail.ends_with("jobs"), "{record:?}");
    }
    let before = records(&app).await.len();
    post(&olga, "/api/jobs/unarchive", &[("jobs", &both)]).await;
    assert_eq!(records(&app).await.len(), before, "nothing was changed");

    let note = [("day", "2026-11-19"), ("text", TYPED)];
    let (note, record) = recorded(&app, post(&olga, "/api/annotations/save", &note)).await;
    assert_eq!(
        (text_of(&record), record.subject.as_str()),
        ("olga annotation_add docs 2026-11-19".to_owned(), id(&note))
    );
    let change = [("day", "2026-11-18"), ("text", TYPED), ("id", id(&note))];
    let (_, record) = recorded(&app, post(&ada, "/api/annotations/save", &change)).await;
    assert_eq!(text_of(&record), "ada annotation_change docs 2026-11-18");
    let (_, record) = recorded(&app, post(&olga, "/api/annotations/remove", &[("id", id(&note))])).await;
    assert_eq!(text_of(&record), "olga annotation_remove docs 2026-11-18");

    let view = [("name", TYPED), ("query", "q=pineapple"), ("shared", "true")];
    let (views, record) = recorded(&app, post(&olga, "/api/saved-views/save", &view)).await;
    let view = id(&views[0]).to_owned();
    assert_eq!((text_of(&record), &record.subject), ("olga saved_view_save docs shared".to_owned(), &view));
    let change = [("view", view.as_str()), ("shared", "false")];
    let (_, record) = recorded(&app, post(&olga, "/api/saved-views/update", &change)).await;
    assert_eq!(
        (text_of(&record), &record.subject),
        ("olga saved_view_change docs private".to_owned(), &view)
    );
    let (_, record) = recorded(&app, post(&olga, "/api/saved-views/remove", &[("view", &view)])).await;
    assert_eq!(
        (text_of(&record), &record.subject),
        ("olga saved_view_remove docs private".to_owned(), &view)
    );
    // Actions without a natural limit are only counted beyond a number of records.
    for n in 0..30 {
        post(&olga, if n % 2 == 0 { "/api/jobs/archive" } else { "/api/jobs/unarchive" }, &[("jobs", &one)])
            .await;
        post(&olga, "/api/saved-views/save", &[("name", "x"), ("query", "q=x")]).await;
    }
    let count =
        |action: &'static str, all: &[Record]| all.iter().filter(|record| record.action == action).count();
    assert_eq!(count("saved_view_save", &records(&app).await), 20);
    is_complete_without_secrets(&app).await;
}
