//! What an attacker with a session and the password can do to the second factors of a person: every sequence of steps, up to a depth. A
//! sequence goes on only from states that no other sequence has reached.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use base::clock::Clock;
use model::user::Role;
use serde_json::Value;
use service::auth::totp;

use super::NOON;
use crate::helpers::work::work_at;
use crate::helpers::{Authenticator, Browser, PASSWORD, Settings, TestApp, TestResponse, password_hash};

const ORIGIN: &str = "https://docket.example";
const DEPTH: usize = 4;

/// The steps of the attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    BeginAuthenticator,
    /// With a passkey of the attacker's own as the proof.
    BeginAuthenticatorByPasskey,
    Confirm,
    BeginPasskey,
    /// With a wrong code as the proof.
    BeginPasskeyByCode,
    FinishPasskey,
    RemovePasskey,
    /// With a wrong code as the proof.
    RemovePasskeyByCode,
    /// With a passkey of the attacker's own as the proof.
    RemovePasskeyByPasskey,
    RemoveAuthenticator,
    RemoveAuthenticatorByPasskey,
    RenewCodes,
}

const STEPS: [Step; 12] = [
    Step::BeginAuthenticator,
    Step::BeginAuthenticatorByPasskey,
    Step::Confirm,
    Step::BeginPasskey,
    Step::BeginPasskeyByCode,
    Step::FinishPasskey,
    Step::RemovePasskey,
    Step::RemovePasskeyByCode,
    Step::RemovePasskeyByPasskey,
    Step::RemoveAuthenticator,
    Step::RemoveAuthenticatorByPasskey,
    Step::RenewCodes,
];

/// What the owner switches on.
#[derive(Debug, Clone, Copy)]
enum Owned {
    Authenticator,
    Passkey,
    Both,
}

/// One play: a new person, and an attacker in their session.
struct Play<'a> {
    app: &'a TestApp,
    name: String,
    owner: Browser,
    attacker: Browser,
    device: Authenticator,
    /// The options for a new passkey that the attacker has begun to add.
    challenge: Option<Value>,
    /// The owner's.
    secret: String,
    passkeys: Vec<String>,
}

async fn options(browser: &Browser, endpoint: &str, pairs: &[(&str, &str)]) -> Option<Value> {
    let response = browser.post(endpoint, pairs).await;
    (response.status == 200).then(|| serde_json::from_str(response.json().as_str().unwrap()).unwrap())
}

impl<'a> Play<'a> {
    async fn new(app: &'a TestApp, number: usize) -> Self {
        let (name, now) = (format!("person{number}"), app.clock().now());
        let (work, hash) = (work_at(now), password_hash().await);
        assert!(app.state().store.add_user((&work).into(), &name, Role::Viewer, hash).await.unwrap());
        let owner = app.sign_in(&name).await;
        let attacker = owner.twin(app);
        let (device, secret) = (Authenticator::at(ORIGIN), String::new());
        Self { app, name, owner, attacker, device, challenge: None, secret, passkeys: Vec::new() }
    }

    async fn account(&self) -> Value {
        self.attacker.post_json("/api/account/get", &[]).await
    }

    /// The owner switches second factors on.
    async fn switch_on(&mut self, owned: Owned) {
        let mut codes = Vec::new();
        if !matches!(owned, Owned::Passkey) {
            let (secret, recovery) = super::switch_on(self.app, &self.owner).await;
            (self.secret, codes) = (secret, recovery);
        }
        if matches!(owned, Owned::Authenticator) {
            return;
        }
        let code = codes.pop().unwrap_or_default();
        let pairs = [("password", PASSWORD), ("code", code.as_str())];
        let challenge = options(&self.owner, "/api/passkeys/begin", &pairs).await.unwrap();
        let mut device = Authenticator::at(ORIGIN);
        let pairs = [("name", "Phone"), ("credential", &*device.make(&challenge))];
        self.owner.post_json("/api/passkeys/add", &pairs).await;
        self.passkeys.push(device.id());
    }

    async fn step(&mut self, step: Step) {
        let password = ("password", PASSWORD);
        let response = match step {
            Step::BeginAuthenticator => self.attacker.post("/api/second-factor/begin", &[password]).await,
            Step::BeginAuthenticatorByPasskey | Step::RemoveAuthenticatorByPasskey => {
                let Some(credential) = self.signed().await else { return };
                let verb = if step == Step::BeginAuthenticatorByPasskey { "begin" } else { "remove" };
                let pairs = [("password", ""), ("code", ""), ("credential", credential.as_str())];
                self.attacker.post(&format!("/api/second-factor/{verb}"), &pairs).await
            }
            Step::Confirm => {
                let account = self.account().await;
                let Some(secret) = account["second_factor"]["secret"].as_str() else { return };
                let code = totp::code_at(secret, self.app.clock().now()).unwrap();
                self.attacker.post("/api/second-factor/confirm", &[("code", &code)]).await
            }
            Step::BeginPasskey | Step::BeginPasskeyByCode => {
                let code = if step == Step::BeginPasskey { "" } else { "000000" };
                let begun = options(&self.attacker, "/api/passkeys/begin", &[password, ("code", code)]).await;
                self.challenge = begun.or_else(|| self.challenge.take());
                return;
            }
            Step::FinishPasskey => {
                let Some(challenge) = self.challenge.take() else { return };
                let pairs = [("name", "Other"), ("credential", &*self.device.make(&challenge))];
                self.attacker.post("/api/passkeys/add", &pairs).await
            }
            Step::RemovePasskey | Step::RemovePasskeyByCode | Step::RemovePasskeyByPasskey => {
                let account = self.account().await;
                let Some(id) = account["passkeys"]["list"][0]["id"].as_str() else { return };
                let code = if step == Step::RemovePasskeyByCode { "000000" } else { "" };
                let credential = match step {
                    Step::RemovePasskeyByPasskey => self.signed().await.unwrap(),
                    _ => String::new(),
                };
                let pairs = [password, ("passkey", id), ("code", code), ("credential", credential.as_str())];
                self.attacker.post("/api/passkeys/remove", &pairs).await
            }
            Step::RemoveAuthenticator | Step::RenewCodes => {
                let verb = if step == Step::RenewCodes { "renew" } else { "remove" };
                let path = format!("/api/second-factor/{verb}");
                self.attacker.post(&path, &[password, ("code", "000000")]).await
            }
        };
        assert!(codes_in(&response).is_empty(), "{step:?} shows recovery codes: {}", response.text);
    }

    /// The response of the attacker's device to a request for an existing passkey; `None` if the owner has none.
    async fn signed(&self) -> Option<String> {
        let requested =
            options(&self.attacker, "/api/passkeys/proof-options", &[("password", PASSWORD)]).await?;
        Some(self.device.sign(&requested))
    }

    /// Fails if the attacker has a second factor, or the owner lost one.
    async fn check(&self, path: &[Step]) {
        let store = &self.app.state().store;
        let id = self.app.id_of(&self.name).await;
        let mut left = 0;
        for passkey in store.passkeys_of(&id).await.unwrap() {
            let is_owned = self.passkeys.iter().any(|owned| passkey.credential.contains(owned));
            assert!(is_owned, "{path:?} adds a passkey");
            left += 1;
        }
        if let Some(factor) = store.second_factor(&id).await.unwrap().filter(|factor| factor.confirmed) {
            assert_eq!(factor.secret, self.secret, "{path:?} sets an authenticator up");
            left += 1;
        }
        let owned = self.passkeys.len() + usize::from(!self.secret.is_empty());
        assert_eq!(left, owned, "{path:?} removes a second factor of the owner");
    }

    /// What decides about the effect of further steps.
    async fn state(&self) -> String {
        let account = self.account().await;
        let factor = account["second_factor"]["state"].as_str().unwrap().to_owned();
        let passkeys = account["passkeys"]["list"].as_array().unwrap().len();
        format!("{factor}, {passkeys} passkeys, challenge {}", self.challenge.is_some())
    }
}

fn codes_in(response: &TestResponse) -> String {
    if response.status != 200 {
        return String::new();
    }
    response.json()["secret"].as_str().unwrap_or_default().to_owned()
}

/// Plays the steps with a new person. `begun`: what the attacker began before the owner had a second factor.
async fn play(app: &TestApp, number: usize, begun: &[Step], owned: Owned, path: &[Step]) -> String {
    // Wrong codes are limited: each play has its own minutes.
    app.clock().advance(Duration::from_secs(1_200));
    let mut play = Play::new(app, number).await;
    for step in begun {
        play.step(*step).await;
    }
    play.switch_on(owned).await;
    for step in path {
        play.step(*step).await;
        play.check(path).await;
    }
    play.state().await
}

#[tokio::test]
async fn session_and_password_never_replace_a_second_factor() {
    let (public_url, clock) = (Some(ORIGIN.to_owned()), Clock::frozen(NOON));
    let app = TestApp::with(Settings { public_url, clock, ..Settings::default() }).await;
    let mut number = 0;
    for begun in [&[][..], &[Step::BeginAuthenticator, Step::BeginPasskey]] {
        for owned in [Owned::Authenticator, Owned::Passkey, Owned::Both] {
            let (mut seen, mut open) = (HashSet::new(), VecDeque::from([Vec::new()]));
            while let Some(path) = open.pop_front() {
                for step in STEPS {
                    let path: Vec<_> = path.iter().copied().chain([step]).collect();
                    number += 1;
                    let state = play(&app, number, begun, owned, &path).await;
                    if seen.insert(state) && path.len() < DEPTH {
                        open.push_back(path);
                    }
                }
            }
            assert!(!seen.is_empty());
        }
    }
    // The plays are real ones: a person without a second factor can be taken over so.
    let mut open = Play::new(&app, 0).await;
    open.step(Step::BeginPasskey).await;
    assert!(open.challenge.is_some());
    first_step_is_enough(&app, &open.name).await;
}

/// The password alone signs in, because the person has no second factor.
async fn first_step_is_enough(app: &TestApp, name: &str) {
    let browser = app.anonymous();
    assert_eq!(browser.sign_in(name, PASSWORD).await.location(), "/");
    assert!(browser.is_signed_in().await);
}
