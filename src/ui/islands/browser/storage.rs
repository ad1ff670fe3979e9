//! `localStorage` and `sessionStorage`. Failures are ignored: a page without storage still works.

use leptos::prelude::window;
use leptos::web_sys::Storage;

/// Prefix of the keys of what people write.
pub const DRAFTS: &str = "docket.draft/";

pub fn stored(key: &str) -> Option<String> {
    storage()?.get_item(key).ok()?
}

/// Stores `value`, or removes the key if it is empty.
pub fn store(key: &str, value: &str) {
    if let Some(storage) = storage() {
        // With full or blocked storage a draft does not survive a reload; nothing else depends on it.
        let _ = if value.is_empty() { storage.remove_item(key) } else { storage.set_item(key, value) };
    }
}

/// Removes all drafts, of this tab too, because the next user of this browser must not read them.
pub fn forget_drafts() {
    for storage in [storage(), window().session_storage().ok().flatten()].into_iter().flatten() {
        for key in keys(&storage, DRAFTS) {
            let _ = storage.remove_item(&key);
        }
    }
}

/// The stored keys that begin with `prefix`.
pub fn stored_keys(prefix: &str) -> Vec<String> {
    storage().map(|storage| keys(&storage, prefix)).unwrap_or_default()
}

fn keys(storage: &Storage, prefix: &str) -> Vec<String> {
    let keys = (0..storage.length().unwrap_or(0)).filter_map(|at| storage.key(at).ok()?);
    keys.filter(|key| key.starts_with(prefix)).collect()
}

/// As [`stored`], in `sessionStorage`.
pub fn stored_for_tab(key: &str) -> Option<String> {
    window().session_storage().ok()??.get_item(key).ok()?
}

/// As [`store`], in `sessionStorage`.
pub fn store_for_tab(key: &str, value: &str) {
    if let Ok(Some(storage)) = window().session_storage() {
        let _ = if value.is_empty() { storage.remove_item(key) } else { storage.set_item(key, value) };
    }
}

fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
