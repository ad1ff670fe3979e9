//! The right of tests to write to the database as Docket does.

use std::sync::LazyLock;

use base::clock::Clock;
use base::prompt::Prompt;
use base::work::{Docket, Work};
use model::time::Timestamp;
use store::Store;
use store::jobs::intents::{NewIntent, Scheduling};

/// The right of this process. Tests run in one process, so they share it.
pub(crate) fn docket() -> &'static Docket {
    static DOCKET: LazyLock<Docket> = LazyLock::new(|| Docket::take().unwrap());
    &DOCKET
}

pub(crate) fn work() -> Work {
    docket().task("test", Clock::system())
}

pub(crate) fn work_at(time: Timestamp) -> Work {
    docket().task("test", Clock::frozen(time))
}

/// Commits a prompt of olga's for a new job without sending it. Returns the id of its message.
pub(crate) async fn commit(
    store: &Store,
    now: Timestamp,
    prompt: &str,
    intent: &str,
    scheduling: Scheduling<'_>,
) -> String {
    let author = store.user_by_name("olga").await.unwrap().unwrap();
    let prompt = Prompt::parse(prompt, u32::MAX).unwrap();
    let new = NewIntent::new_job("docs".parse().unwrap(), intent.parse().unwrap(), prompt);
    let (author, work) = (author.actor(""), work_at(now));
    store.insert_intent((&work).into(), &author, &new, scheduling, u32::MAX).await.unwrap().unwrap()
}
