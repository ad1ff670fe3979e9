//! The client is a program of its own, for machines that run no server: it needs little, and nothing of the server.

use std::collections::BTreeSet;
use std::process::Command;

/// The names of the packages of which the client consists on this system.
fn packages() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--package", "docket-client"])
        .args(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn client_has_nothing_of_the_server() {
    let packages = packages();
    let own: Vec<_> = packages.iter().filter(|name| name.starts_with("docket")).collect();
    assert_eq!(own, ["docket-client", "docket-model"]);
    for of_a_server in
        ["axum", "leptos", "leptos-facade", "server_fn", "sqlx", "sqlx-core", "libsqlite3-sys", "utoipa"]
    {
        assert!(!packages.contains(of_a_server), "{of_a_server}");
    }
    // One provider of cryptography, which needs no other compiler than that of C.
    assert!(packages.contains("ring"), "{packages:?}");
    for other in ["aws-lc-rs", "aws-lc-sys", "openssl", "openssl-sys", "native-tls"] {
        assert!(!packages.contains(other), "{other}");
    }
    assert!(packages.len() <= 145, "{} packages: {packages:?}", packages.len());
}
