//! [`Provider`]: a real OpenID Connect provider in its own process, and users who sign in there.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use base::config::{GroupProjects, GroupRoles, IdentityConfig, SingleSignOnConfig, parse_projects};
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use secrecy::SecretString;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::http_client;
use super::secrets::CLIENT_SECRET;

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Killed when the test ends.
pub(crate) struct Provider {
    child: Child,
    issuer: String,
    http: reqwest::Client,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        Self::with(0, "").await
    }

    /// With `claims-in-token`, the ID token contains all claims of a user.
    pub(crate) async fn with(port: u16, kind: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("end2end/identity_provider.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .args([&port.to_string(), kind])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Its standard error contains only warnings about production settings.
            .stderr(Stdio::null())
            .spawn()
            .expect("node, which the provider runs on");
        let (sender, receiver) = oneshot::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut lines = output.lines().map_while(Result::ok);
            let issuer = lines.find_map(|line| line.strip_prefix("issuer ").map(str::to_owned));
            // If the receiver is gone, the test has failed already.
            let _ = sender.send(issuer);
            // Its later output must be read, because it ends with an error if the pipe closes.
            lines.for_each(drop);
        });
        let issuer = timeout(PATIENCE, receiver).await.expect("the provider prints its URL in time").unwrap();
        let issuer = issuer.expect("an issuer; scripts/setup.sh test installs what the provider needs");
        Self { child, issuer, http: http_client().build().unwrap() }
    }

    /// Its configuration in Docket.
    pub(crate) fn config(&self) -> IdentityConfig {
        config(&self.issuer)
    }

    /// Stops it, and returns its port.
    pub(crate) fn stop(&mut self) -> u16 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.issuer.parse::<url::Url>().unwrap().port().unwrap()
    }

    /// Sets the claims of a user.
    pub(crate) async fn add_user(&self, name: &str, claims: Value) {
        let address = format!("{}/people/{name}", self.issuer);
        self.http.post(address).body(claims.to_string()).send().await.unwrap();
    }

    /// Signs a user in who was redirected to `address`, and returns the path and query of the redirect back to
    /// Docket.
    pub(crate) async fn sign_in(&self, address: &str, name: &str) -> String {
        let mut cookies = BTreeMap::new();
        let mut next = self.http.get(address).build().unwrap();
        for _ in 0..10 {
            let here = next.url().clone();
            let jar: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            next.headers_mut().insert(COOKIE, jar.join("; ").parse().unwrap());
            let response = self.http.execute(next).await.unwrap();
            for cookie in response.headers().get_all(SET_COOKIE) {
                let pair = cookie.to_str().unwrap().split(';').next().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                cookies.insert(name.to_owned(), value.to_owned());
            }
            let Some(location) = response.headers().get(LOCATION) else {
                let status = response.status();
                assert!(
                    here.path().starts_with("/interaction"),
                    "{status} at {here}: {:?}",
                    response.text().await
                );
                next = self.http.post(here).body(super::fields(&[("name", name)])).build().unwrap();
                continue;
            };
            let location = here.join(location.to_str().unwrap()).unwrap();
            if location.path() == "/login/sso/callback" {
                return format!("{}?{}", location.path(), location.query().unwrap_or_default());
            }
            next = self.http.get(location).build().unwrap();
        }
        panic!("the provider sends people in circles");
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // It may have been stopped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Single sign-on with the provider at `issuer`.
pub(crate) fn config(issuer: &str) -> IdentityConfig {
    let single_sign_on = SingleSignOnConfig {
        issuer: issuer.to_owned(),
        client_id: "docket".to_owned(),
        client_secret: SecretString::from(CLIENT_SECRET),
        groups_claim: "groups".to_owned(),
        roles: GroupRoles::parse("writers=operator,leads=admin").unwrap(),
        projects: GroupProjects::parse("leads=*,writers=docs", &parse_projects("docs=Docs").unwrap())
            .unwrap(),
        trusts_email: false,
        scopes: ["email", "groups"].map(str::to_owned).to_vec(),
        name: "Example Account".to_owned(),
    };
    IdentityConfig { single_sign_on: Some(single_sign_on), ..IdentityConfig::default() }
}
