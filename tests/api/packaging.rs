//! The content of packages besides the binary: the annotated configuration, the manual pages, the completions, and the package
//! descriptions. `scripts/dist-test.sh` tests everything that needs a release build.

use base::config::KEYS;

use crate::helpers::Installation;

const CONFIGURATION: &str = include_str!("../../Leptos.toml");
const CONTAINERFILE: &str = include_str!("../../Containerfile");

#[test]
fn annotated_configuration_has_every_key_with_its_default() {
    for key in KEYS.iter() {
        let start = format!("# {} = ", key.name);
        let mut lines = CONFIGURATION.lines().filter_map(|line| line.strip_prefix(&start));
        let value = lines.next().unwrap_or_else(|| panic!("Leptos.toml has no line `{start}…`"));
        assert_eq!(lines.next(), None, "{}", key.name);
        // A default that depends on another key is explained in words.
        if !key.default.is_empty() && !key.default.contains('{') {
            assert_eq!(value.trim_matches('"'), key.default, "{}", key.name);
        }
    }
    let keys = CONFIGURATION.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(" = "));
    for (name, _) in keys.filter(|(name, _)| !name.contains(' ')) {
        assert!(KEYS.iter().any(|key| key.name == name), "{name} is no key");
    }
}

#[test]
fn annotated_configuration_is_valid_with_all_lines_enabled() {
    let installation = Installation::configured("http://127.0.0.1:9");
    let settings = |line: &&str| line.strip_prefix("# ").is_some_and(|rest| rest.contains(" = "));
    let text: String =
        CONFIGURATION.lines().filter(settings).map(|line| format!("{}\n", &line[2..])).collect();
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table.len(), KEYS.len());
    std::fs::write(installation.path("as-it-is.toml"), CONFIGURATION).unwrap();
    let listed = installation.run(&["user", "list", "--config", "as-it-is.toml"]);
    assert!(listed.code == Some(0), "{listed:?}");
}

#[test]
fn manual_pages_and_completions_match_the_command_line() {
    let installation = Installation::configured("http://127.0.0.1:9");
    let generated = installation.run(&["generate", "packaged"]);
    assert!(generated.code == Some(0), "{generated:?}");
    let read = |name: &str| std::fs::read_to_string(installation.path(&format!("packaged/{name}"))).unwrap();
    let page = read("man/docket.1");
    for words in ["DOCKET_PUBLIC_URL", "docket\\-serve(1)", "docket\\-backup(1)"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(read("man/docket-user-add.1").contains("\\-\\-role"));
    for (name, words) in
        [("docket.bash", "backup"), ("_docket", "#compdef docket"), ("docket.fish", "backup")]
    {
        assert!(read(&format!("completions/{name}")).contains(words), "{name}");
    }
    let help = installation.run(&["--help"]);
    assert!(!help.stdout.contains("generate"), "it is for packages only");
}

#[test]
fn image_uses_known_settings_and_runs_without_root() {
    let settings: Vec<_> =
        CONTAINERFILE.split_whitespace().filter(|word| word.starts_with("DOCKET_")).collect();
    assert!(settings.len() >= 2, "{settings:?}");
    for setting in settings {
        let name = setting.split('=').next();
        assert!(KEYS.iter().any(|key| Some(key.variable().as_str()) == name), "{setting}");
    }
    for line in ["FROM scratch", "USER 65532:65532", "VOLUME /var/lib/docket"] {
        assert!(CONTAINERFILE.lines().any(|other| other == line), "{line}");
    }
}
