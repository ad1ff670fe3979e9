//! [`Browser`]: an HTTP client that behaves like a browser on the app's own pages, and searches every response for
//! secrets.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Mutex;

use reqwest::header::{
    ACCEPT, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderValue, LOCATION, ORIGIN, REFERER, SET_COOKIE,
};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::http_client;
use super::objects::New;
use super::secrets::secrets_in;

/// What browsers accept for a page and for a plain form.
pub(crate) const ACCEPT_PAGE: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

pub(crate) struct Browser {
    http: Client,
    address: String,
    origin: String,
    /// Values by name.
    cookies: Mutex<BTreeMap<String, String>>,
    /// Of another application on the same domain: the end of the header's line.
    foreign_cookies: Mutex<Vec<u8>>,
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
    pub(crate) text: String,
}

/// Fields as a form sends them.
pub(crate) fn fields(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

impl Browser {
    pub(super) fn new(address: String, origin: String) -> Self {
        Self::from(None, address, origin)
    }

    /// A client that connects from `here`.
    pub(super) fn from(here: Option<IpAddr>, address: String, origin: String) -> Self {
        let http = http_client().local_address(here).no_gzip().no_brotli().build().unwrap();
        Self { http, address, origin, cookies: Mutex::default(), foreign_cookies: Mutex::default() }
    }

    /// A client of the server at `address`, without a session.
    pub(crate) fn at(address: &str) -> Self {
        Self::new(address.to_owned(), address.to_owned())
    }

    /// The cookies of the next request, as `name=value`.
    pub(crate) fn cookie(&self) -> Option<String> {
        let cookies = self.cookies.lock().unwrap();
        let pairs: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Replaces all cookies.
    pub(crate) fn set_cookie(&self, pairs: &str) {
        let pairs = pairs.split("; ").filter_map(|pair| pair.split_once('='));
        let cookies = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        *self.cookies.lock().unwrap() = cookies;
    }

    /// Adds these bytes to the cookies of all requests.
    pub(crate) fn set_foreign_cookies(&self, bytes: &[u8]) {
        *self.foreign_cookies.lock().unwrap() = bytes.to_vec();
    }

    /// Stores and removes cookies as the headers of a response say.
    pub(super) fn store_cookies(&self, headers: &HeaderMap) {
        for cookie in headers.get_all(SET_COOKIE) {
            let (pair, attributes) = cookie.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            let mut cookies = self.cookies.lock().unwrap();
            match attributes.contains("Max-Age=0") {
                true => cookies.remove(name),
                false => cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
    }

    /// Signs in as the form does.
    pub(crate) async fn sign_in(&self, name: &str, password: &str) -> TestResponse {
        self.post("/api/session/login", &[("username", name), ("password", password)]).await
    }

    /// Calls a server function as a page with scripts does.
    pub(crate) async fn post(&self, endpoint: &str, pairs: &[(&str, &str)]) -> TestResponse {
        self.send(self.call(endpoint, pairs)).await
    }

    /// The request behind [`Browser::post`].
    pub(crate) fn call(&self, endpoint: &str, pairs: &[(&str, &str)]) -> RequestBuilder {
        let request = self.form(endpoint, pairs).header(ACCEPT, "application/json");
        request.header("sec-fetch-site", "same-origin").header(ORIGIN, &self.origin)
    }

    /// The JSON of a server function's response, which must succeed.
    pub(crate) async fn post_json(&self, endpoint: &str, pairs: &[(&str, &str)]) -> Value {
        let response = self.post(endpoint, pairs).await;
        assert_eq!(response.status, 200, "{endpoint}: {}", response.text);
        response.json()
    }

    /// Posts a plain form from the page `referer`, as a browser without JavaScript does.
    pub(crate) async fn submit(
        &self,
        endpoint: &str,
        pairs: &[(&str, &str)],
        referer: Option<&str>,
    ) -> TestResponse {
        let mut request = self.form(endpoint, pairs).header(ACCEPT, ACCEPT_PAGE);
        if let Some(referer) = referer {
            request = request.header(REFERER, referer);
        }
        self.send(request.header("sec-fetch-site", "same-origin").header(ORIGIN, &self.origin)).await
    }

    /// Opens a page.
    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.send(self.request(Method::GET, path).header(ACCEPT, ACCEPT_PAGE)).await
    }

    /// The text of a page, which must be shown.
    pub(crate) async fn page(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text);
        response.text
    }

    /// A form's post without the headers that identify its origin.
    pub(crate) fn form(&self, endpoint: &str, pairs: &[(&str, &str)]) -> RequestBuilder {
        self.request(Method::POST, endpoint)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(fields(pairs))
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let host = self.origin.split_once("://").map_or("", |(_, host)| host).to_owned();
        self.http.request(method, format!("{}{path}", self.address)).header(HOST, host)
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> TestResponse {
        self.try_send(request).await.expect("a response")
    }

    /// Sends a request with the cookies, and stores the new ones. Fails without a complete response.
    pub(crate) async fn try_send(&self, mut request: RequestBuilder) -> reqwest::Result<TestResponse> {
        if let Some(cookie) = self.cookie() {
            let line = [cookie.as_bytes(), &self.foreign_cookies.lock().unwrap()].concat();
            request = request.header(COOKIE, HeaderValue::from_bytes(&line).unwrap());
        }
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        self.store_cookies(&headers);
        let bytes = response.bytes().await?.to_vec();
        let complete =
            TestResponse { status, headers, text: String::from_utf8_lossy(&bytes).into_owned(), bytes };
        let shown = format!("{:?}\n{}", complete.headers, complete.text);
        assert!(secrets_in(&shown).is_empty(), "a secret in a response: {shown}");
        Ok(complete)
    }
}

impl Browser {
    /// Starts a job in the project `docs`.
    pub(crate) async fn create(&self, prompt: &str, intent: &str) -> TestResponse {
        New::job(prompt).with("intent", intent).post(self).await
    }

    /// Starts a job in the project `docs`, which must succeed, and returns it.
    pub(crate) async fn created(&self, prompt: &str) -> Value {
        New::job(prompt).made(self).await
    }

    pub(crate) async fn follow_up(&self, job: &Value, prompt: &str, intent: &str) -> TestResponse {
        let job = job["id"].as_str().unwrap();
        let pairs = [("project", "docs"), ("job", job), ("prompt", prompt), ("intent", intent)];
        self.post("/api/jobs/message", &pairs).await
    }

    /// The current job.
    pub(crate) async fn job(&self, job: &Value) -> Value {
        self.post_json("/api/jobs/get", &[("project", "docs"), ("job", job["id"].as_str().unwrap())]).await
    }

    /// The draft of a form: for a new job, or for a follow-up to `job`.
    pub(crate) async fn draft(&self, job: Option<&Value>) -> String {
        let mut pairs = vec![("project", "docs")];
        pairs.extend(job.map(|job| ("job", job["id"].as_str().unwrap())));
        self.post_json("/api/jobs/form", &pairs).await["draft"].as_str().unwrap().to_owned()
    }
}

impl TestResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error} in {:?}", self.text))
    }

    /// The value of a header; empty without one.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn location(&self) -> &str {
        self.header(LOCATION.as_str())
    }

    /// Checks that it is an error response of the documented form, and returns its message.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text);
        let body = self.json();
        let message = body["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(body, json!({"code": code, "message": message}));
        assert!(message.ends_with('.') && message.len() > 20, "not a sentence: {message}");
        assert!(self.header("content-type").starts_with("application/json"), "{:?}", self.headers);
        let is_temporary = matches!(status, 429 | 503);
        assert!(!is_temporary || self.header("retry-after").parse::<u32>().is_ok(), "{:?}", self.headers);
        message
    }
}
