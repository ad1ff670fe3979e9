//! The person that a page was made for. Another one may have signed in in another tab since: what the page sends would act as them, with the text of the
//! first. A request that names nobody acts as the signed-in person.

use axum::extract::Request;
use url::form_urlencoded;

use model::error::{AppError, ErrorCode};
use model::headers::{PERSON_FIELD, PERSON_HEADER};

/// The id of the person in the fields of a form; in the extensions of its request.
#[derive(Clone)]
pub struct MadeFor(String);

impl MadeFor {
    /// Of the url-encoded fields of a request.
    pub fn of_fields(body: &[u8]) -> Option<Self> {
        let mut fields = form_urlencoded::parse(body);
        fields.find(|(name, _)| name == PERSON_FIELD).map(|(_, id)| Self(id.into_owned()))
    }
}

/// Whether a request comes from a page that was made for another person than the one with the id `person`.
pub(super) fn is_for_another(request: &Request, person: &str) -> bool {
    let in_header = request.headers().get(PERSON_HEADER).map(|id| id.as_bytes());
    let in_form = request.extensions().get::<MadeFor>().map(|MadeFor(id)| id.as_bytes());
    in_header.into_iter().chain(in_form).any(|id| id != person.as_bytes())
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
    use axum::http::HeaderValue;

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
        assert!(!is_for_another(&request(Some("a"), Some("prompt=text&person=a")), "a"));
    }

    #[test]
    fn header_or_field_with_another_person_is_refused() {
        for (header, form) in
            [(Some("b"), None), (None, Some("person=b")), (Some("a"), Some("person=b")), (Some(""), None)]
        {
            assert!(is_for_another(&request(header, form), "a"), "{header:?} {form:?}");
        }
    }
}
