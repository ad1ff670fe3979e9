//! Page views: the parameters and the figures of the response.

use serde_json::Value;

use crate::report::{Finding, Report, ensure};
use crate::shape::{adds_up, analytics_error, answered, count, counts, text};
use crate::upstream::Upstream;

const LARGEST_LIMIT: usize = 250;
const DEFAULT_LIMIT: usize = 50;

pub(crate) async fn check(upstream: &Upstream, report: &mut Report) {
    response(upstream, report).await;
    paging(upstream, report).await;
    dates(upstream, report).await;
    invalid_queries(upstream, report).await;
}

async fn response(upstream: &Upstream, report: &mut Report) {
    let plain = upstream.views(&[]).await;
    report.point(
        "views: a question without parameters is answered with 200 (part 2)",
        answered(&plain, &[200]),
    );
    let plain = plain.json();
    report.point("views: totals are present and count human, ai and total", counts(&plain["totals"]));
    report.point(
        "views: views is a list of paths with their counts",
        each_row(&plain, |row| text(row, "path").and_then(|()| counts(row))),
    );
    report.point(
        "views: a view is counted once, as human or as AI (part 2)",
        adds_up(&plain["totals"]).and_then(|()| each_row(&plain, adds_up)),
    );
    report.point("views: hasMore is true or false", boolean(&plain, "hasMore"));
    report.point(
        "views: limit is 50 by default",
        ensure(
            rows(&plain) <= DEFAULT_LIMIT && (rows(&plain) == DEFAULT_LIMIT || plain["hasMore"] == false),
            || format!("{} rows with hasMore {}", rows(&plain), plain["hasMore"]),
        ),
    );
}

async fn paging(upstream: &Upstream, report: &mut Report) {
    // Complete days, so that no figure changes between two requests.
    let (from, to) = (upstream.days_ago(30), upstream.days_ago(1));
    let page = async |limit: &str, offset: &str| {
        let days = [("dateFrom", from.as_str()), ("dateTo", to.as_str())];
        upstream.views(&[days[0], days[1], ("limit", limit), ("offset", offset)]).await
    };
    let whole = page("250", "0").await;
    report.point("views: limit may be 250", answered(&whole, &[200]));
    let whole = whole.json();
    report.point(
        "views: no more rows come than limit",
        ensure(rows(&whole) <= LARGEST_LIMIT, || format!("{} rows", rows(&whole))),
    );
    let (first, second) = (page("1", "0").await.json(), page("1", "1").await.json());
    report.point(
        "views: totals are of the whole range, whatever the page",
        ensure(first["totals"] == whole["totals"] && second["totals"] == whole["totals"], || {
            format!("{} and {} and {}", whole["totals"], first["totals"], second["totals"])
        }),
    );
    if rows(&whole) < 2 {
        report.left_out(
            "views: adding limit to offset gives the next page",
            "the project has fewer than two rows",
        );
    } else {
        let pages = [&first["views"][0], &second["views"][0]];
        let expected = [&whole["views"][0], &whole["views"][1]];
        report.point(
            "views: adding limit to offset gives the next page",
            ensure(pages == expected, || format!("{pages:?} and not {expected:?}")),
        );
        report.point(
            "views: hasMore is true before the last page",
            ensure(first["hasMore"] == true, || format!("hasMore is {}", first["hasMore"])),
        );
    }
    let beyond = page("50", "1000000000").await;
    report.point("views: beyond the last row is an empty page", {
        let body = beyond.json();
        answered(&beyond, &[200]).and_then(|()| {
            ensure(body["views"] == Value::Array(vec![]) && body["hasMore"] == false, || {
                format!("{} rows, hasMore {}", rows(&body), body["hasMore"])
            })
        })
    });
}

async fn dates(upstream: &Upstream, report: &mut Report) {
    let [first, middle, end] = [3, 2, 1].map(|days| upstream.days_ago(days));
    let range = async |from: &str, to: &str| upstream.views(&[("dateFrom", from), ("dateTo", to)]).await;
    let both = range(&first, &end).await;
    report.point("views: days are written YYYY-MM-DD", answered(&both, &[200]));
    let instants = range(&format!("{first}T00:00:00Z"), &format!("{end}T00:00:00Z")).await;
    report.point("views: dates may be written in ISO 8601 with a time", {
        answered(&instants, &[200]).and_then(|()| same_totals(&instants.json(), &both.json()))
    });
    let (one, other) = (range(&first, &middle).await, range(&middle, &end).await);
    let name = "views: dateTo is exclusive, so that ranges side by side add up";
    let (one, other, both) = (one.json(), other.json(), both.json());
    if both["totals"]["total"] == 0 {
        return report.left_out(name, "nobody looked at the project in these days");
    }
    report.point(name, {
        ["human", "ai", "total"].iter().try_for_each(|field| {
            let count = |body: &Value| count(&body["totals"], field);
            let (parts, whole) = (count(&one)? + count(&other)?, count(&both)?);
            ensure(parts == whole, || format!("{field}: the days have {parts}, the range has {whole}"))
        })
    });
}

async fn invalid_queries(upstream: &Upstream, report: &mut Report) {
    for (name, query) in [
        ("views: limit 0 is refused with 400 (part 2)", ("limit", "0")),
        ("views: limit 251 is refused with 400 (part 2)", ("limit", "251")),
        ("views: offset -1 is refused with 400 (part 2)", ("offset", "-1")),
        ("views: a dateFrom that is no date is refused with 400 (part 2)", ("dateFrom", "yesterday")),
    ] {
        let response = upstream.views(&[query]).await;
        report.point(name, answered(&response, &[400]).and_then(|()| analytics_error(&response)));
    }
}

fn rows(body: &Value) -> usize {
    body["views"].as_array().map_or(0, Vec::len)
}

fn each_row(body: &Value, check: impl Fn(&Value) -> Finding) -> Finding {
    let rows = body["views"].as_array().ok_or_else(|| format!("views is {} and no list", body["views"]))?;
    rows.iter().try_for_each(check)
}

fn boolean(body: &Value, field: &str) -> Finding {
    ensure(body[field].is_boolean(), || format!("{field} is {} and no truth value", body[field]))
}

fn same_totals(one: &Value, other: &Value) -> Finding {
    ensure(one["totals"] == other["totals"], || format!("{} and not {}", one["totals"], other["totals"]))
}
