//! Sessions without passwords. Checking a password is slow on purpose, and only some tests are about it.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use store::accounts::admission::{Account, Admitted};
use tower::{Layer, ServiceExt, service_fn};
use web::auth::client_ip::ClientIp;
use web::auth::sign_in;
use web::http::layers::session_layer;
use web::state::AppState;

use super::browser::Browser;
use super::secrets::PASSWORD;
use super::{TestApp, within_deadline};

impl TestApp {
    /// A browser in which `name` is signed in. Docket opens the session as after the right password.
    pub(crate) async fn sign_in(&self, name: &str) -> Browser {
        let (browser, state) = (self.anonymous(), self.state().clone());
        let user = state.store.account_by_name(name).await.unwrap().and_then(Account::admitted).unwrap();
        // Connections that are opened here stay with the runtime of the app.
        let response =
            within_deadline("the sign-in", self.runtime().spawn(opened(state, user))).await.unwrap();
        browser.store_cookies(response.headers());
        browser
    }

    /// As [`Self::sign_in`], with the password.
    pub(crate) async fn sign_in_with_password(&self, name: &str) -> Browser {
        let browser = self.anonymous();
        let response = browser.sign_in(name, PASSWORD).await;
        assert_eq!(response.status, 200, "{}", response.text);
        browser
    }
}

/// The response that sets the cookie of a new session of `user`.
async fn opened(state: AppState, user: Admitted) -> Response {
    let layer = session_layer(&state);
    let handler = service_fn(move |request: Request| {
        let (state, user) = (state.clone(), user.clone());
        async move {
            sign_in::open_for(&state, &request.into_parts().0, &user).await.unwrap();
            Ok::<_, Infallible>(Response::new(Body::empty()))
        }
    });
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(ClientIp(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    layer.layer(handler).oneshot(request).await.unwrap()
}
