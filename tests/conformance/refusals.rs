//! Authentication: every operation needs the key.

use crate::report::{Report, ensure};
use crate::shape::{answered, text};
use crate::upstream::{TestResponse, Upstream};

pub(crate) async fn check(upstream: &Upstream, report: &mut Report) {
    let refused = |response: &TestResponse| {
        answered(response, &[401])?;
        text(&response.json(), "error")?;
        ensure(response.json().get("totals").is_none(), || "figures were returned".to_owned())
    };
    let response = upstream.views_as(None).await;
    report.point("key: page views without one are 401 (part 2)", refused(&response));
    let response = upstream.views_as(Some("mint_docket_conformance_wrong_key")).await;
    report.point("key: page views with a wrong one are 401 (part 2)", refused(&response));
    let response = upstream.job_as(None).await;
    report.point("key: a job without one is 401 (part 2)", refused(&response));
}
