//! The query of the address. The router's own decodes each value twice, so that `%2541` would come as `A`.

use leptos::prelude::*;
use leptos_router::hooks::use_url;
use leptos_router::location::Url;
use leptos_router::params::ParamsMap;

/// The fields of the query as it is now.
pub fn query() -> Memo<ParamsMap> {
    let url = use_url();
    Memo::new(move |_| read(url.read().search()))
}

/// The fields of `query`, which is as it stands in the address, without the question mark.
fn read(query: &str) -> ParamsMap {
    let mut fields = ParamsMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // Adding to the map decodes, once.
        fields.insert(Url::unescape(name), value.replace('+', "%20"));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_once() {
        let fields = read("q=gu%25de+%2B1&author=%C3%85se&empty=&flag&next=%2Fp%2Fdocs%3Fa%3D%2541");
        let value = |name| fields.get(name);
        assert_eq!(value("q").as_deref(), Some("gu%de +1"));
        assert_eq!(value("author").as_deref(), Some("Åse"));
        assert_eq!((value("empty").as_deref(), value("flag").as_deref()), (Some(""), Some("")));
        assert_eq!(value("next").as_deref(), Some("/p/docs?a=%41"));
        assert_eq!(value("missing"), None);
    }
}
