//! Single sign-on with the answers of common providers, and with forged ones. The provider is scripted, so that it can answer as each of them does.

use data_encoding::BASE64URL_NOPAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Map, Value};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::helpers::{Browser, CLIENT_SECRET, Settings, TestApp, TestResponse, json, single_sign_on};

/// A provider with scripted responses and one signing key.
struct Scripted {
    server: MockServer,
    key: EcdsaKeyPair,
    metadata: Value,
    token: Value,
    user_info: Option<Value>,
}

/// What an administrator configures for the provider.
#[derive(Clone, Copy)]
struct Configured {
    groups_claim: &'static str,
    trusts_email: bool,
}

const USUAL: Configured = Configured { groups_claim: "groups", trusts_email: false };

impl Scripted {
    async fn start() -> Self {
        let server = MockServer::start().await;
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let at = |path: &str| format!("{}{path}", server.uri());
        let metadata = json!({
            "issuer": server.uri(),
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"),
            "jwks_uri": at("/keys"),
            "id_token_signing_alg_values_supported": ["ES256"],
        });
        let token = json!({"access_token": "an access token", "token_type": "Bearer"});
        Self { server, key, metadata, token, user_info: None }
    }

    /// With these fields in its metadata.
    fn publishing(mut self, fields: Value) -> Self {
        merge(&mut self.metadata, fields);
        self
    }

    /// With these fields beside the tokens.
    fn answering(mut self, fields: Value) -> Self {
        merge(&mut self.token, fields);
        self
    }

    /// With these claims at a userinfo endpoint.
    fn with_user_info(mut self, claims: Value) -> Self {
        let user_info = format!("{}/userinfo", self.server.uri());
        self.user_info = Some(claims);
        self.publishing(json!({"userinfo_endpoint": user_info}))
    }

    async fn app(&self, configured: Configured) -> TestApp {
        let mut identity = single_sign_on(&self.server.uri());
        let provider = identity.single_sign_on.as_mut().unwrap();
        provider.groups_claim = configured.groups_claim.to_owned();
        provider.trusts_email = configured.trusts_email;
        TestApp::with(Settings { identity, ..Settings::default() }).await
    }

    /// The claims of a valid token of mia.
    fn claims(&self, nonce: &str) -> Map<String, Value> {
        let now = base::clock::Clock::system().now().as_millis() / 1000;
        let Value::Object(claims) = json!({
            "iss": self.server.uri(),
            "aud": "docket",
            "sub": "mia",
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "email": "mia@example.com",
            "email_verified": true,
            "groups": ["writers"],
        }) else {
            unreachable!()
        };
        claims
    }

    fn signed(&self, claims: &Map<String, Value>) -> String {
        self.signed_with_header(&json!({"alg": "ES256", "kid": "one"}), claims)
    }

    fn signed_with_header(&self, header: &Value, claims: &Map<String, Value>) -> String {
        let signed = unsigned(header, claims);
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
    }

    fn keys(&self) -> Value {
        let point = self.key.public_key().as_ref();
        let (x, y) = (BASE64URL_NOPAD.encode(&point[1..33]), BASE64URL_NOPAD.encode(&point[33..]));
        // Others may be of kinds that Docket does not know.
        json!({"keys": [
            {"kty": "QUANTUM", "kid": "zero", "use": 7},
            {"kty": "EC", "crv": "P-256", "kid": "one", "use": "sig", "x": x, "y": y},
        ]})
    }

    /// Signs in with this token, made for the nonce of the sign-in.
    async fn sign_in(&self, browser: &Browser, token: impl Fn(&str) -> String) -> TestResponse {
        self.mount(json!(null)).await;
        let start = browser.get("/login/sso").await;
        if start.status != 303 {
            return start;
        }
        let address: url::Url = start.location().parse().unwrap();
        let field = |name: &str| {
            address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap()
        };
        self.mount(token(&field("nonce")).into()).await;
        let back = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("code", "a code"), ("state", &field("state"))])
            .finish();
        browser.get(&format!("/login/sso/callback?{back}")).await
    }

    async fn mount(&self, id_token: Value) {
        let mut token = self.token.clone();
        token["id_token"] = id_token;
        self.server.reset().await;
        let mut bodies = vec![
            ("GET", "/.well-known/openid-configuration", self.metadata.clone()),
            ("GET", "/keys", self.keys()),
            ("POST", "/token", token),
        ];
        bodies.extend(self.user_info.clone().map(|claims| ("GET", "/userinfo", claims)));
        for (verb, place, body) in bodies {
            let response = ResponseTemplate::new(200).set_body_json(body);
            Mock::given(method(verb)).and(path(place)).respond_with(response).mount(&self.server).await;
        }
    }

    /// The requests for a token since the last sign-in began.
    async fn redemptions(&self) -> Vec<Request> {
        let requests = self.server.received_requests().await.unwrap();
        requests.into_iter().filter(|request| request.url.path() == "/token").collect()
    }
}

fn merge(into: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else { panic!("an object") };
    into.as_object_mut().unwrap().extend(fields);
}

fn unsigned(header: &Value, claims: &Map<String, Value>) -> String {
    let part = |json: String| BASE64URL_NOPAD.encode(json.as_bytes());
    format!("{}.{}", part(header.to_string()), part(Value::Object(claims.clone()).to_string()))
}

/// Signs mia in with other claims than usual, `null` for none.
async fn with_claims(provider: &Scripted, configured: Configured, changes: Value) -> TestResponse {
    let app = provider.app(configured).await;
    let browser = app.anonymous();
    provider
        .sign_in(&browser, |nonce| {
            let mut claims = Value::Object(provider.claims(nonce));
            merge(&mut claims, changes.clone());
            let Value::Object(claims) = claims else { unreachable!() };
            provider.signed(&claims.into_iter().filter(|(_, value)| !value.is_null()).collect())
        })
        .await
}

#[track_caller]
fn signed_in(response: &TestResponse, name: &str) {
    assert_eq!((response.status, response.location()), (303, "/"), "{name}: {}", response.text);
}

#[track_caller]
fn refused(response: &TestResponse, words: &str, name: &str) {
    assert_eq!(response.status, 403, "{name}: {}", response.text);
    assert!(response.text.contains(words), "{name}: no {words} in {}", response.text);
}

#[tokio::test]
async fn tokens_of_common_providers_sign_in() {
    let roles = "urn:zitadel:iam:org:project:roles";
    let of = |groups_claim| Configured { groups_claim, ..USUAL };
    for (name, configured, claims) in [
        ("Auth0", USUAL, json!({"updated_at": "2026-08-01T12:00:00.000Z"})),
        (
            "Auth0, claims with an address",
            of("https://docs.example.com/groups"),
            json!({"https://docs.example.com/groups": ["writers"], "groups": null}),
        ),
        ("Cognito", USUAL, json!({"email_verified": "true", "phone_number_verified": "false"})),
        (
            "Keycloak",
            of("realm_access.roles"),
            json!({"aud": ["docket", "account"], "azp": "docket", "realm_access": {"roles": ["writers"]}, "groups": null}),
        ),
        (
            "Zitadel",
            of(roles),
            json!({"aud": ["other", "docket"], "azp": "docket", roles: {"writers": {"1": "a.example"}}, "groups": null}),
        ),
        ("Entra", Configured { trusts_email: true, ..USUAL }, json!({"email_verified": null})),
        (
            "claims of other forms",
            USUAL,
            json!({"address": "1 Main Street", "amr": "pwd", "acr": 1, "auth_time": "2026", "locale": ["en"], "birthdate": 7, "zoneinfo": {}}),
        ),
        ("groups as text", USUAL, json!({"groups": "writers"})),
        ("a long address", USUAL, json!({"email": format!("{}@example.com", "m".repeat(242))})),
        ("itself twice", USUAL, json!({"aud": ["docket", "docket"], "azp": null})),
        (
            "clocks half a minute apart",
            USUAL,
            json!({"nbf": base::clock::Clock::system().now().as_millis() / 1000 + 30}),
        ),
    ] {
        let provider = Scripted::start().await;
        signed_in(&with_claims(&provider, configured, claims).await, name);
    }
}

#[tokio::test]
async fn fields_that_docket_does_not_use_may_have_any_form() {
    let provider = Scripted::start()
        .await
        .publishing(json!({
            "ui_locales_supported": "en",
            "registration_endpoint": "",
            "userinfo_endpoint": "",
            "service_documentation": 7,
            "claims_supported": {"sub": true},
            "id_token_signing_alg_values_supported": ["none", "XY512", "ES256"],
        }))
        .answering(
            json!({"expires_in": "3600", "scope": ["openid"], "token_type": "bearer", "refresh_token": 7}),
        );
    signed_in(&with_claims(&provider, USUAL, json!({})).await, "odd fields");
}

#[tokio::test]
async fn client_secret_is_sent_as_the_metadata_says() {
    for (methods, is_in_the_header) in [
        (json!(null), true),
        (json!(["client_secret_post", "client_secret_basic"]), true),
        (json!(["private_key_jwt", "client_secret_post"]), false),
    ] {
        let provider =
            Scripted::start().await.publishing(json!({"token_endpoint_auth_methods_supported": methods}));
        signed_in(&with_claims(&provider, USUAL, json!({})).await, &methods.to_string());
        let [request] = &provider.redemptions().await[..] else { panic!("one request") };
        assert_eq!(request.headers.contains_key("authorization"), is_in_the_header, "{methods}");
        let body = String::from_utf8(request.body.clone()).unwrap();
        assert_eq!(body.contains("client_secret="), !is_in_the_header, "{methods}");
    }
    let provider = Scripted::start()
        .await
        .publishing(json!({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}));
    assert_eq!(with_claims(&provider, USUAL, json!({})).await.status, 502);
}

#[tokio::test]
async fn userinfo_adds_what_the_token_lacks_and_overrules_only_what_it_states() {
    let mia = json!({"sub": "mia", "email": "mia@example.com"});
    let with = |fields: Value| {
        let mut claims = mia.clone();
        merge(&mut claims, fields);
        claims
    };
    for (name, user_info, claims, words) in [
        ("the address again", mia.clone(), json!({"groups": []}), "None of your groups"),
        ("the address again, and groups", with(json!({"groups": ["writers"]})), json!({"groups": null}), ""),
        (
            "all of it",
            with(json!({"email_verified": true, "groups": ["writers"]})),
            json!({"email": null, "email_verified": null, "groups": null}),
            "",
        ),
        (
            "another address",
            json!({"sub": "mia", "email": "b@example.com", "groups": ["writers"]}),
            json!({"groups": null}),
            "does not say whether",
        ),
        ("not verified", with(json!({"email_verified": "false"})), json!({"groups": []}), "has not verified"),
    ] {
        let provider = Scripted::start().await.with_user_info(user_info);
        let response = with_claims(&provider, USUAL, claims).await;
        if words.is_empty() { signed_in(&response, name) } else { refused(&response, words, name) }
    }
    let provider = Scripted::start().await.with_user_info(json!({"sub": "lea", "groups": ["leads"]}));
    assert_eq!(with_claims(&provider, USUAL, json!({"groups": null})).await.status, 502, "another person");
}

#[tokio::test]
async fn person_reads_what_is_missing() {
    let trusting = Configured { trusts_email: true, ..USUAL };
    for (claims, configured, words) in [
        (json!({"email_verified": null}), USUAL, "DOCKET_OIDC_TRUST_EMAIL"),
        (json!({"email_verified": false}), trusting, "has not verified"),
        (json!({"email_verified": "False"}), trusting, "has not verified"),
        (json!({"email_verified": 0}), trusting, "has not verified"),
        (json!({"email": null}), trusting, "does not send your e-mail address"),
        (json!({"groups": null}), USUAL, "sends no claim “groups”"),
        (json!({"groups": null, "_claim_names": {"groups": "src1"}}), USUAL, "too many groups"),
        (json!({"groups": null, "hasgroups": true}), USUAL, "too many groups"),
        (json!({"groups": ["writers"], "hasgroups": true}), USUAL, "too many groups"),
        (json!({"groups": []}), USUAL, "None of your groups"),
        (json!({"email": format!("{}@example.com", "m".repeat(243))}), USUAL, "cannot be a username"),
    ] {
        let provider = Scripted::start().await;
        refused(&with_claims(&provider, configured, claims.clone()).await, words, &claims.to_string());
    }
}

#[tokio::test]
async fn forged_tokens_are_refused() {
    let provider = Scripted::start()
        .await
        .publishing(json!({"id_token_signing_alg_values_supported": ["ES256", "HS256"]}));
    let app = provider.app(USUAL).await;
    let browser = app.anonymous();
    let now = base::clock::Clock::system().now().as_millis() / 1000;
    for change in [
        json!({"iss": "https://evil.example"}),
        json!({"iss": [provider.server.uri()]}),
        json!({"iss": null}),
        json!({"aud": "other"}),
        json!({"aud": ["other"], "azp": "docket"}),
        json!({"aud": ["docket", "other"]}),
        json!({"aud": ["docket", "other"], "azp": "other"}),
        json!({"azp": "other"}),
        json!({"azp": 7}),
        json!({"aud": null}),
        json!({"exp": now - 61}),
        json!({"exp": (now + 300).to_string()}),
        json!({"exp": null}),
        json!({"nbf": now + 120}),
        json!({"nbf": "soon"}),
        json!({"nonce": "another"}),
        json!({"nonce": null}),
    ] {
        let response = provider
            .sign_in(&browser, |nonce| {
                let mut claims = Value::Object(provider.claims(nonce));
                merge(&mut claims, change.clone());
                let Value::Object(claims) = claims else { unreachable!() };
                provider.signed(&claims.into_iter().filter(|(_, value)| !value.is_null()).collect())
            })
            .await;
        refused(&response, "not valid here", &change.to_string());
    }
}

#[tokio::test]
async fn wrongly_signed_tokens_are_refused() {
    let provider = Scripted::start()
        .await
        .publishing(json!({"id_token_signing_alg_values_supported": ["ES256", "HS256"]}));
    let other = Scripted::start().await;
    let app = provider.app(USUAL).await;
    let browser = app.anonymous();
    let hs256 = |key: &[u8], claims: &Map<String, Value>| {
        let signed = unsigned(&json!({"alg": "HS256", "kid": "one"}), claims);
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), signed.as_bytes());
        format!("{signed}.{}", BASE64URL_NOPAD.encode(tag.as_ref()))
    };
    let point = provider.key.public_key().as_ref().to_vec();
    let good = |claims: &Map<String, Value>| provider.signed(claims);
    let header = |header: Value| {
        move |provider: &Scripted, claims: &Map<String, Value>| provider.signed_with_header(&header, claims)
    };
    type Token<'a> = Box<dyn Fn(&Map<String, Value>) -> String + 'a>;
    let tokens: Vec<(&str, Token<'_>)> = vec![
        ("of another key", Box::new(|claims| other.signed(claims))),
        ("without a signature", Box::new(|claims| format!("{}.", unsigned(&json!({"alg": "none"}), claims)))),
        (
            "of no algorithm, with a signature",
            Box::new(|claims| header(json!({"alg": "none"}))(&provider, claims)),
        ),
        (
            "of an unlisted algorithm",
            Box::new(|claims| header(json!({"alg": "RS256", "kid": "one"}))(&provider, claims)),
        ),
        (
            "of an unknown key",
            Box::new(|claims| header(json!({"alg": "ES256", "kid": "two"}))(&provider, claims)),
        ),
        (
            "with a critical header",
            Box::new(|claims| {
                header(json!({"alg": "ES256", "kid": "one", "crit": ["b64"], "b64": false}))(
                    &provider, claims,
                )
            }),
        ),
        ("with the public key as the secret", Box::new(|claims| hs256(&point, claims))),
        ("with an empty secret", Box::new(|claims| hs256(b"", claims))),
        (
            "with a tag of no bytes",
            Box::new(|claims| format!("{}.", unsigned(&json!({"alg": "HS256"}), claims))),
        ),
        (
            "with a tag of three bytes",
            Box::new(|claims| format!("{}.AAAA", unsigned(&json!({"alg": "HS256"}), claims))),
        ),
        ("with a long tag", Box::new(|claims| hs256(CLIENT_SECRET.as_bytes(), claims) + "AAAA")),
        (
            "of another kind",
            Box::new(|claims| {
                header(json!({"alg": "ES256", "kid": "one", "typ": "at+jwt"}))(&provider, claims)
            }),
        ),
        (
            "changed after it was signed",
            Box::new(|claims| {
                let token = good(claims);
                let mut lea = claims.clone();
                lea.insert("groups".into(), json!(["leads"]));
                let (_, signature) = token.rsplit_once('.').unwrap();
                format!("{}.{signature}", unsigned(&json!({"alg": "ES256", "kid": "one"}), &lea))
            }),
        ),
        (
            "with a cut signature",
            Box::new(|claims| {
                let token = good(claims);
                token[..token.len() - 4].to_owned()
            }),
        ),
        ("of two parts", Box::new(|claims| unsigned(&json!({"alg": "ES256"}), claims))),
        ("of five parts", Box::new(|claims| format!("{}.a.b", good(claims)))),
        ("no token", Box::new(|_| "…".to_owned())),
    ];
    for (name, token) in tokens {
        let response = provider.sign_in(&browser, |nonce| token(&provider.claims(nonce))).await;
        refused(&response, "not valid here", name);
    }
    let response =
        provider.sign_in(&browser, |nonce| hs256(CLIENT_SECRET.as_bytes(), &provider.claims(nonce))).await;
    signed_in(&response, "with the client's secret");
}
