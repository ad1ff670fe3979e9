//! The options of the palette. All of this is in the part that is loaded on demand. The server finds templates and jobs when typing pauses.

use leptos::either::Either;
use leptos::mount::mount_to;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_split::{SplitLoaderError, wasm_split};
use leptos::web_sys::{Element, HtmlDialogElement, HtmlElement, HtmlInputElement};
use send_wrapper::SendWrapper;

use super::entries::{self, Action as Does, Entry, Group, OtherProject, Reach};
use crate::ui::components::badge::badge;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::job_status::ShownStatus;
use crate::ui::components::keys::keys;
use crate::ui::islands::browser;
use crate::ui::marks::FOLLOW_UP_FIELD;
use api::palette::FindInPalette;
use model::error::AppError;
use model::palette::Found;

/// The id of the list.
const LIST: &str = "palette-options";

/// How long typing has to pause before a request, in milliseconds.
const PAUSE: u32 = 200;

/// The links to the same section of the other projects, in the navigation.
const OTHER_PROJECTS: &str = "#projects a:not([aria-current])";

/// The controls of a job's page: those in its head, those that explain its state, and the field for a follow-up.
const CONTROLS: &str = ".job-head .actions .button:not([popovertarget]), .conversation :is(a.button, summary.button), \
     .conversation form:not(details form) > .button, #follow-up:enabled";

/// What the options need of the palette.
pub(super) struct Parts {
    pub(super) dialog: HtmlDialogElement,
    pub(super) field: HtmlInputElement,
    pub(super) reach: Reach,
    pub(super) typed: RwSignal<String>,
    pub(super) opened: RwSignal<u32>,
    /// Whether Enter was pressed before there was an option.
    pub(super) is_entered: RwSignal<bool>,
}

/// Shows the options in `rest`, as long as the page is open.
#[wasm_split(on_demand, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn show(rest: HtmlElement, parts: Parts) -> Result<(), SplitLoaderError> {
    mount_to(rest, move || options(parts)).forget();
    Ok(())
}

/// The answer to a search, and the words it is for.
type Answer = (String, Result<Found, AppError>);

fn options(parts: Parts) -> impl IntoView {
    let Parts { dialog, field, reach, typed, opened, is_entered } = parts;
    let project = reach.project.clone();
    let answer = RwSignal::new(None::<Answer>);
    let groups = StoredValue::new(reach.groups(other_projects()));
    // The controls of a page that is refreshed while the palette is open change with the next word or answer.
    let shown = Memo::new(move |_| {
        opened.track();
        groups.with_value(|groups| matching(groups, of_page(), answer.get(), &typed.read()))
    });
    // The option that the arrow keys chose last.
    let preferred = RwSignal::new(None::<String>);
    let chosen = Memo::new(move |_| {
        let ids = ids(&shown.read());
        preferred.get().filter(|id| ids.contains(id)).or(ids.into_iter().next())
    });

    let edits = browser::Edits::default();
    Effect::watch(
        move || (opened.get(), typed.get()),
        move |(opened, words), before, _| {
            preferred.set(None);
            let is_typing = before.is_some_and(|(before, _)| before == opened);
            if before.is_some() {
                is_entered.set(false);
            }
            let (project, words) = (project.clone(), words.clone());
            edits.after_pause(if is_typing { PAUSE } else { 0 }, move |edit| {
                spawn_local(async move {
                    let found = find(project, words).await;
                    if edit.is_latest() {
                        answer.set(Some(found));
                    }
                });
            });
        },
        true,
    );
    let combobox = field.clone();
    browser::effect(move || {
        let chosen = chosen.get();
        let states = [
            ("aria-expanded", Some("true")),
            ("aria-controls", Some(LIST)),
            ("aria-activedescendant", chosen.as_deref()),
        ];
        for (name, value) in states {
            browser::set(&combobox, name, value);
        }
        if let Some(option) = chosen.and_then(|id| browser::by_id(&id)) {
            browser::show_nearest(&option);
        }
    });
    // Enter counts for the first option that comes, unless the answer has none.
    browser::effect(move || {
        let is_answered = answer.read().as_ref().is_some_and(|(words, _)| *words == *typed.read());
        let chosen = chosen.get();
        if is_entered.get() && (is_answered || chosen.is_some()) {
            is_entered.set(false);
            // When it is in the page.
            browser::after(0, move || press(chosen.as_deref()));
        }
    });
    browser::on_key(&field, move |key| {
        let chosen = chosen.get_untracked();
        if key.name == "Enter" {
            key.prevent_default();
            is_entered.set(chosen.is_none());
            press(chosen.as_deref());
            return;
        }
        let ids = ids(&shown.read_untracked());
        if let Some(next) = entries::step(&key.name, &ids, chosen.as_deref()) {
            key.prevent_default();
            preferred.set(ids.get(next).cloned());
        }
    });

    // A button does something on this page; a link leaves it.
    let close = Callback::new({
        let dialog = SendWrapper::new(dialog);
        move |()| dialog.close()
    });
    let list = move || shown.get().into_iter().map(|shown| group(shown, chosen, close)).collect_view();
    view! {
        <button type="button" class="quiet palette-close" aria-label="Close" on:click=move |_| close.run(())>{icon(icon::CLOSE)}</button>
        <div id=LIST class="palette-options" role="listbox" aria-label="Results">{list}</div>
        <p class="palette-none" role="status">{move || message(answer.get(), shown.read().is_empty())}</p>
        <p class="palette-keys faint" aria-hidden="true">
            <span class="keys"><kbd>"↑"</kbd><kbd>"↓"</kbd></span>
            " Choose "
            <span class="keys"><kbd>"Enter"</kbd></span>
            " Open "
            <span class="keys"><kbd>"Esc"</kbd></span>
            " Close"
        </p>
    }
}

async fn find(project: String, words: String) -> Answer {
    // Jobs and templates belong to a project.
    if project.is_empty() {
        return (words, Ok(Found::default()));
    }
    let fields = browser::fields_of(&[("project", &project), ("q", &words)]);
    let found = browser::post::<Found>(FindInPalette::PATH, &fields).await.result;
    (words, found)
}

/// The options for the typed words. The server's results for these words are not filtered again: a job may have them in its text.
fn matching(
    [commands, places, others]: &[Group; 3],
    job: Group,
    answer: Option<Answer>,
    typed: &str,
) -> Vec<Group> {
    let lower = browser::lowercase(typed);
    let words: Vec<&str> = lower.split_whitespace().collect();
    let (of, found) =
        answer.map_or_else(Default::default, |(words, found)| (words, found.unwrap_or_default()));
    let [templates, jobs, views, pages] = entries::found(found);
    let needed = if of == typed { &[][..] } else { &words };
    let groups = [
        (&job, &words[..]),
        (commands, &words),
        (places, &words),
        (&views, needed),
        (&templates, needed),
        (&jobs, needed),
        (&pages, needed),
        (others, &words),
    ];
    groups.into_iter().filter_map(|(group, words)| group.matching(words, browser::lowercase)).collect()
}

fn message(answer: Option<Answer>, is_empty: bool) -> Option<String> {
    match answer {
        Some((_, Err(error))) => {
            Some(["Jobs, templates, saved views and pages were not searched. ", &error.message].concat())
        }
        _ => is_empty.then(|| "Nothing matches".to_owned()),
    }
}

fn ids(groups: &[Group]) -> Vec<String> {
    groups.iter().flat_map(|group| &group.entries).map(|entry| entry.id.clone()).collect()
}

fn press(id: Option<&str>) {
    let option = id.and_then(browser::by_id).and_then(|option| option.dyn_into::<HtmlElement>().ok());
    if let Some(option) = option {
        option.click();
    }
}

/// The controls of the open job; none on other pages.
fn of_page() -> Group {
    entries::of_job(browser::all(CONTROLS).iter().map(label).collect())
}

fn label(control: &Element) -> String {
    if FOLLOW_UP_FIELD.is_of(control) {
        return "Write a follow-up".to_owned();
    }
    let text = control.text_content().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Presses the control with this label, which has the focus then if it can.
fn use_control(name: &str) {
    let control = browser::all(CONTROLS).into_iter().find(|control| label(control) == name);
    if let Some(control) = control.and_then(|control| control.dyn_into::<HtmlElement>().ok()) {
        let _ = control.focus();
        control.click();
    }
}

fn other_projects() -> Vec<OtherProject> {
    let links = browser::all(OTHER_PROJECTS);
    let links = links.iter().map(|link| {
        (link.text_content().unwrap_or_default(), link.get_attribute("href").unwrap_or_default())
    });
    links.collect()
}

fn group(group: Group, chosen: Memo<Option<String>>, close: Callback<()>) -> impl IntoView {
    let options = group.entries.into_iter().map(|entry| option(entry, chosen, close)).collect_view();
    view! {
        <div role="group" aria-label=group.name>
            <p class="palette-group" aria-hidden="true">{group.name}</p>
            {options}
        </div>
    }
}

fn option(entry: Entry, chosen: Memo<Option<String>>, close: Callback<()>) -> impl IntoView {
    let Entry { id, name, detail, status, action, keys: shortcut } = entry;
    // Without the job's id: the page may have a badge of the job, too.
    let badge = status.as_ref().map(|status| {
        let status = ShownStatus::of(status);
        view! { {badge(move || status.clone(), None)} " · " }
    });
    let content = view! {
        <span class="palette-name" dir="auto">{name}</span>
        <span class="faint">{badge} {detail}</span>
        {keys(shortcut)}
    };
    let of = id.clone();
    let is_chosen = move || if chosen.read().as_ref() == Some(&of) { "true" } else { "false" };
    let (button, form, control) = match action {
        Does::Open(href) => {
            return Either::Left(view! {
                <a id=id class="palette-option" role="option" tabindex="-1" aria-selected=is_chosen href=href>
                    {content}
                </a>
            });
        }
        Does::Press(button) => (Some(button), None, None),
        Does::Submit(form) => (None, Some(form), None),
        Does::Control(name) => (None, None, Some(name)),
    };
    Either::Right(view! {
        <button
            id=id
            type=if form.is_some() { "submit" } else { "button" }
            form=form
            class="palette-option"
            role="option"
            tabindex="-1"
            aria-selected=is_chosen
            data-button=button
            on:click=move |_| {
                close.run(());
                if let Some(name) = &control {
                    use_control(name);
                }
            }
        >
            {content}
        </button>
    })
}
