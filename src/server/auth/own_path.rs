//! Paths that a browser may be sent to after signing in: of this server only. Pure.

/// `next` if it is a path of this server, else `/`.
pub fn own_path(next: Option<&str>) -> String {
    next.filter(|next| is_own_path(next)).unwrap_or("/").to_owned()
}

/// Whether a path cannot be read as another host's address by any browser, and is not an endpoint.
pub fn is_own_path(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !path.starts_with("/api/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_paths_are_gone_to_after_signing_in() {
        assert_eq!(own_path(Some("/p/docs/jobs?status=active")), "/p/docs/jobs?status=active");
        for hostile in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "",
            "p/docs",
            "/a\\b",
            "/\t/evil.example",
            "/a\r\nSet-Cookie: x",
            "\\\\evil",
            "/api/session/logout",
            "/é",
        ] {
            assert_eq!(own_path(Some(hostile)), "/", "{hostile:?}");
        }
        assert_eq!(own_path(None), "/");
    }
}
