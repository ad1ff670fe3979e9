// module.mjs FOLDER PASS…: makes the module that wasm-bindgen wrote into FOLDER, docket_bg.wasm and docket.js, smaller than wasm-opt alone can.
//
// - What only JavaScript could call, and never does, goes: the classes of wasm-streams, which server_fn brings and Docket does not use.
// - wasm-opt runs with each PASS, and may now remove what those classes needed; of the script, what the module does not import any more goes too.
// - What the two files call each other by gets names of two letters: each of some 250 has a hash of 16 digits, which does not compress.
//
// Fails if wasm-bindgen wrote something else than it expects.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The ids of the sections of a module. */
const IMPORTS = 2;
const EXPORTS = 7;
/** What wasm-bindgen calls the script within the module. */
const SCRIPT = "./docket_bg.js";
const SHORT_SCRIPT = "s";

const names = new Map();

function main(folder, ...passes) {
  const [wasm, script] = ["docket_bg.wasm", "docket.js"].map((name) => path.join(folder, name));
  let js = withoutClasses(readFileSync(script, "utf8"));
  const called = new Set([...js.matchAll(/\bwasm\.(\w+)/g)].map(([, name]) => name));
  writeFileSync(wasm, edited(readFileSync(wasm), { exports: (name) => (called.has(name) ? name : undefined) }));
  execFileSync("wasm-opt", [wasm, ...passes, "--output", wasm], { stdio: "inherit" });
  writeFileSync(wasm, edited(readFileSync(wasm), { imports: short, exports: short, script: SHORT_SCRIPT }));
  writeFileSync(script, renamed(withoutUnused(js)));
}

/** Nothing of Docket's is a class to JavaScript. */
function withoutClasses(js) {
  const classes = [...js.matchAll(/^export class (\w+) /gm)].map(([, name]) => name);
  for (const name of classes) {
    js = removed(js, new RegExp(`^export class ${name} \\{\\n[^]*?^\\}\\n(if \\(Symbol\\.dispose\\) .*\\n)?`, "m"));
    js = removed(js, new RegExp(`^const ${name}Finalization = [^;]*;\\n`, "m"));
  }
  return js;
}

/** Without the functions that the module does not import any more. */
function withoutUnused(js) {
  const offered = [...js.matchAll(/^ {8}(__\w+): function\(/gm)].map(([, name]) => name);
  if (!offered.some((name) => names.has(name))) throw new Error("docket.js offers nothing that the module imports");
  for (const name of offered.filter((name) => !names.has(name))) {
    js = removed(js, new RegExp(`^ {8}${name}: function\\([^]*?^ {8}\\},\\n`, "m"));
  }
  return js;
}

function renamed(js) {
  for (const [name, short] of names) {
    const [property, member] = [new RegExp(`^( {8})${name}:`, "gm"), new RegExp(`\\bwasm\\.${name}\\b`, "g")];
    if (!property.test(js) && !member.test(js)) throw new Error(`docket.js does not know ${name}`);
    js = js.replace(property, `$1${short}:`).replace(member, `wasm.${short}`);
  }
  return js.replaceAll(`"${SCRIPT}"`, `"${SHORT_SCRIPT}"`);
}

function removed(text, pattern) {
  if (!pattern.test(text)) throw new Error(`docket.js has no ${pattern}`);
  return text.replace(pattern, "");
}

/** Two letters for each name. */
function short(name) {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  if (!names.has(name)) names.set(name, letters[Math.floor(names.size / letters.length)] + letters[names.size % letters.length]);
  return names.get(name);
}

/** The module, with other names of imports and exports; an export without one is left out. */
function edited(module, { script = SCRIPT, imports = (name) => name, exports }) {
  const parts = [module.subarray(0, 8)];
  for (const reader = new Reader(module, 8); !reader.ended; ) {
    const from = reader.at;
    const [id, length] = [reader.byte(), reader.number()];
    const section = new Reader(module.subarray(reader.at, reader.at + length), 0);
    reader.at += length;
    if (id === IMPORTS) parts.push(...framed(id, list(section, (entry) => imported(entry, script, imports))));
    else if (id === EXPORTS) parts.push(...framed(id, list(section, (entry) => exported(entry, exports))));
    else parts.push(module.subarray(from, reader.at));
  }
  return Buffer.concat(parts);
}

function imported(entry, script, rename) {
  const from = entry.text();
  if (from !== SCRIPT) throw new Error(`the module imports from ${from}`);
  return [text(script), text(rename(entry.text())), entry.imported()];
}

function exported(entry, rename) {
  const name = rename(entry.text());
  const what = entry.taken(() => {
    entry.byte();
    entry.number();
  });
  return name === undefined ? [] : [text(name), what];
}

/** A list whose entries are written anew; an empty one goes. */
function list(section, write) {
  const entries = [];
  for (let left = section.number(); left > 0; left--) entries.push(write(section));
  const kept = entries.filter((entry) => entry.length > 0);
  return Buffer.concat([number(kept.length), ...kept.flat()]);
}

function framed(id, content) {
  return [Buffer.from([id]), number(content.length), content];
}

function text(value) {
  return Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)]);
}

/** As LEB128. */
function number(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

class Reader {
  constructor(bytes, at) {
    Object.assign(this, { bytes, at });
  }

  get ended() {
    return this.at >= this.bytes.length;
  }

  byte() {
    return this.bytes[this.at++];
  }

  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }

  text() {
    const length = this.number();
    this.at += length;
    return this.bytes.toString("utf8", this.at - length, this.at);
  }

  /** The bytes that `read` reads. */
  taken(read) {
    const from = this.at;
    read();
    return this.bytes.subarray(from, this.at);
  }

  /** What is imported: the kind, and its type. */
  imported() {
    return this.taken(() => {
      const kind = this.byte();
      if (kind === 0) this.number();
      else if (kind === 1 || kind === 2) this.limits(kind === 1);
      else if (kind === 3) this.at += 2;
      else throw new Error(`an import of the kind ${kind}`);
    });
  }

  /** Of a table, which has a type before, or of a memory. */
  limits(isTable) {
    if (isTable) this.byte();
    const hasMaximum = this.byte() & 1;
    this.number();
    if (hasMaximum) this.number();
  }
}

main(...process.argv.slice(2));
