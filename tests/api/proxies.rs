//! The documented configurations in `docs/operate/proxies.md`, run by real proxy servers, with a client that sends forged
//! headers.

mod cache;

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use reqwest::header::{COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Certificate, Client, ClientBuilder, Response, Version};

use crate::helpers::{
    Installation, PASSWORD, PausedUpstream, Served, certificate, fields, http_client, intent, until,
};
use crate::traces::Collector;

const DOCUMENT: &str = include_str!("../../docs/operate/proxies.md");
const NAME: &str = "docket.example.com";
const SECRET: &str = "what only an authenticating proxy may know";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// The client IP, and a forged one.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
const MADE_UP: &str = "203.0.113.9";

/// The document's code block in this language.
fn block(language: &str) -> String {
    let (_, rest) = DOCUMENT.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// Replaces the examples of the document. Each must occur in it.
fn with_replacements(mut text: String, replacements: &[(&str, &str)]) -> String {
    for (example, value) in replacements {
        assert!(text.contains(example), "no {example} in {text}");
        text = text.replace(example, value);
    }
    text
}

/// A proxy that is killed with the test.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        // A signal instead of a kill, so that nginx ends its workers too.
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

fn spawned(command: &mut Command, program: &str) -> Proxy {
    match command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
        Ok(child) => Proxy(child),
        Err(error) if error.kind() == ErrorKind::NotFound => panic!("no {program}: scripts/setup.sh test"),
        Err(error) => panic!("{error}"),
    }
}

fn nginx(folder: &Path, docket: &str, http: u16, https: u16) -> Proxy {
    nginx_with("", "", folder, docket, http, https)
}

/// As [`nginx`], with more directives for the cache: of `http`, and of the location.
fn nginx_with(cache: &str, of_location: &str, folder: &Path, docket: &str, http: u16, https: u16) -> Proxy {
    let tls = folder.display();
    let ours = with_replacements(
        block("nginx"),
        &[
            ("127.0.0.1:3000", docket),
            ("listen 80;", &format!("listen 127.0.0.1:{http};")),
            ("listen 443 ssl", &format!("listen 127.0.0.1:{https} ssl")),
            ("/etc/docket/tls", &tls.to_string()),
            (
                "proxy_buffering off;",
                if of_location.is_empty() { "proxy_buffering off;" } else { of_location },
            ),
        ],
    );
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary: String = kinds.map(|kind| format!("{kind}_temp_path {tls}/{kind};\n")).concat();
    // The workers of nginx must not drop root, because the folder belongs to the user who runs the test.
    let whole = format!(
        "user root;\ndaemon off;\npid {tls}/nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{cache}{ours}}}\n"
    );
    let file = folder.join("nginx.conf");
    std::fs::write(&file, whole).unwrap();
    spawned(Command::new("nginx").args(["-e", "stderr", "-p"]).arg(folder).arg("-c").arg(&file), "nginx")
}

fn caddy(folder: &Path, docket: &str, http: u16, https: u16) -> Proxy {
    let tls = folder.display().to_string();
    let ours =
        with_replacements(block("caddyfile"), &[("127.0.0.1:3000", docket), ("/etc/docket/tls", &tls)]);
    let whole = format!(
        "{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port {http}\n\thttps_port {https}\n}}\n{ours}"
    );
    let file = folder.join("Caddyfile");
    std::fs::write(&file, whole).unwrap();
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&file);
    for variable in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        command.env(variable, folder);
    }
    spawned(&mut command, "caddy")
}

/// A browser at the public URL that connects from [`HERE`] and trusts the certificate's authority.
struct Visitor {
    http: Client,
    address: String,
    cookies: String,
}

/// A client that connects from [`HERE`] and trusts this authority only.
fn client(authority: &str) -> ClientBuilder {
    http_client()
        .tls_certs_only([Certificate::from_pem(authority.as_bytes()).unwrap()])
        .resolve(NAME, SocketAddr::from(([127, 0, 0, 1], 0)))
        .local_address(HERE)
}

impl Visitor {
    fn new(authority: &str, address: &str) -> Self {
        let http = client(authority).build().unwrap();
        Self { http, address: address.to_owned(), cookies: String::new() }
    }

    /// A request with headers that browsers do not send.
    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = self.http.get(format!("{}{path}", self.address)).header(COOKIE, &self.cookies);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.header("accept", "text/html").send().await.unwrap()
    }

    async fn post(&self, path: &str, pairs: &[(&str, &str)]) -> Response {
        let request = self.http.post(format!("{}{path}", self.address)).header(COOKIE, &self.cookies);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.header("accept", "application/json").header(ORIGIN, &self.address);
        let request = request.header("sec-fetch-site", "same-origin").header("x-forwarded-for", MADE_UP);
        request.body(fields(pairs)).send().await.unwrap()
    }

    async fn sign_in(&mut self) {
        let response =
            self.post("/api/session/login", &[("username", "admin"), ("password", PASSWORD)]).await;
        assert_eq!(response.status(), 200);
        let cookies = response.headers().get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().unwrap());
        let cookies: Vec<&str> = cookies.collect();
        assert!(cookies.iter().any(|cookie| cookie.starts_with("__Host-")), "{cookies:?}");
        assert!(cookies.iter().all(|cookie| cookie.contains("Secure")), "{cookies:?}");
        assert!(response.headers().contains_key("strict-transport-security"));
        let pairs = cookies.iter().filter_map(|cookie| cookie.split(';').next());
        self.cookies = pairs.collect::<Vec<_>>().join("; ");
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Docket with the documented settings, which would allow an authenticating proxy to name users.
async fn docket(public: &str, collector: &str, platform: &str) -> (Installation, Served, String) {
    let settings = with_replacements(
        block("toml"),
        &[("127.0.0.1:3000", "127.0.0.1:0"), ("https://docket.example.com", public)],
    );
    let installation = Installation::new();
    let file = installation.path("proxied.toml");
    std::fs::write(&file, settings).unwrap();
    let installation = installation
        .set("DOCKET_CONFIG", &file.display().to_string())
        .set("DOCKET_UPSTREAM_URL", platform)
        .set("DOCKET_API_KEY", crate::helpers::KEY)
        .set("DOCKET_PROJECTS", "docs=Docs")
        .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
        .set("DOCKET_ANALYTICS_RESERVE", "100")
        .set("DOCKET_TRUSTED_HEADER", "x-forwarded-user")
        .set("DOCKET_TRUSTED_SECRET", SECRET)
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", collector);
    let server = installation.serve(&["serve"]);
    let address = server.output_after("listening address=").await;
    (installation, server, address)
}

/// The output of the document's test command, with options for the unknown name and the private certificate authority.
fn checked_output(authority: &Path, public: &str, https: u16) -> String {
    let line = DOCUMENT.lines().find(|line| line.starts_with("    curl ")).unwrap().trim();
    let known = format!("curl --cacert {} --resolve {NAME}:{https}:127.0.0.1 ", authority.display());
    let line =
        with_replacements(line.to_owned(), &[("curl ", &known), ("https://docket.example.com", public)]);
    let done = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert!(done.status.success(), "{line}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// Checks the behavior of a proxy that is configured as documented.
async fn check_proxy(start: fn(&Path, &str, u16, u16) -> Proxy) {
    let (platform, collector) = (PausedUpstream::start().await, Collector::start().await);
    let (http, https) = (free_port(), free_port());
    let public = format!("https://{NAME}:{https}");
    let (installation, server, address) = docket(&public, &collector.uri(), &platform.url()).await;
    let tls = certificate(NAME);
    std::fs::write(installation.path("certificate.pem"), tls.certificate).unwrap();
    std::fs::write(installation.path("key.pem"), tls.key).unwrap();
    std::fs::write(installation.path("authority.pem"), &tls.authority).unwrap();
    let _proxy = start(&installation.path(""), &address, http, https);
    let mut visitor = Visitor::new(&tls.authority, &public);
    until("the proxy responds", async || {
        let response = visitor.http.get(format!("{public}/healthz")).send().await.ok()?;
        (response.status() == 200).then_some(())
    })
    .await;

    // TLS and HTTP/2 are enforced.
    assert_eq!(visitor.get("/login", &[]).await.version(), Version::HTTP_2);
    let plain = visitor.http.get(format!("http://{NAME}:{http}/p/docs")).send().await.unwrap();
    assert!([301, 308].contains(&plain.status().as_u16()), "{plain:?}");
    let location = plain.headers()[LOCATION].to_str().unwrap();
    assert!(location.starts_with(&format!("https://{NAME}")) && location.ends_with("/p/docs"), "{location}");

    assert_eq!(checked_output(&installation.path("authority.pem"), &public, https), "200 2\n");
    assert!(DOCUMENT.contains("\n\nprints `200 2`."));

    // Docket does not serve another host, whatever the proxy does with the request.
    let other = client(&tls.authority).http1_only().build().unwrap().get(format!("{public}/login"));
    let other = other.header("host", "evil.example").send().await.unwrap();
    let (status, text) = (other.status().as_u16(), other.text().await.unwrap());
    // Caddy has no site for this host and sends an empty page.
    assert!(status == 421 || text.is_empty(), "{status}: {text}");

    // Forwarded headers sign nobody in, even with the secret, which is accepted without the proxy.
    let forged = [("x-forwarded-user", "admin"), ("docket-proxy-secret", SECRET)];
    let twice = [forged[0], forged[0], ("X-Forwarded-Groups", "leads"), ("Docket-Proxy-Secret", SECRET)];
    for forged in [&forged[..], &twice] {
        let response = visitor.get("/p/docs", forged).await;
        assert_eq!((response.status().as_u16(), response.headers().contains_key(LOCATION)), (303, true));
    }
    let direct = http_client().build().unwrap();
    let direct = direct.get(format!("http://{address}/p/docs")).header("host", format!("{NAME}:{https}"));
    let direct = direct
        .header("accept", "text/html")
        .header(forged[0].0, forged[0].1)
        .header(forged[1].0, forged[1].1);
    assert_eq!(direct.send().await.unwrap().status(), 200);

    // The recorded address is the browser's, and neither the forged one nor the proxy's.
    visitor.sign_in().await;
    let account = visitor.get("/account", &[("x-forwarded-for", MADE_UP)]).await.text().await.unwrap();
    assert!(account.contains(&HERE.to_string()), "{account}");
    assert!(!account.contains(MADE_UP), "{account}");
    let upstream = visitor.get("/admin/upstream", &[]).await.text().await.unwrap();
    assert!(!upstream.contains("DOCKET_TRUSTED_PROXIES"), "{upstream}");

    // The longest prompt arrives complete, and a much longer one is refused.
    let prompt = "€".repeat(32_768);
    let fields = [("project", "docs"), ("prompt", &prompt), ("intent", &intent())];
    assert_eq!(visitor.post("/api/jobs/create", &fields).await.status(), 200);
    assert_eq!(platform.posts_of(&prompt), 1);
    let too_long = "x".repeat(3_000_000);
    let fields = [("project", "docs"), ("prompt", &too_long), ("intent", &intent())];
    assert_eq!(visitor.post("/api/jobs/create", &fields).await.status(), 413);

    // An export arrives complete, and so does a compressed page.
    let export = visitor.get("/admin/audit/export.csv", &[]).await;
    assert_eq!(export.status(), 200, "{export:?}");
    assert!(export.text().await.unwrap().lines().count() >= 2);
    let page = visitor.get("/p/docs/jobs", &[]).await;
    assert_eq!((page.status().as_u16(), page.text().await.unwrap().contains("</html>")), (200, true));

    // The trace of an untrusted client is not continued.
    let traceparent = format!("00-{TRACE}-b7ad6b7169203331-01");
    assert_eq!(visitor.get("/p/docs", &[("traceparent", &traceparent)]).await.status(), 200);
    server.signal("TERM");
    assert!(server.ended().await.success());
    let spans = collector.spans().await;
    assert!(spans.iter().any(|span| span.name == "GET /p/{project}"), "{spans:?}");
    assert!(spans.iter().all(|span| span.trace != TRACE), "{spans:?}");
}

#[tokio::test]
async fn documented_nginx_configuration_works() {
    check_proxy(nginx).await;
}

#[tokio::test]
async fn documented_caddy_configuration_works() {
    check_proxy(caddy).await;
}

/// The headers that a client must not choose.
const OF_CLIENTS: [&str; 5] =
    ["x-forwarded-user", "x-forwarded-groups", "docket-proxy-secret", "traceparent", "tracestate"];

/// A file name, and how its syntax removes a header.
type Syntax = (&'static str, fn(&str) -> String);

/// How an example begins the part of a proxy's configuration that forwards requests, and how it removes a header.
const SYNTAXES: [Syntax; 3] = [
    ("proxy_pass ", |header| format!("proxy_set_header {header} \"\";")),
    ("reverse_proxy ", |header| format!("header_up -{header}\n")),
    ("loadbalancer:", |header| format!("{header}: \"\"\n")),
];

/// Also an example that is added later, and those that no test can run.
#[test]
fn every_example_of_a_proxy_removes_headers_of_clients() {
    let mut examples = 0;
    for file in crate::documents::files() {
        // Pictures are no text.
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let text = text.to_lowercase();
        let blocks: Vec<&str> = match file.extension().is_some_and(|extension| extension == "md") {
            true => text.split("```").skip(1).step_by(2).collect(),
            false => vec![text.as_str()],
        };
        for block in blocks {
            for (begin, removal) in SYNTAXES.iter().filter(|(begin, _)| block.contains(begin)) {
                examples += 1;
                for header in OF_CLIENTS {
                    assert!(
                        block.contains(&removal(header)),
                        "{begin}of {} forwards {header}",
                        file.display()
                    );
                }
            }
        }
    }
    assert!(examples >= 4, "{examples} examples");
}

#[test]
fn proxies_have_longer_timeouts_than_docket() {
    let longest: u64 = {
        let mut keys = base::config::KEYS.iter();
        let key = keys.find(|key| key.name == "upstream_timeout_seconds").unwrap();
        key.meaning.split("at most ").nth(1).unwrap().parse().unwrap()
    };
    for (language, before) in [("nginx", "proxy_read_timeout "), ("caddyfile", "response_header_timeout ")] {
        let block = block(language);
        let (_, rest) = block.split_once(before).unwrap();
        let seconds: u64 = rest.split_once('s').unwrap().0.parse().unwrap();
        assert!(seconds > longest, "{language} waits {seconds} s, Docket {longest}");
        // Docket closes idle connections after 30 seconds.
        let before = if language == "nginx" { "keepalive_timeout " } else { "keepalive " };
        let (_, rest) = block.split_once(before).unwrap();
        assert!(rest.split_once('s').unwrap().0.parse::<u64>().unwrap() < 30, "{language}");
    }
    assert!(DOCUMENT.trim_end().ends_with("the one for Traefik is not tested."));
}
