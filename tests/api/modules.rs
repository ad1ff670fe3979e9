//! No two modules import each other, directly or through others. A parent and the modules in its folder count as one, because they
//! share names by design.

use std::collections::{BTreeMap, BTreeSet};

use crate::helpers::sources::sources;

type Module = Vec<String>;

/// Our crates, by the names in paths.
const CRATES: [&str; 9] = ["docket", "model", "client", "base", "store", "clients", "service", "web", "api"];

/// The modules of our crates, except for tests, with their sources. The first part of a name is its crate's.
fn modules() -> BTreeMap<Module, String> {
    let named = sources().into_iter().filter_map(|(path, source)| {
        let name: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
        let (member, rest) = match &name[..] {
            ["crates", member, "src", rest @ ..] => (*member, rest),
            ["src", rest @ ..] => ("docket", rest),
            other => panic!("{other:?}"),
        };
        let file = rest.last()?.strip_suffix(".rs")?;
        let parts = [member].into_iter().chain(rest[..rest.len() - 1].iter().copied()).chain([file]);
        let module: Module = parts.map(str::to_owned).collect();
        let left_out = rest.len() == 1 && ["lib", "main"].contains(&file);
        (!left_out && !module.contains(&"tests".to_owned())).then_some((module, source))
    });
    named.collect()
}

/// The source without comments and without its tests.
fn code(source: &str) -> String {
    let lines = source.lines().take_while(|line| *line != "mod tests {");
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The paths in a tree such as `super::{a, b::{c, d}}`.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((head, body)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().to_owned()];
    };
    let body = body.trim_end().strip_suffix('}').unwrap_or(body);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in body.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            letter => parts.last_mut().unwrap().push(letter),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| leaves(part)).map(|leaf| format!("{head}{leaf}")).collect()
}

/// The paths in a source: those that begin with one of our crates, `crate`, `self` or `super`.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let words = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
    let starts = CRATES.iter().map(|name| format!("{name}::"));
    let starts = starts.chain(["crate::", "self::", "super::"].map(str::to_owned));
    for start in starts {
        for (at, _) in code.match_indices(&start).filter(|(at, _)| !code[..*at].ends_with(words)) {
            let rest = &code[at..];
            let path: String = rest.chars().take_while(|letter| words(*letter)).collect();
            match rest[path.len()..].starts_with('{') {
                true => paths.extend(leaves(&rest[..=closing(rest).expect("a closed tree")])),
                false => paths.push(path),
            }
        }
    }
    paths
}

fn closing(tree: &str) -> Option<usize> {
    let mut depth = 0;
    tree.char_indices().find_map(|(at, letter)| {
        depth += match letter {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        (letter == '}' && depth == 0).then_some(at)
    })
}

/// The module to which a path in `module` leads.
fn target(module: &Module, path: &str, modules: &BTreeMap<Module, String>) -> Option<Module> {
    let mut parts: Vec<&str> = path.split("::").map(str::trim).collect();
    let mut from = Module::new();
    if parts[0] == "super" {
        from = module.clone();
        while parts.first() == Some(&"super") {
            from.pop();
            parts.remove(0);
        }
    } else if parts[0] == "self" {
        from = module.clone();
        parts.remove(0);
    } else {
        let first = parts.remove(0);
        from.push(if first == "crate" { module[0].clone() } else { first.to_owned() });
    }
    from.extend(parts.iter().map(|part| (*part).to_owned()));
    (1..=from.len()).rev().map(|length| from[..length].to_vec()).find(|module| modules.contains_key(module))
}

fn imports(modules: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let of = |(module, source): (&Module, &String)| {
        let targets = paths(&code(source)).into_iter().filter_map(|path| target(module, &path, modules));
        (module.clone(), targets.filter(|target| !module.starts_with(target)).collect())
    };
    modules.iter().map(of).collect()
}

/// The shortest path along imports from a module back to itself.
fn cycle(from: &Module, imports: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let (mut ways, mut seen) = (vec![vec![from.clone()]], BTreeSet::new());
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in &imports[way.last()?] {
                let way: Vec<Module> = way.iter().chain([next]).cloned().collect();
                if next == from {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}

#[test]
fn modules_have_no_import_cycle() {
    let modules = modules();
    let imports = imports(&modules);
    let count: usize = imports.values().map(BTreeSet::len).sum();
    assert!(modules.len() > 300 && count > 1_000, "{} modules, {count} imports", modules.len());
    for module in modules.keys() {
        let found = cycle(module, &imports);
        let words =
            found.map(|way| way.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(" → "));
        assert_eq!(words, None, "modules import each other");
    }
}

#[test]
fn imports_are_parsed_like_the_compiler_does() {
    let source = "use model::a::B;\nuse crate::a::{b::C, d};\nuse super::{e, f::{g, H as J}}; // crate::no\npub use self::i::K;\nfn x() { crate::y::z(); super::super::w::V }\n#[cfg(test)]\nmod tests {\n    use crate::t;\n}";
    let mut found = paths(&code(source));
    found.sort();
    let expected = [
        "crate::a::b::C",
        "crate::a::d",
        "crate::y::z",
        "model::a::B",
        "self::i::K",
        "super::e",
        "super::f::H",
        "super::f::g",
        "super::super::w::V",
    ];
    assert_eq!(found, expected);
    let module = |name: &str| vec!["model".to_owned(), name.to_owned()];
    let circle = ["a", "b", "c"].map(|name| (module(name), String::new())).into();
    let ring: BTreeMap<_, _> = [("a", "b"), ("b", "c"), ("c", "a")]
        .map(|(from, to)| (module(from), BTreeSet::from([module(to)])))
        .into();
    for path in ["super::b::Type", "crate::b::Type", "model::b::Type"] {
        assert_eq!(target(&module("a"), path, &circle), Some(module("b")), "{path}");
    }
    assert_eq!(cycle(&module("a"), &ring).map(|way| way.len()), Some(4));
}

/// What only the server's entry points may use.
const ENTRY_POINTS: [&str; 6] =
    ["docket::app", "docket::server", "web::command_line", "web::commands", "web::http", "web::process"];

/// The modules that each part must not use, besides those of [`ENTRY_POINTS`] that are above it.
const LAYERS: [(&str, &[&str]); 8] = [
    ("api", &[]),
    ("web::auth", &[]),
    ("web::request", &["web::auth"]),
    ("web::state", &[]),
    ("docket::ui", &["web"]),
    ("docket::ui::charts", &["docket::ui::components", "docket::ui::islands", "docket::ui::pages", "api"]),
    ("docket::ui::components", &["docket::ui::islands", "docket::ui::pages"]),
    ("docket::ui::islands", &["docket::ui::pages"]),
];

#[test]
fn each_layer_uses_only_the_layers_below_it() {
    let imports = imports(&modules());
    let is_in = |module: &Module, part: &str| {
        let parts: Vec<&str> = part.split("::").collect();
        module.len() >= parts.len() && module.iter().zip(&parts).all(|(one, other)| one == other)
    };
    for (part, above) in LAYERS {
        let forbidden: Vec<&str> = above.iter().chain(&ENTRY_POINTS).copied().collect();
        let of_part = imports.iter().filter(|(module, _)| is_in(module, part));
        let targets: Vec<_> =
            of_part.flat_map(|(module, targets)| targets.iter().map(move |to| (module, to))).collect();
        assert!(targets.len() > 10, "{part}: {targets:?}");
        for (module, target) in targets {
            let upward = forbidden.iter().any(|part| is_in(target, part));
            assert!(!upward, "{} uses {}", module.join("::"), target.join("::"));
        }
    }
}

#[test]
fn only_the_commands_use_the_emulator() {
    let modules = modules();
    let users: Vec<&Module> = modules
        .iter()
        .filter(|(_, source)| source.contains("docket_emulator"))
        .map(|(module, _)| module)
        .collect();
    assert!(users.len() >= 2, "{users:?}");
    for module in users {
        assert!(module.join("::").starts_with("web::commands::"), "{module:?} uses the emulator");
    }
}

/// `scripts/test.sh` reads the list, too.
#[test]
fn every_test_module_is_listed_for_postgres_once() {
    let listed =
        include_str!("on_postgres.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let declared =
        include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let declared = declared.filter(|module| !["databases", "helpers"].contains(module));
    let (mut listed, mut declared): (Vec<_>, Vec<_>) = (listed.collect(), declared.collect());
    listed.sort_unstable();
    declared.sort_unstable();
    assert_eq!(listed, declared, "tests/api/on_postgres.txt");
}
