//! All known denial-of-service attacks at the same time: the server refuses or bounds each one. Meanwhile a user signs in, opens
//! pages and starts jobs without errors. `make attack` measures how long the user waits.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use base::config::AccessConfig;
use futures::future::join_all;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::helpers::{
    Archive, Browser, PASSWORD, Settings, TestApp, TestResponse, counts, days, intent, remote_job,
};

/// How many rounds of work the user does.
const ROUNDS: usize = 3;

type Attack<'a> = Pin<Box<dyn Future<Output = (&'static str, TestResponse)> + 'a>>;

/// Repeats an attack until the user is done, at least once, and returns every received status.
async fn repeated<'a>(
    is_over: &AtomicBool,
    attack: impl Fn(usize) -> Attack<'a>,
) -> Vec<(&'static str, u16)> {
    let mut met = Vec::new();
    for n in 0.. {
        let (name, response) = attack(n).await;
        met.push((name, response.status));
        if is_over.load(Ordering::SeqCst) {
            break;
        }
    }
    met
}

/// A sign-in request of which the client sends only half.
async fn stalled(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/session/login HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: 16000\r\n\r\nusername="
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// An export whose response the client does not read.
async fn unread(address: SocketAddr, cookie: &str, from: &str, to: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let path = format!("/p/docs/analytics/export.csv?from={from}&to={to}&of=daily");
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn work(app: &TestApp, device: &str) {
    for round in 0..ROUNDS {
        let person = app.anonymous();
        person.set_cookie(device);
        let pairs = [("username", "otto"), ("password", PASSWORD)];
        let sign_in = person.call("/api/session/login", &pairs).header("x-forwarded-for", "198.51.100.7");
        let signed_in = person.send(sign_in).await;
        assert_eq!(signed_in.status, 200, "round {round}: {}", signed_in.text);
        for page in
            ["/p/docs", "/p/docs/jobs", "/p/docs/jobs/new", "/p/docs/queue", "/p/docs/analytics", "/account"]
        {
            let response = person.get(page).await;
            assert_eq!(response.status, 200, "round {round}, {page}: {}", response.text);
        }
        assert_eq!(person.created(&format!("Fix guide {round}")).await["state"], "active");
        assert_eq!(person.get("/healthz").await.status, 200);
        assert_eq!(person.get("/readyz").await.status, 200);
    }
}

#[tokio::test]
async fn user_can_work_during_every_known_attack() {
    let access = AccessConfig {
        trusted_proxies: vec!["127.0.0.1/32".parse().unwrap()],
        analytics_per_person: 1_000,
        ..AccessConfig::default()
    };
    let app = TestApp::with(Settings { access, ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    app.upstream
        .on_views(wiremock::ResponseTemplate::new(200).set_body_json(crate::helpers::views_answer()))
        .await;
    let (viewer, operator) = (app.sign_in("vera").await, app.operator().await);
    for n in 0..20 {
        operator.created(&format!("Guide {n}: {}", "why, and how - ( ) ".repeat(200))).await;
    }
    let talked_about = operator.created("A long conversation").await;
    let remote = remote_job(talked_about["remote"]["id"].as_str().unwrap(), "active");
    app.upstream.on_follow_up(wiremock::ResponseTemplate::new(200).set_body_json(remote)).await;
    let talked_about = talked_about["id"].as_str().unwrap().to_owned();
    // A browser that the user has used before.
    let device = {
        let person = app.anonymous();
        assert_eq!(person.sign_in("otto", PASSWORD).await.status, 200);
        person.cookie().unwrap()
    };
    let idle = join_all((0..50).map(|_| stalled(app.address()))).await;
    let mut archive = Archive::of(&app).await;
    let [from, to] = [-10, -1].map(|ago| app.state().today().plus_days(ago).to_string());
    for day in days(&from, &to) {
        let rows = (0..2_000).map(|n| (format!("/{}/{n}", "long".repeat(40)), counts(1, 1)));
        archive.write(day, rows.collect()).await;
    }
    let reader = app.sign_in("ada").await.cookie().unwrap();
    let exports = join_all((0..60).map(|_| unread(app.address(), &reader, &from, &to))).await;

    let is_over = AtomicBool::new(false);
    let (viewer, operator, app) = (&viewer, &operator, &app);
    let paths: String = (0..30_000).map(|n| format!("p{n},")).collect();
    let values: String = (0..200).map(|n| format!("{n}\n")).collect();
    let braces = format!("{{{{a}}}}{}", "{".repeat(32_700));
    let (long, longest) = ("{{a}}".repeat(6_500), "x".repeat(130_000));
    let post = |name: &'static str,
                person: &'static str,
                path: &'static str,
                pairs: Vec<(&'static str, String)>|
     -> Attack<'_> {
        let person: &Browser = if person == "vera" { viewer } else { operator };
        Box::pin(async move {
            let pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
            (name, person.post(path, &pairs).await)
        })
    };
    let project = || ("project", "docs".to_owned());
    let prepare = |name, prompt: &str, values: &str| {
        let fields = vec![
            project(),
            ("prompt", prompt.to_owned()),
            ("values", values.to_owned()),
            ("intent", intent()),
        ];
        post(name, "olga", "/api/batches/prepare", fields)
    };
    let searches = ["-", ",", ":", "( )", "…", "~"];
    let guess = |n: usize| -> Attack<'_> {
        Box::pin(async move {
            let anonymous = app.anonymous();
            let password = format!("guess {n}");
            let pairs = [("username", ["otto", "nobody"][n % 2]), ("password", password.as_str())];
            let address = format!("203.0.{}.9", n % 250);
            let request = anonymous.call("/api/session/login", &pairs).header("x-forwarded-for", address);
            ("guess", anonymous.send(request).await)
        })
    };

    let attacks = async {
        let guesses = join_all((0..8).map(|m| repeated(&is_over, move |n| guess(n * 8 + m))));
        let found = join_all((0..8).map(|m| {
            let fields = vec![project(), ("q", searches[m % searches.len()].to_owned())];
            repeated(&is_over, move |_| post("search", "vera", "/api/jobs/list", fields.clone()))
        }));
        let unlimited = [
            ("palette", "/api/palette/find", vec![project(), ("q", "-".to_owned())]),
            ("bell", "/api/notifications/list", vec![project(), ("who", "all".to_owned())]),
            (
                "matching",
                "/api/jobs/untag",
                vec![project(), ("matching", "?q=guide".to_owned()), ("tag", "none".to_owned())],
            ),
        ];
        let unlimited = join_all((0..12).map(|m| {
            let (name, path, fields) = unlimited[m % 3].clone();
            let person = if name == "matching" { "olga" } else { "vera" };
            repeated(&is_over, move |_| post(name, person, path, fields.clone()))
        }));
        let follow_up = repeated(&is_over, |n| {
            let prompt = format!("{n}: {}", "more words - ( ) of a long follow-up ".repeat(800));
            let fields = vec![
                project(),
                ("job", talked_about.clone()),
                ("prompt", prompt),
                ("intent", intent()),
                ("queue", "on".to_owned()),
            ];
            post("follow-ups", "olga", "/api/jobs/message", fields)
        });
        let (similar, all_braces, gigabytes, queue, guesses, found, unlimited, follow_ups) = futures::join!(
            repeated(&is_over, |_| {
                let fields = vec![project(), ("prompt", "x".to_owned()), ("paths", paths.clone())];
                post("pages", "vera", "/api/jobs/similar", fields)
            }),
            repeated(&is_over, |_| prepare("braces", &braces, &values)),
            repeated(&is_over, |_| prepare("gigabytes", &long, &longest)),
            repeated(&is_over, |_| post("queue", "vera", "/api/queue/list", vec![project()])),
            guesses,
            found,
            unlimited,
            follow_up,
        );
        [vec![similar, all_braces, gigabytes, queue, follow_ups], guesses, found, unlimited].concat().concat()
    };
    let person = async {
        work(app, &device).await;
        is_over.store(true, Ordering::SeqCst);
    };
    let (met, ()) = futures::join!(attacks, person);
    for (name, status) in &met {
        let bounded: &[u16] = match *name {
            "braces" | "queue" => &[200],
            "gigabytes" => &[400],
            "guess" => &[401, 429, 503],
            // The attack queued more prompts than the budget allows, up to a limit.
            "follow-ups" => &[200, 429],
            // Each user may send two at the same time; further requests get an error that asks to wait.
            _ => &[200, 503],
        };
        assert!(bounded.contains(status), "{name} met {status}");
    }
    assert!(met.len() > 20, "{met:?}");
    assert_eq!((idle.len(), exports.len()), (50, 60));
}
