// `sizes.mjs ROOT WORK`: the table of `scripts/sizes.sh`, from the sources in ROOT and the measured files in WORK.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [root, work] = process.argv.slice(2);
const folders = new Map([["docket", join(root, "src")], ...readdirSync(join(root, "crates")).map((name) => [`docket_${name}`, join(root, "crates", name, "src")])]);

function lines(folder) {
  let count = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) count += lines(path);
    else if (path.endsWith(".rs")) count += readFileSync(path, "utf8").split("\n").length - 1;
  }
  return count;
}

/** Bytes of code and data by crate: a symbol counts for the first of our crates in its name. */
function shares() {
  const bytes = new Map();
  let total = 0;
  for (const line of readFileSync(join(work, "symbols"), "utf8").split("\n")) {
    const [, size, kind, name] = /^\d+ (\d+) (\w) (.*)$/.exec(line) ?? [];
    if (!size || !"tTrRdDwWvV".includes(kind)) continue;
    total += Number(size);
    const owner = /\bdocket(_[a-z]+)?(?=::)/.exec(name)?.[0];
    const of = owner && folders.has(owner) ? owner : "other crates";
    bytes.set(of, (bytes.get(of) ?? 0) + Number(size));
  }
  return { bytes, total };
}

const compiled = new Map();
for (const line of readFileSync(join(work, "compiled.json"), "utf8").trim().split("\n")) {
  const { name, seconds, kilobytes } = JSON.parse(line);
  const before = compiled.get(name) ?? { seconds: 0, kilobytes: 0 };
  compiled.set(name, { seconds: before.seconds + seconds, kilobytes: Math.max(before.kilobytes, kilobytes) });
}
const { bytes, total } = shares();
console.log("crate              lines   compiled in   memory   of the binary");
let all = 0;
for (const [name, folder] of [...folders].sort()) {
  const count = lines(folder);
  all += count;
  const { seconds, kilobytes } = compiled.get(name) ?? {};
  const share = bytes.has(name) ? `${((bytes.get(name) / total) * 100).toFixed(1)} %` : "";
  console.log(
    name.padEnd(16) + String(count).padStart(8) + (seconds ? `${seconds.toFixed(0)} s` : "").padStart(14) +
      (kilobytes ? `${(kilobytes / 1e6).toFixed(1)} GB` : "").padStart(9) + share.padStart(16),
  );
}
console.log("other crates".padEnd(16) + "".padStart(31) + `${(((bytes.get("other crates") ?? 0) / total) * 100).toFixed(1)} %`.padStart(16));
console.log("all".padEnd(16) + String(all).padStart(8));
