//! Authentication: every operation needs the key.

use crate::report::{Report, ensure};
use crate::shape::{answered, text};
use crate::upstream::{Answer, Upstream};

pub(crate) async fn check(upstream: &Upstream, report: &mut Report) {
    let refused = |answer: &Answer| {
        answered(answer, &[401])?;
        text(&answer.json(), "error")?;
        ensure(answer.json().get("totals").is_none(), || "figures were returned".to_owned())
    };
    let answer = upstream.views_as(None).await;
    report.point("key: page views without one are 401 (part 2)", refused(&answer));
    let answer = upstream.views_as(Some("mint_docket_conformance_wrong_key")).await;
    report.point("key: page views with a wrong one are 401 (part 2)", refused(&answer));
    let answer = upstream.job_as(None).await;
    report.point("key: a job without one is 401 (part 2)", refused(&answer));
}
