//! Paths to which a browser may be redirected after signing in: only those of this server. Pure.

/// `next` if it is a path of this server, otherwise `/`.
pub fn own_path(next: Option<&str>) -> String {
    next.filter(|next| is_own_path(next)).unwrap_or("/").to_owned()
}

/// Whether a path is not an endpoint, and no browser can interpret it as a URL of another host.
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
    fn sign_in_redirects_only_to_own_paths() {
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
