//! The person that a page was made for. Another one may have signed in in another tab since: what the page sends would act as them, with the text of the
//! first. A request that names nobody acts as the signed-in person.

use axum::extract::Request;
use axum::http::HeaderValue;
use url::form_urlencoded;

use model::error::{AppError, ErrorCode};
use model::headers::{PERSON_FIELD, PERSON_HEADER};

/// Ends the session of the browser, also if another person is signed in now.
const SIGN_OUT: &str = "/api/session/logout";

/// What a refused response has as the header [`PERSON_HEADER`]: other responses have the same status for other reasons.
pub(super) const ANOTHER: HeaderValue = HeaderValue::from_static("another");

/// The ids of the person in the fields of a form; in the extensions of its request.
#[derive(Clone)]
pub struct MadeFor(Vec<String>);

impl MadeFor {
    /// Of the url-encoded fields of a request.
    pub fn of_fields(body: &[u8]) -> Option<Self> {
        let fields = form_urlencoded::parse(body).filter(|(name, _)| name == PERSON_FIELD);
        let ids: Vec<_> = fields.map(|(_, id)| id.into_owned()).collect();
        (!ids.is_empty()).then_some(Self(ids))
    }
}

/// Whether a request comes from a page that was made for another person than the one with the id `person`.
pub(super) fn is_for_another(request: &Request, person: &str) -> bool {
    let in_headers = request.headers().get_all(PERSON_HEADER).iter().map(HeaderValue::as_bytes);
    let in_form = request.extensions().get::<MadeFor>().into_iter().flat_map(|MadeFor(ids)| ids);
    let mut named = in_headers.chain(in_form.map(String::as_bytes));
    request.uri().path() != SIGN_OUT && named.any(|id| id != person.as_bytes())
}

/// What the page shows then.
pub(super) fn refusal(username: &str) -> AppError {
    AppError::new(
        ErrorCode::Conflict,
        format!("You are now signed in as {username} in this browser. Reload this page before you continue."),
    )
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn request(header: Option<&'static str>, form: Option<&str>) -> Request {
        let mut request = Request::new(Body::empty());
        if let Some(id) = header {
            request.headers_mut().insert(PERSON_HEADER, HeaderValue::from_static(id));
        }
        if let Some(made_for) = form.and_then(|fields| MadeFor::of_fields(fields.as_bytes())) {
            request.extensions_mut().insert(made_for);
        }
        request
    }

    #[test]
    fn request_that_names_nobody_is_for_the_signed_in_person() {
        assert!(!is_for_another(&request(None, None), "a"));
        assert!(!is_for_another(&request(None, Some("prompt=text")), "a"));
    }

    #[test]
    fn request_for_the_same_person_is_accepted() {
        assert!(!is_for_another(&request(Some("a"), Some("prompt=text&made_for=a")), "a"));
    }

    #[test]
    fn header_or_field_with_another_person_is_refused() {
        for (header, form) in [
            (Some("b"), None),
            (None, Some("made_for=b")),
            (Some("a"), Some("made_for=b")),
            (Some("a"), Some("made_for=a&made_for=b")),
            (Some(""), None),
        ] {
            assert!(is_for_another(&request(header, form), "a"), "{header:?} {form:?}");
        }
        let mut two = request(Some("a"), None);
        two.headers_mut().append(PERSON_HEADER, HeaderValue::from_static("b"));
        assert!(is_for_another(&two, "a"));
    }

    #[test]
    fn anybody_may_end_the_session() {
        let mut request = request(Some("b"), Some("made_for=b"));
        *request.uri_mut() = axum::http::Uri::from_static(SIGN_OUT);
        assert!(!is_for_another(&request, "a"));
    }
}
