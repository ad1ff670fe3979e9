// Writes the licenses of all components of the binary to standard output: node scripts/licenses.mjs FOLDER_OF_ZIG.
// These are all crates of the server and the front end, the standard library of Rust, Tailwind's base styles, and the libraries that
// Zig links statically. Build tools and crates for tests are not included. Fails if a crate has no license text.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "..");
const ZIG = process.argv[2];
const PARTS = [
  ["ssr", "x86_64-unknown-linux-gnu"],
  ["hydrate", "wasm32-unknown-unknown"],
];
const NAMES = /^(licen[sc]e|copying|copyright|notice|unlicense)/i;
const RULE = "=".repeat(100);

function main() {
  if (!ZIG) throw new Error("usage: licenses.mjs FOLDER_OF_ZIG");
  const crates = [...new Map(PARTS.flatMap(linked).map((crate) => [crate.id, crate])).values()];
  const siblings = textsByRepository(crates);
  const entries = [...crates.map((crate) => ({ title: title(crate), texts: textsOf(crate, siblings) })), ...others()];
  const missing = entries.filter((entry) => entry.texts.length === 0);
  if (missing.length > 0) throw new Error(`no license text: ${missing.map((entry) => entry.title).join("; ")}`);
  process.stdout.write(document(entries));
}

// The crates that become part of a program: no build scripts, no tests.
function linked([features, target]) {
  const args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", target, "--no-default-features"];
  const output = execFileSync("cargo", [...args, "--features", features], { cwd: ROOT, maxBuffer: 1 << 28 });
  const { packages, resolve } = JSON.parse(output);
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const found = new Set();
  const visit = (id) => {
    if (found.has(id)) return;
    found.add(id);
    for (const { pkg, dep_kinds } of nodes.get(id).deps) if (dep_kinds.some(({ kind }) => kind === null)) visit(pkg);
  };
  visit(resolve.root);
  // Crates of this repository have no source.
  return packages.filter((crate) => found.has(crate.id) && crate.source);
}

function title(crate) {
  return `${crate.name} ${crate.version} (${crate.license ?? "see the text"})`;
}

// A crate without a text gets that of another crate from its repository, or the standard text with its authors' names.
function textsOf(crate, siblings) {
  const own = files(path.dirname(crate.manifest_path));
  if (own.length > 0) return own;
  return siblings.get(crate.repository) ?? standard(crate);
}

function textsByRepository(crates) {
  const texts = new Map();
  for (const crate of crates) {
    const own = crate.repository && !texts.has(crate.repository) ? files(path.dirname(crate.manifest_path)) : [];
    if (own.length > 0) texts.set(crate.repository, own);
  }
  return texts;
}

function files(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && NAMES.test(entry.name) && !/\.(rs|html|json)$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
  return entries.sort().map(read);
}

function standard({ name, license, authors }) {
  const holders = authors.length > 0 ? authors.join(", ") : `The authors of ${name}`;
  if (/\bMIT\b/.test(license)) return [mit(holders)];
  if (/\bApache-2\.0\b/.test(license)) return [read(path.join(ROOT, "LICENSE-APACHE"))];
  if (license === "MPL-2.0") return [read(path.join(ROOT, "packaging/licenses/MPL-2.0.txt"))];
  return [];
}

function mit(holders) {
  return read(path.join(ROOT, "LICENSE-MIT")).replace(/^Copyright .*$/m, `Copyright (c) ${holders}`);
}

function others() {
  return [
    { title: "Rust's standard library (MIT OR Apache-2.0)", texts: [mit("The Rust Project contributors")] },
    { title: "Tailwind CSS (MIT)", texts: [read(path.join(ROOT, "end2end/node_modules/tailwindcss/LICENSE"))] },
    { title: "Zig's compiler support (MIT)", texts: [read(path.join(ZIG, "LICENSE"))] },
    {
      title: "LLVM's libunwind (Apache-2.0 WITH LLVM-exception)",
      texts: [read(path.join(ZIG, "lib/libunwind/LICENSE.TXT"))],
    },
  ];
}

function read(file) {
  return readFileSync(file, "utf8").replaceAll("\r\n", "\n").trim();
}

// A list of all components, and each text once, under the names of its components.
function document(entries) {
  const users = new Map();
  for (const { title, texts } of entries) for (const text of texts) users.set(text, [...(users.get(text) ?? []), title]);
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const titles = [...new Set(entries.map((entry) => entry.title))].sort(compare);
  const sections = [...users].map(([text, names]) => `${RULE}\n${[...new Set(names)].sort(compare).join("\n")}\n\n${text}\n`).sort(compare);
  const introduction = `Docket contains the following. The source of each crate is in Rust's package registry, under its name and version.\n`;
  return `${introduction}\n${titles.join("\n")}\n\n${sections.join("\n")}`;
}

main();
