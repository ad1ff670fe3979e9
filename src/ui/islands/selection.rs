//! Selecting rows of a list with checkboxes: one value, from which its boxes and counts follow. A box only shows it, and a click on a box changes it: a
//! row, with Shift all rows since the last one, all rows of the page, or all that match the filters.

pub mod bulk;
pub mod picked;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlFormElement, HtmlInputElement, MouseEvent};

use crate::ui::islands::browser::{self, handler};
use crate::ui::islands::live::LiveState;
use crate::ui::marks::{Id, MATCHES};
use model::analytics::query::MATCHING;

/// What is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// Rows, by the values of their boxes.
    Rows(Vec<String>),
    /// All that match the filters of this query, also those without a row.
    Matching(String),
}

/// The boxes of a list.
#[derive(Clone, Copy)]
pub struct List {
    /// The form that they belong to.
    pub form: Id,
    /// The name of the boxes of rows.
    pub row: &'static str,
    /// The box for all rows of the page.
    pub page: Id,
    /// Whether rows stay selected with other filters, and on other pages of the list.
    pub has_other_pages: bool,
}

/// The selection of a list.
#[derive(Clone, Copy)]
pub struct Selection {
    state: RwSignal<State>,
    pub list: List,
}

/// Shows the selection and its number beside the list.
type Show = Box<dyn Fn(&Selected, u64)>;

#[derive(Clone)]
struct State {
    selected: Selected,
    /// The URL that it was selected at.
    url: String,
    /// The row that was clicked last, by the value of its box.
    last: Option<String>,
}

/// `picked`: the project of a table of pages; without it, the list is that of jobs. `children` are the list, its toolbar and its form.
#[island]
pub fn Selectable(picked: Option<String>, children: Children) -> impl IntoView {
    let selection = Selection::of(if picked.is_some() { picked::LIST } else { bulk::LIST });
    if let Some(live) = LiveState::here() {
        match picked {
            Some(project) => picked::start(selection, live, &project),
            None => selection.start(live, Vec::new(), Box::new(bulk::show)),
        }
    }
    view! {
        <div
            class="listing"
            on:click=handler(move |event| selection.clicked(&event))
            on:reset=handler(move |event| selection.reset(&event))
            on:submit=handler(move |event| picked::open(selection, &event))
        >
            {children()}
        </div>
    }
}

impl Selected {
    const NONE: Self = Self::Rows(Vec::new());

    /// With or without `rows`. Of all that match, only those of the `page` are left.
    fn with(self, rows: &[String], is_selected: bool, page: &[String]) -> Self {
        let mut selected = match self {
            Self::Rows(selected) => selected,
            Self::Matching(_) => page.to_vec(),
        };
        selected.retain(|row| !rows.contains(row));
        if is_selected {
            selected.extend_from_slice(rows);
        }
        Self::Rows(selected)
    }
}

impl Selection {
    fn of(list: List) -> Self {
        let state = State { selected: Selected::NONE, url: String::new(), last: None };
        Self { state: RwSignal::new(state), list }
    }

    /// Begins with `rows`, and those that the server or the browser has chosen. Calls `show` with the selection and its number whenever they change,
    /// and after the page changed.
    pub fn start(self, live: LiveState, rows: Vec<String>, show: Show) {
        let is_chosen = |field: &&HtmlInputElement| field.checked() || field.type_() == "hidden";
        let fields = self.list.fields(self.list.row);
        let chosen: Vec<_> = fields.iter().filter(is_chosen).map(HtmlInputElement::value).collect();
        self.set(Selected::Rows(rows).with(&chosen, true, &[]), None);
        browser::effect(move || {
            live.merges.track();
            let State { selected, url, .. } = self.state.get();
            if !self.is_left(&selected, &url) {
                return self.set(Selected::NONE, None);
            }
            let count = self.show(&selected);
            show(&selected, count);
            if count == 0 {
                browser::leave_hidden();
            }
        });
    }

    pub fn now(self) -> Selected {
        self.state.get_untracked().selected
    }

    /// Whether what was selected at `url` still is: nothing of a list without other pages is at another URL, and of all that match nothing with other
    /// filters.
    fn is_left(self, selected: &Selected, url: &str) -> bool {
        match selected {
            Selected::Rows(rows) => rows.is_empty() || self.list.has_other_pages || url == browser::here(),
            Selected::Matching(query) => self.list.fields(MATCHING).iter().any(|all| all.value() == *query),
        }
    }

    /// Shows the selection in the boxes. Returns its number: of a list without other pages, only rows of the page count.
    fn show(self, selected: &Selected) -> u64 {
        let (boxes, mut checked) = (self.list.boxes(), 0);
        for check in &boxes {
            let is_checked = match selected {
                Selected::Rows(rows) => rows.contains(&check.value()),
                Selected::Matching(_) => true,
            };
            check.set_checked(is_checked);
            checked += usize::from(is_checked);
        }
        let page = self.list.page.element().and_then(|page| page.dyn_into::<HtmlInputElement>().ok());
        if let Some(page) = page {
            page.set_checked(checked > 0 && checked == boxes.len());
            page.set_indeterminate(checked > 0 && checked < boxes.len());
        }
        let mut count = match selected {
            Selected::Rows(rows) if self.list.has_other_pages => rows.len() as u64,
            _ => checked as u64,
        };
        for all in self.list.fields(MATCHING) {
            let is_checked = matches!(selected, Selected::Matching(_));
            all.set_checked(is_checked);
            if is_checked {
                count = MATCHES.of(&all).and_then(|count| count.parse().ok()).unwrap_or(count);
            }
        }
        count
    }

    fn clicked(self, event: &MouseEvent) {
        let check = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        let Some(check) = check.filter(|check| check.type_() == "checkbox") else { return };
        let (boxes, is_selected) = (self.list.boxes(), check.checked());
        let page: Vec<String> = boxes.iter().map(HtmlInputElement::value).collect();
        let State { last, .. } = self.state.get_untracked();
        let (mut rows, mut at) = (&page[..], last);
        if let Some(clicked) = boxes.iter().position(|other| *other == check) {
            let last = at.filter(|_| event.shift_key());
            let from = page.iter().position(|row| Some(row) == last.as_ref()).unwrap_or(clicked);
            rows = &page[from.min(clicked)..=from.max(clicked)];
            at = Some(check.value());
        } else if check.name() == MATCHING {
            return self
                .set(if is_selected { Selected::Matching(check.value()) } else { Selected::NONE }, at);
        } else if !self.list.page.is_of(&check) {
            return;
        }
        self.set(self.now().with(rows, is_selected, &page), at);
    }

    fn set(self, selected: Selected, last: Option<String>) {
        self.state.set(State { selected, url: browser::here(), last });
    }

    /// Where other pages count, the form has no other fields, and the browser would check the boxes that the server rendered as checked.
    fn reset(self, event: &Event) {
        if browser::submitted(event).is_some_and(|form| self.list.form.is_of(&form)) {
            if self.list.has_other_pages {
                event.prevent_default();
            }
            self.set(Selected::NONE, None);
        }
    }
}

impl List {
    /// The boxes of the rows, in the order of the page.
    fn boxes(self) -> Vec<HtmlInputElement> {
        let mut boxes = self.fields(self.row);
        boxes.retain(|field| field.type_() == "checkbox");
        boxes
    }

    /// The fields of the form with a name.
    fn fields(self, name: &str) -> Vec<HtmlInputElement> {
        let form = self.form.element().and_then(|form| form.dyn_into::<HtmlFormElement>().ok());
        let Some(fields) = form.map(|form| form.elements()) else { return Vec::new() };
        let fields =
            (0..fields.length()).filter_map(|at| fields.item(at)?.dyn_into::<HtmlInputElement>().ok());
        fields.filter(|field| field.name() == name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const N: usize>(rows: [&str; N]) -> Vec<String> {
        rows.map(str::to_owned).into()
    }

    #[test]
    fn rows_are_added_once_and_removed() {
        let page = rows(["a", "b", "c"]);
        let selected = Selected::NONE.with(&page[1..], true, &page).with(&page[..2], true, &page);
        assert_eq!(selected, Selected::Rows(rows(["c", "a", "b"])));
        assert_eq!(selected.with(&page[..1], false, &page), Selected::Rows(rows(["c", "b"])));
    }

    #[test]
    fn unticked_row_leaves_the_others_of_the_page() {
        let page = rows(["a", "b", "c"]);
        let all = Selected::Matching("?q=x".to_owned());
        assert_eq!(all.with(&page[1..2], false, &page), Selected::Rows(rows(["a", "c"])));
    }
}
