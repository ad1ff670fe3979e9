//! What keeps an open page true by itself: one heartbeat a second, which asks for the badges when they are due, lets
//! ages tick and the budget meter follow. A page that nobody sees asks for nothing, unless somebody wants to be notified
//! of what moves: then slowly.

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::error::{AppError, ErrorCode};
use crate::model::job::{JobBadge, JobState};
use crate::model::time::Timestamp;
use crate::ui::erase::effect;
use crate::ui::links;
use crate::ui::state::badges::{Badges, Settled};
use crate::ui::state::browser;
use crate::ui::state::budget::AskedBudget;
use crate::ui::state::clock::Clock;
use crate::ui::state::notices::Notices;
use crate::ui::state::title;
use crate::ui::state::toasts::Toasts;

/// Seconds between two questions while a job moves.
const WHILE_MOVING: u32 = 2;
/// Seconds between two questions while nothing moves, or after one failed.
const WHILE_STILL: u32 = 15;
/// Seconds between two questions while a job moves that a hidden page is to notify of. Browsers let few beats through, such
/// as one a minute: what counts is the time that went by.
const WHILE_HIDDEN: u32 = 30;
/// Seconds between two readings of the budget.
const BUDGET: u32 = 30;
/// Seconds between two steps of the ages on the page.
const AGES: u32 = 15;
/// How many jobs that come to rest at once are named one by one.
const MOST_TOASTS: usize = 3;

/// The live updates of the frame that started them.
#[derive(Clone, Copy)]
pub struct Live {
    project: StoredValue<String>,
    badges: Badges,
    toasts: Toasts,
    notices: Notices,
    clock: Clock,
    budget: AskedBudget,
    unseen: RwSignal<u32>,
    trouble: RwSignal<Option<AppError>>,
    asked: RwSignal<u32>,
    asking: StoredValue<bool>,
    beats: StoredValue<u32>,
    last_asked_at: StoredValue<Timestamp>,
}

/// Starts the live updates of `project` for as long as the caller lives. They begin once the page is interactive.
pub fn start(project: String, budget: AskedBudget) -> Live {
    let live = Live {
        project: StoredValue::new(project),
        badges: Badges::get(),
        toasts: Toasts::get(),
        notices: Notices::get(),
        clock: Clock::get(),
        budget,
        unseen: title::unseen(),
        trouble: RwSignal::new(None),
        asked: RwSignal::new(0),
        asking: StoredValue::new(false),
        beats: StoredValue::new(0),
        last_asked_at: StoredValue::new(browser::now()),
    };
    provide_context(live);
    effect(move || {
        // The owner of this effect drops the timer when the frame goes.
        StoredValue::new_local(browser::every(1000, move || live.beat()));
        let seen = window_event_listener(ev::visibilitychange, move |_| live.look());
        let focused = window_event_listener(ev::focus, move |_| live.look());
        on_cleanup(move || {
            seen.remove();
            focused.remove();
        });
    });
    live
}

impl Live {
    pub fn get() -> Self {
        expect_context()
    }

    /// Changes whenever the badges were asked for and answered.
    pub fn track_answers(self) {
        self.asked.track();
    }

    /// Why the page cannot be kept true right now, if so.
    pub fn trouble(self) -> Option<AppError> {
        self.trouble.get()
    }

    /// Asks soon: something was sent just now.
    pub fn hurry(self) {
        self.budget.again();
        self.ask();
    }

    fn beat(self) {
        let is_hidden = browser::is_hidden();
        if is_hidden && !(self.notices.come() && self.badges.any_moving()) {
            return;
        }
        let Some(beat) = self.beats.try_get_value().map(|beats| beats.wrapping_add(1)) else { return };
        self.beats.try_set_value(beat);
        if beat.is_multiple_of(AGES) {
            self.clock.tick();
        }
        if beat.is_multiple_of(BUDGET) && !is_hidden {
            self.budget.again();
        }
        let calm = self.trouble.try_get_untracked().flatten().is_some() || !self.badges.any_moving();
        let wait = match (is_hidden, calm) {
            (true, _) => WHILE_HIDDEN,
            (false, true) => WHILE_STILL,
            (false, false) => WHILE_MOVING,
        };
        if self.last_asked_at.try_get_value().is_some_and(|at| is_past(at, wait)) {
            self.ask();
        }
    }

    /// Somebody looks at the page again.
    fn look(self) {
        if browser::is_hidden() {
            return;
        }
        self.unseen.try_set(0);
        self.toasts.look();
        self.clock.tick();
        self.ask();
    }

    fn ask(self) {
        if self.asking.try_get_value() != Some(false) || self.badges.is_empty() {
            return;
        }
        self.asking.set_value(true);
        self.last_asked_at.set_value(browser::now());
        let project = self.project.get_value();
        spawn_local(async move {
            let answer = self.badges.ask(project).await;
            if self.asking.try_set_value(false).is_some() {
                return; // The frame is gone.
            }
            match answer {
                Ok(settled) => {
                    self.trouble.set(None);
                    self.announce(settled);
                    self.asked.update(|asked| *asked = asked.wrapping_add(1));
                }
                Err(error) => self.trouble.set(Some(error)),
            }
        });
    }

    /// Says what came to rest: each job, or how many where that would be a flood.
    fn announce(self, settled: Vec<Settled>) {
        let project = self.project.get_value();
        if settled.len() > MOST_TOASTS {
            let jobs = settled.len() as u32;
            let tag =
                settled.iter().map(|job| job.badge.changed_at).max().map(|at| format!("{project}/{at}"));
            let outcome = format!("{jobs} jobs came to rest");
            let href = links::with_query(&links::jobs(&project), &[("sort", "changed")]);
            self.notify(jobs, &outcome, "", &href, &tag.unwrap_or_default());
            return self.toasts.say(outcome, Some(href));
        }
        for Settled { title, badge } in settled {
            let Some(outcome) = outcome(&badge) else { continue };
            let href = links::job(&project, badge.id.as_str());
            self.notify(1, outcome, &title, &href, &format!("{}/{}", badge.id, badge.changed_at));
            self.toasts.say_of(format!("{outcome}: "), title, Some(href));
        }
    }

    /// Calls whoever looks elsewhere.
    fn notify(self, jobs: u32, outcome: &str, title: &str, href: &str, tag: &str) {
        if browser::is_watched() {
            return;
        }
        self.unseen.update(|unseen| *unseen += jobs);
        if self.notices.come() {
            browser::notify(outcome, title, href.to_owned(), tag);
        }
    }
}

/// Whether `seconds` went by since `at`, to half a beat, for a timer is never exact; a clock that was set back counts too.
fn is_past(at: Timestamp, seconds: u32) -> bool {
    browser::now().as_millis().abs_diff(at.as_millis()) + 500 >= u64::from(seconds) * 1000
}

/// What the end of a job is called.
fn outcome(badge: &JobBadge) -> Option<&'static str> {
    Some(match badge.state {
        JobState::Completed if badge.pr_link.is_some() => "A pull request is ready",
        JobState::Completed => "Completed without changes",
        JobState::Failed => "Failed",
        JobState::Archived => "Archived",
        JobState::Rejected => "Was not taken",
        JobState::Unknown => "Needs a look: the outcome is not known",
        JobState::Other => "Needs a look: it is followed no more",
        JobState::Queued | JobState::Sending | JobState::Active => return None,
    })
}

/// What to tell people about trouble with the live updates, and whether signing in again would end it.
pub fn explain(trouble: &AppError) -> (&'static str, bool) {
    match trouble.code {
        ErrorCode::Unauthenticated => {
            ("Your session has ended. What you are writing is kept in this browser.", true)
        }
        ErrorCode::Unreachable => {
            ("Docket cannot be reached. What you see may be old; it is being tried again.", false)
        }
        _ => (
            "This page could not be brought up to date. What you see may be old; it is being tried again.",
            false,
        ),
    }
}
