//! Actions of administrators and users on accounts.

use serde_json::Value;

use super::{Browser, TestApp, TestResponse};

impl TestApp {
    /// The id of a user.
    pub(crate) async fn id_of(&self, name: &str) -> String {
        self.state().store.user_by_name(name).await.unwrap().unwrap().id
    }

    /// `by` performs an administrative action on an account. A change without `access` gives the projects in `more`, or all of them.
    pub(crate) async fn manage(
        &self,
        by: &Browser,
        verb: &str,
        name: &str,
        more: &[(&str, &str)],
    ) -> TestResponse {
        let id = self.id_of(name).await;
        let mut pairs = vec![("user", id.as_str())];
        pairs.extend(more);
        if verb == "change" && !more.iter().any(|(name, _)| *name == "access") {
            let has_projects = more.iter().any(|(name, ids)| *name == "projects" && !ids.is_empty());
            pairs.push(("access", if has_projects { "selected" } else { "all" }));
        }
        by.post(&format!("/api/users/{verb}"), &pairs).await
    }

    /// As [`Self::manage`], which must succeed.
    pub(crate) async fn managed(&self, by: &Browser, verb: &str, name: &str, more: &[(&str, &str)]) {
        let response = self.manage(by, verb, name, more).await;
        assert_eq!(response.status, 200, "{verb} {name}: {}", response.text);
    }
}

impl Browser {
    /// Whether there is a session, according to a server function.
    pub(crate) async fn is_signed_in(&self) -> bool {
        self.post("/api/session/current", &[]).await.status == 200
    }

    /// Another browser with the same cookies.
    pub(crate) fn twin(&self, app: &TestApp) -> Browser {
        let twin = app.anonymous();
        twin.set_cookie(&self.cookie().unwrap());
        twin
    }

    /// Invites a user, and returns the token of the link.
    pub(crate) async fn invite(&self, name: &str, role: &str, projects: &str) -> String {
        let access = if projects.is_empty() { "all" } else { "selected" };
        let pairs = [("name", name), ("role", role), ("access", access), ("projects", projects)];
        token(&self.post_json("/api/users/invite", &pairs).await)
    }

    /// Sets a password with the token of a link.
    pub(crate) async fn accept(&self, token: &str, password: &str) -> TestResponse {
        self.post("/api/session/setup", &[("token", token), ("password", password)]).await
    }
}

/// The token in a link.
pub(crate) fn token(response: &Value) -> String {
    let link = response["secret"].as_str().unwrap();
    let (_, token) = link.split_once("/setup#token=").unwrap();
    token.to_owned()
}
