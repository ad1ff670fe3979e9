//! When the memory allocator (mimalloc, ADR 17) returns free memory to the system. `main.rs` makes it the global allocator.

use std::ffi::c_int;

use libmimalloc_sys::{mi_collect, mi_option_set_default};

/// The allocator's option for how long it retains free memory, in milliseconds. `libmimalloc-sys` has no name for it.
const PURGE_DELAY: c_int = 15;

/// Returns free memory after 10 ms. The default of one second uses a third more memory and serves hardly more requests.
/// Call this before the process starts threads.
pub fn purge_soon() {
    #[expect(unsafe_code, reason = "no other thread runs yet, and this version has the option")]
    unsafe {
        mi_option_set_default(PURGE_DELAY, 10);
    }
}

/// Returns all free memory at once. The allocator otherwise returns it with later allocations, which an idle server does not make.
pub fn purge() {
    #[expect(unsafe_code, reason = "any thread can call it at any time")]
    unsafe {
        mi_collect(true);
    }
}
