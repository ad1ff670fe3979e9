//! Prompts of a person who may not start jobs any more: whatever happens to them and when, none is sent before an administrator releases it.

use super::*;
use model::id::JobId;

/// What takes the right to start jobs from the author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Disable,
    Demote,
    TakeProject,
    /// Disabled by a process of an earlier version, which puts nothing on hold.
    DisableOnly,
}

/// When that happens to the first of two prompts. The second one is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    BeforeClaim,
    WhileSending,
    AfterOutcome,
}

/// The outcomes of the delivery, in order.
const OUTCOMES: [&[&str]; 5] =
    [&["requeued"], &["unknown"], &["unknown", "requeued"], &["unknown", "rejected"], &["rejected"]];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    AtOnce,
    Queued,
    FollowUp,
}

/// One order of events.
#[derive(Debug, Clone, Copy)]
struct Case {
    kind: Kind,
    change: Change,
    moment: Moment,
    outcomes: &'static [&'static str],
    /// Whether the author gets the right back before the next claim.
    is_undone: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in [Kind::AtOnce, Kind::Queued, Kind::FollowUp] {
        for change in [Change::Disable, Change::Demote, Change::TakeProject, Change::DisableOnly] {
            for moment in [Moment::BeforeClaim, Moment::WhileSending, Moment::AfterOutcome] {
                for outcomes in OUTCOMES {
                    for is_undone in [false, true] {
                        // Nobody noticed it then.
                        if !(is_undone && change == Change::DisableOnly) {
                            cases.push(Case { kind, change, moment, outcomes, is_undone });
                        }
                    }
                }
            }
        }
    }
    cases
}

/// One person with two prompts.
struct Played<'a> {
    ledger: &'a Ledger,
    case: Case,
    author: Actor,
    prompts: Vec<String>,
    now: Timestamp,
}

impl<'a> Played<'a> {
    async fn new(ledger: &'a Ledger, number: usize, case: Case) -> Self {
        let name = format!("author{number}");
        let mut tx = ledger.store.write(&work()).begin().await.unwrap().tx;
        users::insert(&mut tx, &name, Role::Operator, &GivenProjects::All, "hash", NOON).await.unwrap();
        tx.commit().await.unwrap();
        let author = ledger.store.user_by_name(&name).await.unwrap().unwrap().actor("192.0.2.7");
        // Far apart, so that neither the pace of the queue nor the budget delays a claim.
        let now = NOON.plus_seconds(1_000_000 * (number as i64 + 1));
        let mut played = Self { ledger, case, author, prompts: Vec::new(), now };
        for which in ["a", "b"] {
            let prompt = played.commit(which).await;
            played.prompts.push(prompt);
        }
        played
    }

    /// An administrator, now.
    fn by(&self) -> Authority<'_> {
        Authority::Test(&self.ledger.author, self.now)
    }

    async fn commit(&mut self, which: &str) -> String {
        let scheduling = match self.case.kind {
            Kind::Queued => Scheduling::Queued(None),
            Kind::AtOnce | Kind::FollowUp => Scheduling::Immediate,
        };
        let job = match self.case.kind {
            Kind::FollowUp => Some(self.accepted_job(which).await),
            Kind::AtOnce | Kind::Queued => None,
        };
        self.insert(which, job.as_ref(), scheduling).await
    }

    async fn insert(&self, intent: &str, job: Option<&JobId>, scheduling: Scheduling<'_>) -> String {
        let new = match job {
            Some(job) => self.ledger.new_follow_up(job, intent, "Fix it"),
            None => self.ledger.new_job(intent, "Fix it"),
        };
        let store = &self.ledger.store;
        store.insert_intent(self.by(), &self.author, &new, scheduling, u32::MAX).await.unwrap().unwrap()
    }

    async fn accepted_job(&mut self, which: &str) -> JobId {
        let first = self.insert(&format!("first-{which}"), None, Scheduling::Immediate).await;
        let intent = self.claim(&first).await.unwrap();
        let remote = remote(&format!("job_{}_{which}", self.author.name), "active");
        self.record(&intent, &DeliveryOutcome::Accepted(&remote, self.now)).await;
        intent.job
    }

    async fn claim(&mut self, message: &str) -> Option<Intent> {
        self.now = self.now.plus_seconds(10_000);
        match self
            .ledger
            .store
            .claim(&work(), message, &ScopeLimit::of("creates", 100), None, self.now)
            .await
            .unwrap()
        {
            Claim::Sending { intent, .. } => Some(*intent),
            Claim::Later => panic!("the budget is spent"),
            Claim::NotClaimed => None,
        }
    }

    async fn record(&self, intent: &Intent, outcome: &DeliveryOutcome<'_>) {
        self.ledger.store.record_outcome(&work(), intent, outcome, self.now).await.unwrap();
    }

    async fn happens(&self, moment: Moment) {
        if self.case.moment != moment {
            return;
        }
        let (store, by) = (&self.ledger.store, self.by());
        let (id, name) = (&self.author.id, &self.author.name);
        let others = GivenProjects::These(vec!["api".parse().unwrap()]);
        let has_changed = match self.case.change {
            Change::Disable => store.set_disabled(by, name, true).await.unwrap(),
            Change::Demote => store.set_access(by, id, Role::Viewer, &GivenProjects::All).await.unwrap(),
            Change::TakeProject => store.set_access(by, id, Role::Operator, &others).await.unwrap(),
            Change::DisableOnly => {
                let disable = "UPDATE users SET disabled_at = 1 WHERE id = $1";
                let disabled = sqlx::query(disable).bind(id).execute(&store.pool).await.unwrap();
                disabled.rows_affected() == 1
            }
        };
        assert!(has_changed);
    }

    async fn is_undone(&self) {
        let (store, by) = (&self.ledger.store, self.by());
        let (id, name) = (&self.author.id, &self.author.name);
        assert!(store.set_disabled(by, name, false).await.unwrap());
        assert!(store.set_access(by, id, Role::Operator, &GivenProjects::All).await.unwrap());
    }

    /// The author's prompts that wait and are not on hold.
    async fn ready(&self) -> Vec<String> {
        let mut ready = self.ledger.store.due_messages(&self.ledger.projects(), self.now).await.unwrap();
        ready.extend(self.ledger.store.queue_heads(&self.ledger.projects(), &[], self.now).await.unwrap());
        ready.into_iter().map(|message| message.id).filter(|id| self.prompts.contains(id)).collect()
    }

    async fn on_hold(&self) -> u32 {
        self.ledger.store.prompts_on_hold().await.unwrap().get(&self.author.id).copied().unwrap_or(0)
    }

    async fn run(mut self) {
        let case = self.case;
        let [first, second] = [0, 1].map(|at| self.prompts[at].clone());
        self.happens(Moment::BeforeClaim).await;
        let claimed = self.claim(&first).await;
        assert_eq!(claimed.is_some(), case.moment != Moment::BeforeClaim, "{case:?}");
        let mut is_queued = claimed.is_none();
        if let Some(intent) = claimed {
            self.happens(Moment::WhileSending).await;
            for outcome in case.outcomes {
                let outcome = match *outcome {
                    "requeued" => DeliveryOutcome::Requeued(ReasonCode::PlatformLimit.with("429")),
                    "unknown" => DeliveryOutcome::Unknown(ReasonCode::PlatformFailed.with("504")),
                    _ => DeliveryOutcome::Rejected(ReasonCode::PromptRefused.with("400")),
                };
                self.record(&intent, &outcome).await;
            }
            self.happens(Moment::AfterOutcome).await;
            is_queued = case.outcomes.last() == Some(&"requeued");
        }
        if case.is_undone {
            self.is_undone().await;
        }
        for prompt in [&first, &second] {
            assert_eq!(self.claim(prompt).await, None, "{case:?}");
        }
        assert_eq!(self.ready().await, Vec::<String>::new(), "{case:?}");
        assert_eq!(self.on_hold().await, 1 + u32::from(is_queued), "{case:?}");

        self.ledger.store.release_on_hold(self.by(), &self.author.id).await.unwrap();
        for (prompt, is_sent) in [(&first, is_queued), (&second, true)] {
            let claimed = self.claim(prompt).await;
            assert_eq!(claimed.is_some(), is_sent, "{case:?}");
            if let Some(intent) = claimed {
                self.record(&intent, &DeliveryOutcome::Rejected(ReasonCode::PromptRefused.with("400"))).await;
            }
        }
    }
}

#[tokio::test]
async fn no_prompt_of_a_refused_author_is_sent_before_its_release() {
    let ledger = Ledger::new().await;
    let cases = cases();
    assert_eq!(cases.len(), 3 * 3 * 5 * 7);
    for (number, case) in cases.into_iter().enumerate() {
        Played::new(&ledger, number, case).await.run().await;
    }
}

#[tokio::test]
async fn new_refusal_ends_an_earlier_release() {
    let ledger = Ledger::new().await;
    let case = Case {
        kind: Kind::AtOnce,
        change: Change::Disable,
        moment: Moment::BeforeClaim,
        outcomes: OUTCOMES[0],
        is_undone: false,
    };
    let mut played = Played::new(&ledger, 0, case).await;
    played.happens(Moment::BeforeClaim).await;
    let by = played.by();
    assert_eq!(ledger.store.release_on_hold(by, &played.author.id).await.unwrap(), 2);
    let first = played.prompts[0].clone();
    let intent = played.claim(&first).await.unwrap();
    played.happens(Moment::BeforeClaim).await;
    played.record(&intent, &DeliveryOutcome::Requeued(ReasonCode::PlatformLimit.with("429"))).await;
    assert_eq!(played.claim(&first).await, None);
    assert_eq!(played.on_hold().await, 2);
}
