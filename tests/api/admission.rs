//! Who may enter: each way in, for each state of an account. Accounts of people whom a proxy names.

use std::net::IpAddr;
use std::time::Duration;

use base::clock::Clock;
use base::config::{AccessConfig, RetentionConfig, TrustedHeaderConfig};
use model::audit::Actor;
use model::user::{GivenProjects, Role};
use reqwest::Method;
use reqwest::header::ACCEPT;
use secrecy::SecretString;
use serde_json::Value;
use store::accounts::admission::Account;
use store::accounts::groups::{Followed, Granted};
use store::accounts::identities::Identity;
use store::accounts::one_time_links::LinkToken;
use store::audit::AuditFilter;

use crate::helpers::work::work_at;
use crate::helpers::{
    Authenticator, Browser, PASSWORD, Provider, Settings, TestApp, TestResponse, json, password_hash,
};
use crate::second_factor::{self, NOON};

const ORIGIN: &str = "https://docket.example";
const SECRET: &str = "a few unrelated words of the proxy";
const PROXY: [u8; 4] = [127, 0, 0, 2];
const DAY: Duration = Duration::from_secs(86_400);

/// The states of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Enabled,
    Disabled,
    Invited,
    InvitationOver,
    InvitationOnHold,
    /// Disabled before the invitation was accepted.
    InvitedAndDisabled,
    Removed,
}

const STATES: [State; 7] = [
    State::Enabled,
    State::Disabled,
    State::Invited,
    State::InvitationOver,
    State::InvitationOnHold,
    State::InvitedAndDisabled,
    State::Removed,
];

/// The ways in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Password,
    Session,
    SecondStep,
    Passkey,
    PasskeyInSecondStep,
    Provider,
    ProxyHeader,
    ApiToken,
    InvitationLink,
    PasswordLink,
}

const WAYS: [Way; 10] = [
    Way::Password,
    Way::Session,
    Way::SecondStep,
    Way::Passkey,
    Way::PasskeyInSecondStep,
    Way::Provider,
    Way::ProxyHeader,
    Way::ApiToken,
    Way::InvitationLink,
    Way::PasswordLink,
];

impl Way {
    /// Whether it admits the person of an account in this state. `InvitationLink` has a link in each state, `PasswordLink` too.
    fn admits(self, state: State) -> bool {
        match state {
            State::Enabled => self != Self::InvitationLink,
            State::Invited => matches!(self, Self::InvitationLink | Self::ProxyHeader),
            // The proxy identifies the person, so the end of the link does not matter.
            State::InvitationOver => self == Self::ProxyHeader,
            State::Disabled | State::InvitationOnHold | State::InvitedAndDisabled | State::Removed => false,
        }
    }
}

async fn app(provider: Option<&Provider>, clock: Clock) -> TestApp {
    let mut identity = provider.map(Provider::config).unwrap_or_default();
    identity.trusted_header = Some(TrustedHeaderConfig {
        user: "x-forwarded-user".parse().unwrap(),
        groups: None,
        secret: SecretString::from(SECRET),
    });
    let access =
        AccessConfig { trusted_proxies: vec!["127.0.0.2/32".parse().unwrap()], ..AccessConfig::default() };
    let retention = RetentionConfig { jobs_days: 0, history_days: 0 };
    let public_url = Some(ORIGIN.to_owned());
    TestApp::with(Settings { identity, access, retention, public_url, clock, ..Settings::default() }).await
}

/// A request through the proxy, which names `name`.
async fn named(app: &TestApp, name: &str) -> TestResponse {
    let proxy = app.anonymous_from(IpAddr::from(PROXY));
    let request = proxy.call("/api/session/current", &[]);
    let request = request.header("x-forwarded-user", name).header("docket-proxy-secret", SECRET);
    proxy.send(request.header(ACCEPT, "application/json")).await
}

async fn options(browser: &Browser, endpoint: &str, pairs: &[(&str, &str)]) -> Value {
    serde_json::from_str(browser.post_json(endpoint, pairs).await.as_str().unwrap()).unwrap()
}

/// A person with everything that a way in needs.
struct Person<'a> {
    app: &'a TestApp,
    name: String,
    session: Browser,
    waiting: Browser,
    waiting_with_passkey: Browser,
    device: Authenticator,
    challenge: Value,
    codes: Vec<String>,
    token: String,
}

impl<'a> Person<'a> {
    async fn new(app: &'a TestApp, name: String) -> Self {
        let store = &app.state().store;
        let work = work_at(app.clock().now());
        let hash = password_hash().await;
        assert!(store.add_user((&work).into(), &name, Role::Viewer, hash).await.unwrap());
        let session = app.sign_in(&name).await;
        let token = crate::api_tokens::create(&session, &[]).await;
        let mut device = Authenticator::at(ORIGIN);
        let made = device.make(&options(&session, "/api/passkeys/begin", &[("password", PASSWORD)]).await);
        let added = session.post_json("/api/passkeys/add", &[("name", "Phone"), ("credential", &made)]).await;
        let codes = added["secret"].as_str().unwrap().split(' ').map(str::to_owned).collect();
        let waiting = second_factor::first_step(app, &name).await;
        let waiting_with_passkey = second_factor::first_step(app, &name).await;
        let challenge =
            options(&waiting_with_passkey, "/api/session/passkey-options", &[("second", "true")]).await;
        Self { app, name, session, waiting, waiting_with_passkey, device, challenge, codes, token }
    }

    /// Brings the account into `state`, and returns the tokens of an invitation and of a link for a new password.
    async fn become_of(&self, state: State) -> (String, String) {
        let (store, ledger) = (&self.app.state().store, self.app.ledger());
        let id = self.app.id_of(&self.name).await;
        let tokens = (format!("invitation-{}", self.name), format!("password-{}", self.name));
        let now = self.app.clock().now();
        let until = now.plus_seconds(if state == State::InvitationOver { -60 } else { 3_600 });
        let link =
            LinkToken { hash: service::auth::token::hash(&tokens.1), expires_at: now.plus_seconds(3_600) };
        assert!(store.put_password_link((&work_at(now)).into(), &id, &link).await.unwrap());
        let is_invited = !matches!(state, State::Enabled | State::Disabled | State::Removed);
        let mut connection = ledger.connection().await;
        if is_invited {
            let on_hold = (state == State::InvitationOnHold).then_some(now.as_millis());
            sqlx::query(
                "INSERT INTO invitations (user_id, token_hash, expires_at, on_hold_since) VALUES ($1, $2, $3, $4)",
            )
            .bind(&id)
            .bind(service::auth::token::hash(&tokens.0))
            .bind(until.as_millis())
            .bind(on_hold)
            .execute(&mut connection)
            .await
            .unwrap();
        }
        if matches!(state, State::Disabled | State::InvitedAndDisabled) {
            // Sessions and steps stay, so that only the state of the account can refuse them.
            sqlx::query("UPDATE users SET disabled_at = $2 WHERE id = $1")
                .bind(&id)
                .bind(now.as_millis())
                .execute(&mut connection)
                .await
                .unwrap();
        }
        if state == State::Removed {
            let of_accounts = ["api_tokens", "passkeys", "recovery_codes", "sign_in_steps", "identities"];
            for table in of_accounts.into_iter().chain(["second_factors", "seen_changes"]) {
                let sql = format!("DELETE FROM {table} WHERE user_id = $1");
                sqlx::query(sqlx::AssertSqlSafe(sql)).bind(&id).execute(&mut connection).await.unwrap();
            }
            sqlx::query("DELETE FROM users WHERE id = $1").bind(&id).execute(&mut connection).await.unwrap();
        }
        tokens
    }

    /// Whether `way` admits the person.
    async fn enters(&self, way: Way, links: &(String, String), provider: &Provider) -> bool {
        // Each from an address of its own, because refused attempts are limited for each.
        let last = self.name.trim_start_matches("person").parse().unwrap();
        let browser = self.app.anonymous_from(IpAddr::from([127, 0, 1, last]));
        match way {
            Way::Password => {
                let response = browser.sign_in(&self.name, PASSWORD).await;
                response.status == 200 && response.location() == "/login/code"
            }
            Way::Session => self.session.is_signed_in().await,
            Way::SecondStep => {
                second_factor::enter(&self.waiting, &self.codes[0]).await;
                self.waiting.is_signed_in().await
            }
            Way::Passkey => {
                let challenge = options(&browser, "/api/session/passkey-options", &[]).await;
                let credential = self.device.sign(&challenge);
                browser.post("/api/session/passkey", &[("credential", &credential)]).await;
                browser.is_signed_in().await
            }
            Way::PasskeyInSecondStep => {
                let credential = self.device.sign(&self.challenge);
                let waiting = &self.waiting_with_passkey;
                waiting.post("/api/session/passkey", &[("credential", &credential)]).await;
                waiting.is_signed_in().await
            }
            Way::Provider => {
                let away = browser.get("/login/sso").await;
                let back = provider.sign_in(away.location(), &self.name).await;
                browser.get(&back).await;
                browser.is_signed_in().await
            }
            Way::ProxyHeader => named(self.app, &self.name).await.status == 200,
            Way::ApiToken => {
                let request = browser.request(Method::GET, "/api/v1/projects").bearer_auth(&self.token);
                browser.send(request).await.status == 200
            }
            Way::InvitationLink | Way::PasswordLink => {
                let link = if way == Way::InvitationLink { &links.0 } else { &links.1 };
                let response = browser.accept(link, "a sentence of my own").await;
                response.status == 200 && response.location() == "/login/code"
            }
        }
    }
}

/// With all ways at once, so that a new way in is a new row of the table.
#[tokio::test]
async fn each_way_in_follows_the_state_of_the_account() {
    let provider = Provider::start().await;
    // The provider signs with the real time.
    let app = app(Some(&provider), Clock::system()).await;
    let mut number = 0_u8;
    for state in STATES {
        for way in WAYS {
            number += 1;
            let person = Person::new(&app, format!("person{number}")).await;
            if way == Way::Provider {
                of_provider(&app, &provider, &person.name).await;
            }
            let links = person.become_of(state).await;
            let enters = person.enters(way, &links, &provider).await;
            // A removed person of the provider is a new person.
            let is_new = way == Way::Provider && state == State::Removed;
            assert_eq!(enters, way.admits(state) || is_new, "{way:?} while {state:?}");
            // A refusal changes nothing, and an accepted invitation is over.
            if state == State::InvitationOnHold {
                let sql = "SELECT COUNT(*) FROM invitations WHERE on_hold_since IS NOT NULL";
                assert_eq!(app.ledger().count(sql).await, 1, "{way:?}");
                app.ledger().run("DELETE FROM invitations").await;
            }
        }
    }
}

/// Makes the account `name` that of a person of the provider.
async fn of_provider(app: &TestApp, provider: &Provider, name: &str) {
    let claims = json!({
        "email": format!("{name}@example.com"), "email_verified": true, "groups": ["writers"], "sub": name,
    });
    provider.add_user(name, claims).await;
    let first = app.anonymous();
    let away = first.get("/login/sso").await;
    let back = provider.sign_in(away.location(), name).await;
    let response = first.get(&back).await;
    assert_eq!(response.status, 303, "{}", response.text);
    let created = app.id_of(&format!("{name}@example.com")).await;
    let mut connection = app.ledger().connection().await;
    sqlx::query("UPDATE identities SET user_id = $2 WHERE user_id = $1")
        .bind(created)
        .bind(app.id_of(name).await)
        .execute(&mut connection)
        .await
        .unwrap();
}

#[tokio::test]
async fn first_request_through_the_proxy_accepts_the_invitation_once() {
    let app = app(None, Clock::frozen(NOON)).await;
    let ada = app.sign_in("ada").await;
    let link = ada.invite("ivan", "operator", "").await;
    let (one, other) = futures::join!(named(&app, "ivan"), named(&app, "ivan"));
    assert_eq!((one.status, other.status), (200, 200), "{} {}", one.text, other.text);
    let joined = app.state().store.audit_records(&AuditFilter::default(), 50).await.unwrap();
    let joined: Vec<_> = joined.iter().filter(|record| record.action == "user_join").collect();
    assert_eq!(joined.len(), 1, "{joined:?}");
    assert_eq!((joined[0].actor.as_str(), joined[0].detail.as_str()), ("ivan", "trusted header"));
    let ivan = app.state().store.user_by_name("ivan").await.unwrap().unwrap();
    assert_eq!(ivan.last_seen_at, Some(app.clock().now()));
    // The link is over, because the invitation is.
    app.anonymous().accept(&link, "a sentence of my own").await.refused(403, "forbidden");
    app.manage(&ada, "withdraw", "ivan", &[]).await.refused(409, "conflict");
}

#[tokio::test]
async fn invitation_on_hold_admits_nobody_through_the_proxy() {
    let app = app(None, Clock::frozen(NOON)).await;
    let ada = app.sign_in("ada").await;
    app.managed(&ada, "change", "olga", &[("role", "admin")]).await;
    app.operator().await.invite("ivan", "admin", "").await;
    app.managed(&ada, "disable", "olga", &[]).await;
    for _ in 0..2 {
        let message = named(&app, "ivan").await.refused(403, "forbidden");
        assert!(message.contains("on hold"), "{message}");
    }
    assert_eq!(app.manage(&ada, "release-invitation", "ivan", &[]).await.status, 200);
    assert_eq!(named(&app, "ivan").await.status, 200);
}

#[tokio::test]
async fn account_used_through_the_proxy_outlives_retention() {
    let app = app(None, Clock::frozen(NOON)).await;
    let ada = app.sign_in("ada").await;
    ada.invite("ivan", "operator", "").await;
    assert_eq!(named(&app, "ivan").await.status, 200);
    app.clock().advance(100 * DAY);
    assert_eq!(named(&app, "ivan").await.status, 200);
    let seen = async || app.state().store.user_by_name("ivan").await.unwrap().unwrap().last_seen_at.unwrap();
    assert_eq!(seen().await, app.clock().now(), "the visit was not recorded");
    let first = seen().await;
    app.clock().advance(Duration::from_secs(30));
    assert_eq!(named(&app, "ivan").await.status, 200);
    assert_eq!(seen().await, first, "each request writes");
    app.clock().advance(Duration::from_secs(30));
    assert_eq!(named(&app, "ivan").await.status, 200);
    assert_eq!(seen().await, app.clock().now());
    app.ledger().trust_clock().await;
    let removed = app.state().retention.remove().await.unwrap();
    assert!(!removed.contains_key("users"), "{removed:?}");
    assert_eq!(named(&app, "ivan").await.status, 200);
}

#[tokio::test]
async fn password_set_on_the_server_replaces_the_invitation() {
    let app = app(None, Clock::frozen(NOON)).await;
    let ada = app.sign_in("ada").await;
    let link = ada.invite("ivan", "viewer", "").await;
    app.set_password("ivan", PASSWORD).await;
    assert_eq!(app.anonymous().sign_in("ivan", PASSWORD).await.status, 200);
    app.anonymous().accept(&link, "a sentence of my own").await.refused(403, "forbidden");
}

/// The account was read before an administrator took a project, and the groups are applied after it.
#[tokio::test]
async fn groups_do_not_restore_access_taken_meanwhile() {
    let app = TestApp::start().await;
    let (store, now, by) = (&app.state().store, app.clock().now(), Actor::docket());
    let work = work_at(now);
    let identity = Identity { issuer: "https://id.example", subject: "mia" };
    let docs = GivenProjects::These(vec!["docs".parse().unwrap()]);
    let both = GivenProjects::These(vec!["docs".parse().unwrap(), "api".parse().unwrap()]);
    assert!(store.add_user_of(identity, "mia", Role::Operator, &docs, now).await.unwrap());
    let id = app.id_of("mia").await;
    assert!(store.set_access((&work).into(), &id, Role::Operator, &both).await.unwrap());
    let before = store.account_by_identity(identity).await.unwrap().unwrap().admitted().unwrap();
    assert!(store.set_access((&work).into(), &id, Role::Operator, &GivenProjects::default()).await.unwrap());
    let granted = Granted { role: Role::Viewer, projects: &docs, keeps_all: false };
    let followed = store.follow_groups(&before, &granted, &by, now).await.unwrap();
    assert!(matches!(followed, Followed::Changed(Some(_))));
    let mia = store.user_by_id(&id).await.unwrap().unwrap();
    assert_eq!(mia.projects, GivenProjects::default(), "the groups restored projects");
    assert_eq!((mia.role, mia.group_projects.as_ref()), (Role::Viewer, Some(&docs)));

    // A person who was disabled meanwhile stays so, and nothing is written.
    let before = store.account_by_identity(identity).await.unwrap().unwrap().admitted().unwrap();
    assert!(store.set_disabled((&work).into(), "mia", true).await.unwrap());
    let granted = Granted { role: Role::Operator, projects: &docs, keeps_all: false };
    let followed = store.follow_groups(&before, &granted, &by, now).await.unwrap();
    assert!(matches!(followed, Followed::Changed(Some(account)) if matches!(account, Account::Refused(..))));
    assert_eq!(store.user_by_id(&id).await.unwrap().unwrap().role, Role::Viewer);
}
