//! The page of a pull request, so that links of a demonstration lead somewhere.

use serde_json::Value;

use super::Opened;

const STYLE: &str = "body{font:16px/1.5 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}\
    dt{color:#666;float:left;clear:left;width:8rem}code{font-size:.9em}";

pub(super) fn page(opened: &Opened, pull_request: &Value) -> String {
    let Opened { repository, number, branch, .. } = opened;
    let text = |name: &str| pull_request[name].as_str().unwrap_or_default();
    let files = pull_request["files"]["nodes"].as_array().into_iter().flatten();
    let files: String = files
        .filter_map(|file| Some(format!("<li><code>{}</code></li>", escaped(file["path"].as_str()?))))
        .collect();
    let checks = pull_request["commits"]["nodes"][0]["commit"]["statusCheckRollup"]["state"]
        .as_str()
        .unwrap_or_default();
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>#{number} · {repository}</title><style>{STYLE}</style><h1>{repository} #{number}</h1>\
         <p>This is the emulated code host of Docket’s demonstration. Nothing can be changed here.</p>\
         <dl><dt>State</dt><dd>{}</dd><dt>Review</dt><dd>{}</dd><dt>Checks</dt><dd>{checks}</dd><dt>Branch</dt><dd><code>{}</code></dd></dl>\
         <h2>Changed files</h2><ul>{files}</ul>",
        text("state"),
        text("reviewDecision"),
        escaped(branch),
        repository = escaped(repository),
    )
}

/// The pull requests of a repository.
pub(super) fn list(repository: &str, opened: &[Opened]) -> String {
    let rows = opened.iter().map(|Opened { number, branch, .. }| {
        format!("<li><a href=\"pull/{number}\">#{number}</a> <code>{}</code></li>", escaped(branch))
    });
    let list = match opened {
        [] => "<p>No pull requests</p>".to_owned(),
        _ => format!("<ul>{}</ul>", rows.collect::<String>()),
    };
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Pull requests · {repository}</title><style>{STYLE}</style><h1>Pull requests of {repository}</h1>\
         <p>This is the emulated code host of Docket’s demonstration. Nothing can be changed here.</p>{list}",
        repository = escaped(repository),
    )
}

pub(super) fn not_found() -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not found</title><style>{STYLE}</style><h1>Not found</h1>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
