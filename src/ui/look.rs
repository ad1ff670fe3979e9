//! A person's choices for this browser.

/// The router provides it to every page.
#[derive(Clone, Copy, Default)]
pub struct Look {
    /// `light` or `dark`; `None`: as the system.
    pub theme: Option<&'static str>,
    /// `comfortable`: higher rows.
    pub density: Option<&'static str>,
    /// Whether the shortcuts of a single key are switched off.
    pub no_shortcuts: bool,
}
