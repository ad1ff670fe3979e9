//! Messages that `docs/operate/troubleshooting.md` quotes exist, and so do the settings and pages in the documents for operators.

use base::config::KEYS;
use docket::server::http::router::page_paths;

use crate::helpers::Installation;
use crate::helpers::sources::sources;

const TROUBLESHOOTING: &str = include_str!("../../docs/operate/troubleshooting.md");
const ADVICE: [&str; 5] = [
    TROUBLESHOOTING,
    include_str!("../../docs/operate/proxies.md"),
    include_str!("../../docs/operate/security.md"),
    include_str!("../../docs/operate/sizing.md"),
    include_str!("../../docs/operate/traces.md"),
];

/// Messages of libraries that Docket passes on.
const OF_LIBRARIES: [&str; 1] = ["slow statement"];

/// All sources as one text, in which continued string literals are joined.
fn joined_sources() -> String {
    let joined = sources().into_iter().map(|(_, source)| {
        let mut lines = source.split("\\\n");
        let first = lines.next().unwrap_or_default().to_owned();
        lines.fold(first, |all, line| all + line.trim_start())
    });
    joined.collect()
}

/// The texts between two of these signs in one line.
fn between(document: &'static str, sign: char) -> impl Iterator<Item = &'static str> {
    document.lines().flat_map(move |line| line.split(sign).skip(1).step_by(2))
}

#[test]
fn quoted_messages_exist_in_the_sources() {
    let sources = joined_sources();
    let messages: Vec<&str> = between(TROUBLESHOOTING, '"').collect();
    assert!(messages.len() >= 20, "{messages:?}");
    for message in messages {
        assert!(
            sources.contains(message) || OF_LIBRARIES.contains(&message),
            "no source contains “{message}”"
        );
    }
}

#[test]
fn documented_commands_settings_and_pages_exist() {
    let installation = Installation::new();
    let (mut commands, mut settings, mut pages) = (0, 0, 0);
    for code in ADVICE.into_iter().flat_map(|document| between(document, '`')) {
        if let Some(arguments) = code.strip_prefix("docket ") {
            let words: Vec<&str> = arguments.split(' ').take_while(|word| !word.starts_with('-')).collect();
            let ended = installation.run(&[&words[..], &["--help"]].concat());
            assert_eq!(ended.code, Some(0), "{code}: {ended:?}");
            for option in arguments.split(' ').filter(|word| word.starts_with("--")) {
                assert!(ended.stdout.contains(option), "{code}: {ended:?}");
            }
            commands += 1;
        } else if code.starts_with("DOCKET_") {
            let variable = code.split_once('=').map_or(code, |(variable, _)| variable);
            assert!(KEYS.iter().any(|key| key.variable() == variable), "{code}");
            settings += 1;
        } else if code.starts_with("/admin") {
            assert!(page_paths().any(|page| page == code), "{code}");
            pages += 1;
        }
    }
    assert!(commands >= 4 && settings >= 10 && pages >= 2, "{commands} {settings} {pages}");
}
